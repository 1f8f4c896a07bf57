# Writes OUTPUT, a .cpp with the pages of FOLDER (CODE.md) as string literals.
#   cmake -DFOLDER=... -DOUTPUT=... -P embed_explanations.cmake
# A page whose name is no code is a compile error of the file written.
file(GLOB pages ${FOLDER}/*.md)
list(SORT pages)
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(code ${page} NAME_WE)
  file(READ ${page} text)
  if(text MATCHES "\\)gos_page\"")
    message(FATAL_ERROR "${page} holds the end mark of the literal it is embedded in")
  endif()
  string(APPEND rows "    GOS_PAGE(${code}, R\"gos_page(${text})gos_page\")\n")
endforeach()
set(table "  return {};\n")
if(rows)
  set(table "  static constexpr ExplanationPage kPages[] = {\n${rows}  };\n  return kPages;\n")
endif()
file(WRITE ${OUTPUT}
"// Made from diagnostics/explain by embed_explanations.cmake.
#include \"diagnostics/explanations.h\"

#define GOS_PAGE(code, text) {Code::code, text, sizeof(text) - 1},

namespace gos {

llvm::ArrayRef<ExplanationPage> explanationPages() {
${table}}

} // namespace gos
")
