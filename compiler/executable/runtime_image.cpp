#include "compiler/executable/runtime_image.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl gosRuntimeImage\n"
        "gosRuntimeImage:\n"
        ".incbin \"" GOS_RUNTIME "\"\n"
        ".globl gosRuntimeImageEnd\n"
        "gosRuntimeImageEnd:\n"
        ".byte 0\n"
        ".popsection\n");
extern "C" {
extern const char gosRuntimeImage[];
extern const char gosRuntimeImageEnd[];
}

namespace gos::executable {

llvm::StringRef runtimeImage() {
  return {gosRuntimeImage, size_t(gosRuntimeImageEnd - gosRuntimeImage)};
}

} // namespace gos::executable
