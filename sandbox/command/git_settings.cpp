#include "sandbox/command/git_settings.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::sandbox {

using llvm::StringRef;

namespace {
/// More than these are of no repository that somebody works in.
constexpr size_t kMostPaths = 64;

class GitReader {
public:
  explicit GitReader(StringRef text) : rest_(text) {}

  GitPaths read() {
    rest_.consume_front("\xef\xbb\xbf");
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (llvm::isSpace(c) || c == ']') {
        rest_ = rest_.drop_front();
      } else if (c == '#' || c == ';') {
        skipLine();
      } else if (c == '[') {
        readSection();
      } else {
        readSetting();
      }
    }
    return std::move(paths_);
  }

private:
  void skipLine() { rest_ = rest_.drop_front(std::min(rest_.find('\n'), rest_.size())); }

  void readSection() {
    rest_ = rest_.drop_front();
    section_ =
        rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '-' || c == '.'; }).lower();
    rest_ = rest_.drop_front(section_.size());
    for (bool quoted = false; !rest_.empty(); rest_ = rest_.drop_front()) {
      const char c = rest_.front();
      if (c == '\n')
        return;
      if (c == '\\' && quoted && rest_.size() > 1)
        rest_ = rest_.drop_front();
      else if (c == '"')
        quoted = !quoted;
      else if (c == ']' && !quoted) {
        rest_ = rest_.drop_front();
        return;
      }
    }
  }

  void readSetting() {
    const std::string name =
        rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '-'; }).lower();
    if (name.empty()) { // git would stop here; what follows is looked at all the same
      skipLine();
      return;
    }
    rest_ = rest_.drop_front(name.size()).ltrim(" \t\r");
    if (!rest_.consume_front("="))
      return;
    const std::string value = readValue();
    const bool isInclude = section_ == "include" || StringRef(section_).starts_with("includeif");
    std::vector<std::string>* into = section_ == "core" && name == "hookspath" ? &paths_.hooks
                                     : isInclude && name == "path"             ? &paths_.includes
                                                                               : nullptr;
    if (into == nullptr || value.empty())
      return;
    if (into->size() == kMostPaths)
      paths_.more = true;
    else
      into->push_back(value);
  }

  std::string readValue() {
    std::string value;
    size_t kept = 0; // without the spaces at the end
    bool quoted = false;
    rest_ = rest_.ltrim(" \t\r");
    for (; !rest_.empty(); rest_ = rest_.drop_front()) {
      char c = rest_.front();
      if (c == '\n')
        break;
      if (!quoted && (c == '#' || c == ';')) {
        skipLine();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        kept = value.size();
        continue;
      }
      if (c == '\\') {
        rest_ = rest_.drop_front();
        rest_.consume_front("\r");
        if (rest_.empty())
          break;
        c = rest_.front();
        if (c == '\n')
          continue; // the line goes on
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
        value += c;
        kept = value.size();
        continue;
      }
      value += c;
      if (quoted || !llvm::isSpace(c))
        kept = value.size();
    }
    value.resize(kept);
    return value;
  }

  StringRef rest_;
  std::string section_;
  GitPaths paths_;
};
} // namespace

GitPaths gitPaths(StringRef text) {
  return GitReader(text).read();
}

} // namespace gos::sandbox
