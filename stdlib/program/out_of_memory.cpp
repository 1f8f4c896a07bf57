#include "stdlib/program/out_of_memory.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace gos::program {
namespace {

// For the report; not touched before. Blocks of a size that malloc keeps in its own heap when they
// are freed.
constexpr size_t kReserveBlock = size_t(64) << 10, kReserveBlocks = 16;

// What the handler knows. It may run anywhere, at the worst moment: nothing here is made then.
constinit llvm::function_ref<void()>* theReport = nullptr;
constinit std::atomic<int> theCode = 1;
constinit void* theReserve[kReserveBlocks] = {};
constinit char thePlainWords[256] = {};
constinit std::atomic<bool> hasBegun = false;
pthread_t theThread; // that may report

void writePlainWords() {
  const ssize_t written = ::write(STDERR_FILENO, thePlainWords, std::strlen(thePlainWords));
  (void)written;
}

[[noreturn]] void end() {
  const bool isReporter = ::pthread_equal(::pthread_self(), theThread) != 0;
  if (hasBegun.exchange(true)) {
    // The report itself found too little, or another thread is at it and ends the process.
    if (!isReporter)
      for (;;)
        ::pause();
    writePlainWords();
    ::_exit(theCode);
  }
  for (void* block : theReserve)
    std::free(block);
  if (isReporter && theReport)
    (*theReport)();
  else
    writePlainWords();
  ::_exit(theCode);
}

void endOfLlvm(void*, const char*, bool) {
  end();
}

} // namespace

void reportOutOfMemory(llvm::StringRef speaker, int exitCode) {
  constexpr llvm::StringRef kWords = ": error: out of memory\n";
  speaker = speaker.take_front(sizeof thePlainWords - kWords.size() - 1);
  std::memcpy(thePlainWords, speaker.data(), speaker.size());
  std::memcpy(thePlainWords + speaker.size(), kWords.data(), kWords.size());
  theCode = exitCode;
  theThread = ::pthread_self();
  for (void*& block : theReserve)
    block = std::malloc(kReserveBlock);
  std::set_new_handler(end);
  llvm::install_bad_alloc_error_handler(endOfLlvm);
}

OutOfMemoryReport::OutOfMemoryReport(llvm::function_ref<void()> report, int exitCode)
    : report_(report), outerCode_(theCode.exchange(exitCode)) {
  theThread = ::pthread_self();
  theReport = &report_;
}

OutOfMemoryReport::~OutOfMemoryReport() {
  theReport = nullptr;
  theCode = outerCode_;
}

} // namespace gos::program
