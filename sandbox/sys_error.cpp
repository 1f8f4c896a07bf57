#include "sandbox/sys_error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

namespace gos {

char SysError::ID = 0;

void SysError::log(llvm::raw_ostream& out) const {
  out << "cannot " << call_;
  if (!path_.empty())
    out << " `" << path_ << '`';
  out << ": " << errnoText(number_);
}

std::error_code SysError::convertToErrorCode() const {
  return std::error_code(number_, std::generic_category());
}

llvm::Error sysError(llvm::StringRef call, llvm::StringRef path, int number) {
  return llvm::make_error<SysError>(call, path, number);
}

std::string errnoText(int number) {
  // strerrordesc_np is not translated, so a message does not depend on the user's locale.
  const char* words = ::strerrordesc_np(number);
  if (words == nullptr)
    return "error " + llvm::utostr(unsigned(number));
  std::string text = words;
  // "No such file": lower case, but not "I/O error", which stays as it is.
  if (text.size() > 1 && llvm::isLower(text[1]))
    text[0] = llvm::toLower(text[0]);
  return text;
}

} // namespace gos
