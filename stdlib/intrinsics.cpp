// What lowering and the library's own Gossamer call: printing, text of values, comparisons, ranges.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include "vm/format.h"
#include "vm/structural.h"

#include <limits>

namespace gos::stdlib {

namespace {

struct Bounds {
  int64_t start = 0;
  int64_t end = 0; // exclusive
};

/// A stored range is a struct of two bounds, and a third field that is not 0 when the end is
/// included.
Bounds boundsOf(const Arguments& arguments) {
  const vm::StructObject* range = vm::asStruct(arguments.slot(0));
  if (range == nullptr)
    return {};
  Bounds bounds{vm::asInteger(range->slots()[0]), vm::asInteger(range->slots()[1])};
  const bool inclusive =
      arguments.layout(0).variants[0].fields.size() > 2 && range->slots()[2] != 0;
  if (inclusive && bounds.end < std::numeric_limits<int64_t>::max())
    ++bounds.end;
  return bounds;
}

} // namespace

namespace bodies {

Trap Print(Arguments& arguments) {
  LibraryHost& host = hostOf(arguments.vm());
  host.write(Stream::Output, arguments.string(0));
  if (Trap trap = host.takeOutputTrap())
    return trap;
  return arguments.returnUnit();
}

Trap EprintText(Arguments& arguments) {
  hostOf(arguments.vm()).write(Stream::Error, arguments.string(0));
  return arguments.returnUnit();
}

Trap DebugText(Arguments& arguments) {
  vm::TextBuffer out(arguments.vm().heap());
  if (Trap trap = vm::formatDebug(arguments.vm(), arguments.slot(0), arguments.layoutId(0), out))
    return trap;
  return arguments.returnText(out);
}

Trap DisplayText(Arguments& arguments) {
  return StringFrom(arguments);
}

/// Counts for `gos test`. Nothing in the language reads it back; a fold has no verdict, so there
/// nothing is kept.
Trap RecordAssertion(Arguments& arguments) {
  if (!arguments.vm().inFold()) {
    Assertions& counted = hostOf(arguments.vm()).assertions;
    ++counted.made;
    if (!arguments.boolean(0) && counted.failed++ == 0)
      counted.firstFailure = arguments.string(1).take_front(kFailureBytes).str();
  }
  return arguments.returnUnit();
}

Trap PanicText(Arguments& arguments) {
  return Trap::panic(arguments.string(0).str());
}

Trap ValuesEqual(Arguments& arguments) {
  bool equal = false;
  if (Trap trap = vm::valuesEqual(arguments.vm(), arguments.slot(0), arguments.slot(1),
                                  arguments.layoutId(0), vm::FloatEquality::Ieee, equal))
    return trap;
  return arguments.returnBoolean(equal);
}

Trap CompareValues(Arguments& arguments) {
  int order = 0;
  if (Trap trap = vm::compareValues(arguments.vm(), arguments.slot(0), arguments.slot(1),
                                    arguments.layoutId(0), order))
    return trap;
  return arguments.returnInteger(order);
}

Trap RangeStart(Arguments& arguments) {
  return arguments.returnInteger(boundsOf(arguments).start);
}
Trap RangeEnd(Arguments& arguments) {
  return arguments.returnInteger(boundsOf(arguments).end);
}

} // namespace bodies
} // namespace gos::stdlib
