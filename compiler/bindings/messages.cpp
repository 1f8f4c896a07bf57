#include "compiler/bindings/messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace gos::bindings {

namespace {
constexpr size_t kMostMessages = 200;
constexpr size_t kMostLines = 4000;
constexpr size_t kMostPaths = 5000;
constexpr size_t kLongestText = size_t(64) << 10;
constexpr unsigned kDeepest = 64;

/// Is the text nested no deeper than a recursive reader can bear?
bool isShallow(llvm::StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (inString) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest)
        return false;
    } else if ((c == '}' || c == ']') && depth != 0) {
      --depth;
    }
  }
  return true;
}

std::string textOf(const llvm::json::Object& object, llvm::StringRef key) {
  return object.getString(key).value_or("").take_front(kLongestText).str();
}
} // namespace

std::string packageName(llvm::StringRef packageId) {
  if (!packageId.contains('#'))
    return packageId.split(' ').first.str();
  const auto [url, fragment] = packageId.rsplit('#');
  if (fragment.contains('@'))
    return fragment.split('@').first.str();
  if (!fragment.empty() && !llvm::isDigit(fragment.front()))
    return fragment.str();
  return url.split('?').first.rsplit('/').second.str();
}

void Messages::take(llvm::StringRef line) {
  if (!line.starts_with("{") || !isShallow(line))
    return;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return;
  }
  const llvm::json::Object* object = value->getAsObject();
  if (object == nullptr)
    return;
  const std::string reason = textOf(*object, "reason");
  const std::string id = textOf(*object, "package_id");
  if (reason == "compiler-artifact") {
    const std::string manifest = textOf(*object, "manifest_path");
    const llvm::StringRef directory = llvm::StringRef(manifest).rsplit('/').first;
    if ((llvm::StringRef(id).starts_with("path+") || llvm::StringRef(id).contains("(path+")) &&
        directory.starts_with("/") && paths_.size() < kMostPaths &&
        !llvm::is_contained(paths_, directory))
      paths_.push_back(directory.str());
    return;
  }
  if (reason == "build-script-executed") {
    if (scripts_.size() < kMostPaths)
      scripts_.push_back({packageName(id), textOf(*object, "out_dir")});
    return;
  }
  if (reason != "compiler-message")
    return;
  const llvm::json::Object* inner = object->getObject("message");
  if (inner == nullptr)
    return;
  CompilerMessage message;
  message.crate = packageName(id);
  message.level = textOf(*inner, "level");
  message.text = textOf(*inner, "message");
  message.rendered = textOf(*inner, "rendered");
  if (const llvm::json::Array* spans = inner->getArray("spans"))
    for (const llvm::json::Value& each : *spans) {
      const llvm::json::Object* span = each.getAsObject();
      if (span == nullptr || !span->getBoolean("is_primary").value_or(false))
        continue;
      message.place = llvm::formatv("{0}:{1}:{2}", textOf(*span, "file_name"),
                                    span->getInteger("line_start").value_or(0),
                                    span->getInteger("column_start").value_or(0));
      break;
    }
  const bool isError = llvm::StringRef(message.level).starts_with("error");
  // "aborting due to 2 previous errors" says nothing of its own.
  if (isError && message.place.empty() &&
      llvm::StringRef(message.text).starts_with("aborting due to"))
    return;
  std::vector<CompilerMessage>& list = isError ? errors_ : warnings_;
  if (list.size() < kMostMessages)
    list.push_back(std::move(message));
}

void Messages::takeError(llvm::StringRef line) {
  diskFull_ |= line.contains("No space left on device") || line.contains("Disk quota exceeded");
  llvm::StringRef rest = line;
  if (rest.consume_front("error: failed to run custom build command for `"))
    failedScript_ = rest.split('`').first.split(' ').first.str();
  if (lines_.size() < kMostLines)
    lines_.push_back(line.take_front(4096).str());
  else
    ++dropped_;
}

std::vector<std::string> Messages::pathPackages() const {
  std::vector<std::string> sorted = paths_;
  llvm::sort(sorted);
  return sorted;
}

std::vector<std::string> Messages::complaint() const {
  constexpr size_t kShown = 40;
  std::vector<std::string> shown;
  const auto first = llvm::find_if(
      lines_, [](const std::string& line) { return llvm::StringRef(line).starts_with("error"); });
  for (auto line = first == lines_.end() ? lines_.end() - std::min(kShown, lines_.size()) : first;
       line != lines_.end() && shown.size() != kShown; ++line)
    if (!llvm::StringRef(*line).trim().empty())
      shown.push_back(*line);
  return shown;
}

} // namespace gos::bindings
