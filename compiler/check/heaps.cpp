// What a heap may hold: it orders its elements by their structure, and calls nothing of the
// program's.

#include "compiler/check/checker.h"

namespace gos::check {

/// `MaxHeap<T>` or `MinHeap<T>`, as written or as the type of a call: judged once its element is
/// known.
void Checker::noteHeap(Type* heap, Span span) {
  if (!heap->is(Kind::MaxHeap) && !heap->is(Kind::MinHeap))
    return;
  (inBody() ? body_->heaps : heaps_).push_back({heap, span});
}

void Checker::checkHeap(Type* heap, Span span) {
  if (!judgedHeaps_.insert(heap).second)
    return;
  Type* element = heap->args[0];
  StringRef name = types::spelling(heap->kind);
  if (element->is(Kind::U64) || element->is(Kind::Usize) || element->is(Kind::Map) ||
      element->is(Kind::Set) || element->is(Kind::BTreeMap) || element->is(Kind::BTreeSet) ||
      element->is(Kind::Fn)) {
    engine_.report(span, diag::BadContainerElement, print(element), name);
    return;
  }
  // An order written by hand, anywhere inside.
  SmallVector<Type*, 8> work{element};
  llvm::SmallPtrSet<Type*, 8> seen;
  while (!work.empty()) {
    Type* type = work.pop_back_val();
    if (type->has(Type::HasError) || !seen.insert(type).second || seen.size() > 1000)
      continue;
    for (LangTrait each : {LangTrait::Ord, LangTrait::PartialOrd}) {
      ImplMatch match;
      if (!type->isNominal() || !lang(each) || !findImpl(lang(each), type, {}, match))
        continue;
      engine_.report(span, diag::HeapOverCustomOrder, print(type), name)
          .label(match.impl->item->trait.span, "the order is written here")
          .help("put tuples into the heap whose first part is the key");
      return;
    }
    work.append(type->args.begin(), type->args.end());
    if (auto* structure = type->is(Kind::Struct) ? cast<StructItem>(type->item) : nullptr) {
      resolveFields(structure);
      for (uint32_t i = 0; i < structure->fields.size(); ++i)
        work.push_back(fieldType(type, i));
    } else if (auto* item = type->is(Kind::Enum) ? cast<EnumItem>(type->item) : nullptr) {
      resolveFields(item);
      for (uint32_t i = 0; i < item->variants.size(); ++i)
        for (uint32_t k = 0; k < item->variants[i].fields.size(); ++k)
          work.push_back(payloadType(type, i, k));
    } else if (type->is(Kind::Newtype)) {
      work.push_back(representation(type));
    }
  }
}

} // namespace gos::check
