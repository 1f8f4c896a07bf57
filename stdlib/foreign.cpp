#include "stdlib/foreign.h"

#include "stdlib/foreign_wire.h"
#include "vm/native.h"
#include "vm/text.h"
#include "vm/vm.h"

#include "llvm/ADT/Twine.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gos::stdlib {

using llvm::StringRef;
using llvm::Twine;
using vm::Trap;

namespace {

constexpr size_t kSmallCall = 256;           // bytes of arguments that need no memory
constexpr size_t kLongestMessage = 64 << 10; // of a panic
constexpr uint64_t kCallSteps = 64; // beside the bytes: the call, and the library's own buffer

constexpr const char* kAbi = "gossamer_binding_abi_1";
constexpr const char* kFree = "gossamer_binding_free_1";
constexpr const char* kRelease = "gossamer_binding_release_1";

llvm::Error refuse(const Twine& why) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), why);
}

/// "stats::fast::mean" of "rust:stats::fast::mean".
StringRef functionName(const vm::NativeImport& import) {
  StringRef name = import.name;
  name.consume_front("rust:");
  return name;
}

/// The loader believes a file's headers: what they place behind its end would be mapped, and a read
/// of it ends the process. Empty if all of it is there.
StringRef extentFault(int image) {
  struct stat status;
  Elf64_Ehdr header;
  if (::fstat(image, &status) != 0 || status.st_size < 0 ||
      ::pread(image, &header, sizeof header, 0) != ssize_t(sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return "it is no shared object";
  const auto size = uint64_t(status.st_size);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const uint64_t at = uint64_t(i) * sizeof segment;
    if (header.e_phoff > size || at > size - header.e_phoff ||
        ::pread(image, &segment, sizeof segment, off_t(header.e_phoff + at)) !=
            ssize_t(sizeof segment))
      return "it is cut off";
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC)
      continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return "it is cut off";
  }
  return {};
}

/// The text of a panic: what is no UTF-8 in it becomes U+FFFD.
std::string messageOf(StringRef bytes) {
  const bool isCut = bytes.size() > kLongestMessage;
  bytes = bytes.take_front(kLongestMessage);
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    unsigned length = 0;
    char scalar[4];
    const unsigned written = vm::encodeScalar(vm::decodeScalar(bytes, at, length), scalar);
    text.append(scalar, written);
    at += length;
  }
  return isCut ? text + "..." : text;
}

} // namespace

std::unique_ptr<ForeignLibrary> ForeignLibrary::create(int image,
                                                       llvm::ArrayRef<ForeignOffer> offers) {
  std::unique_ptr<ForeignLibrary> library(new ForeignLibrary);
  library->image_.reset(::fcntl(image, F_DUPFD_CLOEXEC, 3));
  for (const ForeignOffer& offer : offers)
    library->offers_[offer.symbol] = offer.signature;
  return library;
}

llvm::Expected<std::unique_ptr<ForeignLibrary>>
ForeignLibrary::open(int image, llvm::ArrayRef<ForeignOffer> offers) {
  auto library = create(image, offers);
  if (llvm::Error error = library->load())
    return error;
  return library;
}

/// What was loaded stays: threads and thread-local destructors of a library may outlive its last
/// use. Its descriptor stays too, since the loader knows libraries by their path, and would take a
/// later one of the same number for this one.
ForeignLibrary::~ForeignLibrary() {
  if (library_ != nullptr)
    (void)image_.release();
}

llvm::Error ForeignLibrary::load() {
  if (library_ != nullptr)
    return llvm::Error::success();
  if (!image_.valid())
    return refuse("the library of Rust bindings is not there");
  if (const StringRef fault = extentFault(image_.get()); !fault.empty())
    return refuse("the library of Rust bindings cannot be loaded: " + Twine(fault));
  const std::string path = "/proc/self/fd/" + std::to_string(image_.get());
  // Its symbols stay its own: it can neither replace ours nor see them.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return refuse("the library of Rust bindings cannot be loaded: " +
                  Twine(why != nullptr ? why : "no reason is given"));
  }
  library_ = library;
  Dl_info info;
  const void* abi = ::dlsym(library, kAbi);
  if (abi != nullptr && ::dladdr(abi, &info) != 0)
    base_ = info.dli_fbase;
  free_ = reinterpret_cast<void (*)(Buffer*)>(symbol(kFree));
  release_ = reinterpret_cast<void (*)(uint64_t)>(symbol(kRelease));
  if (base_ == nullptr || free_ == nullptr || release_ == nullptr) {
    free_ = nullptr;
    release_ = nullptr;
    base_ = nullptr;
    image_.release();
    library_ = nullptr;
    return refuse(
        "the library of Rust bindings was made for another version of `gossamer-binding`: `" +
        Twine(kAbi) + "` is not in it");
  }
  return llvm::Error::success();
}

void* ForeignLibrary::symbol(const char* name) const {
  void* found = ::dlsym(library_, name);
  Dl_info info;
  if (found == nullptr || base_ == nullptr || ::dladdr(found, &info) == 0 ||
      info.dli_fbase != base_)
    return nullptr;
  return found;
}

llvm::Expected<const void*> ForeignLibrary::find(const vm::NativeImport& import) {
  const StringRef name = functionName(import);
  if (!offers_.empty()) {
    const auto offer = offers_.find(import.symbol);
    if (offer == offers_.end())
      return refuse("the library of Rust bindings has no function `" + name + "`");
    if (offer->second != import.signature)
      return refuse("the Rust function `" + name + "` is `" + offer->second +
                    "` in the library, and used as `" + import.signature + "`");
  }
  if (llvm::Error error = load())
    return error;
  if (StringRef(import.symbol).contains('\0'))
    return refuse("the Rust function `" + name + "` has no symbol");
  const void* entry = symbol(import.symbol.c_str());
  if (entry == nullptr)
    return refuse("the library of Rust bindings does not export `" + name + "`");
  return entry;
}

Trap ForeignLibrary::call(vm::Arguments& arguments, const void* entry) {
  vm::Vm& vm = arguments.vm();
  uint64_t size = 0;
  for (size_t i = 0; i < arguments.count(); ++i)
    if (Trap trap = wireSize(vm, arguments.slot(i), arguments.layoutId(i), size))
      return trap;
  vm.heap().chargeSteps(kCallSteps);
  vm.heap().chargeBytes(size);
  uint8_t small[kSmallCall];
  uint8_t* begin = small;
  vm::Scratch counted(vm.heap(), size > kSmallCall ? size : 0);
  std::unique_ptr<uint8_t, decltype(&std::free)> large(nullptr, &std::free);
  if (size > kSmallCall) {
    if (counted)
      large.reset(static_cast<uint8_t*>(std::malloc(size)));
    begin = large.get();
    if (begin == nullptr)
      return vm.heapTrap();
  }
  uint8_t* end = begin;
  for (size_t i = 0; i < arguments.count(); ++i)
    end = wireWrite(vm, arguments.slot(i), arguments.layoutId(i), end);

  Buffer out;
  const auto function = reinterpret_cast<Entry>(const_cast<void*>(entry));
  const uint32_t status = function(begin, size_t(end - begin), &out);
  const StringRef bytes(reinterpret_cast<const char*>(out.data),
                        out.data == nullptr ? 0 : out.length);
  Trap trap = out.data == nullptr && out.length != 0
                  ? Trap::incompatible(("the answer of the Rust function `" +
                                        functionName(arguments.import()) +
                                        "` is broken: it has a length and no bytes")
                                           .str())
                  : answer(arguments, status, bytes);
  if (out.data != nullptr)
    free_(&out);
  return trap;
}

Trap ForeignLibrary::answer(vm::Arguments& arguments, uint32_t status, StringRef bytes) {
  vm::Vm& vm = arguments.vm();
  const StringRef name = functionName(arguments.import());
  if (status == 1)
    return Trap::panic((messageOf(bytes) + " (in the Rust function `" + name + "`)").str());
  if (status != 0)
    return Trap::incompatible(
        ("the Rust function `" + name + "` " +
         (status == 2 ? Twine("does not take these arguments: the library and the program do not "
                              "belong together")
                      : "answers with the unknown status " + Twine(status)))
            .str());
  vm.heap().chargeBytes(bytes.size());
  vm::Value value = 0;
  std::string fault;
  if (!wireRead(vm, bytes, arguments.resultLayout(), live_, value, fault))
    return fault.empty()
               ? vm.heapTrap()
               : Trap::incompatible(
                     ("the answer of the Rust function `" + name + "` is broken: " + fault).str());
  return arguments.returnOwned(value);
}

void ForeignLibrary::release(uint64_t handle) {
  live_.erase(handle);
  if (release_ != nullptr)
    release_(handle);
}

} // namespace gos::stdlib
