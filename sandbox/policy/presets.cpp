#include "sandbox/policy/presets.h"

#include "llvm/ADT/STLExtras.h"

namespace gos {

Policy comptimePolicy(ComptimeIo level, llvm::StringRef root, llvm::ArrayRef<std::string> denials,
                      llvm::ArrayRef<std::string> permittedEnv) {
  Policy policy = Policy().withCapabilities(capabilitiesAt(level));
  switch (level) {
  case ComptimeIo::None:
    return policy;
  case ComptimeIo::Confined: {
    std::vector<PathRule> rules;
    rules.reserve(denials.size() + 1);
    if (!root.empty())
      rules.push_back({root.str(), Access::ReadOnly, Origin::Shipped, {}});
    // A denial above the root closes the root itself: a package that lies beneath one is closed, on
    // purpose.
    for (const std::string& path : denials)
      rules.push_back({path, Access::Deny, Origin::Shipped, {}});
    policy = policy.withRules(std::move(rules));
    return policy.allowEnv(
        llvm::SmallVector<llvm::StringRef>(permittedEnv.begin(), permittedEnv.end()));
  }
  case ComptimeIo::Full:
    return policy.withLevel(SandboxLevel::None)
        .withNetwork(NetworkMode::Open)
        .withTemp(TempMode::Inherit)
        .allowAllEnv();
  }
  return Policy();
}

std::vector<std::string> shippedDenials(llvm::ArrayRef<std::string> homes) {
  std::vector<std::string> paths;
  for (const std::string& home : homes) {
    // Of `/` as a home (service accounts) nothing is denied: it would hit honest trees.
    if (home == "/" || !isCanonicalPath(home))
      continue;
#define GOS_CREDENTIAL(path) paths.push_back(home + "/" path);
#include "sandbox/policy/credentials.def"
  }
  llvm::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

llvm::ArrayRef<Relocation> relocations() {
  static constexpr Relocation kRows[] = {
#define GOS_RELOCATED(variable, suffix) {variable, suffix},
#include "sandbox/policy/credentials.def"
  };
  return kRows;
}

llvm::StringRef tooWideForRoot(llvm::StringRef directory, llvm::ArrayRef<std::string> homes,
                               bool sharedTemp) {
  if (directory == "/")
    return "the root of the file system";
  for (const std::string& home : homes) {
    if (home == "/")
      continue;
    if (directory == home)
      return "a home directory";
    if (isAtOrBeneath(home, directory))
      return "a directory above a home directory";
  }
  for (llvm::StringRef temp : {"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"})
    if (directory == temp)
      return "a shared temporary directory";
  return sharedTemp ? "a shared temporary directory" : "";
}

} // namespace gos
