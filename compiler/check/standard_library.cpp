// The Library over stdlib/: the table of native functions and the embedded Gossamer modules.

#include "compiler/check/library.h"
#include "stdlib/builtins.h"

namespace gos::check {

namespace {
class StandardLibrary final : public Library {
public:
  std::optional<llvm::StringRef> source(llvm::StringRef module) const override {
    llvm::StringRef text = stdlib::preludeSource(module);
    if (text.empty())
      return std::nullopt;
    return text;
  }

  bool hasModule(llvm::StringRef module) const override {
    if (stdlib::hasModule(module))
      return true;
    // `encoding` exists through `encoding::json`.
    for (llvm::StringRef each : stdlib::moduleNames())
      if (each.size() > module.size() + 2 && each.starts_with(module) &&
          each.substr(module.size(), 2) == "::")
        return true;
    return false;
  }

  void natives(llvm::StringRef owner, llvm::StringRef name,
               llvm::SmallVectorImpl<NativeFunction>& found) const override {
    auto add = [&](const stdlib::BuiltinRow* row) {
      if (row)
        found.push_back({row->path, row->signature, int32_t(row->id)});
    };
    if (stdlib::hasModule(owner))
      add(stdlib::findFunction(owner, name));
    if (!found.empty())
      return;
    size_t cut = owner.rfind("::");
    if (cut == llvm::StringRef::npos)
      add(stdlib::findMethod(owner, name));
    else
      add(stdlib::findMethod(owner.substr(0, cut), owner.substr(cut + 2), name));
  }

  bool hasEffect(int32_t id) const override {
    for (const stdlib::BuiltinRow& row : stdlib::builtinRows()) {
      if (int32_t(row.id) != id)
        continue;
      // Scheduling is Pure, for a fold does it in a fixed order; who shares something sees it.
      return row.capability != Capability::Pure || row.module == "sync" ||
             row.module == "runtime" || row.module == "thread" ||
             row.path.starts_with("intrinsics::go") || row.path.starts_with("intrinsics::daemon") ||
             row.path.starts_with("intrinsics::slot_") ||
             row.path.starts_with("intrinsics::queue_") ||
             row.path.starts_with("intrinsics::cohort_");
    }
    return true;
  }

  void modules(llvm::SmallVectorImpl<llvm::StringRef>& paths) const override {
    paths.append(stdlib::moduleNames().begin(), stdlib::moduleNames().end());
  }

  void names(llvm::StringRef owner, llvm::SmallVectorImpl<llvm::StringRef>& found) const override {
    auto add = [&](llvm::ArrayRef<stdlib::BuiltinRow> rows, bool freeOnly) {
      for (const stdlib::BuiltinRow& row : rows)
        if (!freeOnly || row.type.empty())
          found.push_back(row.name);
    };
    if (stdlib::hasModule(owner))
      return add(stdlib::rowsOfModule(owner), true);
    size_t cut = owner.rfind("::");
    if (cut == llvm::StringRef::npos)
      add(stdlib::rowsOfType(owner), false);
    else
      add(stdlib::rowsOfType(owner.substr(0, cut), owner.substr(cut + 2)), false);
  }
};
} // namespace

const Library& standardLibrary() {
  static const StandardLibrary kLibrary;
  return kLibrary;
}

} // namespace gos::check
