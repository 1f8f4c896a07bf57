#include "sandbox/command/recorder.h"

#include "sandbox/command/command_policy.h"
#include "sandbox/command/seen_tree.h"
#include "sandbox/linux/path_walk.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <arpa/inet.h>
#include <bitset>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace gos::sandbox {

namespace {

constexpr size_t kMostLineBytes = size_t(16) << 20;
constexpr size_t kMostUsed = 50000;
constexpr size_t kMostNames = 1024;
// What was judged already, forgotten when it grows past this.
constexpr size_t kMostRemembered = 32768, kMostRememberedBytes = size_t(4) << 20;
constexpr size_t kMostParentBytes = size_t(1) << 20;

constexpr llvm::StringLiteral kProbedAbove[] = {
#define GOS_PROBED_ABOVE(name) name,
#include "sandbox/command/harmless.def"
};
constexpr llvm::StringLiteral kProbedPaths[] = {
#define GOS_PROBED_PATH(path) path,
#include "sandbox/command/harmless.def"
};

bool isEntryAct(PathAct act) {
  switch (act) {
  case PathAct::MakeDirectory:
  case PathAct::Make:
  case PathAct::Remove:
  case PathAct::RenameFrom:
  case PathAct::RenameTo:
  case PathAct::LinkTo:
    return true;
  case PathAct::Look:
  case PathAct::LookLink:
  case PathAct::Open:
  case PathAct::OpenStructured:
  case PathAct::Create:
  case PathAct::Execute:
  case PathAct::LinkFrom:
  case PathAct::Change:
  case PathAct::ChangeLink:
  case PathAct::Connect:
    return false;
  }
  return false;
}

/// A path that was walked as the command's kernel would, and behind its view on the host.
struct Place {
  std::string path; // canonical
  NodeKind kind = NodeKind::Missing;
  bool hasParent = false;
};

/// A directory that was walked to.
struct Parent {
  std::string path;
  NodeKind kind = NodeKind::Missing;
};

/// An internet address, or none.
struct Inet {
  std::string text;
  uint16_t port = 0;
  bool loopback = false; // or the unspecified address, which connects to it
};

std::optional<Inet> inetAddress(llvm::StringRef bytes) {
  sa_family_t family = 0;
  if (bytes.size() < sizeof family)
    return std::nullopt;
  std::memcpy(&family, bytes.data(), sizeof family);
  char text[INET6_ADDRSTRLEN] = {};
  Inet inet;
  if (family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    sockaddr_in address;
    std::memcpy(&address, bytes.data(), sizeof address);
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    inet.port = ntohs(address.sin_port);
    const uint32_t host = ntohl(address.sin_addr.s_addr);
    inet.loopback = host >> 24 == 127 || host == 0;
    inet.text = llvm::formatv("{0}:{1}", text, inet.port);
    return inet;
  }
  // sin6_scope_id may be left off.
  if (family == AF_INET6 && bytes.size() >= offsetof(sockaddr_in6, sin6_scope_id)) {
    sockaddr_in6 address{};
    std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
    ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    inet.port = ntohs(address.sin6_port);
    const uint8_t* v6 = address.sin6_addr.s6_addr;
    const bool isMapped = IN6_IS_ADDR_V4MAPPED(&address.sin6_addr);
    inet.loopback = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) ||
                    IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) || (isMapped && v6[12] == 127);
    inet.text = llvm::formatv("[{0}]:{1}", text, inet.port);
    return inet;
  }
  return std::nullopt;
}

/// The name of an abstract socket, or empty.
llvm::StringRef abstractName(llvm::StringRef bytes) {
  sa_family_t family = 0;
  constexpr size_t kName = offsetof(sockaddr_un, sun_path);
  if (bytes.size() <= kName + 1 || bytes[kName] != '\0')
    return {};
  std::memcpy(&family, bytes.data(), sizeof family);
  return family == AF_UNIX ? bytes.drop_front(kName + 1) : llvm::StringRef();
}

/// Does somebody listen there, outside? A name with control bytes is not looked for.
bool isHostAbstract(llvm::StringRef name) {
  std::ifstream file("/proc/net/unix");
  const std::string wanted = " @" + name.rtrim('\0').str();
  for (std::string line; std::getline(file, line);)
    if (llvm::StringRef(line).ends_with(wanted))
      return true;
  return false;
}

std::string familyName(uint64_t family) {
  switch (uint32_t(family)) {
  case AF_PACKET:
    return "a packet socket";
  case AF_ALG:
    return "a socket of the kernel's cryptography";
  case AF_VSOCK:
    return "a vsock socket";
  case AF_BLUETOOTH:
    return "a bluetooth socket";
  default:
    return llvm::formatv("a socket of family {0}", uint32_t(family));
  }
}

} // namespace

struct Recorder::State {
  State(const Policy& policyOfRun, const ChildPlan& planOfRun, const HostTree& host, bool learnsToo,
        std::vector<std::string> everyHome)
      : policy(policyOfRun), plan(planOfRun), tree(planOfRun, host), learns(learnsToo),
        homes(std::move(everyHome)) {}

  const Policy& policy;
  const ChildPlan& plan;
  const SeenTree tree;
  const bool learns;
  const std::vector<std::string> homes;

  std::vector<Denied> lines;
  llvm::StringMap<size_t> lineOf;
  size_t lineBytes = 0;
  uint64_t unlisted = 0, unread = 0;
  // Act and name as they were given -> the line, or kNothing.
  static constexpr int kNothing = -1, kMissing = -2;
  llvm::StringMap<int> remembered;
  size_t rememberedBytes = 0;
  std::string key;
  NodeKind lastKind = NodeKind::Missing; // of the name that was judged last
  bool lastIsPlain = false;              // it was written as it is, no link in it
  llvm::StringMap<Parent> parents;
  size_t parentBytes = 0;
  // Sockets of the run's own.
  std::bitset<65536> boundPorts;
  bool boundAnyPort = false;
  llvm::StringMap<char> boundNames;

  struct Use {
    Access access;
    size_t rule;
    bool looked;
  };
  llvm::StringMap<Use> used;
  uint64_t forgotten = 0;
  bool workdirRead = false, workdirWritten = false;
  NetworkMode networkUsed = NetworkMode::None;

  // ---- lines
  // --------------------------------------------------------------------------------------

  /// The line of an act: the one there is, one more, or none when the report is full.
  int note(Denied line, llvm::StringRef sameAs, uint32_t process) {
    const auto found = lineOf.find(sameAs);
    if (found != lineOf.end()) {
      Denied& old = lines[found->second];
      ++old.count;
      // To ask about a file and then to open it is one wish.
      if (old.operation == spelling(Operation::Query) && line.operation != old.operation) {
        old.call = std::move(line.call);
        old.operation = std::move(line.operation);
        old.harmless = line.harmless;
      }
      return int(found->second);
    }
    const size_t bytes = sameAs.size() + line.path.size() + line.rule.size() + line.flag.size();
    if (lines.size() == kMostDenied || lineBytes + bytes > kMostLineBytes) {
      ++unlisted;
      return kNothing;
    }
    lineBytes += bytes;
    line.process = processName(process);
    lineOf[sameAs] = lines.size();
    lines.push_back(std::move(line));
    return int(lines.size() - 1);
  }

  static std::string callName(int number) {
    const llvm::StringRef name = systemCallName(number);
    return name.empty() ? "call " + std::to_string(number) : name.str();
  }

  void takeRefusal(const SeenCall& call) {
    Denied line;
    line.call = callName(call.number);
    line.operation = "call";
    line.evidence = Evidence::Observed;
    llvm::StringRef why, group;
    for (const SystemCallRow& row : systemCallRows())
      if (row.number == call.number) {
        why = row.why;
        group = row.group;
      }
    if (group == "Socket")
      line.address = familyName(call.arguments[0]);
    else if (group == "DeviceControl")
      line.address = llvm::formatv("request {0:x}", uint32_t(call.arguments[1]));
    else if (group == "Clone" || group == "Unshare")
      line.address = llvm::formatv("flags {0:x}", call.arguments[0]);
    else
      line.address = "`" + line.call + "`";
    line.rule =
        llvm::formatv("the filter of level `{0}` refuses it: {1}", gos::spelling(policy.level()),
                      why.empty() ? "the table of calls does not know it" : why);
    const auto allows = [&](SandboxLevel level, NetworkMode network) {
      return filterError({level, network, true}, call.number, call.arguments) == 0;
    };
    if (policy.network() == NetworkMode::Client && allows(policy.level(), NetworkMode::Open))
      line.flag = "--network open";
    else if (policy.level() == SandboxLevel::Strict &&
             allows(SandboxLevel::Standard, policy.network()))
      line.flag = "--level standard";
    // Programs take ENOSYS for an older kernel and have another way.
    line.harmless = call.refusal == ENOSYS;
    const std::string sameAs = "!" + line.call + " " + line.address;
    note(std::move(line), sameAs, call.process);
  }

  // ---- names
  // --------------------------------------------------------------------------------------

  /// The directory that holds a name, by the text in front of it: most calls are about names in few
  /// directories.
  const Parent& parentOf(llvm::StringRef text) {
    if (const auto found = parents.find(text); found != parents.end())
      return found->second;
    if (parentBytes > kMostParentBytes) {
      parents.clear();
      parentBytes = 0;
    }
    PathWalk walk(tree);
    WalkedPath walked = walk.follow(text);
    parentBytes += text.size() + walked.path.size();
    return parents[text] = {std::move(walked.path), walked.entry.kind};
  }

  Place placeOf(const SeenPath& path) {
    Place place;
    const llvm::StringRef written = path.path.rtrim('/');
    const llvm::StringRef last = written.substr(written.rfind('/') + 1);
    if (!last.empty() && last != "." && last != "..") {
      const Parent& parent = parentOf(written.drop_back(last.size()));
      place.path = childPath(parent.path, last);
      place.hasParent = parent.kind == NodeKind::Directory;
      if (place.hasParent)
        place.kind = tree.look(place.path).kind;
      if (place.kind != NodeKind::Link || !path.follows)
        return place;
    }
    PathWalk walk(tree);
    WalkedPath walked = walk.follow(path.path);
    place.path = std::move(walked.path);
    place.kind = walked.entry.kind;
    place.hasParent = place.kind != NodeKind::Missing ||
                      walk.look(parentPath(place.path)).kind == NodeKind::Directory;
    return place;
  }

  /// Is this what programs look for everywhere? Only names that are known for it: somebody who
  /// looks at `~/data` means it.
  bool isHarmless(const Place& place, Operation operation) const {
    if (llvm::is_contained(kProbedPaths, place.path))
      return true;
    if (operation == Operation::Write)
      return false;
    const llvm::StringRef workdir = policy.workingDirectory();
    const llvm::StringRef parent = parentPath(place.path);
    if (workdir.empty() || !isAtOrBeneath(workdir, parent) || isAtOrBeneath(place.path, workdir))
      return false;
    return llvm::is_contained(kProbedAbove, llvm::StringRef(place.path).rsplit('/').second);
  }

  // ---- advice
  // -------------------------------------------------------------------------------------

  /// A directory that nobody should open for writing on the word of a report.
  bool isWide(llvm::StringRef directory) const {
    return directory == "/" || directory == "/tmp" || directory == "/var/tmp" ||
           directory == "/dev/shm" || llvm::any_of(homes, [&](const std::string& home) {
             return isAtOrBeneath(home, directory);
           });
  }

  /// Gives the flag that lets the operation be, where the policy would take it and then allow it.
  bool offer(llvm::StringRef target, Access access, llvm::StringRef path, Operation operation,
             Denied& line) const {
    std::string replaced;
    std::vector<PathRule> rules;
    for (const PathRule& rule : policy.rules())
      if (rule.origin == Origin::User && rule.path == target && rule.access != Access::Deny)
        replaced = rule.writtenAs;
      else
        rules.push_back(rule);
    rules.push_back({target.str(), access, Origin::User, {}});
    const Policy widened = Policy().withLevel(policy.level()).withRules(std::move(rules));
    if (llvm::Error error = widened.check()) {
      llvm::consumeError(std::move(error));
      return false;
    }
    if (!decide(widened, path, operation).allowed)
      return false;
    line.flag = (access == Access::ReadWrite ? "--rw " : "--ro ") + shellQuoted(target);
    if (!replaced.empty())
      line.advice = "in place of `" + replaced + "`";
    return true;
  }

  void adviseOnWrite(const Place& place, PathAct act, Denied& line) const {
    const bool missing = place.kind == NodeKind::Missing;
    if (!isEntryAct(act) && !missing) {
      (void)offer(place.path, Access::ReadWrite, place.path, Operation::Write, line);
      return;
    }
    const llvm::StringRef parent = parentPath(place.path);
    const bool wide = isWide(parent);
    // What is mounted by a rule of its own cannot be replaced or removed in its directory either.
    if (!wide && !tree.isMountPoint(place.path) &&
        offer(parent, Access::ReadWrite, place.path, Operation::Write, line))
      return;
    const bool makesFile =
        act == PathAct::Open || act == PathAct::OpenStructured || act == PathAct::Create;
    if (wide && missing && (makesFile || act == PathAct::MakeDirectory))
      line.advice = "all of `" + parent.str() +
                    "` is too much to grant; make it first: " + (makesFile ? "touch " : "mkdir ") +
                    shellQuoted(place.path) + ", then bwr --rw " + shellQuoted(place.path);
    else if (wide)
      line.advice = "only a directory of its own can be granted, not all of `" + parent.str() + "`";
    else
      line.advice = "no grant allows it; do it outside of bwr";
  }

  void adviseOn(const Verdict& verdict, const Place& place, PathAct act, Operation operation,
                Denied& line) const {
    switch (verdict.remedy) {
    case Remedy::GrantReadOnly:
      (void)offer(place.path, Access::ReadOnly, place.path, operation, line);
      return;
    case Remedy::GrantReadWrite:
      adviseOnWrite(place, act, line);
      return;
    case Remedy::RemoveUserRule: {
      const std::string& written = policy.rules()[*verdict.rule].writtenAs;
      line.advice = "leave out " + (written.empty() ? "your denial" : "`" + written + "`");
      return;
    }
    case Remedy::None:
    case Remedy::AllowEnv:
    case Remedy::AllowNetworkClient:
    case Remedy::AllowNetworkOpen:
      return;
    }
  }

  void learn(const Place& place, const SeenPath& path, const Verdict& verdict) {
    if (!verdict.rule)
      return;
    const PathRule& rule = policy.rules()[*verdict.rule];
    const bool writes = path.operation == Operation::Write;
    if (rule.path == policy.workingDirectory()) {
      (writes ? workdirWritten : workdirRead) = true;
      return;
    }
    // The base view and the guards are there for every command.
    if (rule.origin == Origin::Shipped && rule.access == Access::ReadOnly)
      return;
    if (place.kind == NodeKind::Missing && !writes)
      return;
    llvm::StringRef target = place.path;
    if (writes && (isEntryAct(path.act) || path.creates || place.kind == NodeKind::Missing) &&
        isAtOrBeneath(parentPath(target), rule.path))
      target = parentPath(target);
    const bool looked = path.operation == Operation::Query && place.kind == NodeKind::Directory;
    const auto found = used.find(target);
    if (found != used.end()) {
      found->second.looked &= looked;
      if (writes)
        found->second.access = Access::ReadWrite;
    } else if (used.size() == kMostUsed) {
      ++forgotten;
    } else {
      used.try_emplace(target,
                       Use{writes ? Access::ReadWrite : Access::ReadOnly, *verdict.rule, looked});
    }
  }

  /// The line of a name, kNothing, or kMissing where what it names is not there.
  int judge(const SeenCall& call, const SeenPath& path) {
    Place place = placeOf(path);
    lastKind = place.kind;
    lastIsPlain = place.path == path.path;
    // The private temp stands before the host's: what is there alone is out of reach.
    if (place.kind == NodeKind::Missing && !path.creates)
      place.kind = tree.behindTemporary(place.path);
    else if (tree.isOwn(place.path))
      return place.kind == NodeKind::Missing ? kMissing : kNothing;
    const bool missing = place.kind == NodeKind::Missing;
    const int nothing = missing ? kMissing : kNothing;
    Operation operation = path.operation;
    if (operation == Operation::Read && place.kind == NodeKind::Directory)
      operation = Operation::List;
    const ViewStep* made = tree.made(place.path);
    const bool looks = operation == Operation::Query || operation == Operation::List;
    // A directory that leads to a grant can be seen and listed.
    if ((looks && (made != nullptr || place.path == "/")) ||
        (operation == Operation::Read && made != nullptr &&
         made->kind != ViewStep::Kind::MakeDirectory))
      return nothing;
    Denied line;
    line.call = callName(call.number);
    line.operation = path.act == PathAct::Connect ? "connect" : spelling(operation).str();
    line.path = place.path;
    const bool writes = operation == Operation::Write;
    Verdict verdict = decide(policy, place.path, operation);
    if (!verdict.allowed && verdict.rule &&
        policy.rules()[*verdict.rule].origin == Origin::Shipped &&
        tree.permits(place.path, writes)) {
      verdict.allowed = true; // a guard whose name was missing: nothing stood there
      verdict.rule = tree.ruleOver(place.path);
    }
    if (verdict.allowed) {
      if (learns)
        learn(place, path, verdict);
      if ((path.act != PathAct::Remove && path.act != PathAct::RenameFrom) || missing ||
          !tree.isMountPoint(place.path))
        return nothing;
      line.rule = "`" + place.path + "` is the root of a grant: what is in it can go, it stays";
      if (const llvm::StringRef parent = parentPath(place.path); !isWide(parent))
        (void)offer(parent, Access::ReadWrite, parent, Operation::Write, line);
      return note(std::move(line), "w" + place.path, call.process);
    }
    // What is not there outside is not there inside: nobody refused it.
    if (missing && !(path.creates && place.hasParent))
      return kMissing;
    const bool exists = path.exclusive && !missing;
    if (exists && (made != nullptr || place.path == "/" || tree.isMountPoint(place.path) ||
                   decide(policy, place.path, Operation::Query).allowed))
      return nothing; // "file exists", as outside
    line.rule = describe(policy, verdict, place.path);
    line.harmless = exists || isHarmless(place, operation);
    std::string sameAs = (writes ? "w" : "r") + place.path;
    // Trying a flag costs more than all else; once a line, and none for what is only counted.
    if (lines.size() != kMostDenied && !lineOf.contains(sameAs)) {
      if (exists && verdict.remedy == Remedy::GrantReadWrite) // "file exists" is what it asks for
        (void)offer(place.path, Access::ReadOnly, place.path, Operation::Query, line);
      else
        adviseOn(verdict, place, path.act, operation, line);
    }
    return note(std::move(line), sameAs, call.process);
  }

  void remember(int value) {
    if (remembered.size() == kMostRemembered || rememberedBytes > kMostRememberedBytes) {
      remembered.clear();
      rememberedBytes = 0;
    }
    rememberedBytes += key.size();
    remembered[key] = value;
  }

  /// Where a name leads may have changed.
  void forgetPlaces() {
    remembered.clear();
    rememberedBytes = 0;
    parents.clear();
    parentBytes = 0;
  }

  /// Is a verdict good for the next time? What is missing may come, and then learned or moved; a
  /// name that leads elsewhere by a link may be removed and made anew.
  bool isLasting(int line, bool isSource) const {
    if (isSource)
      return lastKind == NodeKind::File;
    if (line == kMissing)
      return !learns;
    return line == kNothing || lastIsPlain;
  }

  void takePaths(const SeenCall& call) {
    bool movesFile = false;
    for (const SeenPath& path : call.paths) {
      key.assign(1, char(path.act));
      key += char(uint8_t(path.operation) << 3 | unsigned(path.follows) << 2 |
                  unsigned(path.creates) << 1 | unsigned(path.exclusive));
      key.append(path.path.begin(), path.path.end());
      const bool isSource = path.act == PathAct::RenameFrom || path.act == PathAct::LinkFrom;
      int line;
      const auto found = remembered.find(key);
      const bool isKnown = found != remembered.end();
      if (isKnown) {
        line = found->second;
        if (line >= 0)
          ++lines[size_t(line)].count;
      } else {
        line = judge(call, path);
        if (isLasting(line, isSource))
          remember(line == kMissing ? kNothing : line);
      }
      if (isSource) // only what is no plain file is judged each time
        movesFile = isKnown || lastKind == NodeKind::File;
      // The only ways for a link to come to a name. What is removed leaves a name that is missing,
      // and a directory that is made is what the text says.
      const bool moves = path.act == PathAct::RenameTo || path.act == PathAct::LinkTo;
      if (path.act == PathAct::Make || (moves && !movesFile))
        forgetPlaces();
      if (line == kMissing && isSource)
        return; // the call ends there: nothing to move, no new name
    }
  }

  // ---- addresses
  // ------------------------------------------------------------------------------------

  void takeAddress(const SeenCall& call) {
    const bool binds = systemCallName(call.number) == "bind";
    if (const std::optional<Inet> inet = inetAddress(call.address)) {
      if (binds)
        takeBind(call, *inet);
      else
        takeConnect(call, *inet);
      return;
    }
    const llvm::StringRef name = abstractName(call.address);
    if (name.empty())
      return;
    if (binds) {
      if (boundNames.size() < kMostNames)
        boundNames[name] = 1;
      return;
    }
    if (boundNames.contains(name) || plan.landlock.scopes == 0 || !isHostAbstract(name))
      return;
    Denied line;
    line.call = callName(call.number);
    line.operation = "connect";
    line.address = "@" + name.str();
    line.rule = "abstract sockets of the host stay outside";
    const std::string sameAs = "@" + name.str();
    note(std::move(line), sameAs, call.process);
  }

  void takeBind(const SeenCall& call, const Inet& inet) {
    const bool isStream = call.socketType == SOCK_STREAM;
    switch (policy.network()) {
    case NetworkMode::None:
      if (inet.port == 0)
        boundAnyPort = true;
      else
        boundPorts.set(inet.port);
      return;
    case NetworkMode::Client:
      if (isStream || (call.socketType == 0 && inet.port != 0))
        noteNetwork(call, inet, NetworkAct::Listen, "bind");
      return;
    case NetworkMode::Open:
      if (isStream || inet.port != 0)
        networkUsed = NetworkMode::Open;
      return;
    }
  }

  void takeConnect(const SeenCall& call, const Inet& inet) {
    if (policy.network() != NetworkMode::None) {
      networkUsed = std::max(networkUsed, NetworkMode::Client);
      return;
    }
    // Port 0 is nobody's: libc asks in this way which of its addresses would be used.
    if (inet.port == 0)
      return;
    // What the run itself serves on its own loopback is there.
    if (inet.loopback && (boundAnyPort || boundPorts.test(inet.port)))
      return;
    noteNetwork(call, inet, NetworkAct::Connect, "connect");
  }

  void noteNetwork(const SeenCall& call, const Inet& inet, NetworkAct act,
                   llvm::StringRef operation) {
    const Verdict verdict = decideNetwork(policy, act);
    if (verdict.allowed)
      return;
    Denied line;
    line.call = callName(call.number);
    line.operation = operation.str();
    line.address = inet.text;
    line.rule =
        llvm::formatv("network `{0}`: {1}", gos::spelling(policy.network()),
                      act == NetworkAct::Listen ? "the command connects and accepts nothing"
                      : inet.loopback ? "the loopback is the run's own, the host's is not there"
                                      : "nothing outside is reached");
    line.flag = verdict.remedy == Remedy::AllowNetworkOpen ? "--network open" : "--network client";
    const std::string sameAs = "n" + operation.str() + inet.text;
    note(std::move(line), sameAs, call.process);
  }
};

Recorder::Recorder(const Policy& policy, const ChildPlan& plan, const HostTree& tree, bool learns,
                   std::vector<std::string> homes)
    : state_(std::make_unique<State>(policy, plan, tree, learns, std::move(homes))) {}
Recorder::~Recorder() = default;

void Recorder::take(const SeenCall& call) {
  if (call.unread)
    ++state_->unread;
  if (call.refusal != 0) {
    state_->takeRefusal(call);
    return;
  }
  state_->takePaths(call);
  if (!call.address.empty())
    state_->takeAddress(call);
}

Report Recorder::report() const {
  Report report;
  report.level = state_->policy.level();
  report.watched = state_->plan.filterNotifies;
  report.denied = state_->lines;
  report.unlisted = state_->unlisted;
  report.unread = state_->unread;
  std::stable_partition(report.denied.begin(), report.denied.end(),
                        [](const Denied& line) { return !line.harmless; });
  return report;
}

Learned Recorder::learned() const {
  Learned learned;
  for (const auto& entry : state_->used)
    learned.used.push_back({entry.first().str(), entry.second.access,
                            state_->policy.rules()[entry.second.rule].path, entry.second.looked});
  llvm::sort(learned.used, [](const UsedPath& a, const UsedPath& b) { return a.path < b.path; });
  learned.workdirRead = state_->workdirRead;
  learned.workdirWritten = state_->workdirWritten;
  learned.network = state_->networkUsed;
  learned.forgotten = state_->forgotten;
  // What is closed on purpose has neither, and a profile does not name it.
  for (const Denied& line : state_->lines) {
    const std::string text =
        line.flag.empty() && !line.advice.empty() ? line.path + ": " + line.advice : line.flag;
    if (!line.harmless && !text.empty() && !llvm::is_contained(learned.refused, text) &&
        learned.refused.size() < kMostNames)
      learned.refused.push_back(text);
  }
  return learned;
}

// ---- watching a run -----------------------------------------------------------------------------

llvm::Expected<std::unique_ptr<Observer>> Observer::create(const Policy& policy, const Run& run,
                                                           bool learns) {
  const HostFacts facts = hostFacts();
  std::vector<std::string> homes = facts.homes;
  llvm::append_range(homes, facts.everyHome);
  std::unique_ptr<Observer> observer(new Observer(policy, run, learns, std::move(homes)));
  if (observer->descriptor_ < 0)
    return observer; // it ended before anything could be seen, or has no filter
  auto server =
      NotificationServer::create(run.notifications(), {policy.level(), policy.network(), true});
  if (!server)
    return server.takeError();
  observer->server_ = std::move(*server);
  return observer;
}

void Observer::serve(short events) {
  if (descriptor_ < 0)
    return;
  if (server_->serve(events, [&](const SeenCall& call) { recorder_.take(call); }) ==
      NotificationServer::State::Gone)
    descriptor_ = -1;
}

llvm::Error checkObservable(SandboxLevel level) {
  const int error = listenerError();
  if (error == 0)
    return llvm::Error::success();
  if (error == EBUSY)
    return llvm::make_error<RunError>(
        RunProblem::Policy,
        "a report inside a report: the run around this one is watched already, and the kernel has "
        "one listener for a tree of processes",
        "leave out `--report` and `--learn` of one of the two");
  if (!hasFileSystemPolicy(level))
    return llvm::Error::success(); // there is no filter to listen to
  return llvm::make_error<RunError>(
      RunProblem::Policy,
      "a report needs the kernel's user notification, which is refused here: " + errnoText(error),
      "leave out `--report` and `--learn`, or use Linux 5.5 or newer");
}

} // namespace gos::sandbox
