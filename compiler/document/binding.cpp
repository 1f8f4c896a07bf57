// The modules of a binding. Their signatures are data that was checked
// (compiler/bindings/signatures.h); nothing of the library is loaded for this.

#include "compiler/document/document.h"
#include "compiler/document/text.h"

namespace gos::document {
namespace {

using llvm::StringRef;

void addText(StringRef text, StringRef owner, std::string& documentation,
             std::vector<CodeBlock>& code) {
  documentation = text.str();
  // Doc comments of a crate are Rust: no fence in them is a test of Gossamer's.
  for (CodeBlock& block : fencedBlocks(text)) {
    if (block.info.empty())
      block.info = "rust";
    block.owner = owner.str();
    block.line = 0;
    code.push_back(std::move(block));
  }
}

} // namespace

Documentation documentBindings(const bindings::Signatures& signatures) {
  Documentation result;
  for (const bindings::ModuleSignature& from : signatures.modules) {
    Module module;
    module.path = from.path;
    module.isBinding = true;
    addText(from.documentation, from.path, module.documentation, module.code);
    for (const bindings::StructSignature& each : from.structs) {
      Item& item = module.items.emplace_back();
      item.kind = ItemKind::Struct;
      item.name = each.name;
      item.path = joined(from.path, each.name);
      item.signature = "pub struct " + each.name + " {\n";
      for (const bindings::TypedName& field : each.fields)
        item.signature += "    pub " + field.name + ": " + field.type + "\n";
      item.signature += "}";
      addText(each.documentation, item.path, item.documentation, item.code);
    }
    for (const bindings::OpaqueSignature& each : from.opaques) {
      Item& item = module.items.emplace_back();
      item.kind = ItemKind::Opaque;
      item.name = each.name;
      item.path = joined(from.path, each.name);
      item.signature = "pub type " + each.name;
      addText(each.documentation, item.path, item.documentation, item.code);
    }
    for (const bindings::FunctionSignature& each : from.functions) {
      Item& item = module.items.emplace_back();
      item.name = each.name;
      item.path = joined(from.path, each.name);
      item.signature = "pub fn " + each.name + "(";
      for (size_t i = 0; i < each.parameters.size(); ++i)
        item.signature +=
            (i ? ", " : "") + each.parameters[i].name + ": " + each.parameters[i].type;
      item.signature += ")";
      if (each.result != "()" && !each.result.empty())
        item.signature += " -> " + each.result;
      item.capability = Capability::Foreign;
      addText(each.documentation, item.path, item.documentation, item.code);
    }
    result.modules.push_back(std::move(module));
  }
  return result;
}

} // namespace gos::document
