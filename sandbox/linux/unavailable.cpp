#include "sandbox/linux/unavailable.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::sandbox {

char Unavailable::ID = 0;

void Unavailable::log(llvm::raw_ostream& out) const {
  out << text_;
}

std::error_code Unavailable::convertToErrorCode() const {
  return std::make_error_code(std::errc::function_not_supported);
}

} // namespace gos::sandbox
