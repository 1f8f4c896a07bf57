#include "sandbox/command/capabilities.h"

#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"
#include "sandbox/command/wrap.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <sys/utsname.h>

namespace gos::sandbox {

namespace {

/// A value of os-release: `NAME="text"` or `NAME=text`.
std::string releaseField(llvm::StringRef text, llvm::StringRef name) {
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    if (!line.consume_front(name) || !line.consume_front("="))
      continue;
    line = line.trim();
    if (line.size() >= 2 && (line.front() == '"' || line.front() == '\'') &&
        line.back() == line.front())
      line = line.drop_front().drop_back();
    return line.str();
  }
  return {};
}

std::string describeSystem() {
  std::string name = releaseField(hostHints().file("/etc/os-release"), "PRETTY_NAME");
  if (name.empty())
    name = releaseField(hostHints().file("/usr/lib/os-release"), "PRETTY_NAME");
  utsname system{};
  if (::uname(&system) != 0)
    return name;
  return llvm::formatv("{0}{1}{2} {3} {4}", name, name.empty() ? "" : ", ", system.sysname,
                       system.release, system.machine);
}

Capabilities gather() {
  Capabilities found;
  found.platform = "linux";
  found.osDescription = describeSystem();
  found.primitives = primitives();
  found.levels = levels();
  int error = 0;
  found.landlockAbi = landlockAbi(&error);
  if (found.landlockAbi == 0)
    found.landlockError = error == ENOSYS       ? "ENOSYS"
                          : error == EOPNOTSUPP ? "EOPNOTSUPP"
                                                : errnoText(error);
  for (const LevelState& state : found.levels)
    if (state.available)
      found.maxLevel = stricter(found.maxLevel, state.level);
  found.notes = hostNotes(hostHints());

  const auto works = [&](Primitive primitive) {
    return llvm::any_of(found.primitives, [&](const PrimitiveState& state) {
      return state.primitive == primitive && state.works;
    });
  };
  const bool view = works(Primitive::MountView) && works(Primitive::MountAttributes);
  const bool rules = works(Primitive::Landlock);
  found.fileSystem =
      view && rules ? llvm::formatv("mount view and Landlock (ABI {0})", found.landlockAbi).str()
      : view        ? "mount view"
      : rules       ? llvm::formatv("Landlock (ABI {0})", found.landlockAbi).str()
                    : "none";
  found.network = works(Primitive::NetworkNamespace) ? "network namespace" : "none";
  found.processIsolation =
      works(Primitive::PidNamespace)
          ? works(Primitive::OwnProc) ? "pid namespace with its own /proc" : "pid namespace"
          : "none";
  return found;
}

void writeReason(llvm::raw_ostream& out, llvm::StringRef name, llvm::StringRef reason,
                 llvm::StringRef fix, unsigned width) {
  // Names of profiles and modules in it are the host's.
  out << wrapped(escapeForText((name + (reason.empty() ? "" : ": ") + reason).str()), "      ",
                 width);
  if (!fix.empty())
    out << wrapped("fix: " + escapeForText(fix), "      ", width);
}

} // namespace

const Capabilities& capabilities() {
  static const Capabilities* const found = new Capabilities(gather());
  return *found;
}

std::string capabilitiesText(const ExplainOptions& options) {
  return capabilitiesText(capabilities(), options);
}
std::string capabilitiesJson() {
  return capabilitiesJson(capabilities());
}

std::string capabilitiesText(const Capabilities& capabilities, const ExplainOptions& options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const auto mark = [&](bool good, llvm::StringRef yes, llvm::StringRef no) {
    if (!options.colour)
      return (good ? yes : no).str();
    return ((good ? "\x1b[32m" : "\x1b[31m") + (good ? yes : no) + "\x1b[0m").str();
  };
  out << "platform           " << capabilities.platform << " ("
      << escapeForText(capabilities.osDescription) << ")\n";
  out << "file system        " << capabilities.fileSystem << "\n";
  out << "network            " << capabilities.network << "\n";
  out << "process isolation  " << capabilities.processIsolation << "\n";
  out << "Landlock           ";
  if (capabilities.landlockAbi > 0)
    out << "ABI " << capabilities.landlockAbi << "\n";
  else
    out << "none (" << capabilities.landlockError << ")\n";
  out << "strictest level    " << spelling(capabilities.maxLevel) << "\n";

  out << "\nlevels\n";
  for (const LevelState& state : capabilities.levels) {
    out << "  " << spelling(state.level) << std::string(10 - spelling(state.level).size(), ' ')
        << mark(state.available, "available", "unavailable") << "\n";
    if (!state.available)
      writeReason(out, "blocked by " + state.blockedBy, state.reason, state.fix, options.width);
    else if (!state.mechanisms.empty())
      out << wrapped(llvm::join(state.mechanisms, ", "), "      ", options.width);
  }
  out << "\nprimitives\n";
  for (const PrimitiveState& state : capabilities.primitives) {
    out << "  " << mark(state.works, "works  ", "missing") << "  " << state.name << "\n";
    if (!state.works)
      writeReason(out, state.reason, {}, state.fix, options.width);
  }
  if (!capabilities.notes.empty()) {
    out << "\nnotes\n";
    for (const std::string& note : capabilities.notes)
      out << wrapped(escapeForText(note), "  ", options.width);
  }
  return text;
}

std::string capabilitiesJson(const Capabilities& capabilities) {
  JsonWriter json;
  json.beginObject();
  json.member("schema", uint64_t(1));
  json.member("platform", capabilities.platform);
  json.member("os_description", capabilities.osDescription);
  json.member("filesystem", capabilities.fileSystem);
  json.member("network", capabilities.network);
  json.member("process_isolation", capabilities.processIsolation);
  json.member("max_level", spelling(capabilities.maxLevel));
  json.member("landlock_abi", uint64_t(capabilities.landlockAbi));
  json.key("landlock_error");
  if (capabilities.landlockError.empty())
    json.null();
  else
    json.string(capabilities.landlockError);
  json.key("levels");
  json.beginArray();
  for (const LevelState& state : capabilities.levels) {
    json.beginObject();
    json.member("level", spelling(state.level));
    json.key("available");
    json.boolean(state.available);
    json.key("mechanisms");
    json.beginArray();
    for (const std::string& mechanism : state.mechanisms)
      json.string(mechanism);
    json.endArray();
    if (!state.available) {
      json.member("blocked_by", state.blockedBy);
      json.member("reason", state.reason);
      json.member("fix", state.fix);
    }
    json.endObject();
  }
  json.endArray();
  json.key("primitives");
  json.beginArray();
  for (const PrimitiveState& state : capabilities.primitives) {
    json.beginObject();
    json.member("name", state.name);
    json.key("works");
    json.boolean(state.works);
    if (!state.works) {
      json.member("errno", uint64_t(state.error));
      json.member("reason", state.reason);
      json.member("fix", state.fix);
    }
    json.endObject();
  }
  json.endArray();
  json.key("notes");
  json.beginArray();
  for (const std::string& note : capabilities.notes)
    json.string(note);
  json.endArray();
  json.endObject();
  return json.finish();
}

} // namespace gos::sandbox
