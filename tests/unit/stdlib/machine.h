#pragma once
// Calls native bodies for tests: a module with one function for each import, and a Vm that runs
// them. Types are written as in the language; results are read as their `{:?}` text.

#include "stdlib/builtins.h"
#include "stdlib/host_state.h"
#include "vm/format.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gos::stdlib::test {

struct Outcome {
  vm::TrapKind trap = vm::TrapKind::None;
  std::string message; // of the trap
  std::string detail;  // of a denial
  std::string text;    // `{:?}` of the result
  std::string changed; // `{:?}` of the first argument afterwards, when it is in-out
  vm::Value value = 0; // a scalar result
};

class Machine {
public:
  explicit Machine(vm::VmOptions options = program()) : options_(std::move(options)) {}

  static vm::VmOptions program() {
    vm::VmOptions options;
    options.mode = vm::Mode::Program;
    return options;
  }

  /// "Vec<String>", "Result<(), io::Error>", "(i64, String)", "Fn(i64, i64) -> i64" is not one of
  /// them.
  vm::LayoutId type(llvm::StringRef text);

  /// Declares an import: "fs::read_to_string", {"String"}, "Result<String, io::Error>". A leading
  /// `&mut ` is in-out.
  size_t native(llvm::StringRef path, std::vector<std::string> parameters, llvm::StringRef result,
                uint32_t package = 1);

  /// After all imports are declared; called by the first use.
  void start();
  const vm::Module& module() const { return module_; }
  vm::Vm& vm() {
    start();
    return *vm_;
  }

  // Arguments; owned by the call.
  vm::Value text(llvm::StringRef text);
  vm::Value bytes(llvm::StringRef bytes);
  vm::Value integers(std::vector<int64_t> items);
  vm::Value texts(std::vector<std::string> items);

  Outcome call(size_t native, std::vector<vm::Value> arguments);

private:
  struct Entry {
    vm::FunctionId function{};
    vm::FunctionId changed{}; // answers the in-out argument instead of the result
    vm::LayoutId result{};
    vm::LayoutId first{};
    bool inOut = false;
  };
  vm::LayoutId add(vm::Layout layout);
  vm::LayoutId parse(llvm::StringRef& rest);
  std::vector<vm::LayoutId> list(llvm::StringRef& rest, char close);
  std::string show(vm::Value value, vm::LayoutId layout);

  vm::VmOptions options_;
  vm::Module module_;
  std::map<std::string, vm::LayoutId> known_;
  std::vector<Entry> entries_;
  std::unique_ptr<vm::Vm> vm_;
};

/// One call on a machine of its own. Arguments: i64 as a number, String as text.
struct Word {
  Word(int64_t number) : isText(false), number(number) {}
  Word(int number) : isText(false), number(number) {}
  Word(const char* text) : text(text) {}
  Word(std::string words) : text(std::move(words)) {}
  bool isText = true;
  int64_t number = 0;
  std::string text;
};
Outcome once(llvm::StringRef path, std::vector<std::string> parameters, llvm::StringRef result,
             std::vector<Word> arguments);

} // namespace gos::stdlib::test
