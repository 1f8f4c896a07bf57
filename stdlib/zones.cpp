// std::time, the zones: what reads the host's database, and what makes a zone of bytes. A fold
// below `full` cannot reach the database, which lies outside of every package; it can read a zone
// file of its own package and hand on the bytes.

#include "stdlib/host_files.h"
#include "stdlib/support.h"
#include "stdlib/time_zones.h"

namespace gos::stdlib {

namespace {

constexpr StringRef kDatabase = "/usr/share/zoneinfo/";
constexpr StringRef kLocal = "/etc/localtime";

Trap returnFile(Arguments& arguments, StringRef path, StringRef absent) {
  std::string bytes;
  FileResult result = HostFiles(arguments.vm()).readAll(path, bytes);
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  if (!result.done())
    return arguments.returnErr(result.kind == FileResult::Kind::Absent ? absent
                                                                       : StringRef(result.message));
  return arguments.returnOkBytes(bytes);
}

Trap returnNamed(Arguments& arguments, StringRef name) {
  const std::string absent = ("there is no time zone `" + name + "` on this host").str();
  if (!isZoneName(name))
    return arguments.returnErr(
        ("`" + name.take_front(128) + "` is not the name of a time zone").str());
  return returnFile(arguments, (kDatabase + name).str(), absent);
}

} // namespace

namespace bodies {

/// intrinsics::zone_file: the bytes of a zone of the database.
Trap ZoneFile(Arguments& arguments) {
  return returnNamed(arguments, arguments.string(0));
}

/// intrinsics::zone_local: the zone of the host, as the variable TZ or /etc/localtime has it; UTC
/// if neither says.
Trap ZoneLocal(Arguments& arguments) {
  const std::optional<std::string> variable = hostOf(arguments.vm()).variable("TZ");
  if (!variable)
    return returnFile(arguments, kLocal, "the host has no local time zone");
  StringRef name = *variable;
  name.consume_front(":");
  if (name.empty())
    return arguments.returnOkBytes("UTC0");
  if (name.starts_with("/"))
    return returnFile(arguments, name, "the file that `TZ` names is not there");
  if (llvm::Expected<Zone> rule = readZone(name))
    return arguments.returnOkBytes(name);
  else
    llvm::consumeError(rule.takeError());
  return returnNamed(arguments, name);
}

/// intrinsics::zone_parse: (numbers, names). The numbers are where the changes begin to repeat,
/// then four for each change: since when, seconds ahead of UTC, daylight saving or not, and which
/// name.
Trap ZoneParse(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const StringRef content = bytesOf(arguments, 0);
  if (Trap trap = chargeBulk(vm, content.size() * 8 + 8192))
    return trap;
  llvm::Expected<Zone> zone = readZone(content);
  if (!zone)
    return arguments.returnErr(llvm::toString(zone.takeError()));
  const LayoutId pair = payloadOf(vm, arguments.resultLayout(), "Ok");
  Builder builder(vm);
  const uint64_t count = 1 + zone->changes.size() * 4;
  VecObject* numbers = vm.heap().newVec(builder.field(pair, 0), count);
  if (numbers == nullptr)
    return vm.heapTrap();
  numbers->slots[numbers->length++] = vm::fromInteger(zone->repeatsFrom);
  for (const ZoneChange& change : zone->changes)
    for (int64_t number :
         {change.at, change.offset, int64_t(change.daylight), int64_t(change.name)})
      numbers->slots[numbers->length++] = vm::fromInteger(number);
  const Value fields[] = {vm::fromObject(numbers),
                          builder.strings(builder.field(pair, 1), zone->names)};
  const Value made = builder.structure(pair, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

} // namespace bodies
} // namespace gos::stdlib
