#pragma once
// The error of a plan that this host cannot carry out: which primitive is missing, and the fix. The
// runner answers it with exit code 64; a level is refused, never lowered.

#include "llvm/Support/Error.h"

#include <string>

namespace gos::sandbox {

class Unavailable : public llvm::ErrorInfo<Unavailable> {
public:
  static char ID;
  Unavailable(std::string primitive, std::string text, std::string fix)
      : primitive_(std::move(primitive)), text_(std::move(text)), fix_(std::move(fix)) {}

  /// As the capability report and stages.def name it.
  llvm::StringRef primitive() const { return primitive_; }
  llvm::StringRef text() const { return text_; }
  llvm::StringRef fix() const { return fix_; }

  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string primitive_, text_, fix_;
};

} // namespace gos::sandbox
