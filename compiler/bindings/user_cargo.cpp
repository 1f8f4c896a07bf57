#include "compiler/bindings/user_cargo.h"

#include "compiler/bindings/inner_addresses.h"
#include "manifest/toml_reader.h"
#include "sandbox/beneath.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <unistd.h>

namespace gos::bindings {

using sandbox::environmentValue;

namespace {

bool liesInside(llvm::StringRef path, llvm::ArrayRef<std::string> directories) {
  const std::string real = realPathOf(path.str());
  return llvm::any_of(directories, [&](const std::string& directory) {
    return isAtOrBeneath(path, directory) || (!real.empty() && isAtOrBeneath(real, directory));
  });
}

/// The user's CARGO_HOME, if it is absolute and not the program's.
std::string cargoHome(llvm::ArrayRef<std::string> environment,
                      llvm::ArrayRef<std::string> programDirectories) {
  const char* named = environmentValue(environment, "CARGO_HOME");
  if (named != nullptr && named[0] == '/' && !liesInside(named, programDirectories))
    return named;
  const char* home = environmentValue(environment, "HOME");
  if (home == nullptr || home[0] != '/')
    return {};
  std::string path = std::string(home) + "/.cargo";
  return liesInside(path, programDirectories) ? std::string() : path;
}

} // namespace

std::optional<TomlValue> readTable(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return std::nullopt;
  const ReadBytes bytes = readAll(fd.get(), 1 << 20);
  if (bytes.failure != Failure::None)
    return std::nullopt;
  SourceMap sources;
  Engine engine(sources);
  llvm::Expected<FileId> file = sources.addCopy(path, bytes.bytes);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  return readToml(*file, engine);
}

namespace {

void writeText(llvm::raw_ostream& out, llvm::StringRef text) {
  out << '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out << '\\' << c;
    else if (uint8_t(c) < 0x20 || c == 0x7f)
      out << "\\u00" << llvm::toHex(llvm::StringRef(&c, 1), true);
    else
      out << c;
  }
  out << '"';
}

void writeValue(llvm::raw_ostream& out, const TomlValue& value) {
  switch (value.kind) {
  case TomlValue::Kind::Text:
    writeText(out, value.text);
    break;
  case TomlValue::Kind::Integer:
    out << value.integer;
    break;
  case TomlValue::Kind::Boolean:
    out << (value.boolean ? "true" : "false");
    break;
  case TomlValue::Kind::Array:
    out << '[';
    for (const TomlValue& item : value.items) {
      writeValue(out, item);
      out << ", ";
    }
    out << ']';
    break;
  case TomlValue::Kind::Table: {
    out << '{';
    bool first = true;
    for (const TomlEntry& entry : value.entries) {
      out << (first ? " " : ", ");
      first = false;
      writeText(out, entry.key);
      out << " = ";
      writeValue(out, entry.value);
    }
    out << " }";
    break;
  }
  case TomlValue::Kind::Float:
  case TomlValue::Kind::Time:
    out << "0"; // no key of Cargo that is taken over has one
    break;
  }
}

/// Keys that name a program, or that we set.
bool isLeftOut(llvm::StringRef table, llvm::StringRef key) {
  return key == "credential-provider" || key == "global-credential-providers" || key == "token" ||
         key == "secret-key" || key == "secret-key-subject" ||
         (table == "net" && (key == "git-fetch-with-cli" || key == "offline"));
}

class Reader {
public:
  Reader(std::string home, UserCargo& user) : home_(std::move(home)), user_(user) {}

  void read() {
    std::optional<TomlValue> config = readTable(home_ + "/config.toml");
    if (!config)
      config = readTable(home_ + "/config");
    llvm::raw_string_ostream out(user_.config);
    if (config)
      for (const char* table : {"registries", "source", "registry", "http", "net"})
        if (const TomlEntry* entry = config->find(table);
            entry != nullptr && entry->value.kind == TomlValue::Kind::Table)
          writeTable(out, table, entry->value);
    out << "[registry]\n";
    std::string defaults = std::move(registry_);
    // Nobody but the file of tokens is asked for one; a helper would be a program.
    out << defaults << "global-credential-providers = [\"cargo:token\"]\n";
    out << "[net]\n" << net_ << "git-fetch-with-cli = false\n";
    readTokens(config);
  }

private:
  void writeTable(llvm::raw_ostream& out, llvm::StringRef table, const TomlValue& value) {
    if (table == "registry" || table == "net") {
      llvm::raw_string_ostream lines(table == "net" ? net_ : registry_);
      for (const TomlEntry& entry : value.entries)
        if (!isLeftOut(table, entry.key))
          writeEntry(lines, entry.key, entry.value);
      return;
    }
    if (table == "http") {
      out << "[http]\n";
      for (const TomlEntry& entry : value.entries)
        writeEntry(out, entry.key, absolute(entry.key, entry.value));
      return;
    }
    for (const TomlEntry& named : value.entries) {
      if (named.value.kind != TomlValue::Kind::Table)
        continue;
      if (table == "registries")
        names_.push_back(named.key);
      out << '[' << table << '.';
      writeText(out, named.key);
      out << "]\n";
      for (const TomlEntry& entry : named.value.entries)
        if (!isLeftOut(table, entry.key))
          writeEntry(out, entry.key, absolute(entry.key, entry.value));
    }
  }
  void writeEntry(llvm::raw_ostream& out, llvm::StringRef key, const TomlValue& value) {
    if (value.kind == TomlValue::Kind::Float || value.kind == TomlValue::Kind::Time)
      return;
    if (std::string host =
            value.kind == TomlValue::Kind::Text && value.text.find("://") != std::string::npos
                ? authorityOf(value.text)
                : std::string();
        !host.empty())
      user_.hosts.push_back(std::move(host));
    writeText(out, key);
    out << " = ";
    writeValue(out, value);
    out << '\n';
  }
  /// Paths of a configuration are relative to what holds its directory; ours lies elsewhere.
  TomlValue absolute(llvm::StringRef key, TomlValue value) {
    if (value.kind != TomlValue::Kind::Text ||
        (key != "directory" && key != "local-registry" && key != "cainfo"))
      return value;
    if (!llvm::StringRef(value.text).starts_with("/"))
      value.text = (key == "cainfo" ? home_ : llvm::StringRef(home_).rsplit('/').first.str()) +
                   "/" + value.text;
    if (std::string real = realPathOf(value.text); !real.empty())
      user_.readOnly.push_back(std::move(real));
    return value;
  }

  void readTokens(const std::optional<TomlValue>& config) {
    std::optional<TomlValue> credentials = readTable(home_ + "/credentials.toml");
    if (!credentials)
      credentials = readTable(home_ + "/credentials");
    for (const std::optional<TomlValue>* file :
         std::initializer_list<const std::optional<TomlValue>*>{&credentials, &config}) {
      if (!*file)
        continue;
      const TomlEntry* registries = (*file)->find("registries");
      for (const std::string& name : names_) {
        const TomlEntry* registry = registries != nullptr ? registries->value.find(name) : nullptr;
        const TomlEntry* token = registry != nullptr ? registry->value.find("token") : nullptr;
        if (token == nullptr || token->value.text.empty() ||
            token->value.text.find('\0') != std::string::npos)
          continue;
        std::string variable = "CARGO_REGISTRIES_" + llvm::StringRef(name).upper() + "_TOKEN";
        std::replace(variable.begin(), variable.end(), '-', '_');
        if (environmentNameProblem(variable).empty() &&
            llvm::none_of(user_.tokens,
                          [&](const EnvSetting& each) { return each.name == variable; }))
          user_.tokens.push_back({variable, token->value.text});
      }
    }
  }

  std::string home_;
  UserCargo& user_;
  std::vector<std::string> names_;
  std::string registry_, net_;
};

/// Variables that pass if they are set: none of them names a program.
constexpr llvm::StringRef kPlain[] = {
    "CARGO_BUILD_JOBS", "CARGO_HTTP_TIMEOUT",     "CARGO_NET_RETRY", "CFLAGS",
    "CXXFLAGS",         "PKG_CONFIG_ALLOW_CROSS", "RUST_BACKTRACE",
};
/// Variables that name a program or a directory: absolute ones outside of the program pass.
constexpr llvm::StringRef kPrograms[] = {
    "AR",
    "CC",
    "CXX",
    "PKG_CONFIG",
    "PKG_CONFIG_LIBDIR",
    "PKG_CONFIG_PATH",
    "PKG_CONFIG_SYSROOT_DIR",
    "RANLIB",
};
/// Those that would change what a build starts or where it reads; they are reported.
constexpr llvm::StringRef kReported[] = {
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
};

} // namespace

UserCargo readUserCargo(llvm::ArrayRef<std::string> environment,
                        llvm::ArrayRef<std::string> programDirectories) {
  UserCargo user;
  Reader(cargoHome(environment, programDirectories), user).read();
  return user;
}

BuildVariables buildVariables(llvm::ArrayRef<std::string> environment,
                              llvm::ArrayRef<std::string> programDirectories) {
  BuildVariables variables;
  for (const std::string& entry : environment) {
    const auto [name, value] = llvm::StringRef(entry).split('=');
    if (llvm::is_contained(kPlain, name)) {
      variables.passed.push_back(name.str());
    } else if (llvm::is_contained(kPrograms, name)) {
      const bool good = llvm::all_of(llvm::split(value, ':'), [&](llvm::StringRef path) {
        return path.starts_with("/") && !liesInside(path, programDirectories);
      });
      (good ? variables.passed : variables.ignored).push_back(good ? name.str() : entry);
    } else if (llvm::is_contained(kReported, name) || name.starts_with("CARGO_BUILD_") ||
               name.starts_with("CARGO_TARGET_") || name.starts_with("CARGO_ALIAS_") ||
               name.starts_with("CARGO_PROFILE_") || name.starts_with("GIT_CONFIG")) {
      variables.ignored.push_back(entry);
    } else if ((name == "CARGO_HOME" || name == "RUSTUP_HOME") &&
               (!value.starts_with("/") || liesInside(value, programDirectories))) {
      variables.ignored.push_back(entry);
    } else if (name == "PATH") {
      for (llvm::StringRef each : llvm::split(value, ':'))
        if (!each.starts_with("/") || liesInside(each, programDirectories))
          variables.ignored.push_back("PATH entry " + (each.empty() ? "(empty)" : each.str()));
    }
  }
  llvm::sort(variables.ignored);
  return variables;
}

std::vector<std::string> ignoredFiles(llvm::ArrayRef<std::string> environment,
                                      llvm::ArrayRef<std::string> directories) {
  std::vector<std::string> found;
  const std::string own = realPathOf(cargoHome(environment, {}));
  for (const std::string& start : directories) {
    for (llvm::StringRef directory = start; !directory.empty();
         directory = directory.rsplit('/').first) {
      for (const char* name :
           {".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"}) {
        std::string path = (directory + "/" + name).str();
        if (::access(path.c_str(), F_OK) != 0 || llvm::is_contained(found, path) ||
            (!own.empty() && isAtOrBeneath(realPathOf(path), own)))
          continue;
        found.push_back(std::move(path));
      }
    }
  }
  llvm::sort(found);
  return found;
}

} // namespace gos::bindings
