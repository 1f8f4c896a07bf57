#pragma once
// Reading JSON into values of `encoding::json::Value`, and writing values of any layout as JSON.

#include "stdlib/support.h"

#include "vm/format.h"

namespace gos::stdlib {

class JsonScanner;

/// The tags of json::Value in a layout that was checked to be one.
struct JsonTags {
  uint16_t null = 0, boolean = 0, integer = 0, real = 0, text = 0, array = 0, object = 0;
};
JsonTags jsonTags(const Layout& value);
/// Is this the layout of json::Value? By the names of its variants.
bool isJsonValue(const Layout& layout);

struct JsonFault {
  Trap trap;           // the heap or the steps are used up
  std::string message; // else: what is wrong, with line and column
  bool failed() const { return bool(trap) || !message.empty(); }
};

/// What reading a document costs, values left aside. Its texts are put together in a buffer beside
/// the heap, at most as large as the document.
inline Trap chargeJson(Vm& vm, StringRef source) {
  return chargeEach(vm, source.size() * 2);
}
/// Parses a whole document; `layout` is that of json::Value. The value is the caller's.
JsonFault parseJson(Vm& vm, StringRef source, LayoutId layout, Value& out);
/// One value of a document that is being read, `depth` levels inside of others.
JsonFault readJson(Vm& vm, JsonScanner& scanner, LayoutId layout, size_t depth, Value& out);
/// Is the text one JSON document?
bool isValidJson(StringRef source);

enum class JsonStyle : uint8_t { Compact, Pretty };
/// Structs are objects, enums are tagged by their variant, Option is the value or null.
Trap writeJson(Vm& vm, Value value, LayoutId layout, JsonStyle style, vm::TextBuffer& out);

} // namespace gos::stdlib
