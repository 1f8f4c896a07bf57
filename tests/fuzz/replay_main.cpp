// Runs a fuzz target over the files of a corpus, and over inputs made from them by a fixed sequence
// of changes: what found a mistake once finds it again, with any compiler and under any sanitizer.
// usage: fuzz_NAME_replay [--mutate=N] DIRECTORY_OR_FILE...

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

class Random {
public:
  uint32_t next(uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return bound == 0 ? 0 : uint32_t(state_ >> 33) % bound;
  }

private:
  uint64_t state_ = 20240917;
};

void run(llvm::StringRef input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::string mutate(const std::vector<std::string>& corpus, Random& random) {
  std::string text = corpus[random.next(uint32_t(corpus.size()))];
  const uint32_t changes = 1 + random.next(4);
  for (uint32_t i = 0; i < changes; ++i) {
    const size_t at = random.next(uint32_t(text.size() + 1));
    const size_t length = random.next(uint32_t(std::min<size_t>(text.size() - at, 24) + 1));
    switch (random.next(6)) {
    case 0: // lose a part
      text.erase(at, length);
      break;
    case 1: // say a part twice
      text.insert(at, text.substr(at, length));
      break;
    case 2: // any byte
      text.insert(at, 1, char(random.next(256)));
      break;
    case 3: // a part of another input
    {
      const std::string& other = corpus[random.next(uint32_t(corpus.size()))];
      const size_t from = random.next(uint32_t(other.size() + 1));
      text.insert(at, other.substr(from, random.next(48)));
      break;
    }
    case 4: // a byte that matters
      text.insert(at, 1, "(){}[]<>\"'#;:,.|&*-=!\n\\fr0"[random.next(26)]);
      break;
    default: // cut off
      text.resize(at);
    }
    if (text.size() > (1u << 16))
      text.resize(1u << 16);
  }
  return text;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> corpus;
  uint32_t mutations = 0;
  const auto add = [&](llvm::StringRef path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) {
      llvm::errs() << "cannot read " << path << ": " << buffer.getError().message() << '\n';
      exit(1);
    }
    corpus.push_back((*buffer)->getBuffer().str());
  };
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--mutate=")) {
      if (argument.getAsInteger(10, mutations)) {
        llvm::errs() << "--mutate takes a number\n";
        return 2;
      }
      continue;
    }
    if (!llvm::sys::fs::is_directory(argument)) {
      add(argument);
      continue;
    }
    std::vector<std::string> paths;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator entry(argument, error), end; entry != end && !error;
         entry.increment(error))
      paths.push_back(entry->path());
    llvm::sort(paths); // the order of a directory is not the same everywhere
    for (const std::string& path : paths)
      add(path);
  }
  if (corpus.empty()) {
    llvm::errs() << "no inputs\n";
    return 1;
  }
  for (const std::string& input : corpus)
    run(input);
  Random random;
  for (uint32_t i = 0; i < mutations; ++i)
    run(mutate(corpus, random));
  llvm::outs() << corpus.size() << " inputs, " << mutations << " mutations\n";
  return 0;
}
