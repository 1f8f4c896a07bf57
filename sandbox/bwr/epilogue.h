#pragma once
// What is said after a run, or instead of one: notes for people, one object for programs.

#include "sandbox/bwr/failure.h"
#include "sandbox/bwr/options.h"
#include "sandbox/bwr/request.h"
#include "sandbox/command/report.h"
#include "sandbox/unique_fd.h"

namespace gos::bwr {

/// Where the object of --json goes. Opened before the command runs, so that neither a bad name nor
/// a link which the command makes comes into it.
class Epilogue {
public:
  /// Without --json nothing is written by `write`.
  static llvm::Expected<Epilogue> create(bool json, const std::optional<std::string>& file);

  void write(const Failure& failure, const Options* options);
  /// `report` is null where none was asked for.
  void write(const Request& request, const sandbox::RunResult& result,
             const sandbox::Report* report);
  /// An object that somebody else made, on standard output or in the file.
  void writeObject(llvm::StringRef object);

private:
  void line(llvm::StringRef text, int otherwise);

  bool json_ = false;
  UniqueFd file_;
};

/// The text of an ended run: what was lost or made, and what a failed step may have wanted.
/// `networkNote` is what is said to one that wanted the network; may be empty.
void printEnd(llvm::raw_ostream& out, const Request& request, const sandbox::RunResult& result,
              llvm::StringRef networkNote);

/// The objects themselves.
std::string failureJson(const Failure& failure, const Options* options);
std::string resultJson(const Request& request, const sandbox::RunResult& result,
                       const sandbox::Report* report = nullptr);

} // namespace gos::bwr
