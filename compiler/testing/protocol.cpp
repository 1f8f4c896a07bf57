#include "compiler/testing/protocol.h"

#include "llvm/Support/Endian.h"

#include <algorithm>

namespace gos::testing {
namespace {

using llvm::StringRef;

constexpr StringRef kMark = "gos-test-2";
constexpr size_t kMaxText = 64 << 10;
constexpr size_t kMaxName = 1 << 10;
constexpr size_t kMaxFrames = 64;

class Writer {
public:
  void u64(uint64_t value) {
    char bytes[8];
    llvm::support::endian::write64le(bytes, value);
    out_.append(bytes, sizeof bytes);
  }
  void text(StringRef text, size_t cap) {
    text = text.take_front(cap);
    u64(text.size());
    out_.append(text.data(), text.size());
  }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

class Reader {
public:
  explicit Reader(StringRef bytes) : rest_(bytes) {}
  uint64_t u64() {
    if (rest_.size() < 8) {
      good_ = false;
      return 0;
    }
    const uint64_t value = llvm::support::endian::read64le(rest_.data());
    rest_ = rest_.drop_front(8);
    return value;
  }
  std::string text(size_t cap) {
    const uint64_t size = u64();
    if (!good_ || size > cap || size > rest_.size()) {
      good_ = false;
      return {};
    }
    std::string result = rest_.take_front(size).str();
    rest_ = rest_.drop_front(size);
    return result;
  }
  bool good() const { return good_; }
  bool ended() const { return good_ && rest_.empty(); }

private:
  StringRef rest_;
  bool good_ = true;
};

} // namespace

std::string encode(const TestResult& result) {
  Writer body;
  body.u64(uint64_t(result.ending));
  body.u64(result.assertions);
  body.u64(result.failedChecks);
  body.text(result.firstFailure, kMaxText);
  body.text(result.message, kMaxText);
  body.text(result.code, kMaxName);
  body.u64(uint64_t(result.exitCode));
  body.u64(result.milliseconds);
  const size_t frames = std::min(result.trace.size(), kMaxFrames);
  body.u64(frames);
  for (size_t i = 0; i != frames; ++i) {
    body.text(result.trace[i].function, kMaxName);
    body.u64(result.trace[i].span.begin);
    body.u64(result.trace[i].span.end);
  }
  Writer whole;
  whole.text(body.take(), kMaxRecordBytes);
  return kMark.str() + whole.take();
}

std::optional<TestResult> decode(StringRef bytes) {
  if (bytes.size() > kMaxRecordBytes || !bytes.consume_front(kMark))
    return std::nullopt;
  Reader frame(bytes);
  const std::string body = frame.text(kMaxRecordBytes);
  if (!frame.ended())
    return std::nullopt;
  Reader in(body);
  TestResult result;
  const uint64_t ending = in.u64();
  if (ending > uint64_t(Ending::Trapped))
    return std::nullopt;
  result.ending = Ending(ending);
  result.assertions = in.u64();
  result.failedChecks = in.u64();
  result.firstFailure = in.text(kMaxText);
  result.message = in.text(kMaxText);
  result.code = in.text(kMaxName);
  result.exitCode = int64_t(in.u64());
  result.milliseconds = in.u64();
  const uint64_t frames = in.u64();
  if (frames > kMaxFrames)
    return std::nullopt;
  for (uint64_t i = 0; i != frames && in.good(); ++i) {
    Frame frameOfTrace;
    frameOfTrace.function = in.text(kMaxName);
    const uint64_t begin = in.u64(), end = in.u64();
    if (begin <= end && end <= 0xffffffffu)
      frameOfTrace.span = {uint32_t(begin), uint32_t(end)};
    result.trace.push_back(std::move(frameOfTrace));
  }
  if (!in.ended())
    return std::nullopt;
  return result;
}

} // namespace gos::testing
