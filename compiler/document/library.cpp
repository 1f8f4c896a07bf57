// The library: every module of the prelude, and the rows of the table beside it.

#include "compiler/document/document.h"
#include "compiler/document/texts.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::document {
namespace {

using llvm::StringRef;

std::string shownModule(StringRef module) {
  return module == "core" ? "std::prelude" : ("std::" + module).str();
}

/// What the table calls a family of types, and what a reader calls it.
std::string shownType(StringRef type) {
  if (type == "Slice")
    return "[T]";
  if (type == "Int")
    return "integers";
  if (type == "Float")
    return "floats";
  if (type == "Any")
    return "every value";
  return type.str();
}

Item& typeOf(Module& module, StringRef type) {
  const std::string name = shownType(type);
  for (Item& item : module.items)
    if (item.name == name && item.kind != ItemKind::Function) {
      if (item.documentation.empty())
        item.documentation = typeText(type).str();
      // An impl of the prelude may have spelt it otherwise: `[T]`.
      const std::string path = module.path + "::" + type.str();
      for (Item& member : item.members)
        if (StringRef(member.path).starts_with(item.path))
          member.path = path + member.path.substr(item.path.size());
      item.path = path;
      return item;
    }
  Item& made = module.items.emplace_back();
  made.kind = ItemKind::BuiltinType;
  made.name = name;
  made.path = module.path + "::" + type.str();
  made.documentation = typeText(type).str();
  return made;
}

Item rowItem(const stdlib::BuiltinRow& row, StringRef owner) {
  Item item;
  StringRef rest = row.signature;
  rest.consume_front("fn");
  item.name = row.name.str();
  item.path = (owner + "::" + row.name).str();
  item.signature = ("pub fn " + row.name + rest).str();
  item.documentation = rowText(row.path).str();
  item.capability = row.capability;
  item.kind = row.type.empty()                                     ? ItemKind::Function
              : rest.contains("(self:") || rest.contains("(self,") ? ItemKind::Method
                                                                   : ItemKind::Associated;
  return item;
}

void forgetPlaces(std::vector<CodeBlock>& code, std::vector<Item>& items, unsigned depth) {
  for (CodeBlock& block : code) {
    block.span = {};
    block.line = 0;
  }
  for (Item& item : items) {
    item.span = {};
    if (depth < 8)
      forgetPlaces(item.code, item.members, depth + 1);
  }
}

/// A name that the prelude documents too is one item: the Gossamer text and the row are overloads.
void addRows(Module& module, StringRef name) {
  for (const stdlib::BuiltinRow& row : stdlib::rowsOfModule(name)) {
    if (row.type.empty()) {
      module.items.push_back(rowItem(row, module.path));
      continue;
    }
    Item& type = typeOf(module, row.type);
    type.members.push_back(rowItem(row, type.path));
  }
}

} // namespace

Documentation documentLibrary(StringRef only) {
  Documentation result;
  result.title = "std";
  for (StringRef name : stdlib::moduleNames()) {
    if (name == "intrinsics" || (!only.empty() && name != only))
      continue;
    Module module;
    module.path = shownModule(name);
    if (StringRef source = stdlib::preludeSource(name); !source.empty()) {
      SourceMap sources;
      Engine engine(sources);
      ast::Context context;
      if (auto file = sources.addCopy(module.path, source)) {
        const ast::File parsed = parse::parseFile(*file, sources, context, engine, {});
        ParsedFile entry{module.path, &parsed};
        Documentation part = documentPackage("std", entry, sources, Take::Reachable);
        for (Module& made : part.modules)
          if (made.path == module.path)
            module = std::move(made);
      } else {
        llvm::consumeError(file.takeError());
      }
    }
    addRows(module, name);
    if (StringRef text = moduleText(name); !text.empty())
      module.documentation = text.str();
    // The library's own files have no place that a reader could open.
    forgetPlaces(module.code, module.items, 0);
    result.modules.push_back(std::move(module));
  }
  llvm::sort(result.modules, [](const Module& a, const Module& b) { return a.path < b.path; });
  return result;
}

} // namespace gos::document
