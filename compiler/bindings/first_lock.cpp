#include "compiler/bindings/first_lock.h"

#include "compiler/bindings/crate_sources.h"
#include "compiler/bindings/lock.h"
#include "compiler/bindings/user_cargo.h"
#include "sandbox/command/command_policy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bindings {

using llvm::StringRef;

namespace {

constexpr size_t kMostPackages = 200;

const TomlValue* valueOf(const TomlValue* table, StringRef key) {
  const TomlEntry* entry = table != nullptr ? table->find(key) : nullptr;
  return entry != nullptr ? &entry->value : nullptr;
}
StringRef textOf(const TomlValue* value) {
  return value != nullptr && value->kind == TomlValue::Kind::Text ? StringRef(value->text)
                                                                  : StringRef();
}
bool isInherited(const TomlValue* value) {
  const TomlValue* workspace = valueOf(value, "workspace");
  return workspace != nullptr && workspace->boolean;
}
/// Names and versions as they stand in a lock.
bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || StringRef("-_.+").contains(c);
  });
}

struct Package {
  std::string name, version, directory;
  std::vector<std::string> dependencies;
  std::string source; // empty: a path
};

/// Packages of directories, and of the directories that their manifests name.
class Walk {
public:
  /// The name of the package, or empty where nothing is known of it.
  std::string add(const std::string& directory) {
    for (const Package& package : packages)
      if (package.directory == directory)
        return package.name;
    if (packages.size() == kMostPackages)
      return {};
    const std::optional<TomlValue> manifest = readTable(directory + "/Cargo.toml");
    const TomlValue* own = manifest ? valueOf(&*manifest, "package") : nullptr;
    const TomlValue* written = valueOf(own, "version");
    const std::optional<TomlValue> above = workspaceOf(directory);
    const TomlValue* workspace = above ? valueOf(&*above, "workspace") : nullptr;
    Package package;
    package.name = textOf(valueOf(own, "name")).str();
    package.version =
        textOf(isInherited(written) ? valueOf(valueOf(workspace, "package"), "version") : written)
            .str();
    if (package.version.empty())
      package.version = "0.0.0";
    package.directory = directory;
    if (!isWord(package.name) || !isWord(package.version) ||
        llvm::any_of(packages, [&](const Package& other) { return other.name == package.name; }))
      return {};
    const size_t index = packages.size();
    packages.push_back(package);
    const TomlValue* dependencies = valueOf(&*manifest, "dependencies");
    if (dependencies == nullptr || dependencies->kind != TomlValue::Kind::Table)
      return package.name;
    for (const TomlEntry& entry : dependencies->entries) {
      const TomlValue* shared = isInherited(&entry.value)
                                    ? valueOf(valueOf(workspace, "dependencies"), entry.key)
                                    : nullptr;
      const TomlValue& value = shared != nullptr ? *shared : entry.value;
      const StringRef renamed = textOf(valueOf(&value, "package"));
      const StringRef path = textOf(valueOf(&value, "path"));
      std::string name;
      if (!path.empty())
        name = addBeneath(shared != nullptr ? workspaceDirectory_ : directory, path);
      else if ((renamed.empty() ? StringRef(entry.key) : renamed) == "gossamer-binding")
        name = "gossamer-binding";
      if (!name.empty())
        packages[index].dependencies.push_back(name);
    }
    return package.name;
  }

  std::vector<Package> packages;

private:
  std::string addBeneath(const std::string& directory, StringRef path) {
    // As deep as there are packages, and no deeper.
    if (depth_ == 32)
      return {};
    const std::string kept = workspaceDirectory_;
    bool missing = false;
    llvm::Expected<std::string> real = sandbox::canonicalPathIn(directory, path.str(), missing);
    if (!real) {
      llvm::consumeError(real.takeError());
      return {};
    }
    ++depth_;
    std::string name = missing ? std::string() : add(*real);
    --depth_;
    workspaceDirectory_ = kept;
    return name;
  }

  /// The manifest of the Cargo workspace that a directory is in.
  std::optional<TomlValue> workspaceOf(StringRef directory) {
    for (; !directory.empty(); directory = directory.rsplit('/').first) {
      std::optional<TomlValue> manifest = readTable((directory + "/Cargo.toml").str());
      if (manifest && manifest->find("workspace") != nullptr) {
        workspaceDirectory_ = directory.str();
        return manifest;
      }
    }
    return std::nullopt;
  }

  std::string workspaceDirectory_;
  unsigned depth_ = 0;
};

} // namespace

std::string firstLock(StringRef before, llvm::ArrayRef<Binding> bindings,
                      llvm::ArrayRef<LockedPackage> found) {
  Walk walk;
  Package top{kRootPackage, "0.0.0", {}, {"gossamer-binding", "gossamer-binding-macros"}, {}};
  for (const Binding& binding : bindings) {
    if (binding.written->source == RustBinding::Source::Path) {
      if (std::string name = walk.add(binding.path); !name.empty())
        top.dependencies.push_back(std::move(name));
    } else if (binding.written->source == RustBinding::Source::SourceFile &&
               isWord(binding.written->key)) {
      walk.packages.push_back({binding.written->key, "0.0.0", {}, {"gossamer-binding"}, {}});
      top.dependencies.push_back(binding.written->key);
    }
  }
  std::vector<Package> packages = std::move(walk.packages);
  llvm::erase_if(packages, [](const Package& package) {
    return package.name == "gossamer-binding" || package.name == "gossamer-binding-macros" ||
           package.name == kRootPackage;
  });
  // Whether they do depend on it nobody knows yet; Cargo leaves out what is not so.
  for (const LockedPackage& each : found) {
    if (!isWord(each.name) || !isWord(each.version) ||
        llvm::any_of(packages, [&](const Package& other) { return other.name == each.name; }))
      continue;
    top.dependencies.push_back(each.name);
    packages.push_back({each.name, each.version, {}, {"gossamer-binding"}, each.source});
  }
  packages.push_back(std::move(top));
  packages.push_back(
      {"gossamer-binding", crateVersion().str(), {}, {"gossamer-binding-macros"}, {}});
  packages.push_back({"gossamer-binding-macros", crateVersion().str(), {}, {}, {}});

  std::string text = before.empty() ? "version = 3\n" : before.str();
  std::vector<LockedPackage> locked;
  if (llvm::Expected<std::vector<LockedPackage>> parsed = parseLock(before))
    locked = std::move(*parsed);
  else
    llvm::consumeError(parsed.takeError());
  for (Package& package : packages) {
    if (llvm::any_of(locked, [&](const LockedPackage& other) {
          return other.name == package.name && other.source.empty() == package.source.empty();
        }))
      continue;
    text +=
        "\n[[package]]\nname = \"" + package.name + "\"\nversion = \"" + package.version + "\"\n";
    if (!package.source.empty())
      text += "source = \"" + package.source + "\"\n";
    if (package.dependencies.empty())
      continue;
    llvm::sort(package.dependencies);
    package.dependencies.erase(
        std::unique(package.dependencies.begin(), package.dependencies.end()),
        package.dependencies.end());
    text += "dependencies = [\n";
    for (const std::string& name : package.dependencies)
      text += " \"" + name + "\",\n";
    text += "]\n";
  }
  return text;
}

} // namespace gos::bindings
