#include "sandbox/policy/comptime_policy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace gos {

EffectiveLevel ComptimePolicy::levelFor(uint32_t regionPackage, uint32_t callingPackage) const {
  EffectiveLevel effective;
  if (regionPackage >= packages.size() || callingPackage >= packages.size())
    return effective;
  effective.level = commandLine;
  effective.origin = fromCommandLine ? LevelOrigin::CommandLine : LevelOrigin::Default;
  for (uint32_t index : {regionPackage, callingPackage}) {
    const PackagePolicy& package = packages[index];
    if (package.level < effective.level) {
      effective.level = package.level;
      effective.origin = package.origin;
      effective.package = index;
    }
  }
  return effective;
}

Policy ComptimePolicy::policyFor(uint32_t regionPackage, uint32_t callingPackage) const {
  if (regionPackage >= packages.size() || callingPackage >= packages.size())
    return Policy();
  const EffectiveLevel effective = levelFor(regionPackage, callingPackage);
  const PackagePolicy& caller = packages[callingPackage];
  return comptimePolicy(effective.level, caller.hasRoot ? llvm::StringRef(caller.root) : "",
                        denials, permittedEnv);
}

std::string ComptimePolicy::describe(const EffectiveLevel& effective) const {
  switch (effective.origin) {
  case LevelOrigin::Default:
    return "the default";
  case LevelOrigin::CommandLine:
    return "the command line";
  case LevelOrigin::Manifest:
    if (effective.package < packages.size())
      return llvm::formatv("`{0}`, line {1}", packages[effective.package].manifest,
                           packages[effective.package].line);
    return "a manifest";
  }
  return {};
}

std::string toText(const ComptimePolicy& policy) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "comptime-io " << spelling(policy.commandLine)
      << (policy.fromCommandLine ? " (command line)\n" : " (default)\n");
  for (const PackagePolicy& package : policy.packages) {
    out << "package " << package.name << ": " << spelling(package.level);
    if (package.origin == LevelOrigin::Manifest)
      out << " (" << package.manifest << ':' << package.line << ')';
    if (package.hasRoot)
      out << ", root " << package.root << ", base " << (package.base.empty() ? "." : package.base);
    else
      out << ", no root: " << package.whyNoRoot;
    out << '\n';
  }
  for (const std::string& name : policy.permittedEnv)
    out << "env " << name << '\n';
  for (const std::string& path : policy.denials)
    out << "deny " << path << '\n';
  const Budgets& budgets = policy.budgets;
  out << "budgets: steps " << budgets.steps << ", heap " << budgets.heapBytes << ", depth "
      << budgets.depth << ", result " << budgets.resultBytes << ", read " << budgets.readBytes
      << ", output " << budgets.outputBytes << '\n';
  return text;
}

// ---- bytes --------------------------------------------------------------------------------------

namespace {
constexpr llvm::StringLiteral kMagic = "GOSCTP";
constexpr uint8_t kFormatVersion = 1;
constexpr uint32_t kMaxItems = 1 << 16;
constexpr uint32_t kMaxText = 1 << 16;

class Writer {
public:
  void byte(uint8_t value) { bytes_.push_back(char(value)); }
  void word(uint32_t value) {
    for (int shift = 0; shift != 32; shift += 8)
      byte(uint8_t(value >> shift));
  }
  void wide(uint64_t value) {
    word(uint32_t(value));
    word(uint32_t(value >> 32));
  }
  void text(llvm::StringRef value) {
    word(uint32_t(value.size()));
    bytes_ += value;
  }
  void texts(llvm::ArrayRef<std::string> values) {
    word(uint32_t(values.size()));
    for (const std::string& value : values)
      text(value);
  }
  std::string bytes_;
};

/// Reads what a stranger may have written. After the first failure every read answers zero and the
/// failure stays.
class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : rest_(bytes) {}

  uint8_t byte() {
    if (rest_.empty()) {
      fail("it ends early");
      return 0;
    }
    const uint8_t value = uint8_t(rest_.front());
    rest_ = rest_.drop_front();
    return value;
  }
  bool flag() { return choice(2) == 1; }
  /// A byte below `count`.
  uint8_t choice(uint8_t count) {
    const uint8_t value = byte();
    if (value < count)
      return value;
    fail("a word of a closed set is unknown");
    return 0;
  }
  uint32_t word() {
    uint32_t value = 0;
    for (int shift = 0; shift != 32; shift += 8)
      value |= uint32_t(byte()) << shift;
    return value;
  }
  uint64_t wide() {
    const uint64_t low = word();
    return low | uint64_t(word()) << 32;
  }
  uint32_t count() {
    const uint32_t value = word();
    // An item is at least a byte, so a count above what is left is a lie; no memory is taken for
    // it.
    if (value <= kMaxItems && value <= rest_.size())
      return value;
    fail("a count is too large");
    return 0;
  }
  std::string text() {
    const uint32_t size = word();
    if (size > kMaxText || size > rest_.size()) {
      fail("a text is too long");
      return {};
    }
    std::string value = rest_.take_front(size).str();
    rest_ = rest_.drop_front(size);
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (uint32_t left = count(); left != 0 && !failed(); --left)
      values.push_back(text());
    return values;
  }
  void require(bool holds, const char* what) {
    if (!holds)
      fail(what);
  }
  bool failed() const { return what_ != nullptr; }
  const char* what() const { return what_; }
  bool atEnd() const { return rest_.empty(); }

private:
  void fail(const char* what) {
    if (what_ == nullptr)
      what_ = what;
    rest_ = {};
  }

  llvm::StringRef rest_;
  const char* what_ = nullptr;
};
} // namespace

std::string serialize(const ComptimePolicy& policy) {
  Writer out;
  out.bytes_ += kMagic;
  out.byte(kFormatVersion);
  out.byte(uint8_t(policy.commandLine));
  out.byte(policy.fromCommandLine);
  out.word(uint32_t(policy.packages.size()));
  for (const PackagePolicy& package : policy.packages) {
    out.text(package.name);
    out.byte(uint8_t(package.level));
    out.byte(uint8_t(package.origin));
    out.text(package.manifest);
    out.word(package.line);
    out.byte(package.hasRoot);
    out.text(package.root);
    out.text(package.rootSpelling);
    out.text(package.base);
    out.text(package.whyNoRoot);
  }
  out.texts(policy.permittedEnv);
  out.texts(policy.denials);
  const Budgets& budgets = policy.budgets;
  for (uint64_t value : {budgets.steps, budgets.heapBytes, budgets.depth, budgets.resultBytes,
                         budgets.readBytes, budgets.outputBytes})
    out.wide(value);
  return std::move(out.bytes_);
}

llvm::Expected<ComptimePolicy> deserializeComptimePolicy(llvm::StringRef bytes) {
  auto refuse = [](const char* what) {
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "malformed policy: %s", what);
  };
  if (!bytes.consume_front(kMagic))
    return refuse("it is none");
  Reader in(bytes);
  if (in.byte() != kFormatVersion)
    return refuse("it is of another version");
  ComptimePolicy policy;
  policy.commandLine = ComptimeIo(in.choice(3));
  policy.fromCommandLine = in.flag();
  for (uint32_t left = in.count(); left != 0 && !in.failed(); --left) {
    PackagePolicy package;
    package.name = in.text();
    package.level = ComptimeIo(in.choice(3));
    package.origin = LevelOrigin(in.choice(3));
    package.manifest = in.text();
    package.line = in.word();
    package.hasRoot = in.flag();
    package.root = in.text();
    package.rootSpelling = in.text();
    package.base = in.text();
    package.whyNoRoot = in.text();
    in.require(!package.hasRoot || isCanonicalPath(package.root), "a root is not canonical");
    in.require(package.base.empty() || isCanonicalPath("/" + package.base),
               "a base leaves its root");
    policy.packages.push_back(std::move(package));
  }
  policy.permittedEnv = in.texts();
  for (const std::string& name : policy.permittedEnv)
    in.require(environmentNameProblem(name).empty(), "a variable's name is not valid");
  policy.denials = in.texts();
  for (const std::string& path : policy.denials)
    in.require(isCanonicalPath(path), "a denial is not canonical");
  Budgets& budgets = policy.budgets;
  for (uint64_t* value : {&budgets.steps, &budgets.heapBytes, &budgets.depth, &budgets.resultBytes,
                          &budgets.readBytes, &budgets.outputBytes})
    *value = in.wide();
  in.require(in.failed() || in.atEnd(), "bytes are left over");
  if (in.failed())
    return refuse(in.what());
  return policy;
}

} // namespace gos
