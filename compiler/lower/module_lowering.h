#pragma once
// What the functions of one module share: layouts, constants, imports, and the worklist of
// instances to lower.

#include "compiler/check/program.h"
#include "compiler/lower/layouts.h"
#include "compiler/lower/lowering.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace gos::lower {

using check::Selected;
using types::Type;

/// The package of an item whose origin is not known.
inline constexpr uint32_t kNoPackage = 0xffffffffu;

/// What a body means its generic parameters to be, and whose source it is.
struct Environment {
  llvm::ArrayRef<Type*> args; // in the type table's arena
  Type* self = nullptr;
  uint32_t package = 0;
  std::string name; // as a stack trace shows the function
};

/// One function to lower.
struct Instance {
  enum class Kind : uint8_t { Function, Closure, Region, Global, Thunk, Constructor, Session };
  Kind kind = Kind::Function;
  vm::FunctionId id = vm::FunctionId::None;
  Environment environment;
  ast::FunctionItem* function = nullptr; // Function, Thunk; Session: main
  const ast::ClosureExpr* closure = nullptr;
  ast::Expr* expr = nullptr; // Region, Global: the value
  Type* type = nullptr;      // of that value; Thunk, Constructor: the Fn type
  uint32_t variant = 0;      // Constructor
  Span span;
};

class ModuleLowering final : public LayoutHost {
public:
  ModuleLowering(check::Program& program, Engine& engine);

  /// Everything that the request reaches.
  llvm::Expected<vm::Module> run(const LowerRequest& request);

  check::Program& program() { return program_; }
  types::TypeTable& types() { return program_.types(); }
  Layouts& layouts() { return layouts_; }
  vm::Module& module() { return module_; }
  Engine& engine() { return engine_; }
  /// A `codegen!` whose text is not made yet.
  void reachUnmadeText(Span span);
  /// LowerRequest::everyLine.
  bool everyLine() const { return everyLine_; }

  /// Concrete: parameters replaced, projections followed.
  Type* instantiate(Type* type, const Environment& environment);
  llvm::ArrayRef<Type*> instantiate(llvm::ArrayRef<Type*> types, const Environment& environment);

  // ---- functions --------------------------------------------------------------------------------
  /// The bytecode of a function with a body; queued when it is new.
  vm::FunctionId function(const Selected& selected);
  /// A closure's code, in the environment of the function around it.
  vm::FunctionId closure(const ast::ClosureExpr* closure, const Environment& environment);
  /// A function that takes and gives what `type` (an Fn) says and calls `selected`: for a builtin
  /// as a value, and for a function whose own layouts differ. It belongs to the package that names
  /// it.
  vm::FunctionId thunk(const Selected& selected, Type* type, uint32_t package, Span span);
  /// A tuple struct or variant named as a function: makes the value from the parameters of `type`
  /// (an Fn).
  vm::FunctionId constructor(Type* type, uint32_t variant, uint32_t package, Span span);
  /// The path of a builtin in the library's table.
  llvm::StringRef builtinPath(const ast::FunctionItem* function);
  /// A user-visible name: `fib`, `Point::norm`.
  std::string displayName(const ast::FunctionItem* function, Type* self) const;
  uint32_t packageOf(const ast::Item* item) const;

  // ---- tables -----------------------------------------------------------------------------------
  uint32_t global(ast::Item* item, const Environment& environment);
  /// The global that holds a variable of the session; none of any other variable.
  std::optional<uint32_t> sessionGlobal(const ast::Variable* variable) const;
  const SessionLine* session() const { return session_; }
  uint32_t constant(uint64_t bits);
  uint32_t string(llvm::StringRef text);
  uint32_t format(const ast::FormatSpec& spec);
  uint32_t native(llvm::StringRef path, llvm::ArrayRef<vm::LayoutId> parameters,
                  llvm::ArrayRef<bool> inOut, vm::LayoutId result);
  /// The same for a function of a foreign library, as "rust:PATH".
  uint32_t foreign(const ast::ForeignFunction& function, llvm::ArrayRef<vm::LayoutId> parameters,
                   llvm::ArrayRef<bool> inOut, vm::LayoutId result);

  /// A construct that is not built: GN0001 once a place.
  void notYet(Span span, llvm::StringRef what);
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }

  // ---- LayoutHost -------------------------------------------------------------------------------
  Hooks hooks(Type* type) override;
  llvm::SmallVector<Type*, 8> fieldTypes(Type* type, uint32_t variant) override;
  Type* representation(Type* type) override { return program_.representation(type); }

private:
  vm::FunctionId enqueue(Instance instance);
  void lowerInstance(const Instance& instance);
  vm::FunctionId sessionLine(const SessionLine& session);

  check::Program& program_;
  Engine& engine_;
  bool everyLine_ = false;
  bool* reachesUnmadeText_ = nullptr;
  vm::Module module_;
  Layouts layouts_;
  std::deque<Instance> queue_;

  using FunctionKey = std::tuple<ast::FunctionItem*, const Type* const*, size_t, const Type*>;
  std::map<FunctionKey, vm::FunctionId> functions_;
  std::map<std::tuple<FunctionKey, Type*, uint32_t>, vm::FunctionId> thunks_;
  std::map<std::pair<std::pair<ast::Item*, const Type*>, const Type* const*>, uint32_t> globals_;
  std::map<uint64_t, uint32_t> constants_;
  llvm::StringMap<uint32_t> strings_;
  std::map<std::string, uint32_t> natives_;
  std::map<std::vector<Type*>, llvm::ArrayRef<Type*>> internedLists_;
  llvm::DenseMap<uint32_t, bool> reported_;
  std::vector<llvm::StringRef> builtinPaths_; // by FunctionItem::builtin
  const SessionLine* session_ = nullptr;
  llvm::DenseMap<const ast::Variable*, uint32_t> sessionGlobals_;
  bool failed_ = false;

  llvm::ArrayRef<Type*> intern(llvm::ArrayRef<Type*> types);
};

} // namespace gos::lower
