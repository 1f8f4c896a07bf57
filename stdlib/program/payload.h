#pragma once
// What makes a runtime a program: the sections behind its own bytes, and the trailer that ends the
// file.
//
//   runtime | module | places | name | library | trailer
//
// The trailer is the last kTrailerBytes of the file: the lengths of the four sections (u64 each),
// the version of the format and the number of the sections (u32 each), a checksum of sections and
// trailer (16 bytes), a magic word (16 bytes); little endian. The checksum tells a damaged file
// from a whole one. It is no signature: who can change the file can also change the runtime in it.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace gos::program {

inline constexpr uint32_t kPayloadVersion = 1;
inline constexpr size_t kSections = 4;
inline constexpr size_t kTrailerBytes = kSections * 8 + 8 + 16 + 16;

/// Views of the sections.
struct Payload {
  llvm::StringRef module;  // vm::serialise
  llvm::StringRef lines;   // SourceLines::serialise
  llvm::StringRef name;    // of the program, for messages
  llvm::StringRef library; // of Rust bindings, an ELF shared object; empty without any
};

/// A payload and the memory it lies in.
struct LoadedPayload {
  std::unique_ptr<llvm::MemoryBuffer> memory;
  Payload payload;
};

/// The bytes to write behind a runtime.
std::string sealPayload(const Payload& payload);

/// The payload at the end of a whole file. Total over any bytes: an error for what is cut off,
/// changed, of another version or no such file.
llvm::Expected<Payload> parsePayload(llvm::StringRef file);

/// The same of an open file, of which only the payload is read.
llvm::Expected<LoadedPayload> readPayload(int fd);

/// Does the file end as a built program does? Says nothing about the rest of it.
bool endsLikeProgram(int fd);

} // namespace gos::program
