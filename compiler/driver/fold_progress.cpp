#include "compiler/driver/fold_progress.h"

#include "diagnostics/escape.h"

#include "llvm/Support/Format.h"

namespace gos::driver {

void FoldProgress::tell(Span region, uint64_t steps) {
  const Clock::time_point now = now_();
  if (region_.begin != region.begin || region_.end != region.end) {
    region_ = region;
    since_ = now;
  }
  if (now - since_ < kPatience || (isShown_ && now - drawn_ < kBetween))
    return;
  drawn_ = now;
  isShown_ = true;
  const FileId file = sources_.fileOf(region);
  out_ << "\r\x1b[Kevaluating the compile-time region";
  if (file != FileId::None) {
    const LineColumn at = sources_.locate(region);
    out_ << " at " << escapeForText(sources_.file(file).name) << ':' << at.line << ':' << at.column;
  }
  out_ << ": " << llvm::format("%.1f", double(steps) / 1e9) << " billion steps";
  out_.flush();
}

void FoldProgress::clear() {
  if (!isShown_)
    return;
  out_ << "\r\x1b[K";
  out_.flush();
  isShown_ = false;
  region_ = Span();
}

} // namespace gos::driver
