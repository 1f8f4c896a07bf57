#include "compiler/document/texts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

namespace gos::document {
namespace {

using llvm::StringRef;

struct Text {
  StringRef name, text;
};
constexpr Text kModules[] = {
#define GOS_MODULE_TEXT(name, text) {name, text},
#include "compiler/document/texts.def"
};
constexpr Text kTypes[] = {
#define GOS_TYPE_TEXT(name, text) {name, text},
#include "compiler/document/texts.def"
};
constexpr Text kRows[] = {
#define GOS_ROW_TEXT(name, text) {name, text},
#include "compiler/document/texts.def"
};

StringRef lookUp(llvm::ArrayRef<Text> texts, StringRef name) {
  for (const Text& each : texts)
    if (each.name == name)
      return each.text;
  return {};
}

} // namespace

StringRef moduleText(StringRef module) {
  return lookUp(kModules, module);
}
StringRef typeText(StringRef type) {
  return lookUp(kTypes, type);
}
StringRef rowText(StringRef path) {
  if (StringRef text = lookUp(kRows, path); !text.empty())
    return text;
  // One sentence serves a method of every container: "*::len".
  const size_t last = path.rfind("::");
  return last == StringRef::npos ? StringRef()
                                 : lookUp(kRows, (llvm::Twine("*") + path.substr(last)).str());
}

} // namespace gos::document
