#include "compiler/check/fates.h"

#include "compiler/check/walk.h"

namespace gos::check {

Fates::Reading& Fates::readingOf(Item* item) {
  Reading& reading = readings_[item];
  if (!reading.body) {
    reading.body = std::make_unique<Holdings>(checker_, *this, item);
    reading.isQueued = true;
    queue_.push_back(item);
  }
  return reading;
}

uint8_t Fates::of(Item* reader, FunctionItem* function, size_t node) {
  const FunctionInfo& info = checker_.functionInfo(function);
  // Whose impl that is, or for which types, is not known.
  if (isa_and_nonnull<TraitItem>(info.context.owner) || !function->body || info.isTemplate)
    return Fate::Kept;
  if (!checker_.ensureChecked(function))
    return 0;
  Reading& reading = readingOf(function);
  if (!llvm::is_contained(reading.askedBy, reader))
    reading.askedBy.push_back(reader);
  return node < reading.body->nodes() ? reading.body->origins()[node].fates : 0;
}

void Fates::judge(ArrayRef<Item*> bodies) {
  for (Item* body : bodies)
    readingOf(body);
  for (size_t at = 0; at < queue_.size(); ++at) {
    Reading& reading = readings_[queue_[at]];
    reading.isQueued = false;
    if (!reading.body->read())
      continue;
    for (Item* reader : reading.askedBy)
      if (!std::exchange(readings_[reader].isQueued, true))
        queue_.push_back(reader);
  }
  llvm::SmallPtrSet<Item*, 8> reported;
  for (Item* body : bodies)
    if (reported.insert(body).second)
      for (const Origin& origin : readings_[body].body->origins())
        if (origin.reference)
          report(origin);
}

/// Where the closure mentions the variable.
static Span mentionOf(const Checker& checker, const ClosureExpr* closure,
                      const Variable* variable) {
  SmallVector<Expr*, 16> stack{closure->body};
  while (!stack.empty()) {
    Expr* expr = checker.folded(stack.pop_back_val());
    if (auto* path = dyn_cast<PathExpr>(expr); path && path->target.variable == variable)
      return path->span;
    const size_t before = stack.size();
    forEachPart(expr, [&](Expr* part) { stack.push_back(part); });
    std::reverse(stack.begin() + ptrdiff_t(before), stack.end());
  }
  return closure->span;
}

void Fates::report(const Origin& origin) {
  const bool isSpawned = origin.fates & Fate::Spawned;
  if (!isSpawned && (!origin.isExclusive() || !origin.fates))
    return;
  const Span mention = mentionOf(checker_, origin.closure, origin.reference);
  if (!mentions_.insert({mention.begin, origin.reference}).second)
    return;
  Diagnostic& report =
      checker_.engine_.report(mention, diag::EscapingReference,
                              isSpawned   ? "captured by a closure that is spawned"
                              : origin.to ? "captured by a closure that is kept"
                                          : "captured by a closure that outlives it");
  report.label(origin.reference->span, "the reference");
  if (origin.at != origin.closure->span)
    report.label(origin.at,
                 (origin.to ? StringRef("what holds it is given away here") : origin.how).str());
  if (FunctionItem* to = origin.to) {
    const std::string name = ("`" + to->name.name.text() + "`").str();
    report.label(to->name.span, isa_and_nonnull<TraitItem>(checker_.functionInfo(to).context.owner)
                                    ? "which " + name + " that is, is not known here"
                                : origin.at == origin.closure->span
                                    ? name + " does more with it than to call it"
                                : isSpawned ? name + " gives it to another goroutine"
                                            : name + " keeps it");
  } else if (!isSpawned) {
    report.help("an iterator calls its closures later: take its values before, as by `collect()`");
  }
}

/// Closures that capture references: what holds them must not outlive the references.
void Checker::checkGivenClosures() {
  Fates(*this).judge(capturing_);
  capturing_.clear();
}

} // namespace gos::check
