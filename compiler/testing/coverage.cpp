#include "compiler/testing/coverage.h"

#include "compiler/check/walk.h"
#include "compiler/parse/parse.h"
#include "diagnostics/escape.h"
#include "vm/coverage.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::testing {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

/// Walks the items of a file and notes their functions and statements.
class UnitCoverage::Collector {
public:
  Collector(const SourceMap& sources, FileId file, std::vector<Node>& nodes)
      : sources_(sources), file_(file), nodes_(nodes) {}

  void visit(const ast::ModuleItem* module, const std::string& path, unsigned depth) {
    if (depth > kDeepest)
      return;
    for (const ast::Item* item : module->items)
      visitItem(item, path, depth);
  }

  /// Statements of an entry file.
  void visitMain(ast::BlockExpr* body) {
    if (!body || (body->statements.empty() && !body->tail))
      return;
    const Span first = body->statements.empty() ? body->tail->span : body->statements.front()->span;
    const Span last = body->tail ? body->tail->span : body->statements.back()->span;
    note({first.begin, last.end}, "main");
    visitExpr(body, "main", 0);
  }

private:
  static constexpr unsigned kDeepest = parse::kMaxNesting + 8; // the parser stops before

  static std::string join(StringRef path, StringRef name) {
    return path.empty() ? name.str() : (path + "::" + name).str();
  }

  bool isLeftOut(const ast::Item* item) const {
    for (const ast::Attribute& attribute : item->attributes) {
      if (attribute.path.segments.size() != 1)
        continue;
      const StringRef name = attribute.path.segments[0].ident.name.text();
      if (name == "test" || name == "test_case" || name == "bench" || name == "fuzz")
        return true;
      if (name == "cfg" && attribute.argumentSpan.valid() &&
          sources_.text(attribute.argumentSpan).trim() == "test")
        return true;
    }
    return false;
  }

  void visitItem(const ast::Item* item, const std::string& path, unsigned depth) {
    // What was written for the author (derives, cases, code of documentation) is not in the file.
    if (depth > kDeepest || sources_.fileOf(item->span) != file_ || isLeftOut(item))
      return;
    if (auto* function = dyn_cast<ast::FunctionItem>(item)) {
      visitFunction(function, path, depth);
    } else if (auto* inner = dyn_cast<ast::ModuleItem>(item)) {
      if (inner->hasBody)
        visit(inner, join(path, inner->name.name.text()), depth + 1);
    } else if (auto* impl = dyn_cast<ast::ImplItem>(item)) {
      const std::string target =
          join(path, impl->target ? sources_.text(impl->target->span) : StringRef());
      for (const ast::Item* member : impl->items)
        visitItem(member, target, depth + 1);
    } else if (auto* trait = dyn_cast<ast::TraitItem>(item)) {
      for (const ast::Item* member : trait->items)
        visitItem(member, join(path, trait->name.name.text()), depth + 1);
    }
  }

  void visitFunction(const ast::FunctionItem* function, const std::string& path, unsigned depth) {
    if (!function->body || function->isComptime ||
        !sources_.text(function->body->span).starts_with("{"))
      return;
    const std::string name = join(path, function->name.name.text());
    const size_t at = nodes_.size();
    note(function->body->span, name);
    visitExpr(function->body, name, depth + 1);
    if (nodes_.size() == at + 1)
      nodes_.pop_back(); // nothing in it can be reached
    else
      nodes_[at].line = sources_.locate(function->name.span).line;
  }

  void note(Span span, std::string function = {}) {
    if (!span.valid() || sources_.fileOf(span) != file_)
      return;
    Node& node = nodes_.emplace_back();
    node.span = span;
    node.function = std::move(function);
    node.file = file_;
    node.line = sources_.locate(span).line;
  }

  void visitExpr(ast::Expr* expr, const std::string& path, unsigned depth) {
    if (!expr || depth > 4 * kDeepest)
      return;
    if (isa<ast::ComptimeExpr>(expr))
      return; // it ran while the program was checked
    if (auto* block = dyn_cast<ast::BlockExpr>(expr)) {
      for (const ast::Stmt* statement : block->statements)
        if (auto* inner = dyn_cast<ast::ItemStmt>(statement))
          visitItem(inner->item, path, depth + 1);
        else if (auto* let = dyn_cast<ast::LetStmt>(statement); !let || let->value)
          note(statement->span);
      if (block->tail)
        note(block->tail->span);
    } else if (auto* match = dyn_cast<ast::MatchExpr>(expr)) {
      for (const ast::MatchArm& arm : match->arms)
        if (arm.body && !isa<ast::BlockExpr>(arm.body))
          note(arm.body->span);
    }
    check::forEachPart(expr, [&](ast::Expr* part) { visitExpr(part, path, depth + 1); });
  }

  const SourceMap& sources_;
  FileId file_;
  std::vector<Node>& nodes_;
};

UnitCoverage::UnitCoverage(const check::ProgramInput& input, const vm::Module& module,
                           llvm::function_ref<bool(FileId)> isOwn)
    : sources_(&input.sources) {
  for (const resolve::Package& package : input.packages)
    for (const resolve::SourceModule& each : package.modules)
      if (each.file.module && isOwn(each.file.id)) {
        Collector collector(input.sources, each.file.id, nodes_);
        collector.visit(each.file.module, llvm::join(each.path, "::"), 0);
        if (&package == &input.packages.front() && &each == &package.modules.front() &&
            input.implicitMain)
          collector.visitMain(input.implicitMain->body);
      }
  llvm::stable_sort(nodes_, [](const Node& a, const Node& b) {
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end > b.span.end;
  });
  for (uint32_t i = 0, open = kNone; i < nodes_.size(); open = i++) {
    while (open != kNone && nodes_[open].span.end < nodes_[i].span.end)
      open = nodes_[open].parent;
    nodes_[i].parent = open;
  }
  nodeOf_.assign(vm::coverPlaceCount(module), kNone);
  vm::forEachCoverPlace(
      module, [&](uint32_t number, const vm::Function&, const vm::LineEntry& entry) {
        const uint32_t node = entry.span.valid() ? innermost(entry.span.begin) : kNone;
        nodeOf_[number] = node;
        for (uint32_t up = node; up != kNone && !nodes_[up].hasCode; up = nodes_[up].parent) {
          nodes_[up].hasCode = true;
          if (!nodes_[up].function.empty())
            break; // a function in a function is not a part of it
        }
      });
}

uint32_t UnitCoverage::innermost(uint32_t position) const {
  const auto next =
      llvm::partition_point(nodes_, [&](const Node& node) { return node.span.begin <= position; });
  uint32_t node = uint32_t(next - nodes_.begin()) - 1; // kNone before the first
  while (node != kNone && nodes_[node].span.end <= position)
    node = nodes_[node].parent;
  return node;
}

void UnitCoverage::add(StringRef reached) {
  ++test_;
  for (size_t i = 0; i < std::min(reached.size(), nodeOf_.size()); ++i) {
    if (reached[i] == 0)
      continue;
    for (uint32_t up = nodeOf_[i]; up != kNone && nodes_[up].mark != test_;
         up = nodes_[up].parent) {
      nodes_[up].mark = test_;
      ++nodes_[up].count;
      if (!nodes_[up].function.empty())
        break;
    }
  }
}

void Coverage::add(const UnitCoverage& unit) {
  using Node = UnitCoverage::Node;
  std::map<std::string, File> files;
  std::vector<const Node*> functionOf(unit.nodes_.size(), nullptr);
  for (size_t i = 0; i < unit.nodes_.size(); ++i) {
    const Node& node = unit.nodes_[i];
    File& file = files[unit.sources_->file(node.file).name];
    if (!node.function.empty()) {
      functionOf[i] = &node;
      uint64_t& count = file.functions[{node.line, node.function}];
      count = std::max(count, node.count);
      continue;
    }
    const Node* function = node.parent == UnitCoverage::kNone ? nullptr : functionOf[node.parent];
    functionOf[i] = function;
    // Of a function that is in the program, what left no code has nothing to reach.
    if (!node.hasCode && (!function || function->hasCode))
      continue;
    uint64_t& count = file.lines[node.line];
    count = std::max(count, node.count);
  }
  for (const auto& [name, from] : files) {
    File& to = files_[name];
    for (const auto& [line, count] : from.lines)
      to.lines[line] += count;
    for (const auto& [key, count] : from.functions)
      to.functions[key] += count;
  }
}

void Coverage::write(llvm::raw_ostream& out) const {
  for (const auto& [name, file] : files_) {
    if (file.lines.empty())
      continue;
    out << "TN:\nSF:" << escapeForText(name) << '\n';
    uint64_t reached = 0;
    for (const auto& [key, count] : file.functions)
      out << "FN:" << key.first << ',' << escapeForText(key.second) << '\n';
    for (const auto& [key, count] : file.functions) {
      out << "FNDA:" << count << ',' << escapeForText(key.second) << '\n';
      reached += count != 0;
    }
    out << "FNF:" << file.functions.size() << "\nFNH:" << reached << '\n';
    reached = 0;
    for (const auto& [line, count] : file.lines) {
      out << "DA:" << line << ',' << count << '\n';
      reached += count != 0;
    }
    out << "LF:" << file.lines.size() << "\nLH:" << reached << "\nend_of_record\n";
  }
}

Coverage::Total Coverage::total() const {
  Total total;
  for (const auto& [name, file] : files_) {
    total.lines += file.lines.size();
    for (const auto& [line, count] : file.lines)
      total.reached += count != 0;
  }
  return total;
}

} // namespace gos::testing
