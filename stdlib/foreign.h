#pragma once
// The library of Rust bindings at run time: loading it, and calling its functions by the wire
// format of stdlib/rust/README.md. Nothing here knows Cargo or the compiler; it is part of every
// built program.
//
// What such a library does is not bounded by anything: its code is native. What it answers is
// judged all the same, length by length, so that a mistake in it is a trap that names the function
// and never memory that is not there.

#include "sandbox/unique_fd.h"
#include "vm/foreign.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace gos::stdlib {

/// A function that a library is known to offer: from its signatures, read as data.
struct ForeignOffer {
  std::string symbol;
  std::string signature; // as NativeImport::signature
};

class ForeignLibrary final : public vm::ForeignLinker {
public:
  /// The library in a sealed memfd, of which a duplicate is kept. Nothing of it runs before the
  /// first `find`. Where `offers` is not empty, a function that is not among them, or has another
  /// signature there, is refused without loading; a built program, whose module and library are one
  /// file, may leave it empty.
  static std::unique_ptr<ForeignLibrary> create(int image,
                                                llvm::ArrayRef<ForeignOffer> offers = {});
  /// The same, loaded at once: what the library does when it is loaded happens here.
  static llvm::Expected<std::unique_ptr<ForeignLibrary>>
  open(int image, llvm::ArrayRef<ForeignOffer> offers = {});
  ~ForeignLibrary() override;

  bool isLoaded() const { return library_ != nullptr; }
  /// Handles that programs hold at the moment.
  size_t liveHandles() const { return live_.size(); }

  llvm::Expected<const void*> find(const vm::NativeImport& import) override;
  vm::Trap call(vm::Arguments& arguments, const void* entry) override;
  void release(uint64_t handle) override;

private:
  struct Buffer { // owned by the library
    uint8_t* data = nullptr;
    size_t length = 0;
    size_t capacity = 0;
  };
  using Entry = uint32_t (*)(const uint8_t* arguments, size_t length, Buffer* out);

  ForeignLibrary() = default;
  llvm::Error load();
  /// A symbol of the library itself, not of one that it needs; null if there is none.
  void* symbol(const char* name) const;
  vm::Trap answer(vm::Arguments& arguments, uint32_t status, llvm::StringRef bytes);

  UniqueFd image_;
  llvm::StringMap<std::string> offers_; // signature by symbol
  void* library_ = nullptr;
  const void* base_ = nullptr; // where it was mapped
  void (*free_)(Buffer*) = nullptr;
  void (*release_)(uint64_t) = nullptr;
  llvm::DenseSet<uint64_t> live_;
};

} // namespace gos::stdlib
