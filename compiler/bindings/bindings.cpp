#include "compiler/bindings/bindings.h"

#include "compiler/bindings/artifact.h"
#include "compiler/bindings/build.h"
#include "compiler/bindings/crate_sources.h"
#include "compiler/bindings/inner_addresses.h"
#include "compiler/bindings/policies.h"
#include "compiler/bindings/reproducible.h"
#include "sandbox/command/explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace gos::bindings {

namespace {

/// Everything but the toolchain; none after reports.
std::optional<BuildFacts> factsOf(const Project& project, const BuildOptions& options,
                                  Engine& engine) {
  BuildFacts facts;
  facts.project = &project;
  facts.flags = options.sandbox;
  facts.level = effectiveLevel(project, options.sandbox);
  facts.host = sandbox::hostFacts();
  for (const Package& package : project.packages)
    if (package.manifest && !package.loneFile &&
        !llvm::is_contained(facts.programDirectories, package.directory))
      facts.programDirectories.push_back(package.directory);
  std::optional<std::vector<Binding>> bindings = collectBindings(project, engine);
  if (!bindings)
    return std::nullopt;
  facts.bindings = std::move(*bindings);
  facts.user = readUserCargo(facts.host.environment, facts.programDirectories);
  facts.variables = buildVariables(facts.host.environment, facts.programDirectories);
  return facts;
}

bool addToolchain(BuildFacts& facts, Engine& engine) {
  llvm::Expected<Toolchain> toolchain =
      findToolchain(facts.host.environment, facts.programDirectories);
  if (toolchain) {
    facts.toolchain = std::move(*toolchain);
    return true;
  }
  llvm::handleAllErrors(toolchain.takeError(), [&](const NoToolchain& none) {
    engine.report(diag::CargoUnusable, none.text).help(none.remedy);
  });
  return false;
}

/// A digest of parts, each with its length.
class Digest {
public:
  void add(llvm::StringRef text) {
    const uint64_t size = text.size();
    hash_.update(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(&size), sizeof size));
    hash_.update(text);
  }
  std::string text() { return llvm::toHex(hash_.final(), true); }

private:
  llvm::SHA256 hash_;
};

/// A digest of all that a library depends on besides source files and how its build was confined.
std::string inputsOf(const BuildFacts& facts) {
  Digest digest;
  digest.add(GOS_VERSION);
  digest.add(workspaceManifest(facts.bindings));
  for (const CrateFile& file : crateSources()) {
    digest.add(file.path);
    digest.add(file.content);
  }
  digest.add(facts.toolchain.identity);
  digest.add(facts.user.config);
  for (const std::string& name : facts.variables.passed)
    if (const char* value = sandbox::environmentValue(facts.host.environment, name)) {
      digest.add(name);
      digest.add(value);
    }
  for (const std::string& entry : trustedPath(facts.host.environment, facts.programDirectories))
    digest.add(entry);
  llvm::Expected<std::optional<std::string>> lock =
      readProjectLock(facts.project->root().directory);
  if (!lock)
    llvm::consumeError(lock.takeError());
  else
    digest.add(lock->value_or("no lock"));
  return digest.text();
}

/// The same with how the build is confined.
std::string keyOf(const BuildFacts& facts) {
  Digest digest;
  digest.add(inputsOf(facts));
  digest.add(gos::spelling(facts.level));
  digest.add(facts.flags.network ? "network" : "");
  for (const std::vector<std::string>* list : {&facts.flags.readOnly, &facts.flags.readWrite}) {
    digest.add("grants");
    for (const std::string& path : *list)
      digest.add(path);
  }
  return digest.text();
}

std::string stateName(SandboxLevel level) {
  return "state-" + gos::spelling(level).str();
}

/// The library of the last build, if nothing has changed since.
std::optional<Artifact> freshArtifact(const BuildFacts& facts, const Cache& cache) {
  const std::optional<Freshness> last = readFreshness(cache, stateName(facts.level));
  if (!last || last->listing.empty() || last->key != keyOf(facts) ||
      listingDigest(last->roots, 0) != last->listing)
    return std::nullopt;
  llvm::Expected<Artifact> artifact = loadArtifact(cache, last->sha256);
  if (artifact)
    return std::move(*artifact);
  llvm::consumeError(artifact.takeError()); // it is built again
  return std::nullopt;
}

/// The library of the last build of this level or of a stricter one, whatever was granted to it:
/// for who builds nothing and reads what it declares.
std::optional<Artifact> readableArtifact(const BuildFacts& facts, const Cache& cache) {
  const std::string inputs = inputsOf(facts);
  for (SandboxLevel level :
       {SandboxLevel::None, SandboxLevel::Basic, SandboxLevel::Standard, SandboxLevel::Strict}) {
    if (stricter(level, facts.level) != level)
      continue;
    const std::optional<Freshness> last = readFreshness(cache, stateName(level));
    if (!last || last->listing.empty() || last->inputs != inputs ||
        listingDigest(last->roots, 0) != last->listing)
      continue;
    llvm::Expected<Artifact> artifact = loadArtifact(cache, last->sha256);
    if (artifact)
      return std::move(*artifact);
    llvm::consumeError(artifact.takeError());
  }
  return std::nullopt;
}

/// Where sources of a build lie that no checksum covers: packages, and the files that it read
/// elsewhere.
std::vector<std::string> rootsOf(const BuildFacts& facts, const Cache& cache,
                                 std::vector<std::string> packages,
                                 const std::vector<std::string>& files) {
  for (const Binding& binding : facts.bindings)
    if (binding.written->source == RustBinding::Source::SourceFile)
      // Modules of the file lie beside it.
      packages.push_back(llvm::StringRef(binding.path).rsplit('/').first.str());
    else if (binding.written->source == RustBinding::Source::Path)
      packages.push_back(binding.path);
  for (const std::vector<std::string>* list : {&facts.flags.readOnly, &facts.flags.readWrite})
    for (const std::string& written : *list) {
      bool missing = false;
      if (llvm::Expected<std::string> path = sandbox::canonicalPath(written, missing))
        packages.push_back(std::move(*path));
      else
        llvm::consumeError(path.takeError());
    }
  // A workspace of Cargo above a package has its say in it.
  llvm::erase_if(packages,
                 [&](const std::string& path) { return isAtOrBeneath(path, cache.project()); });
  for (size_t at = 0, end = packages.size(); at != end; ++at)
    for (llvm::StringRef above = llvm::StringRef(packages[at]).rsplit('/').first; !above.empty();
         above = above.rsplit('/').first)
      packages.push_back((above + "/Cargo.toml").str());
  for (const std::string& file : files) {
    bool missing = false;
    if (llvm::Expected<std::string> path = sandbox::canonicalPath(file, missing))
      packages.push_back(std::move(*path));
    else
      llvm::consumeError(path.takeError());
  }
  llvm::sort(packages);
  std::vector<std::string> roots;
  for (std::string& path : packages)
    // What we wrote is in the key.
    if (!isAtOrBeneath(path, cache.project()) &&
        (roots.empty() || !isAtOrBeneath(path, roots.back())))
      roots.push_back(std::move(path));
  return roots;
}

bool prepare(const BuildFacts& facts, const Cache& cache, Engine& engine) {
  llvm::Error error = llvm::Error::success();
  for (const std::string& name :
       {std::string("home"), std::string("artifacts"), targetName(facts.level)})
    if (!error)
      error = cache.makeDirectory(name);
  if (!error)
    error = cache.write("project", facts.project->root().directory);
  if (!error)
    error = writeWorkspace(cache, facts.bindings);
  if (!error)
    error = cache.writeProgram(kCompilerScript, compilerScript(facts, cache));
  if (!error)
    error = cache.writeCargoConfig(facts.user.config);
  if (!error)
    return true;
  reportCache(std::move(error), engine);
  return false;
}

std::optional<Cache> openCache(const BuildFacts& facts, Engine& engine) {
  llvm::Expected<Cache> cache = Cache::open(facts.host.environment, facts.project->root().directory,
                                            facts.programDirectories);
  if (cache)
    return std::move(*cache);
  reportCache(cache.takeError(), engine);
  return std::nullopt;
}

} // namespace

bool hasBindings(const Project& project) {
  return llvm::any_of(project.packages, [](const Package& package) {
    return package.manifest && !package.manifest->bindings.empty();
  });
}

std::optional<Artifact> ensureBindings(const Project& project, const BuildOptions& options,
                                       Engine& engine) {
  std::optional<BuildFacts> facts = factsOf(project, options, engine);
  if (!facts || !addToolchain(*facts, engine))
    return std::nullopt;
  std::optional<Cache> cache = openCache(*facts, engine);
  if (!cache)
    return std::nullopt;
  if (std::optional<Artifact> fresh = freshArtifact(*facts, *cache))
    return fresh;
  if (!options.mayBuild) {
    if (std::optional<Artifact> readable = readableArtifact(*facts, *cache))
      return readable;
    engine.report(diag::BindingsNotBuilt, "no library of the last build fits the sources")
        .help("`gos check` in the project builds one; with `--sandbox` what that runs is confined");
    return std::nullopt;
  }
  if (llvm::Error error = cache->lock()) {
    reportCache(std::move(error), engine);
    return std::nullopt;
  }
  // Somebody else may have built it meanwhile.
  if (std::optional<Artifact> fresh = freshArtifact(*facts, *cache))
    return fresh;
  if (!prepare(*facts, *cache, engine))
    return std::nullopt;
  llvm::Expected<Policy> policy = policyOf(Phase::Build, *facts, *cache);
  if (!policy) {
    reportSandbox(policy.takeError(), engine);
    return std::nullopt;
  }
  if (!checkReadable(*facts, *policy, engine))
    return std::nullopt;
  const int64_t begin = changeClock();
  Build build(*facts, options, *cache, engine);
  std::optional<Artifact> artifact = build.run();
  if (!artifact)
    return std::nullopt;
  Freshness freshness;
  freshness.key = keyOf(*facts); // with the lock as it is now
  freshness.inputs = inputsOf(*facts);
  // Where Cargo left no list of what it read, it is asked again next time; the same if a source was
  // changed meanwhile.
  if (const auto files = filesBuiltFrom(*cache, targetName(facts->level))) {
    freshness.roots = rootsOf(*facts, *cache, build.pathPackages(), *files);
    freshness.listing = listingDigest(freshness.roots, begin);
  }
  freshness.sha256 = artifact->sha256;
  const std::optional<Freshness> before = readFreshness(*cache, stateName(facts->level));
  if (llvm::Error error = writeFreshness(*cache, stateName(facts->level), freshness))
    llvm::consumeError(std::move(error)); // the next start asks Cargo again
  else if (before && before->sha256 != freshness.sha256)
    cache->remove("artifacts/" + before->sha256);
  return artifact;
}

bool explainSandbox(const Project& project, const BuildOptions& options, llvm::raw_ostream& out,
                    Engine& engine) {
  std::optional<BuildFacts> facts = factsOf(project, options, engine);
  if (!facts || !addToolchain(*facts, engine))
    return false;
  std::optional<Cache> cache = openCache(*facts, engine);
  if (!cache || !prepare(*facts, *cache, engine))
    return false;
  facts->user.tokens.clear(); // they are shown to nobody
  for (Phase phase : {Phase::Fetch, Phase::Build}) {
    llvm::Expected<Policy> policy = policyOf(phase, *facts, *cache);
    if (!policy) {
      reportSandbox(policy.takeError(), engine);
      return false;
    }
    CargoCall call;
    call.arguments = argumentsOf(phase, *facts, *cache);
    call.environment = facts->host.environment;
    call.policy = *policy;
    llvm::Expected<sandbox::ChildPlan> plan = planOfCargo(facts->toolchain, call);
    if (!plan) {
      reportSandbox(plan.takeError(), engine);
      return false;
    }
    out << (phase == Phase::Fetch ? "fetch: " : "\nbuild: ") << facts->toolchain.cargo;
    for (const std::string& argument : call.arguments)
      out << ' ' << argument;
    out << '\n';
    sandbox::ExplainOptions explain;
    if (!facts->host.homes.empty())
      explain.home = facts->host.homes.front();
    out << sandbox::explainText(*policy, *plan, explain);
    if (phase == Phase::Fetch)
      out << "the fetch runs no code of the project; it reaches every host that you reach: "
          << (refusesInner(*facts)
                  ? "addresses of this machine and of inner networks that the project names are "
                    "refused beforehand, those that a name or a redirect leads to are not\n"
                  : "addresses of this machine and of inner networks as well\n");
  }
  out << "the program itself is not confined by this\n";
  return true;
}

} // namespace gos::bindings
