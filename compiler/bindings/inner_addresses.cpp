#include "compiler/bindings/inner_addresses.h"

#include "compiler/bindings/lock.h"
#include "manifest/toml_reader.h"
#include "sandbox/beneath.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>

namespace gos::bindings {

using llvm::SmallVector;
using llvm::StringRef;

namespace {

/// As many manifests as are looked at; a project of more is refused.
constexpr size_t kMostManifests = 4000;
constexpr uint64_t kLargestManifest = uint64_t(1) << 20;

struct Network {
  uint32_t address;
  unsigned bits;
};
/// What no public registry has: this machine, private and shared networks, addresses of a link,
/// those of clouds' own services, groups, and what is reserved.
constexpr Network kInner[] = {{0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10},
                              {0x7f000000, 8},  {0xa9fe0000, 16}, {0xac100000, 12},
                              {0xc0000000, 24}, {0xc0a80000, 16}, {0xc6120000, 15},
                              {0xe0000000, 4},  {0xf0000000, 4},  {0xa83f8110, 32}};
constexpr StringRef kEndings[] = {".corp", ".home",  ".home.arpa",   ".internal",     ".intranet",
                                  ".lan",  ".local", ".localdomain", ".localdomain6", ".localhost"};
/// Schemes that have a host.
constexpr StringRef kSchemes[] = {"git", "http", "https", "ssh"};

bool isInnerNumber(uint32_t address) {
  return llvm::any_of(kInner, [&](const Network& network) {
    return (address ^ network.address) >> (32 - network.bits) == 0;
  });
}

bool isInnerSix(const uint8_t* bytes) {
  const auto four = [&](size_t at) {
    return isInnerNumber(uint32_t(bytes[at]) << 24 | uint32_t(bytes[at + 1]) << 16 |
                         uint32_t(bytes[at + 2]) << 8 | bytes[at + 3]);
  };
  const bool startsWithZeros =
      std::all_of(bytes, bytes + 10, [](uint8_t byte) { return byte == 0; });
  if (startsWithZeros)
    return (bytes[10] != 0xff && bytes[10] != 0) || four(12); // `::1`, and an IPv4 address in it
  static constexpr uint8_t kNat64[12] = {0, 0x64, 0xff, 0x9b};
  if (std::memcmp(bytes, kNat64, sizeof kNat64) == 0)
    return four(12);
  if (bytes[0] == 0x20 && bytes[1] == 0x02)
    return four(2);
  static constexpr uint8_t kNat64OfSites[6] = {0, 0x64, 0xff, 0x9b, 0, 1};
  static constexpr uint8_t kTeredo[4] = {0x20, 0x01, 0, 0};
  if (std::memcmp(bytes, kNat64OfSites, sizeof kNat64OfSites) == 0 ||
      std::memcmp(bytes, kTeredo, sizeof kTeredo) == 0)
    return true;
  // Unique local, of a link, of a site, groups.
  return (bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && (bytes[1] & 0x80) != 0) ||
         bytes[0] == 0xff;
}

/// A path without `.` and `..`, as Cargo makes it: by its text, whatever is a link.
std::string plainPath(StringRef path) {
  SmallVector<StringRef, 16> parts;
  for (StringRef part : llvm::split(path, '/')) {
    if (part.empty() || part == ".")
      continue;
    if (part != "..")
      parts.push_back(part);
    else if (!parts.empty())
      parts.pop_back();
  }
  return "/" + llvm::join(parts, "/");
}

/// The manifests that Cargo may read for a binding, and every address in them. Directories are gone
/// through as Cargo does, by their text, and where links lead as well.
class Walk {
public:
  void addPackage(const std::string& directory) {
    put(directory, Reading::Package);
    while (next_ != waiting_.size()) {
      const auto [place, reading] = waiting_[next_++];
      read(place, reading);
    }
  }

  std::vector<InnerAddress> found;

private:
  /// A package is read as a dependency, a workspace for what its members inherit.
  enum class Reading : uint8_t { Package, Workspace };

  void put(const std::string& directory, Reading reading) {
    for (const std::string& each : {directory, realPathOf(directory)}) {
      if (each.empty() || !seen_.insert((reading == Reading::Package ? "p" : "w") + each).second)
        continue;
      waiting_.push_back({each, reading});
    }
  }
  void problem(const std::string& place, const std::string& words) {
    found.push_back({place, {}, nullptr, "`" + place + "` " + words});
  }

  void read(const std::string& directory, Reading reading) {
    const std::string place = (directory == "/" ? "" : directory) + "/Cargo.toml";
    if (reading == Reading::Package) {
      // A workspace above has its say in a package.
      for (StringRef above = StringRef(directory).rsplit('/').first; !above.empty();
           above = above.rsplit('/').first)
        put(above.str(), Reading::Workspace);
      put("/", Reading::Workspace);
    }
    const UniqueFd fd(::open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd && (errno == ENOENT || errno == ENOTDIR))
      return;
    if (++manifests_ > kMostManifests) {
      if (manifests_ == kMostManifests + 1)
        problem(place,
                "is one manifest more than are looked at (" + std::to_string(kMostManifests) + ")");
      return;
    }
    if (!fd)
      return problem(place, "cannot be read: " + std::string(std::strerror(errno)));
    const ReadBytes bytes = readAll(fd.get(), kLargestManifest);
    if (bytes.failure != Failure::None)
      return problem(place, "cannot be read: " + phrase(bytes.failure).str());
    SourceMap sources;
    Engine engine(sources);
    std::optional<TomlValue> manifest;
    if (llvm::Expected<FileId> file = sources.addCopy(place, bytes.bytes))
      manifest = readToml(*file, engine);
    else
      llvm::consumeError(file.takeError());
    if (!manifest || engine.hasErrors())
      return problem(place, "is not a manifest that can be read");
    visit(*manifest, directory, place, reading);
  }

  static const TomlValue* tableOf(const TomlValue& value, StringRef key) {
    const TomlEntry* entry = value.find(key);
    return entry != nullptr && entry->value.kind == TomlValue::Kind::Table ? &entry->value
                                                                           : nullptr;
  }

  /// Of a package that others depend on Cargo does not look at the rest: `dev-dependencies`,
  /// `[patch]` and `[replace]` are those of the workspace that is built, which is ours.
  void visit(const TomlValue& manifest, const std::string& directory, const std::string& place,
             Reading reading) {
    for (const char* package : {"package", "project"})
      if (const TomlValue* own = tableOf(manifest, package))
        if (const TomlEntry* root = own->find("workspace");
            root != nullptr && root->value.kind == TomlValue::Kind::Text)
          follow(root->value.text, directory, Reading::Workspace);
    if (const TomlValue* workspace = tableOf(manifest, "workspace"))
      dependenciesOf(*workspace, directory, place);
    if (reading == Reading::Workspace)
      return;
    dependenciesOf(manifest, directory, place);
    if (const TomlValue* targets = tableOf(manifest, "target"))
      for (const TomlEntry& target : targets->entries)
        dependenciesOf(target.value, directory, place);
  }

  void dependenciesOf(const TomlValue& holder, const std::string& directory,
                      const std::string& place) {
    for (const char* key : {"dependencies", "build-dependencies", "build_dependencies"})
      if (const TomlValue* dependencies = tableOf(holder, key))
        for (const TomlEntry& dependency : dependencies->entries)
          for (const TomlEntry& entry : dependency.value.entries)
            source(entry, directory, place);
  }

  void source(const TomlEntry& entry, const std::string& directory, const std::string& place) {
    if (entry.value.kind != TomlValue::Kind::Text)
      return;
    const std::string& text = entry.value.text;
    if (entry.key == "path")
      follow(text, directory, Reading::Package);
    else if (entry.key == "base")
      problem(place, "has a dependency whose directory depends on `base`");
    else if (entry.key == "git" || entry.key == "registry-index" || StringRef(text).contains("://"))
      found.push_back({place, text, nullptr, {}});
  }

  void follow(StringRef path, const std::string& directory, Reading reading) {
    const std::string whole = path.starts_with("/") ? path.str() : directory + "/" + path.str();
    put(plainPath(whole), reading);
    if (std::string real = realPathOf(whole); !real.empty())
      put(real, reading);
  }

  llvm::StringSet<> seen_;
  std::vector<std::pair<std::string, Reading>> waiting_;
  size_t next_ = 0, manifests_ = 0;
};

/// The text of an address, lower case, without what its readers leave out: blanks, whatever
/// controls in front and behind, and Cargo's own word for what it leads to.
std::string readable(StringRef url) {
  std::string text;
  for (char c : url)
    if (c != '\t' && c != '\n' && c != '\r')
      text += llvm::toLower(c);
  const auto isEdge = [](char c) { return uint8_t(c) <= 0x20; };
  StringRef rest = StringRef(text).drop_while(isEdge);
  while (!rest.empty() && isEdge(rest.back()))
    rest = rest.drop_back();
  for (StringRef front : {"git+", "registry+", "sparse+"})
    rest.consume_front(front);
  return rest.str();
}

StringRef schemeOf(StringRef text) {
  const size_t colon = text.find(':');
  return colon == StringRef::npos ? StringRef() : text.take_front(colon);
}

} // namespace

std::string authorityOf(StringRef url) {
  std::string rest = readable(url);
  const StringRef scheme = schemeOf(rest);
  if (!llvm::is_contained(kSchemes, scheme))
    return {};
  // Of the web's addresses `\` is `/`, and how many there are does not count.
  if (scheme.starts_with("http"))
    std::replace(rest.begin(), rest.end(), '\\', '/');
  StringRef authority =
      StringRef(rest).drop_front(scheme.size() + 1).ltrim('/').take_until([](char c) {
        return c == '/' || c == '?' || c == '#';
      });
  if (const size_t at = authority.rfind('@'); at != StringRef::npos)
    authority = authority.substr(at + 1);
  std::string decoded;
  for (size_t at = 0; at < authority.size(); ++at) {
    if (authority[at] == '%' && at + 2 < authority.size() && llvm::isHexDigit(authority[at + 1]) &&
        llvm::isHexDigit(authority[at + 2])) {
      decoded += llvm::toLower(char(llvm::hexFromNibbles(authority[at + 1], authority[at + 2])));
      at += 2;
    } else {
      decoded += authority[at];
    }
  }
  return decoded;
}

bool isInner(StringRef authority) {
  StringRef host = authority;
  if (host.consume_front("[")) {
    host = host.split(']').first.split('%').first;
    uint8_t bytes[16];
    return ::inet_pton(AF_INET6, host.str().c_str(), bytes) != 1 || isInnerSix(bytes);
  }
  host = host.split(':').first;
  host = host.rtrim('.');
  // Letters of other scripts may stand for digits and dots; a name of them has another spelling.
  if (host.empty() ||
      !llvm::all_of(host, [](char c) { return uint8_t(c) > 0x20 && uint8_t(c) < 0x7f; }))
    return true;
  if (llvm::any_of(kEndings, [&](StringRef ending) { return host.ends_with(ending); }))
    return true;
  // `127.1`, `0x7f.1` and `2130706433` are addresses as well.
  in_addr address{};
  if (::inet_aton(host.str().c_str(), &address) != 0)
    return isInnerNumber(ntohl(address.s_addr));
  // A name of one word is one of this machine or of the network around it.
  return !host.contains('.');
}

Aim aimOf(StringRef url) {
  const std::string text = readable(url);
  const StringRef scheme = schemeOf(text);
  if (scheme == "file" || text.empty())
    return Aim::Nowhere;
  // A reader of its own may see a host in what has none (`host:/x`), or another than is meant.
  if (!llvm::is_contained(kSchemes, scheme) ||
      (!scheme.starts_with("http") && StringRef(text).contains('\\')))
    return Aim::Unclear;
  return isInner(authorityOf(url)) ? Aim::Inner : Aim::Outside;
}

bool refusesInner(const BuildFacts& facts) {
  return hasFileSystemPolicy(facts.level) && !facts.flags.network;
}

std::vector<InnerAddress> innerAddresses(const BuildFacts& facts, StringRef lock) {
  Walk walk;
  std::vector<InnerAddress> found;
  for (const Binding& binding : facts.bindings) {
    if (binding.written->source == RustBinding::Source::Git && binding.path.empty())
      found.push_back({"project.toml", binding.written->value, &binding, {}});
    if (binding.written->source == RustBinding::Source::Path)
      walk.addPackage(binding.path);
  }
  if (llvm::Expected<std::vector<LockedPackage>> packages = parseLock(lock)) {
    for (const LockedPackage& package : *packages)
      if (!package.source.empty())
        found.push_back({"bindings.lock", package.source, nullptr, {}});
  } else {
    llvm::consumeError(packages.takeError()); // it is refused elsewhere
  }
  llvm::append_range(found, walk.found);
  std::vector<InnerAddress> refused;
  llvm::StringSet<> named;
  for (InnerAddress& each : found) {
    std::string key = each.problem;
    if (each.problem.empty()) {
      const Aim aim = aimOf(each.url);
      key = aim == Aim::Inner ? authorityOf(each.url) : each.url;
      if (aim == Aim::Nowhere || aim == Aim::Outside ||
          (aim == Aim::Inner && llvm::is_contained(facts.user.hosts, key)))
        continue;
      each.problem = "`" + each.url + "` in `" + each.place +
                     (aim == Aim::Inner ? "` is an address of this machine or of an inner network"
                                        : "` is an address whose host cannot be told");
    }
    if (named.insert(key).second)
      refused.push_back(std::move(each));
  }
  return refused;
}

} // namespace gos::bindings
