#include "compiler/bindings/workspace.h"

#include "compiler/bindings/crate_sources.h"
#include "sandbox/beneath.h"
#include "sandbox/command/command_policy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

namespace gos::bindings {

namespace {

enum class Kind : uint8_t { Missing, File, Directory, Other };

Kind kindOf(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return Kind::Missing;
  return S_ISREG(status.st_mode)   ? Kind::File
         : S_ISDIR(status.st_mode) ? Kind::Directory
                                   : Kind::Other;
}

/// Where a URL of a repository names one on this machine: its path.
std::optional<std::string> localRepository(llvm::StringRef url) {
  if (url.consume_front("file://")) {
    std::string path;
    for (size_t at = 0; at != url.size(); ++at) {
      if (url[at] == '%' && at + 2 < url.size() && llvm::isHexDigit(url[at + 1]) &&
          llvm::isHexDigit(url[at + 2])) {
        path += char(llvm::hexFromNibbles(url[at + 1], url[at + 2]));
        at += 2;
      } else {
        path += url[at];
      }
    }
    return path;
  }
  if (url.starts_with("/") || url.starts_with("."))
    return url.str();
  return std::nullopt;
}

bool isRemoteRepository(llvm::StringRef url) {
  for (llvm::StringRef scheme : {"https://", "http://", "ssh://"})
    if (llvm::StringRef rest = url; rest.consume_front(scheme))
      // A host that begins with a dash is an option to somebody.
      return !rest.empty() &&
             llvm::isAlnum(rest.split('@').second.empty() ? rest.front()
                                                          : rest.split('@').second.front());
  return false;
}

class Collector {
public:
  Collector(const Project& project, Engine& engine) : project_(project), engine_(engine) {}

  std::optional<std::vector<Binding>> collect() {
    for (const Package& package : project_.packages)
      if (package.manifest)
        for (const RustBinding& written : package.manifest->bindings)
          add(package, written);
    if (failed_)
      return std::nullopt;
    llvm::sort(bindings_,
               [](const Binding& a, const Binding& b) { return a.written->key < b.written->key; });
    return std::move(bindings_);
  }

private:
  Diagnostic& refuse(const RustBinding& written, const std::string& problem) {
    failed_ = true;
    return engine_.report(written.keySpan, diag::BindingRefused, written.key, problem);
  }

  void add(const Package& package, const RustBinding& written) {
    Binding binding{&written, &package, {}};
    if (written.key == "gossamer-binding" || written.key == "gossamer-binding-macros" ||
        written.key == kRootPackage) {
      refuse(written, "the name belongs to the toolchain").help("give the package another name");
      return;
    }
    switch (written.source) {
    case RustBinding::Source::Version:
      break;
    case RustBinding::Source::Path:
      if (!findPath(binding, Kind::Directory, "directory"))
        return;
      if (kindOf(binding.path + "/Cargo.toml") != Kind::File) {
        refuse(written, "`" + written.value + "` holds no `Cargo.toml`")
            .help("let `path` lead to the directory of a Cargo package");
        return;
      }
      break;
    case RustBinding::Source::SourceFile:
      if (!findPath(binding, Kind::File, "file"))
        return;
      break;
    case RustBinding::Source::Git:
      if (const std::optional<std::string> local = localRepository(written.value)) {
        bool missing = false;
        llvm::Expected<std::string> real =
            sandbox::canonicalPathIn(package.directory, *local, missing);
        if (!real || missing) {
          if (!real)
            llvm::consumeError(real.takeError());
          refuse(written, "repository `" + written.value + "` does not exist");
          return;
        }
        binding.path = std::move(*real);
      } else if (!isRemoteRepository(written.value)) {
        refuse(written, "`" + written.value + "` is no address of a git repository")
            .help("write one that begins with `https://`");
        return;
      }
      break;
    }
    for (const Binding& other : bindings_) {
      if (other.written->key != written.key)
        continue;
      if (isSame(other, binding))
        return;
      refuse(written, "another package of the program takes it from elsewhere")
          .label(other.written->keySpan, "here")
          .help("let both name the same source, or give one of the Cargo packages another name");
      return;
    }
    bindings_.push_back(std::move(binding));
  }

  bool findPath(Binding& binding, Kind wanted, const char* word) {
    const RustBinding& written = *binding.written;
    bool missing = false;
    llvm::Expected<std::string> real =
        sandbox::canonicalPathIn(binding.package->directory, written.value, missing);
    if (!real) {
      refuse(written, llvm::toString(real.takeError()));
      return false;
    }
    if (missing || kindOf(*real) != wanted) {
      refuse(written, "`" + written.value + "` " +
                          (missing ? "does not exist" : "is not a " + std::string(word)))
          .help("the path is relative to the directory of `project.toml`");
      return false;
    }
    binding.path = std::move(*real);
    return true;
  }

  static bool isSame(const Binding& a, const Binding& b) {
    const RustBinding& one = *a.written;
    const RustBinding& two = *b.written;
    return one.source == two.source &&
           (a.path.empty() ? one.value == two.value : a.path == b.path) && one.tag == two.tag &&
           one.branch == two.branch && one.revision == two.revision &&
           one.features == two.features && one.defaultFeatures == two.defaultFeatures;
  }

  const Project& project_;
  Engine& engine_;
  std::vector<Binding> bindings_;
  bool failed_ = false;
};

} // namespace

std::optional<std::vector<Binding>> collectBindings(const Project& project, Engine& engine) {
  return Collector(project, engine).collect();
}

std::string fileUrl(llvm::StringRef path) {
  std::string url = "file://";
  for (char c : path)
    if (llvm::isAlnum(c) || llvm::StringRef("/-._~").contains(c))
      url += c;
    else
      url += "%" + llvm::toHex(llvm::StringRef(&c, 1));
  return url;
}

std::string tomlText(llvm::StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (uint8_t(c) < 0x20 || c == 0x7f)
      quoted += "\\u00" + llvm::toHex(llvm::StringRef(&c, 1), true);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string dependencyOf(const Binding& binding, llvm::StringRef version, bool withFeatures) {
  const RustBinding& written = *binding.written;
  std::string text = "{ package = " + tomlText(written.key);
  switch (written.source) {
  case RustBinding::Source::Version:
    text += ", version = " + tomlText(version.empty() ? llvm::StringRef(written.value) : version);
    break;
  case RustBinding::Source::Path:
    text += ", path = " + tomlText(binding.path);
    break;
  case RustBinding::Source::SourceFile:
    text += ", path = " + tomlText("sources/" + written.key);
    break;
  case RustBinding::Source::Git:
    text += ", git = " + tomlText(binding.path.empty() ? written.value : fileUrl(binding.path));
    for (const auto& [key, value] :
         {std::pair("tag", &written.tag), {"branch", &written.branch}, {"rev", &written.revision}})
      if (!value->empty())
        text += ", " + std::string(key) + " = " + tomlText(*value);
    break;
  }
  if (withFeatures && !written.features.empty()) {
    text += ", features = [";
    for (const std::string& feature : written.features)
      text += tomlText(feature) + ", ";
    text += ']';
  }
  if (withFeatures && !written.defaultFeatures)
    text += ", default-features = false";
  return text + " }";
}

std::string workspaceManifest(llvm::ArrayRef<Binding> bindings) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# Written by gos; all Rust bindings of one program.\n"
         "[package]\nname = \""
      << kRootPackage
      << "\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n"
         "[lib]\ncrate-type = [\"cdylib\"]\n\n[workspace]\nresolver = \"2\"\n\n[dependencies]\n"
         "gossamer-binding = { path = \"../crates/gossamer-binding\" }\n"
         "gossamer-binding-macros = { path = \"../crates/gossamer-binding-macros\" }\n";
  for (const auto& [index, binding] : llvm::enumerate(bindings))
    out << "binding" << index << " = " << dependencyOf(binding, "", /*withFeatures=*/true) << '\n';
  out << "\n[patch.crates-io]\n"
         "gossamer-binding = { path = \"../crates/gossamer-binding\" }\n"
         "gossamer-binding-macros = { path = \"../crates/gossamer-binding-macros\" }\n\n"
         "[profile.release]\npanic = \"unwind\"\nstrip = true\nincremental = false\n";
  return text;
}

llvm::Error writeWorkspace(const Cache& cache, llvm::ArrayRef<Binding> bindings) {
  for (const CrateFile& file : crateSources())
    if (llvm::Error error = cache.write("crates/" + file.path.str(), file.content))
      return error;
  std::string library = "// Written by gos: links each binding.\n"
                        "extern crate gossamer_binding as _;\n";
  for (size_t index = 0; index != bindings.size(); ++index)
    library += llvm::formatv("extern crate binding{0} as _;\n", index);
  if (llvm::Error error = cache.write("workspace/src/lib.rs", library))
    return error;
  for (const Binding& binding : bindings) {
    if (binding.written->source != RustBinding::Source::SourceFile)
      continue;
    const std::string name = "workspace/sources/" + binding.written->key;
    const std::string manifest =
        "# Written by gos: the package of one source file.\n[package]\nname = " +
        tomlText(binding.written->key) +
        "\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n[lib]\npath = " +
        tomlText(binding.path) + "\n\n[dependencies]\ngossamer-binding = \"" +
        crateVersion().str() + "\"\n";
    if (llvm::Error error = cache.write(name + "/Cargo.toml", manifest))
      return error;
  }
  return cache.write("workspace/Cargo.toml", workspaceManifest(bindings));
}

} // namespace gos::bindings
