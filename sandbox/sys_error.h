#pragma once
// An llvm::Error of a failed system call: what was called, on what, and the errno.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cerrno>
#include <string>

namespace gos {

class SysError : public llvm::ErrorInfo<SysError> {
public:
  static char ID;
  SysError(llvm::StringRef call, llvm::StringRef path, int number)
      : call_(call), path_(path), number_(number) {}

  llvm::StringRef call() const { return call_; }
  llvm::StringRef path() const { return path_; }
  int number() const { return number_; }

  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string call_;
  std::string path_; // raw bytes; whoever prints it escapes
  int number_;
};

/// "cannot open `x`: no such file or directory", as an Error.
llvm::Error sysError(llvm::StringRef call, llvm::StringRef path, int number);
/// "no such file or directory": the words of an errno, lower case, the same in every locale.
std::string errnoText(int number);

/// Repeats a call while it is interrupted: the one place that meets EINTR.
template <class Call> auto retryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR)
    result = call();
  return result;
}

} // namespace gos
