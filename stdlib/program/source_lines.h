#pragma once
// The places of a module's code without its sources: what a built program needs to print a stack
// trace.
//
// Made once, when a program is built, by renumbering the spans of the module: each becomes the
// number of its place. So a module says the same wherever its sources stood in the offset space of
// their compilation, and an executable holds no byte of a source.

#include "stdlib/program/program.h"

#include "llvm/Support/Error.h"

namespace gos::program {

class SourceLines {
public:
  /// Total over any bytes: an error for what `serialise` did not write.
  static llvm::Expected<SourceLines> parse(llvm::StringRef bytes);
  std::string serialise() const;

  /// Replaces every span of the module by the number of its place, which `placeOf` tells. A span
  /// without a place becomes none.
  static SourceLines renumber(vm::Module& module,
                              const std::function<std::optional<Place>(Span)>& placeOf);

  /// The place of a span of the renumbered module.
  std::optional<Place> placeOf(Span span) const;
  size_t size() const { return places_.size(); }

private:
  struct Row {
    uint32_t file, line, column;
  };
  std::vector<std::string> files_;
  std::vector<Row> places_;
};

} // namespace gos::program
