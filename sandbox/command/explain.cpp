// The explanation for people: what the command sees as a tree, then the rest in a few lines each.

#include "sandbox/command/explain.h"

#include "diagnostics/escape.h"
#include "sandbox/command/explain_facts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

namespace gos::sandbox {

namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kReset = "\x1b[0m";

/// Columns that text takes on a terminal; it is escaped already, so nothing in it moves the cursor.
size_t columnsOf(llvm::StringRef text) {
  const int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : size_t(width);
}

/// A name of the tree. One with a space in it is quoted, since names stand side by side.
std::string shownName(llvm::StringRef name) {
  std::string text = escapeForText(name);
  return name.contains(' ') ? "`" + text + "`" : text;
}

/// An entry of the view; where several steps stand at one path, the last.
struct Node {
  std::string name; // one component, or several where a directory only leads to the next
  const ExplainedStep* entry = nullptr;
  std::vector<Node> children;
};

/// A line of the tree before it is laid out.
struct Row {
  size_t depth = 0;
  std::vector<std::string> names; // more than one: entries about which the same is to be said
  std::string what, why;
  const char* colour = nullptr;
};

class TextExplainer {
public:
  TextExplainer(const Policy& policy, const ChildPlan& plan, const ExplainOptions& options)
      : policy_(policy), plan_(plan), options_(options), view_(explainedView(policy, plan)) {
    width_ = std::clamp<size_t>(options.width, 40, 200);
  }

  std::string explain() {
    heading("sandbox");
    fact("level", spelling(plan_.level).str());
    if (!plan_.command.workingDirectory.empty())
      fact("directory", shownPath(plan_.command.workingDirectory));
    fact("network", explainedNetwork(policy_, plan_));
    fact("temp", tempText());
    heading("files");
    explainFiles();
    heading("environment");
    explainEnvironment();
    heading("mechanisms");
    const std::vector<ExplainedMechanism> mechanisms = explainedMechanisms(plan_);
    for (const ExplainedMechanism& mechanism : mechanisms)
      fact(mechanism.name, mechanism.detail);
    if (mechanisms.empty())
      line("  none");
    heading("limits");
    for (const std::string& limit : limitsOf(policy_, plan_))
      wrapped("  * ", "    ", llvm::StringRef(limit));
    return std::move(text_);
  }

private:
  void line(llvm::StringRef text) { text_ += text.str() + "\n"; }
  void heading(llvm::StringRef title) {
    if (!text_.empty())
      text_ += "\n";
    line(coloured(title, kBold));
  }
  std::string coloured(llvm::StringRef text, const char* colour) const {
    return options_.colour && colour != nullptr ? colour + text.str() + kReset : text.str();
  }

  std::string shownPath(llvm::StringRef path) const {
    const llvm::StringRef home = options_.home;
    if (home.size() > 1 && isAtOrBeneath(path, home))
      return "~" + escapeForText(path.drop_front(home.size()));
    return escapeForText(path);
  }

  /// Words on as many lines as they need.
  void wrapped(llvm::StringRef first, llvm::StringRef next, llvm::ArrayRef<std::string> words) {
    std::string current = first.str();
    bool empty = true;
    for (const std::string& word : words) {
      if (!empty && columnsOf(current) + 1 + columnsOf(word) > width_) {
        line(current);
        current = next.str();
        empty = true;
      }
      current += (empty ? "" : " ") + word;
      empty = false;
    }
    line(llvm::StringRef(current).rtrim());
  }
  void wrapped(llvm::StringRef first, llvm::StringRef next, llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef, 16> words;
    text.split(words, ' ');
    std::vector<std::string> owned(words.begin(), words.end());
    wrapped(first, next, owned);
  }
  void fact(llvm::StringRef name, llvm::StringRef text) {
    constexpr size_t kNameColumns = 18;
    std::string first = "  " + name.str();
    first.append(first.size() < kNameColumns + 2 ? kNameColumns + 2 - first.size() : 1, ' ');
    wrapped(first, std::string(kNameColumns + 2, ' '), text);
  }

  std::string tempText() const {
    if (plan_.temporaryDirectory.empty())
      return plan_.level == SandboxLevel::None ? "yours" : "inherited";
    if (plan_.keepRoot)
      return "private, named by TMPDIR, TMP and TEMP";
    std::vector<std::string> names;
    for (const ExplainedStep& entry : view_)
      if (entry.role == ViewRole::Temp)
        names.push_back(entry.step->path);
    return names.empty() ? "none"
                         : "private, at " + llvm::join(names, " and ") + "; removed at the end";
  }

  // ---- files
  // --------------------------------------------------------------------------------------

  void explainFiles() {
    if (plan_.keepRoot) {
      line("  not bounded: the tree of the host, as you see it");
      return;
    }
    Node root;
    for (const ExplainedStep& entry : view_)
      insert(root, entry);
    std::vector<Row> rows;
    collect(root, 1, rows);
    layOut(rows);
  }

  /// Steps come parents first, so the way to an entry is there or is made. No recursion over input.
  static void insert(Node& root, const ExplainedStep& entry) {
    llvm::SmallVector<llvm::StringRef, 16> names;
    llvm::StringRef(entry.step->path).split(names, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    Node* at = &root;
    for (llvm::StringRef name : names) {
      auto child = llvm::find_if(at->children, [&](const Node& node) { return node.name == name; });
      if (child == at->children.end()) {
        at->children.push_back({name.str(), nullptr, {}});
        child = std::prev(at->children.end());
      }
      at = &*child;
    }
    at->entry = &entry;
  }

  static bool onlyLeads(const Node& node) {
    return node.entry == nullptr || node.entry->role == ViewRole::Leads;
  }

  void collect(const Node& parent, size_t depth, std::vector<Row>& rows) {
    constexpr size_t kDeepest = 24; // a path of 3,900 bytes has two thousand components
    // Where the same is to be said about several entries of a directory, it is said once.
    llvm::StringMap<size_t> rowOfWhat;
    for (const Node& first : parent.children) {
      std::string name = shownName(first.name);
      const Node* node = &first;
      while (onlyLeads(*node) && node->children.size() == 1) {
        node = &node->children.front();
        name += "/" + shownName(node->name);
      }
      Row row = rowOf(*node, name, depth);
      if (node->children.empty() && row.why.empty() && !row.what.empty()) {
        auto [place, isNew] = rowOfWhat.try_emplace(row.what, rows.size());
        if (!isNew) {
          rows[place->second].names.push_back(std::move(row.names.front()));
          continue;
        }
      }
      rows.push_back(std::move(row));
      if (node->children.empty())
        continue;
      if (depth < kDeepest)
        collect(*node, depth + 1, rows);
      else
        rows.push_back({depth + 1, {"..."}, "more beneath; the JSON has all of it", "", nullptr});
    }
  }

  Row rowOf(const Node& node, std::string name, size_t depth) const {
    Row row;
    row.depth = depth;
    if (onlyLeads(node)) {
      row.names = {name + "/"};
      row.what = node.children.empty() ? "empty" : "";
      return row;
    }
    const ExplainedStep& entry = *node.entry;
    const ViewStep& step = *entry.step;
    const bool directory =
        step.node == NodeKind::Directory && step.kind != ViewStep::Kind::MakeFile;
    // Every view has the same links in /dev.
    const bool usual = entry.role == ViewRole::Link && isAtOrBeneath(step.path, "/dev");
    if (entry.role == ViewRole::Link && !usual)
      name += " -> " + escapeForText(step.text);
    row.names = {directory ? name + "/" : name};
    switch (entry.role) {
    case ViewRole::Leads:
      break;
    case ViewRole::Link:
      row.what = usual ? "links" : "";
      break;
    case ViewRole::File:
      row.what = "your lines and root's";
      break;
    case ViewRole::Granted:
      row.what = step.readOnly ? "read-only" : "read-write";
      row.colour = step.readOnly ? kGreen : kYellow;
      break;
    case ViewRole::Pinned:
      row.what = "read-write, stays in place";
      row.colour = kYellow;
      break;
    case ViewRole::Device:
      row.what = step.readOnly ? "device, read-only" : "device";
      break;
    case ViewRole::Temp:
      row.what = "private temp";
      row.colour = kYellow;
      break;
    case ViewRole::Closed:
      row.what = entry.standsIn ? "closed: can't be made" : "closed";
      row.colour = kRed;
      break;
    case ViewRole::Empty:
      row.what = "says nothing";
      break;
    case ViewRole::Processes:
      row.what = step.kind == ViewStep::Kind::Proc ? "its own processes"
                                                   : "read-only, the host's processes";
      break;
    case ViewRole::Terminals:
      row.what = "its own terminals";
      break;
    case ViewRole::SharedMemory:
      row.what = "its own shared memory";
      break;
    }
    if (entry.role != ViewRole::Pinned)
      row.why = whyOf(entry);
    return row;
  }

  /// Who says so, where it is not what every command gets.
  std::string whyOf(const ExplainedStep& entry) const {
    if (entry.rule == nullptr ||
        (entry.rule->origin == Origin::Shipped && entry.role != ViewRole::Closed))
      return {};
    if (!entry.rule->writtenAs.empty())
      return escapeForText(entry.rule->writtenAs);
    return spelling(entry.rule->origin).str();
  }

  /// Names on the left, what they are on the right; a name that is too long has the rest beneath
  /// it.
  void layOut(llvm::ArrayRef<Row> rows) {
    size_t longestWhat = 0, longestName = 0;
    for (const Row& row : rows) {
      longestWhat =
          std::max(longestWhat, row.what.size() + (row.why.empty() ? 0 : row.why.size() + 2));
      for (const std::string& name : row.names)
        longestName = std::max(longestName, 2 * row.depth + columnsOf(name));
    }
    const size_t space = width_ > longestWhat + 2 ? width_ - longestWhat - 2 : 0;
    const size_t column =
        std::clamp<size_t>(std::min(longestName, space), width_ / 3, width_ * 3 / 5);
    for (const Row& row : rows) {
      const std::string indent(2 * row.depth, ' ');
      std::string current = indent;
      bool empty = true;
      for (const std::string& name : row.names) {
        if (!empty && columnsOf(current) + 1 + columnsOf(name) > column) {
          line(current);
          current = indent;
          empty = true;
        }
        current += (empty ? "" : " ") + name;
        empty = false;
      }
      if (row.what.empty()) {
        line(current);
        continue;
      }
      size_t used = columnsOf(current);
      if (used > column) {
        line(current);
        current.clear();
        used = 0;
      }
      current.append(column + 2 - used, ' ');
      current += coloured(row.what, row.colour);
      const size_t end = column + 2 + row.what.size();
      if (!row.why.empty() && end + 2 + columnsOf(row.why) > width_) {
        line(current);
        current = std::string(column + 4, ' ') + row.why;
      } else if (!row.why.empty()) {
        current += "  " + row.why;
      }
      line(current);
    }
  }

  // ---- environment
  // --------------------------------------------------------------------------------

  void explainEnvironment() {
    std::vector<std::string> passed, set;
    for (const ExplainedVariable& variable : explainedEnvironment(policy_, plan_))
      if (variable.set)
        set.push_back(escapeForText(variable.name) + "=" + shownPath(variable.value));
      else
        passed.push_back(escapeForText(variable.name));
    llvm::sort(passed);
    wrapped("  passed  ", "          ", passed.empty() ? std::vector<std::string>{"none"} : passed);
    wrapped("  set     ", "          ", set.empty() ? std::vector<std::string>{"none"} : set);
    if (!policy_.passesAllEnv())
      line("  nothing else");
  }

  const Policy& policy_;
  const ChildPlan& plan_;
  const ExplainOptions& options_;
  std::vector<ExplainedStep> view_;
  size_t width_ = 80;
  std::string text_;
};

} // namespace

std::string explainText(const Policy& policy, const ChildPlan& plan,
                        const ExplainOptions& options) {
  return TextExplainer(policy, plan, options).explain();
}

} // namespace gos::sandbox
