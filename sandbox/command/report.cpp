#include "sandbox/command/report.h"

#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace gos::sandbox {

namespace {

bool isUtf8(llvm::StringRef text) {
  const llvm::UTF8* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

void bytesMember(JsonWriter& json, llvm::StringRef name, llvm::StringRef value) {
  json.key(name);
  if (value.empty()) {
    json.null();
    return;
  }
  json.string(value);
  if (!isUtf8(value))
    json.member(name.str() + "_bytes", llvm::toHex(value, /*LowerCase=*/true));
}

void printLine(llvm::raw_ostream& out, const Denied& line) {
  out << "bwr:   " << line.call << ' '
      << escapeForText(line.path.empty() ? line.address : line.path) << " (" << line.operation
      << ", " << spelling(line.evidence);
  if (line.count > 1)
    out << ", " << line.count << " times";
  if (!line.process.empty())
    out << ", by " << escapeForText(line.process);
  out << "): " << escapeForText(line.rule) << '\n';
  if (!line.flag.empty())
    out << "bwr:     to allow it: " << escapeForText(line.flag) << '\n';
  if (!line.advice.empty())
    out << "bwr:     " << escapeForText(line.advice) << '\n';
}

} // namespace

llvm::StringRef spelling(Evidence evidence) {
  switch (evidence) {
  case Evidence::Observed:
    return "observed";
  case Evidence::Inferred:
    return "inferred";
  }
  return {};
}

llvm::StringRef reportLimits() {
  return "a report sees names, addresses and calls that the filter refuses; it does not see what "
         "the kernel answered, the reading of links, renames and links between two grants, what "
         "was asked for through "
         "a descriptor, and variables that were kept back";
}

std::string shellQuoted(llvm::StringRef word) {
  const auto isPlain = [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_-./=:,+@%").contains(c);
  };
  if (!word.empty() && llvm::all_of(word, isPlain))
    return word.str();
  const auto isPrintable = [](char c) { return uint8_t(c) >= 0x20 && uint8_t(c) != 0x7f; };
  const bool isText = llvm::all_of(word, isPrintable) && escapeForText(word) == word;
  std::string text = isText ? "'" : "$'";
  for (char c : word) {
    if (isText && c == '\'')
      text += "'\\''";
    else if (isText)
      text += c;
    else if (c == '\'' || c == '\\')
      text += {'\\', c};
    else if (uint8_t(c) < 0x20 || uint8_t(c) >= 0x7f)
      text += "\\x" + llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
    else
      text += c;
  }
  return text + "'";
}

void printReport(llvm::raw_ostream& out, const Report& report, bool failed) {
  if (!report.watched) {
    out << "bwr: report: level `" << gos::spelling(report.level)
        << "` has no filter, so nothing was watched; for a report use --level standard\n";
    return;
  }
  const auto isHarmless = [](const Denied& line) { return line.harmless; };
  const size_t harmless = size_t(llvm::count_if(report.denied, isHarmless));
  const size_t others = report.denied.size() - harmless;
  if (report.denied.empty())
    out << "bwr: report: no refused act was seen\n";
  else if (others == 0)
    out << "bwr: report: no refused act was seen but harmless ones\n";
  else
    out << "bwr: report: " << others << (others == 1 ? " act was" : " acts were") << " refused\n";
  for (const Denied& line : report.denied)
    if (!line.harmless)
      printLine(out, line);
  if (harmless != 0)
    out << "bwr: harmless, as programs look for these everywhere and go on without:\n";
  for (const Denied& line : report.denied)
    if (line.harmless)
      printLine(out, line);
  if (report.unlisted != 0)
    out << "bwr: " << report.unlisted << " more refused acts are not listed\n";
  if (report.unread != 0)
    out << "bwr: the names of " << report.unread << " calls could not be read\n";
  // Silence would be taken for "it was not the sandbox".
  if (others == 0 && failed)
    out << "bwr: the run failed, and it may still have been refused something: " << reportLimits()
        << '\n';
}

void writeReport(JsonWriter& json, const Report& report) {
  json.key("watched");
  json.boolean(report.watched);
  json.key("denied");
  json.beginArray();
  for (const Denied& line : report.denied) {
    json.beginObject();
    json.member("call", line.call);
    json.member("operation", line.operation);
    bytesMember(json, "path", line.path);
    bytesMember(json, "address", line.address);
    bytesMember(json, "rule", line.rule);
    bytesMember(json, "flag", line.flag);
    bytesMember(json, "advice", line.advice);
    json.member("evidence", spelling(line.evidence));
    json.key("harmless");
    json.boolean(line.harmless);
    json.member("count", line.count);
    bytesMember(json, "process", line.process);
    json.endObject();
  }
  json.endArray();
  json.member("denied_unlisted", report.unlisted);
  json.member("denied_unread", report.unread);
  json.member("denied_limits", reportLimits());
}

} // namespace gos::sandbox
