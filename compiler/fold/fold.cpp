#include "compiler/fold/fold.h"

#include "compiler/fold/evaluate.h"
#include "compiler/fold/report.h"
#include "compiler/fold/splice.h"
#include "compiler/lower/lowering.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace gos::fold {
namespace {

using check::Region;
using check::RegionKind;

/// The global that is known once a region is folded, by region; none where no constant is the
/// region and nothing else.
std::vector<std::optional<uint32_t>> globalsOf(llvm::ArrayRef<Region> regions,
                                               llvm::ArrayRef<const ast::Item*> globalItems,
                                               check::Program& program) {
  llvm::DenseMap<const ast::Item*, uint32_t> numbers;
  for (size_t i = 0; i < globalItems.size(); ++i)
    if (globalItems[i])
      numbers[globalItems[i]] = uint32_t(i);
  std::vector<std::optional<uint32_t>> result(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) {
    const Region& region = regions[i];
    auto* constant = llvm::dyn_cast_or_null<ast::ConstItem>(region.enclosing);
    // Those of impls may be generic, and have a global for each instance.
    if (!constant || constant->owner || region.kind == RegionKind::Codegen ||
        constant->value != region.node || program.constantType(constant) != region.type ||
        region.type->isUnit())
      continue;
    if (auto found = numbers.find(constant); found != numbers.end())
      result[i] = found->second;
  }
  return result;
}

/// The regions in order, but one whose constant others read before them: a constant is computed
/// once, not once for each that begins with it.
std::vector<size_t> evaluationOrder(const vm::Module& module,
                                    llvm::ArrayRef<std::optional<uint32_t>> globals) {
  std::vector<size_t> order;
  order.reserve(globals.size());
  llvm::DenseMap<uint32_t, uint32_t> thunkOf; // by global
  llvm::DenseMap<uint32_t, size_t> regionOf;  // by thunk
  for (size_t i = 0; i < globals.size(); ++i) {
    regionOf[vm::index(module.regions[i])] = i;
    if (globals[i])
      thunkOf[*globals[i]] = vm::index(module.regions[i]);
  }
  struct Visit {
    uint32_t function;
    size_t next = 0; // of its instructions
  };
  llvm::BitVector seen(unsigned(module.functions.size())),
      isOpen(unsigned(module.functions.size()));
  std::vector<Visit> open;
  bool inCircle = false;
  const auto enter = [&](uint32_t function) {
    if (seen.test(function))
      return;
    seen.set(function);
    isOpen.set(function);
    open.push_back({function});
  };
  for (size_t i = 0; i < globals.size(); ++i) {
    enter(vm::index(module.regions[i]));
    while (!open.empty()) {
      const vm::Function& function = module.functions[open.back().function];
      if (open.back().next == function.code.size()) {
        if (auto found = regionOf.find(open.back().function); found != regionOf.end())
          order.push_back(found->second);
        isOpen.reset(open.back().function);
        open.pop_back();
        continue;
      }
      const vm::Instruction instruction = function.code[open.back().next++];
      if (instruction.op() == vm::Opcode::Call || instruction.op() == vm::Opcode::NewClosure) {
        enter(instruction.bx());
      } else if (instruction.op() == vm::Opcode::LoadGlobal) {
        const vm::FunctionId initialiser = module.globals[instruction.bx()].initialiser;
        if (auto thunk = thunkOf.find(instruction.bx()); thunk != thunkOf.end()) {
          inCircle |= isOpen.test(thunk->second);
          enter(thunk->second);
        } else if (initialiser != vm::FunctionId::None)
          enter(vm::index(initialiser));
      }
    }
  }
  if (inCircle) // the first one says so, as it does alone
    std::iota(order.begin(), order.end(), size_t(0));
  return order;
}

/// Did the region look at anything outside the program text? Then what it made may quote it.
bool readSomething(const RegionAnswer& answer) {
  return answer.knewRead || llvm::any_of(answer.inputs, [](const vm::FoldInput& input) {
           return input.kind == vm::FoldInput::Kind::File ||
                  input.kind == vm::FoldInput::Kind::Environment ||
                  input.kind == vm::FoldInput::Kind::Directory ||
                  input.kind == vm::FoldInput::Kind::Link;
         });
}

/// Has the module user code of another package at all?
bool holdsOtherPackages(const vm::Module& module, uint32_t package) {
  return llvm::any_of(module.functions, [&](const vm::Function& function) {
    return !function.transparent && function.package != package;
  });
}

/// Calls `visitor` for every function that a thunk can reach.
void visitReachable(const vm::Module& module, vm::FunctionId thunk,
                    llvm::function_ref<void(const vm::Function&)> visitor) {
  llvm::BitVector seen(unsigned(module.functions.size()));
  std::vector<uint32_t> open;
  auto visit = [&](vm::FunctionId id) {
    if (id == vm::FunctionId::None || seen.test(vm::index(id)))
      return;
    seen.set(vm::index(id));
    open.push_back(vm::index(id));
  };
  visit(thunk);
  for (const vm::Layout& layout :
       module.layouts) // formatting and comparing call these without naming them
    for (vm::FunctionId hook : {layout.display, layout.debug, layout.equals, layout.compare})
      visit(hook);
  while (!open.empty()) {
    const vm::Function& function = module.functions[open.back()];
    open.pop_back();
    visitor(function);
    for (vm::Instruction instruction : function.code) {
      if (instruction.op() == vm::Opcode::Call || instruction.op() == vm::Opcode::NewClosure)
        visit(vm::FunctionId(instruction.bx()));
      else if (instruction.op() == vm::Opcode::LoadGlobal)
        visit(module.globals[instruction.bx()].initialiser);
    }
  }
}

/// The packages of all user code that a thunk can reach: whatever it leaves may be their making.
llvm::DenseSet<uint32_t> packagesReachable(const vm::Module& module, vm::FunctionId thunk) {
  llvm::DenseSet<uint32_t> packages;
  visitReachable(module, thunk, [&](const vm::Function& function) {
    if (!function.transparent)
      packages.insert(function.package);
  });
  return packages;
}

/// Can a thunk reach code that stands in text which code of several packages made? Such text may
/// have been put into an ordinary function in an earlier round; its calls are nobody's, so the
/// whole region has no I/O.
bool reachesForeignText(const vm::Module& module, vm::FunctionId thunk, const SourceMap& sources) {
  const auto isForeign = [&](Span span) {
    const FileId file = sources.fileOf(span);
    return file != FileId::None && sources.file(file).foreign;
  };
  bool found = false;
  visitReachable(module, thunk, [&](const vm::Function& function) {
    found = found || isForeign(function.span) ||
            llvm::any_of(function.lines,
                         [&](const vm::LineEntry& line) { return isForeign(line.span); });
  });
  return found;
}

class Round {
public:
  Round(FoldContext& context, check::Program& program) : context_(context), program_(program) {}

  FoldOutcome run() {
    std::vector<Region> regions = pending();
    if (regions.empty())
      return FoldOutcome::Nothing;
    if (++context_.round > kMaxRounds) {
      context_.engine.report(regions.front().node->span, diag::GenerationDoesNotSettle,
                             size_t(kMaxRounds));
      return FoldOutcome::Failed;
    }
    lower::LowerRequest request;
    request.withMain = false;
    request.regions = regions;
    std::vector<const ast::Item*> globalItems;
    request.globalItems = &globalItems;
    // A region may reach a `codegen!` that stands in a function: then texts are made first, and the
    // others wait for the next round.
    bool reachesUnmadeText = false;
    const bool onlyTexts = llvm::all_of(regions, isText);
    request.reachesUnmadeText =
        onlyTexts || regions.front().isTypeLevel ? nullptr : &reachesUnmadeText;
    const Engine::Mark mark = context_.engine.mark();
    auto module = lower::lower(program_, request, context_.engine);
    if (!module && reachesUnmadeText) {
      llvm::consumeError(module.takeError());
      context_.engine.rollBack(mark); // without the text nothing is right around it
      if (llvm::any_of(regions, isText))
        llvm::erase_if(regions, [](const Region& region) { return !isText(region); });
      request.regions = regions;
      request.reachesUnmadeText = nullptr;
      module = lower::lower(program_, request, context_.engine);
    }
    if (!module) {
      std::string why = llvm::toString(module.takeError());
      if (!context_.engine.hasErrors())
        context_.engine.report(regions.front().node->span, diag::RegionRefused, why);
      return FoldOutcome::Failed;
    }
    auto evaluator = Evaluator::create(vm::serialise(*module), serialize(context_.policy),
                                       context_.natives, context_.foreign);
    if (!evaluator) {
      context_.engine.report(regions.front().node->span, diag::RegionRefused,
                             llvm::toString(evaluator.takeError()));
      return FoldOutcome::Failed;
    }
    const auto globals = globalsOf(regions, globalItems, program_);
    for (size_t i : evaluationOrder(*module, globals))
      if (!fold(regions[i], **evaluator, *module, i, globals[i]))
        return FoldOutcome::Failed;
    context_.earlierRead |= read_;
    context_.earlierForeign |=
        llvm::any_of(others_, [](const auto& entry) { return entry.second; });
    return FoldOutcome::Spliced;
  }

private:
  static bool isText(const Region& region) { return region.kind == RegionKind::Codegen; }

  /// Those inside of others alone while there are any, then those at type level.
  std::vector<Region> pending() const {
    std::vector<Region> all, typeLevel, inner;
    for (const Region& region : program_.regions) {
      if (context_.input.folded.count(region.node))
        continue;
      (region.isInner ? inner : region.isTypeLevel ? typeLevel : all).push_back(region);
    }
    return !inner.empty() ? inner : typeLevel.empty() ? all : typeLevel;
  }

  bool fold(const Region& region, Evaluator& evaluator, const vm::Module& module, size_t index,
            std::optional<uint32_t> global) {
    ++context_.record.regions;
    const SourceMap& sources = context_.input.sources;
    const FileId file = sources.fileOf(region.node->span);
    const bool foreign =
        (file != FileId::None && sources.file(file).foreign) ||
        (context_.hasForeignText && reachesForeignText(module, module.regions[index], sources));
    std::function<void(uint64_t)> progress;
    if (context_.progress)
      progress = [&](uint64_t steps) { context_.progress(region.node->span, steps); };
    RegionAnswer answer = evaluator.evaluate(index, foreign ? Origin::Foreign : Origin::OwnPackage,
                                             std::move(progress));
    context_.record.inputs.insert(context_.record.inputs.end(), answer.inputs.begin(),
                                  answer.inputs.end());
    context_.record.steps += answer.steps;
    read_ |= readSomething(answer);
    const bool others = hasOthers(module, region.package);
    reportOutput(answer, region, context_.engine);
    if (answer.trap) {
      reportTrap(*answer.trap, region, foreign, context_.policy, context_.engine);
      return false;
    }
    if (answer.resultTooLarge) {
      context_.engine
          .report(region.node->span, diag::ResultTooLarge, answer.resultBytes,
                  context_.policy.budgets.resultBytes)
          .help(
              "if the region is meant to leave that much, raise the limit with `--comptime-result=BYTES`");
      return false;
    }
    ast::Expr* replacement = region.kind == RegionKind::Codegen
                                 ? generated(region, answer, module, index, others)
                                 : literal(region, answer);
    if (!replacement)
      return false;
    context_.input.folded[region.node] = replacement;
    if (global && !foreign)
      evaluator.know(*global, region.package, *answer.value, readSomething(answer));
    return true;
  }

  ast::Expr* literal(const Region& region, const RegionAnswer& answer) {
    ast::Expr* node =
        literalOf(*answer.value, region.type, region.node->span, context_.input.context);
    if (!node)
      context_.engine.report(region.node->span, diag::ResultNotFinite, "NaN or an infinity");
    return node;
  }

  bool hasOthers(const vm::Module& module, uint32_t package) {
    auto [entry, isNew] = others_.try_emplace(package, false);
    if (isNew)
      entry->second = holdsOtherPackages(module, package);
    return entry->second;
  }

  ast::Expr* generated(const Region& region, const RegionAnswer& answer, const vm::Module& module,
                       size_t index, bool others) {
    if (answer.value->kind != RegionValue::Kind::Text) {
      context_.engine.report(region.node->span, diag::CodegenResult, program_.print(region.type));
      return nullptr;
    }
    const std::string& text = answer.value->text;
    context_.generatedBytes += text.size();
    if (context_.generatedBytes > kMaxGeneratedBytes) {
      context_.engine.report(region.node->span, diag::GeneratedTooLarge,
                             size_t(kMaxGeneratedBytes));
      return nullptr;
    }
    const SourceMap& sources = context_.input.sources;
    const FileId file = sources.fileOf(region.node->span);
    if (file != FileId::None && sources.file(file).parent.valid() &&
        ++context_.nestedTexts > kMaxNestedTexts) {
      context_.engine.report(region.node->span, diag::GenerationDoesNotSettle,
                             size_t(context_.round));
      return nullptr;
    }
    bool foreign = context_.earlierForeign;
    if (!foreign && others) {
      const auto packages = packagesReachable(module, module.regions[index]);
      foreign = llvm::any_of(packages, [&](uint32_t package) { return package != region.package; });
    }
    context_.hasForeignText |= foreign;
    return parseGenerated(text, region.node->span, context_.earlierRead || readSomething(answer),
                          foreign, context_.generatedAt, context_.input, context_.engine);
  }

  FoldContext& context_;
  check::Program& program_;
  bool read_ = false;
  llvm::DenseMap<uint32_t, bool> others_; // by package: has the module user code of another one?
};

} // namespace

FoldOutcome foldRound(FoldContext& context, check::Program& program) {
  return Round(context, program).run();
}

} // namespace gos::fold
