// std::path: lexical work on paths, and glob, which is a walk and not an expansion of a string.

#include "stdlib/host_files.h"
#include "stdlib/support.h"

#include "vm/text.h"

#include <set>

namespace gos::stdlib {

namespace {

constexpr unsigned kDeepestWalk = 256;
constexpr size_t kMostMatches = 1'000'000;

std::vector<std::string> componentsOf(StringRef path) {
  std::vector<std::string> out;
  if (path.starts_with("/"))
    out.push_back("/");
  while (!path.empty()) {
    const auto [first, rest] = path.split('/');
    if (!first.empty() && first != ".")
      out.push_back(first.str());
    path = rest;
  }
  return out;
}

std::string joinPath(StringRef base, StringRef segment) {
  if (base.empty() || segment.starts_with("/"))
    return segment.str();
  if (segment.empty())
    return base.str();
  return (base.ends_with("/") ? base + segment : base + "/" + segment).str();
}

std::string normalized(StringRef path) {
  std::vector<std::string> kept;
  const bool absolute = path.starts_with("/");
  for (std::string& part : componentsOf(path)) {
    if (part == "/")
      continue;
    if (part == ".." && !kept.empty() && kept.back() != "..")
      kept.pop_back();
    else if (part != ".." || !absolute)
      kept.push_back(std::move(part));
  }
  std::string out = absolute ? "/" : "";
  for (size_t i = 0; i < kept.size(); ++i)
    out += (i == 0 ? "" : "/") + kept[i];
  return out.empty() ? "." : out;
}

/// The bytes of all prefixes of a path that end at a component; at most.
uint64_t prefixBytes(StringRef path) {
  uint64_t bytes = path.size();
  for (size_t at = path.find('/'); at != StringRef::npos; at = path.find('/', at + 1))
    bytes += at;
  return bytes;
}

StringRef withoutTrailingSlashes(StringRef path) {
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  return path;
}

/// The last component if it is a name.
StringRef fileName(StringRef path) {
  path = withoutTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  const StringRef name = slash == StringRef::npos ? path : path.drop_front(slash + 1);
  return name == "." || name == ".." || name == "/" ? StringRef() : name;
}

/// Where the extension's dot is in a name; a leading dot begins none.
size_t extensionAt(StringRef name) {
  const size_t dot = name.rfind('.');
  return dot == 0 ? StringRef::npos : dot;
}

/// The work and the memory of taking a path apart: each component is a text of its own.
struct PathCost {
  PathCost(Vm& vm, uint64_t bytes)
      : scratch(vm.heap(), bytes * kBytesEach), trap(chargeEach(vm, bytes * 8)) {
    if (!trap && !scratch)
      trap = vm.heapTrap();
  }
  static constexpr uint64_t kBytesEach = 24; // of "a/", the shortest
  vm::Scratch scratch;
  Trap trap;
};

/// Does one class `[a-z]`, `[!a]` match? Moves `pattern` behind it; false in `valid` when it is not
/// closed.
bool classMatches(StringRef& pattern, uint32_t scalar, bool& valid) {
  const size_t close = pattern.find(']', 2);
  valid = close != StringRef::npos;
  if (!valid)
    return false;
  StringRef body = pattern.slice(1, close);
  pattern = pattern.drop_front(close + 1);
  const bool negated = body.consume_front("!") || body.consume_front("^");
  bool found = false;
  while (!body.empty()) {
    unsigned length = 1;
    const uint32_t low = vm::decodeScalar(body, 0, length);
    body = body.drop_front(length);
    uint32_t high = low;
    if (body.size() > 1 && body.front() == '-') {
      high = vm::decodeScalar(body, 1, length);
      body = body.drop_front(1 + length);
    }
    found = found || (scalar >= low && scalar <= high);
  }
  return found != negated;
}

/// `*`, `?`, `[..]` on one segment. Linear in the name for each `*`: it goes back to the last star
/// alone.
bool globMatches(StringRef pattern, StringRef name) {
  StringRef starPattern;
  StringRef starName;
  bool starred = false;
  while (true) {
    bool step = false;
    if (pattern.starts_with("*")) {
      while (pattern.consume_front("*")) {
      }
      if (pattern.empty())
        return true;
      starred = true;
      starPattern = pattern;
      starName = name;
      continue;
    }
    if (name.empty()) {
      if (pattern.empty())
        return true;
    } else if (!pattern.empty()) {
      unsigned length = 1;
      const uint32_t scalar = vm::decodeScalar(name, 0, length);
      bool isClass = false;
      if (pattern.front() == '[') {
        StringRef behind = pattern;
        if (classMatches(behind, scalar, isClass)) {
          pattern = behind;
          step = true;
        }
      }
      if (!isClass) {
        unsigned width = 1;
        const uint32_t wanted = vm::decodeScalar(pattern, 0, width);
        if (pattern.front() == '?' || wanted == scalar) {
          pattern = pattern.drop_front(width);
          step = true;
        }
      }
      if (step)
        name = name.drop_front(length);
    }
    if (step)
      continue;
    if (!starred || starName.empty())
      return false;
    unsigned length = 1;
    vm::decodeScalar(starName, 0, length);
    starName = starName.drop_front(length);
    name = starName;
    pattern = starPattern;
  }
}

bool hasWildcard(StringRef segment) {
  return segment.find_first_of("*?[") != StringRef::npos;
}

/// A glob over the tree: each step lists a directory, or names one entry, beneath what the steps
/// before it found.
class GlobWalk {
public:
  GlobWalk(Vm& vm, StringRef pattern) : vm_(vm), files_(vm) {
    start_ = pattern.starts_with("/") ? "/" : "";
    for (const std::string& part : componentsOf(pattern))
      if (part != "/" && !(part == "**" && !segments_.empty() && segments_.back() == "**"))
        segments_.push_back(part);
  }

  /// A denial ends it; a directory that cannot be listed has no matches.
  FileResult run() { return from(start_, 0, 0); }
  std::vector<std::string> matches() const { return {found_.begin(), found_.end()}; }

private:
  static FileResult orContinue(FileResult result) {
    return result.kind == FileResult::Kind::Trapped ? std::move(result) : FileResult{};
  }

  FileResult from(const std::string& path, size_t segment, unsigned depth) {
    if (depth > kDeepestWalk || found_.size() >= kMostMatches)
      return {};
    if (segment == segments_.size()) {
      if (!path.empty())
        found_.insert(path);
      return {};
    }
    const StringRef wanted = segments_[segment];
    if (wanted == "**") {
      if (segment + 1 < segments_.size()) {
        FileResult here = from(path, segment + 1, depth + 1);
        if (!here.done())
          return here;
      }
      return eachEntry(path, [&](const ListedEntry& entry) -> FileResult {
        const std::string child = joinPath(path, entry.name);
        if (segment + 1 == segments_.size())
          found_.insert(child);
        // Links are listed and not entered.
        return entry.kind == FileKind::Directory ? from(child, segment, depth + 1) : FileResult{};
      });
    }
    if (!hasWildcard(wanted)) {
      const std::string child = joinPath(path, wanted);
      FileFactsAnswer facts;
      FileResult result = files_.query(child, FollowLast::No, facts);
      if (!result.done())
        return orContinue(std::move(result));
      return from(child, segment + 1, depth + 1);
    }
    return eachEntry(path, [&](const ListedEntry& entry) -> FileResult {
      if (!globMatches(wanted, entry.name))
        return {};
      const bool last = segment + 1 == segments_.size();
      if (!last && entry.kind != FileKind::Directory && entry.kind != FileKind::Link)
        return {};
      return from(joinPath(path, entry.name), segment + 1, depth + 1);
    });
  }

  template <class Visit> FileResult eachEntry(const std::string& path, Visit visit) {
    if (Trap trap = vm_.charge(8)) {
      FileResult result;
      result.kind = FileResult::Kind::Trapped;
      result.trap = std::move(trap);
      return result;
    }
    std::vector<ListedEntry> entries;
    FileResult result = files_.list(path.empty() ? "." : StringRef(path), entries);
    if (!result.done())
      return orContinue(std::move(result));
    for (const ListedEntry& entry : entries) {
      FileResult visited = visit(entry);
      if (!visited.done())
        return visited;
    }
    return {};
  }

  Vm& vm_;
  HostFiles files_;
  std::string start_;
  std::vector<std::string> segments_;
  std::set<std::string> found_; // sorted by bytes
};

} // namespace

namespace bodies {

Trap PathJoin(Arguments& arguments) {
  const vm::Scratch scratch(arguments.vm().heap(),
                            arguments.string(0).size() + arguments.string(1).size() + 1);
  if (!scratch)
    return arguments.vm().heapTrap();
  return arguments.returnString(joinPath(arguments.string(0), arguments.string(1)));
}

Trap PathSplit(Arguments& arguments) {
  const StringRef path = arguments.string(0);
  arguments.vm().heap().chargeText(path.size());
  const size_t slash = path.rfind('/');
  const StringRef directory =
      slash == StringRef::npos ? StringRef() : path.take_front(std::max<size_t>(slash, 1));
  const StringRef file = slash == StringRef::npos ? path : path.drop_front(slash + 1);
  Builder builder(arguments.vm());
  const LayoutId pair = arguments.resultLayout();
  const Value fields[] = {builder.string(builder.field(pair, 0), directory),
                          builder.string(builder.field(pair, 1), file)};
  return arguments.returnOwned(builder.structure(pair, fields));
}

Trap PathComponents(Arguments& arguments) {
  PathCost cost(arguments.vm(), arguments.string(0).size());
  return cost.trap ? std::move(cost.trap)
                   : arguments.returnStrings(componentsOf(arguments.string(0)));
}

Trap PathPrefixes(Arguments& arguments) {
  PathCost cost(arguments.vm(), arguments.string(0).size() + prefixBytes(arguments.string(0)));
  if (cost.trap)
    return std::move(cost.trap);
  std::vector<std::string> out;
  std::string so_far;
  for (const std::string& part : componentsOf(arguments.string(0))) {
    so_far = joinPath(so_far, part);
    out.push_back(so_far);
  }
  return arguments.returnStrings(out);
}

Trap PathUniquePrefixes(Arguments& arguments) {
  uint64_t bytes = arguments.string(0).size();
  for (StringRef rest = arguments.string(0); !rest.empty();) {
    const auto [line, behind] = rest.split('\n');
    bytes += prefixBytes(line);
    rest = behind;
  }
  PathCost cost(arguments.vm(), bytes);
  if (cost.trap)
    return std::move(cost.trap);
  std::set<std::string> all;
  for (StringRef rest = arguments.string(0); !rest.empty();) {
    const auto [line, behind] = rest.split('\n');
    std::string so_far;
    for (const std::string& part : componentsOf(line.rtrim('\r'))) {
      so_far = joinPath(so_far, part);
      all.insert(so_far);
    }
    rest = behind;
  }
  return arguments.returnStrings(std::vector<std::string>(all.begin(), all.end()));
}

Trap PathParent(Arguments& arguments) {
  const StringRef path = withoutTrailingSlashes(arguments.string(0));
  if (path.empty() || path == "/")
    return arguments.returnNone();
  const size_t slash = path.rfind('/');
  if (slash == StringRef::npos)
    return arguments.returnSomeString("");
  return arguments.returnSomeString(slash == 0 ? path.take_front(1)
                                               : withoutTrailingSlashes(path.take_front(slash)));
}

Trap PathFileName(Arguments& arguments) {
  const StringRef name = fileName(arguments.string(0));
  return name.empty() ? arguments.returnNone() : arguments.returnSomeString(name);
}
Trap PathFileStem(Arguments& arguments) {
  const StringRef name = fileName(arguments.string(0));
  return name.empty() ? arguments.returnNone()
                      : arguments.returnSomeString(name.take_front(extensionAt(name)));
}
Trap PathExtension(Arguments& arguments) {
  const StringRef name = fileName(arguments.string(0));
  const size_t dot = extensionAt(name);
  return dot == StringRef::npos ? arguments.returnNone()
                                : arguments.returnSomeString(name.drop_front(dot));
}
Trap PathIsAbsolute(Arguments& arguments) {
  return arguments.returnBoolean(arguments.string(0).starts_with("/"));
}
Trap PathNormalize(Arguments& arguments) {
  PathCost cost(arguments.vm(), arguments.string(0).size());
  return cost.trap ? std::move(cost.trap) : arguments.returnString(normalized(arguments.string(0)));
}

Trap PathStartsWith(Arguments& arguments) {
  PathCost cost(arguments.vm(), arguments.string(0).size() + arguments.string(1).size());
  if (cost.trap)
    return std::move(cost.trap);
  const std::vector<std::string> path = componentsOf(arguments.string(0));
  const std::vector<std::string> prefix = componentsOf(arguments.string(1));
  return arguments.returnBoolean(prefix.size() <= path.size() &&
                                 std::equal(prefix.begin(), prefix.end(), path.begin()));
}

Trap PathMatches(Arguments& arguments) {
  if (Trap trap = chargeEach(arguments.vm(),
                             (arguments.string(0).size() + 1) * (arguments.string(1).size() + 1)))
    return trap;
  return arguments.returnBoolean(!arguments.string(1).contains('/') &&
                                 globMatches(arguments.string(0), arguments.string(1)));
}

Trap PathGlob(Arguments& arguments) {
  const StringRef pattern = arguments.string(0);
  if (pattern.empty() || pattern.contains('\0'))
    return arguments.returnErr(pattern.empty() ? "the pattern is empty"
                                               : "the pattern has a NUL byte");
  GlobWalk walk(arguments.vm(), pattern);
  FileResult result = walk.run();
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  if (!result.done())
    return arguments.returnErr(result.message);
  return arguments.returnOkStrings(walk.matches());
}

} // namespace bodies
} // namespace gos::stdlib
