#pragma once
// types::Type -> vm::Layout. Types with equal layouts share one: `[T]` is laid out as Vec<T>, a
// reference as what it refers to (`&mut T` as a cell), a newtype as its representation unless it
// has implementations of its own.

#include "compiler/types/type_table.h"
#include "vm/module.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace gos::lower {

/// What the layouts need to know about nominal types: answered by the module's lowering.
class LayoutHost {
public:
  struct Hooks {
    vm::FunctionId display = vm::FunctionId::None;
    vm::FunctionId debug = vm::FunctionId::None;
    vm::FunctionId equals = vm::FunctionId::None;
    vm::FunctionId compare = vm::FunctionId::None;
    bool any() const {
      return display != vm::FunctionId::None || debug != vm::FunctionId::None ||
             equals != vm::FunctionId::None || compare != vm::FunctionId::None;
    }
  };
  /// User implementations of Display, Debug, PartialEq and Ord at this concrete type.
  virtual Hooks hooks(types::Type* type) = 0;
  /// The declared types of the fields at this type's arguments; `variant` is 0 for a struct.
  virtual llvm::SmallVector<types::Type*, 8> fieldTypes(types::Type* type, uint32_t variant) = 0;
  /// What a newtype stands for.
  virtual types::Type* representation(types::Type* type) = 0;

protected:
  ~LayoutHost() = default;
};

/// The width of an integer type; every other scalar is carried in 64 signed bits.
vm::IntWidth widthOf(types::Type* type);

class Layouts {
public:
  Layouts(vm::Module& module, types::TypeTable& types, LayoutHost& host)
      : module_(module), types_(types), host_(host) {}

  /// The layout of a concrete type.
  vm::LayoutId of(types::Type* type);
  vm::LayoutId cellOf(vm::LayoutId content);
  vm::LayoutId vecOf(vm::LayoutId element, llvm::StringRef name);
  vm::LayoutId tupleOf(llvm::ArrayRef<vm::LayoutId> elements);
  vm::LayoutId unit();
  vm::LayoutId integer(); // i64
  vm::LayoutId boolean();
  vm::LayoutId string();
  vm::LayoutId f64();

  const vm::Layout& operator[](vm::LayoutId id) const { return module_.layouts[vm::index(id)]; }
  bool isReference(vm::LayoutId id) const { return (*this)[id].isReference(); }
  bool isFloat(vm::LayoutId id) const { return (*this)[id].kind == vm::LayoutKind::Float; }

private:
  vm::LayoutId add(vm::Layout layout);
  vm::LayoutId make(types::Type* type);
  void fillNominal(types::Type* type, vm::LayoutId id);
  vm::LayoutId scalar(vm::ScalarKind kind, vm::IntWidth width, llvm::StringRef name);

  vm::Module& module_;
  types::TypeTable& types_;
  LayoutHost& host_;
  llvm::DenseMap<types::Type*, vm::LayoutId> byType_;
  llvm::DenseMap<uint32_t, vm::LayoutId> cells_;
  vm::LayoutId unit_{}, integer_{}, boolean_{}, string_{}, f64_{};
  bool hasUnit_ = false, hasInteger_ = false, hasBoolean_ = false, hasString_ = false,
       hasF64_ = false;
};

} // namespace gos::lower
