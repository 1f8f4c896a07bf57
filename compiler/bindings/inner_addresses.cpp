#include "compiler/bindings/inner_addresses.h"

#include "compiler/bindings/lock.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <arpa/inet.h>
#include <cstring>

namespace gos::bindings {

using llvm::StringRef;

namespace {

constexpr size_t kMostManifests = 200;
constexpr unsigned kDeepest = 32;

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
constexpr StringRef kNames[] = {"instance-data", "ip6-localhost", "ip6-loopback", "localhost",
                                "metadata"};
constexpr StringRef kEndings[] = {".internal", ".local", ".localdomain", ".localhost"};

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
  // Unique local, of a link, of a site, groups.
  return (bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && (bytes[1] & 0x80) != 0) ||
         bytes[0] == 0xff;
}

/// All addresses of a manifest, and the directories that it leads to.
class Walk {
public:
  void add(const std::string& directory, unsigned depth = 0) {
    if (depth == kDeepest || seen_.size() == kMostManifests || llvm::is_contained(seen_, directory))
      return;
    seen_.push_back(directory);
    const std::string place = directory + "/Cargo.toml";
    if (const std::optional<TomlValue> manifest = readTable(place))
      visit(*manifest, directory, place, depth);
  }
  /// What a workspace says for its members.
  void addWorkspace(const std::string& directory) {
    const std::string place = directory + "/Cargo.toml";
    const std::optional<TomlValue> manifest = readTable(place);
    if (const TomlEntry* own = manifest ? manifest->find("workspace") : nullptr)
      visit(own->value, directory, place, 0);
  }

  std::vector<InnerAddress> found;

private:
  void visit(const TomlValue& value, const std::string& directory, const std::string& place,
             unsigned depth) {
    for (const TomlValue& item : value.items)
      visit(item, directory, place, depth);
    for (const TomlEntry& entry : value.entries) {
      const TomlValue& inner = entry.value;
      // Of a package that others depend on Cargo does not look at these.
      if (entry.key == "dev-dependencies" || entry.key == "patch" || entry.key == "replace")
        continue;
      if (inner.kind != TomlValue::Kind::Text) {
        visit(inner, directory, place, depth);
        continue;
      }
      if (entry.key == "git" || entry.key == "registry-index") {
        found.push_back({place, inner.text, nullptr});
      } else if (entry.key == "path") {
        bool missing = false;
        llvm::Expected<std::string> real = sandbox::canonicalPathIn(directory, inner.text, missing);
        if (!real)
          llvm::consumeError(real.takeError());
        else if (!missing)
          add(*real, depth + 1);
      }
    }
  }

  std::vector<std::string> seen_;
};

} // namespace

std::string authorityOf(StringRef url) {
  // As the readers of addresses do: blanks go, `\` is `/`, and how many there are does not count.
  std::string text;
  for (char c : url)
    if (c != '\t' && c != '\n' && c != '\r')
      text += c == '\\' ? '/' : llvm::toLower(c);
  StringRef rest = StringRef(text).trim();
  for (StringRef front : {"git+", "registry+", "sparse+"})
    rest.consume_front(front);
  const auto [scheme, behind] = rest.split(':');
  if (scheme.empty() || scheme.size() == rest.size() ||
      !llvm::all_of(scheme, [](char c) { return llvm::isAlnum(c) || c == '+' || c == '-'; }) ||
      (scheme == "file"))
    return {};
  StringRef authority =
      behind.ltrim('/').take_until([](char c) { return c == '/' || c == '?' || c == '#'; });
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
  if (llvm::is_contained(kNames, host) ||
      llvm::any_of(kEndings, [&](StringRef ending) { return host.ends_with(ending); }))
    return true;
  // `127.1`, `0x7f.1` and `2130706433` are addresses as well.
  in_addr address{};
  if (::inet_aton(host.str().c_str(), &address) != 0)
    return isInnerNumber(ntohl(address.s_addr));
  return false;
}

bool refusesInner(const BuildFacts& facts) {
  return hasFileSystemPolicy(facts.level) && !facts.flags.network;
}

std::vector<InnerAddress> innerAddresses(const BuildFacts& facts, StringRef lock) {
  Walk walk;
  std::vector<InnerAddress> found;
  for (const Binding& binding : facts.bindings) {
    if (binding.written->source == RustBinding::Source::Git && binding.path.empty())
      found.push_back({"project.toml", binding.written->value, &binding});
    if (binding.written->source != RustBinding::Source::Path)
      continue;
    walk.add(binding.path);
    // A workspace above has its say in it.
    for (StringRef above = StringRef(binding.path).rsplit('/').first; !above.empty();
         above = above.rsplit('/').first)
      walk.addWorkspace(above.str());
  }
  if (llvm::Expected<std::vector<LockedPackage>> packages = parseLock(lock)) {
    for (const LockedPackage& package : *packages)
      if (!package.source.empty())
        found.push_back({"bindings.lock", package.source, nullptr});
  } else {
    llvm::consumeError(packages.takeError()); // it is refused elsewhere
  }
  llvm::append_range(found, walk.found);
  std::vector<InnerAddress> inner;
  for (InnerAddress& each : found) {
    const std::string authority = authorityOf(each.url);
    if (authority.empty() || !isInner(authority) ||
        llvm::is_contained(facts.user.hosts, authority) ||
        llvm::any_of(
            inner, [&](const InnerAddress& other) { return authorityOf(other.url) == authority; }))
      continue;
    inner.push_back(std::move(each));
  }
  return inner;
}

} // namespace gos::bindings
