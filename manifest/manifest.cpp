#include "manifest/manifest.h"

#include "manifest/manifest_tables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace gos {

namespace {
using namespace keys;

class ManifestReader {
public:
  ManifestReader(FileId file, Engine& engine) : engine_(engine), tables_(engine) {
    manifest_.file = file;
  }

  std::optional<Manifest> read(const TomlValue& top) {
    for (const TomlEntry& entry : top.entries)
      readTopEntry(entry);
    if (!manifest_.hasProject && !manifest_.workspaceMembers && !tables_.failed()) {
      tables_.fail();
      engine_.report(top.span, diag::MissingKey, "project", "the manifest")
          .help("begin with `[project]`, `id` and `version`");
    }
    checkModuleNames();
    if (tables_.failed())
      return std::nullopt;
    return std::move(manifest_);
  }

private:
  void readTopEntry(const TomlEntry& entry) {
    const TableRow* row = llvm::find_if(
        topTables(), [&](const TableRow& table) { return table.spelling == entry.key; });
    if (row == topTables().end()) {
      tables_.reportUnknownTop(entry);
      return;
    }
    if (entry.value.kind != TomlValue::Kind::Table) {
      tables_.wrongType(entry, "a table");
      return;
    }
    switch (row->table) {
    case Table::Project:
      readProject(entry);
      return;
    case Table::Dependencies:
      for (const TomlEntry& dependency : entry.value.entries)
        readDependency(dependency, manifest_.dependencies);
      return;
    case Table::Replace:
      for (const TomlEntry& dependency : entry.value.entries)
        readDependency(dependency, manifest_.replacements);
      return;
    case Table::Registries:
      readRegistries(entry.value);
      return;
    case Table::TrustedPublishers:
      readTrustedPublishers(entry.value);
      return;
    case Table::RustBindings:
      for (const TomlEntry& binding : entry.value.entries)
        readBinding(binding);
      return;
    case Table::Workspace:
      readWorkspace(entry);
      return;
    case Table::Dependency:
    case Table::Binding:
      return; // no tables of the top; topTables() has none of them
    }
  }

  // ---- [project] and [workspace]

  void readProject(const TomlEntry& table) {
    manifest_.hasProject = true;
    tables_.read(Table::Project, table, "`[project]`",
                 [&](Key key, const Checked& value, Span span) {
                   if (key == Key::ProjectId) {
                     manifest_.id = value.text;
                     manifest_.idSpan = span;
                   } else if (key == Key::ProjectVersion) {
                     manifest_.version = value.version;
                   } else if (key == Key::ProjectAuthors) {
                     manifest_.authors = value.texts();
                   } else if (key == Key::ProjectLicense) {
                     manifest_.license = value.text;
                   } else if (key == Key::ProjectOutput) {
                     manifest_.output = {value.text, span};
                   } else if (key == Key::ProjectEntry) {
                     manifest_.entry = {value.text, span};
                   } else if (key == Key::ProjectFfi) {
                     manifest_.ffi = value.boolean;
                   } else if (key == Key::ProjectComptimeIo) {
                     manifest_.comptimeIo = {value.level, span};
                   } else if (key == Key::ProjectGossamerVersion) {
                     manifest_.gossamerVersion = {value.requirement, span};
                   } else if (key == Key::ProjectSandbox) {
                     manifest_.sandbox = {value.sandbox, span};
                   } else if (key == Key::ProjectEnforceFormat) {
                     manifest_.enforceFormat = value.boolean;
                   }
                 });
  }

  void readWorkspace(const TomlEntry& table) {
    manifest_.workspaceMembers.emplace();
    tables_.read(Table::Workspace, table, "`[workspace]`", [&](Key, const Checked& value, Span) {
      for (const Spanned<std::string>& member : value.list) {
        if (!staysInside(member.value)) {
          tables_.fail();
          engine_.report(member.span, diag::WorkspaceMember, member.value,
                         "it leads outside the workspace");
        }
      }
      manifest_.workspaceMembers = value.list;
    });
  }

  // ---- [dependencies]

  void readDependency(const TomlEntry& entry, std::vector<Dependency>& into) {
    Dependency dependency;
    dependency.key = entry.key;
    dependency.keySpan = entry.keySpan;
    if (llvm::StringRef problem = packageIdProblem(entry.key); !problem.empty()) {
      tables_.fail();
      engine_.report(entry.keySpan, diag::BadPackageId, entry.key, problem);
      return;
    }
    if (entry.value.kind == TomlValue::Kind::Text) {
      Checked value;
      if (!tables_.checkRequirement(entry.key, entry.value, value))
        return;
      dependency.requirement = value.requirement;
    } else if (entry.value.kind == TomlValue::Kind::Table) {
      if (!readDependencyTable(entry, dependency))
        return;
    } else {
      tables_.wrongType(entry, "a version requirement or a table");
      return;
    }
    if (dependency.moduleName.empty())
      dependency.moduleName = moduleNameOf(dependency.key);
    if (dependency.moduleName.empty()) {
      tables_.fail();
      engine_
          .report(entry.keySpan, diag::BadPackageId, entry.key,
                  "its last segment cannot be the name of a module")
          .help("name the module: `module = \"name\"`");
      return;
    }
    into.push_back(std::move(dependency));
  }

  bool readDependencyTable(const TomlEntry& entry, Dependency& dependency) {
    const std::string name = "dependency `" + entry.key + "`";
    const size_t failuresBefore = tables_.failures();
    tables_.read(Table::Dependency, entry, name, [&](Key key, const Checked& value, Span span) {
      if (key == Key::DependencyPath) {
        dependency.source = Dependency::Source::Path;
        dependency.path = value.text;
        dependency.pathSpan = span;
      } else if (key == Key::DependencyGit) {
        dependency.source = Dependency::Source::Git;
        dependency.url = value.text;
      } else if (key == Key::DependencyUrl) {
        dependency.source = Dependency::Source::Url;
        dependency.url = value.text;
      } else if (key == Key::DependencyTag) {
        dependency.tag = value.text;
      } else if (key == Key::DependencyBranch) {
        dependency.branch = value.text;
      } else if (key == Key::DependencyRev) {
        dependency.revision = value.text;
      } else if (key == Key::DependencySha256) {
        dependency.sha256 = value.text;
      } else if (key == Key::DependencyVersion) {
        dependency.requirement = value.requirement;
      } else if (key == Key::DependencyModule) {
        dependency.moduleName = value.text;
      }
    });
    tables_.checkSources(entry, name, {"path", "git", "url"}, {"version"});
    tables_.requireWith(entry, name, "url", "sha256");
    return tables_.failures() == failuresBefore;
  }

  // ---- [rust-bindings]

  void readBinding(const TomlEntry& entry) {
    RustBinding binding;
    binding.key = entry.key;
    binding.keySpan = entry.keySpan;
    const bool plainName =
        !entry.key.empty() && llvm::isAlpha(entry.key.front()) &&
        llvm::all_of(entry.key, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; });
    if (!plainName) {
      tables_.fail();
      engine_.report(entry.keySpan, diag::BadPackageId, entry.key,
                     "a Cargo package is letters, digits, `-` and `_`");
      return;
    }
    if (entry.value.kind == TomlValue::Kind::Text) {
      Checked value;
      if (!tables_.checkText(Type::CargoVersion, entry.key, entry.value, value))
        return;
      binding.value = value.text;
    } else if (entry.value.kind == TomlValue::Kind::Table) {
      const std::string name = "binding `" + entry.key + "`";
      tables_.read(Table::Binding, entry, name, [&](Key key, const Checked& value, Span) {
        if (key == Key::BindingPath) {
          binding.source = RustBinding::Source::Path;
          binding.value = value.text;
        } else if (key == Key::BindingVersion) {
          binding.source = RustBinding::Source::Version;
          binding.value = value.text;
        } else if (key == Key::BindingGit) {
          binding.source = RustBinding::Source::Git;
          binding.value = value.text;
        } else if (key == Key::BindingSrc) {
          binding.source = RustBinding::Source::SourceFile;
          binding.value = value.text;
        } else if (key == Key::BindingTag) {
          binding.tag = value.text;
        } else if (key == Key::BindingBranch) {
          binding.branch = value.text;
        } else if (key == Key::BindingRev) {
          binding.revision = value.text;
        } else if (key == Key::BindingFeatures) {
          binding.features = value.texts();
        } else if (key == Key::BindingDefaultFeatures) {
          binding.defaultFeatures = value.boolean;
        }
      });
      tables_.checkSources(entry, name, {"path", "git", "version", "src"}, {});
    } else {
      tables_.wrongType(entry, "a version or a table");
      return;
    }
    manifest_.bindings.push_back(std::move(binding));
  }

  // ---- tables of free names

  void readRegistries(const TomlValue& table) {
    for (const TomlEntry& entry : table.entries) {
      Checked value;
      if (tables_.checkText(Type::Url, entry.key, entry.value, value))
        manifest_.registries.push_back({entry.key, value.text});
    }
  }

  void readTrustedPublishers(const TomlValue& table) {
    for (const TomlEntry& entry : table.entries) {
      Checked value;
      const bool good = entry.value.kind == TomlValue::Kind::Array
                            ? tables_.checkList(entry.key, entry.value, value)
                            : tables_.checkText(Type::Text, entry.key, entry.value, value);
      if (good)
        manifest_.trustedPublishers.push_back(entry.key);
    }
  }

  void checkModuleNames() {
    llvm::StringMap<const Dependency*> seen;
    for (const Dependency& dependency : manifest_.dependencies) {
      auto [place, isNew] = seen.try_emplace(dependency.moduleName, &dependency);
      if (isNew)
        continue;
      tables_.fail();
      engine_.report(dependency.keySpan, diag::ConflictingKeys, place->second->key, dependency.key)
          .label(place->second->keySpan, "is module `" + dependency.moduleName + "` too")
          .help("give one of them another name: `module = \"name\"`");
    }
  }

  Engine& engine_;
  TableReader tables_;
  Manifest manifest_;
};
} // namespace

std::optional<Manifest> readManifest(FileId file, Engine& engine) {
  std::optional<TomlValue> top = readToml(file, engine);
  if (!top)
    return std::nullopt;
  return ManifestReader(file, engine).read(*top);
}

std::string moduleNameOf(llvm::StringRef idOrKey) {
  std::string name = idOrKey.rsplit('/').second.str();
  if (!idOrKey.contains('/'))
    name = idOrKey.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return keys::isModuleName(name) ? name : std::string();
}

bool staysInside(llvm::StringRef path) {
  if (path.empty() || path.contains('\0') || path.starts_with("/") || path.starts_with("\\"))
    return false;
  if (path.size() > 1 && llvm::isAlpha(path[0]) && path[1] == ':')
    return false;
  std::string slashes = path.str();
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  for (llvm::StringRef component : llvm::split(llvm::StringRef(slashes), '/'))
    if (component == "..")
      return false;
  return true;
}

} // namespace gos
