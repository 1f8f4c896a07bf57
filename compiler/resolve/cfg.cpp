// `#[cfg(..)]`: does an item belong to what is being built? The predicates speak of the target.

#include "compiler/resolve/resolver.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::resolve {

namespace {
/// predicate = name [ "=" string ] | ("not" | "any" | "all") "(" predicate { "," predicate } ")"
class Predicate {
public:
  Predicate(StringRef text, bool testing) : rest_(text), testing_(testing) {}

  bool list(bool all) {
    bool result = all;
    while (!rest_.ltrim().empty() && rest_.ltrim().front() != ')') {
      bool one = single();
      result = all ? result && one : result || one;
      rest_ = rest_.ltrim();
      if (!rest_.consume_front(",") && (rest_.empty() || rest_.front() != ')'))
        break;
    }
    return result;
  }

private:
  bool single() {
    rest_ = rest_.ltrim();
    StringRef name = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest_ = rest_.drop_front(name.size()).ltrim();
    if (name.empty()) {
      rest_ = {};
      return false;
    }
    if (rest_.starts_with("(") && ++depth_ < 64) {
      rest_ = rest_.drop_front();
      bool inner = list(name != "any");
      rest_ = rest_.ltrim();
      rest_.consume_front(")");
      return name == "not" ? !inner : inner;
    }
    if (rest_.consume_front("=")) {
      rest_ = rest_.ltrim();
      rest_.consume_front("\"");
      StringRef value = rest_.take_until([](char c) { return c == '"'; });
      rest_ = rest_.drop_front(value.size());
      rest_.consume_front("\"");
      return (name == "target_os" && value == "linux") ||
             (name == "target_family" && value == "unix") ||
             (name == "target_arch" && value == "x86_64");
    }
    return name == "unix" || (name == "test" && testing_);
  }

  StringRef rest_;
  bool testing_;
  unsigned depth_ = 0;
};
} // namespace

bool Resolver::isConfigured(const ast::Item* item) {
  for (const ast::Attribute& attribute : item->attributes)
    if (attribute.path.segments.size() == 1 &&
        attribute.path.segments[0].ident.name.text() == "cfg" && attribute.argumentSpan.valid() &&
        !Predicate(sources_.text(attribute.argumentSpan), testing).list(true))
      return false;
  return true;
}

} // namespace gos::resolve
