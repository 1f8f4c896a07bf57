#pragma once
// Properties and case of scalar values, from tables of ours: the same on every host and in every
// locale.

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace gos::stdlib {

bool isAlphabetic(uint32_t scalar);
bool isNumeric(uint32_t scalar);
bool isUppercase(uint32_t scalar);
bool isLowercase(uint32_t scalar);
bool isWhitespace(uint32_t scalar);
bool isControl(uint32_t scalar);

/// The one scalar that is the other case; the scalar itself when there is none or there are
/// several.
uint32_t simpleUpper(uint32_t scalar);
uint32_t simpleLower(uint32_t scalar);

/// Whole texts: one scalar may become several, and a final sigma is met.
std::string toUpper(llvm::StringRef text);
std::string toLower(llvm::StringRef text);
/// The first letter of each word in upper case, the rest in lower case.
std::string toTitle(llvm::StringRef text);

void appendScalar(std::string& out, uint32_t scalar);
/// The number of scalar values of a text.
int64_t countScalars(llvm::StringRef text);

llvm::StringRef trimStart(llvm::StringRef text);
llvm::StringRef trimEnd(llvm::StringRef text);

} // namespace gos::stdlib
