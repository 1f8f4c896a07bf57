#include "tests/threats/sweep_rows.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <array>

namespace gos::threats {
namespace {

using llvm::StringRef;
using stdlib::BuiltinRow;

// ---- signatures
// -------------------------------------------------------------------------------------

struct Parameter {
  std::string name, type;
  bool inOut = false;
  bool hasDefault = false;
};
struct Signature {
  llvm::StringMap<std::string> bounds; // generic -> its bound, or empty
  std::vector<Parameter> parameters;
  std::string result;
};

/// Splits at commas outside of brackets.
std::vector<StringRef> splitTop(StringRef text) {
  std::vector<StringRef> parts;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[')
      ++depth;
    else if ((c == '>' && (i == 0 || text[i - 1] != '-')) || c == ')' || c == ']')
      --depth;
    else if (c == ',' && depth == 0) {
      parts.push_back(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  if (!text.substr(from).trim().empty())
    parts.push_back(text.substr(from).trim());
  return parts;
}
/// The text inside the bracket at the front, and what follows it.
std::pair<StringRef, StringRef> bracketed(StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[')
      ++depth;
    else if ((c == '>' && (i == 0 || text[i - 1] != '-')) || c == ')' || c == ']')
      if (--depth == 0)
        return {text.slice(1, i), text.substr(i + 1)};
  }
  return {"", ""};
}

Signature parse(StringRef text) {
  Signature signature;
  text.consume_front("fn");
  if (text.starts_with("<")) {
    auto [inside, rest] = bracketed(text);
    for (StringRef generic : splitTop(inside)) {
      auto [name, bound] = generic.split(':');
      signature.bounds[name.trim()] = bound.trim().str();
    }
    text = rest;
  }
  auto [inside, rest] = bracketed(text);
  for (StringRef each : splitTop(inside)) {
    Parameter parameter;
    auto [name, type] = each.split(':');
    auto [bare, value] = type.split(" = ");
    parameter.hasDefault = !value.empty();
    bare = bare.trim();
    parameter.inOut = bare.consume_front("&mut ");
    parameter.name = name.trim().str();
    parameter.type = bare.trim().str();
    signature.parameters.push_back(parameter);
  }
  rest = rest.trim();
  if (rest.consume_front("->"))
    signature.result = rest.trim().str();
  return signature;
}

// ---- samples
// ----------------------------------------------------------------------------------------

struct Sampler {
  const BuiltinRow& row;
  const Signature& signature;

  /// What a generic stands for.
  std::string typeOf(StringRef generic) const {
    if (row.type == "Float")
      return "f64";
    const auto bound = signature.bounds.find(generic);
    if (bound != signature.bounds.end() &&
        (bound->second == "Needle" || bound->second == "Contents"))
      return "String";
    return "i64";
  }
  bool isGeneric(StringRef type) const { return signature.bounds.count(type) != 0; }

  /// The type with its generics replaced.
  std::string concrete(StringRef type) const {
    std::string result;
    for (size_t i = 0; i < type.size();) {
      size_t end = i;
      while (end < type.size() && (isalnum((unsigned char)type[end]) || type[end] == '_'))
        ++end;
      if (end == i) {
        result += type[i++];
        continue;
      }
      const StringRef word = type.slice(i, end);
      result += isGeneric(word) ? typeOf(word) : word.str();
      i = end;
    }
    return result;
  }

  /// An expression of the type; empty if the generator knows none.
  std::string sample(StringRef type) const {
    if (isGeneric(type))
      return sample(typeOf(type));
    if (type == "String")
      return "\"in.txt\"";
    if (type == "i64")
      return "1";
    if (type == "u64")
      return "1u64";
    if (type == "u8")
      return "97u8";
    if (type == "f64")
      return "1.5";
    if (type == "bool")
      return "true";
    if (type == "char")
      return "'a'";
    if (type == "Range")
      return "(0..3)";
    if (type == "Value")
      return "json::parse(\"[1]\").unwrap()";
    if (type == "Policy")
      return "sandbox::Policy::new()";
    if (type.consume_front("Fn")) {
      auto [inside, rest] = bracketed(type);
      std::string closure = "|";
      const size_t count = splitTop(inside).size();
      for (size_t i = 0; i < count; ++i)
        closure += (i ? ", p" : "p") + std::to_string(i);
      rest = rest.trim();
      rest.consume_front("->");
      return closure + "| " + sample(rest.trim());
    }
    if (type.starts_with("(")) {
      std::string tuple;
      for (StringRef part : splitTop(bracketed(type).first))
        tuple += (tuple.empty() ? "" : ", ") + sample(part);
      return "(" + tuple + ")";
    }
    if (type.starts_with("["))
      return "[" + sample(bracketed(type).first) + "]";
    const size_t open = type.find('<');
    if (open == StringRef::npos)
      return "";
    const StringRef constructor = type.take_front(open);
    const auto arguments = splitTop(bracketed(type.substr(open)).first);
    const std::string first = sample(arguments[0]);
    if (first.empty())
      return "";
    if (constructor == "Vec")
      return "#[" + first + "]";
    if (constructor == "Option")
      return "Some(" + first + ")";
    if (constructor == "Set")
      return "#{" + first + "}";
    if (constructor == "Map" || constructor == "BTreeMap") {
      const std::string entry = "(" + first + ", " + sample(arguments[1]) + ")";
      return (constructor + "::from([" + entry + "])").str();
    }
    for (StringRef known : {"BTreeSet", "Queue", "Stack", "MaxHeap", "MinHeap", "Deque"})
      if (constructor == known)
        return (constructor + "::from([" + first + "])").str();
    return "";
  }
};

/// Arguments that the type alone does not tell: what the body needs to do its work at all.
struct Special {
  const char* path;
  const char* parameter;
  const char* value;
};
constexpr Special kSpecials[] = {
    {"fs::read_dir", "path", "\".\""},
    {"fs::sync_dir", "path", "\"dir\""},
    {"fs::copy", "dst", "\"copy.txt\""},
    {"fs::rename", "src", "\"victim.txt\""},
    {"fs::rename", "dst", "\"renamed.txt\""},
    {"fs::write", "path", "\"victim.txt\""},
    {"fs::write_mode", "path", "\"victim.txt\""},
    {"fs::create", "path", "\"victim.txt\""},
    {"fs::File::create", "path", "\"victim.txt\""},
    {"fs::create_dir", "path", "\"made\""},
    {"fs::create_dir_all", "path", "\"made\""},
    {"fs::create_dir_mode", "path", "\"made\""},
    {"fs::create_dir_all_mode", "path", "\"made\""},
    {"fs::remove_file", "path", "\"victim.txt\""},
    {"fs::remove_dir", "path", "\"empty\""},
    {"fs::remove_dir_all", "path", "\"empty\""},
    {"fs::set_permissions", "path", "\"victim.txt\""},
    {"fs::set_permissions", "mode", "420"},
    {"env::var", "name", "\"SWEEP\""},
    {"os::user::lookup", "name", "\"root\""},
    {"os::user::lookup_id", "id", "0"},
    {"os::user::lookup_group", "name", "\"root\""},
    {"os::user::lookup_group_id", "id", "0"},
    {"os::user::group_ids", "name", "\"root\""},
    {"os::signal::on", "sig", "28"},
    {"env::set_var", "name", "\"SWEEP\""},
    {"env::unset_var", "name", "\"SWEEP\""},
    {"env::set_current_dir", "path", "\".\""},
    {"process::run", "program", "\"true\""},
    {"process::run_in", "program", "\"true\""},
    {"process::run_in", "dir", "\"/\""},
    {"process::run_inherit", "program", "\"true\""},
    {"process::spawn", "program", "\"true\""},
    {"process::spawn_piped", "program", "\"true\""},
    {"process::pipeline_run", "commands", "#[\"true\"]"},
    {"process::wait_timeout", "pid", "999999999"},
    {"net::lookup", "host", "\"localhost\""},
    {"net::TcpListener::bind", "addr", "\"127.0.0.1:0\""},
    {"net::TcpStream::connect", "addr", "\"PEER\""},
    {"io::drain", "src", "io::string_reader(\"x\")"},
    {"io::contents", "writer", "io::buffer_writer()"},
    {"io::write", "writer", "io::buffer_writer()"},
    {"io::close_writer", "writer", "io::buffer_writer()"},
    {"io::limit_reader", "src", "io::string_reader(\"x\")"},
    {"io::tee_reader", "src", "io::string_reader(\"x\")"},
    {"io::tee_reader", "sink", "io::buffer_writer()"},
    {"io::multi_reader", "sources", "#[io::string_reader(\"x\")]"},
    {"io::copy_n", "src", "io::string_reader(\"x\")"},
    {"io::copy_n", "dst", "io::buffer_writer()"},
    {"strconv::parse_i64_radix", "base", "10"},
    {"strconv::format_i64_radix", "base", "10"},
    {"encoding::json::parse", "source", "\"[1]\""},
    {"path::glob", "pattern", "\"*.txt\""},
    {"Vec::copy_from_slice", "from", "[9, 8, 7]"},
    {"Slice::copy_from_slice", "from", "[9, 8, 7]"},
};
std::string special(const BuiltinRow& row, StringRef parameter) {
  for (const Special& each : kSpecials)
    if (row.path == each.path && parameter == each.parameter)
      return each.value;
  return "";
}

/// Rows of `intrinsics` and how a user reaches them, since nobody but the library may name them.
struct Door {
  const char* row;
  const char* use;
  const char* statement;
};
constexpr Door kDoors[] = {
    {"intrinsics::print", "", "println!(\"x\")"},
    {"intrinsics::eprint", "", "eprintln!(\"x\")"},
    {"intrinsics::debug_text", "", "assert_eq(#[1], #[1])"},
    {"intrinsics::display_text", "errors", "let _ = format!(\"{}\", errors::new(\"x\"))"},
    {"intrinsics::panic_text", "",
     "let absent: Option<i64> = None\n    let _ = absent.unwrap_or(1)"},
    {"intrinsics::record_assertion", "", "assert(true)"},
    {"intrinsics::values_equal", "", "assert_eq(1, 1)"},
    {"intrinsics::compare_values", "", "let _ = min(1, 2)"},
    {"intrinsics::range_start", "", "let _ = (1..4).start()"},
    {"intrinsics::range_end", "", "let _ = (1..4).end()"},
    {"intrinsics::char_at_byte", "", "let _ = \"abc\".chars().collect()"},
    {"intrinsics::char_width", "", "let _ = 'a'.len_utf8()"},
    {"intrinsics::char_text", "", "let _ = 'a'.to_string()"},
    {"intrinsics::char_from_scalar", "", "let _ = \"abc\".char_indices().collect()"},
    {"intrinsics::sorted_order", "", "let mut sorted = #[3, 1, 2]\n    sorted.sort_by_key(|n| n)"},
    {"intrinsics::vec_part", "", "let _ = #[1, 2, 3].windows(2)"},
    {"intrinsics::map_index", "", "let index = {1: 2}\n    let _ = index.get(1)"},
    {"intrinsics::map_key_at", "", "for (key, value) in {1: 2} { let _ = key + value }"},
    {"intrinsics::map_value_at", "", "for (key, value) in {1: 2} { let _ = key + value }"},
    {"intrinsics::tree_search", "", "let _ = BTreeMap::from([(1, 2)]).range(0..).count()"},
    {"intrinsics::tree_key_at", "", "let _ = BTreeMap::from([(1, 2)]).range(0..).count()"},
    {"intrinsics::tree_value_at", "", "let _ = BTreeMap::from([(1, 2)]).range(0..).count()"},
    {"intrinsics::tree_search_set", "", "let _ = BTreeSet::from([1]).range(0..).count()"},
    {"intrinsics::tree_item_at", "", "let _ = BTreeSet::from([1]).range(0..).count()"},
    {"intrinsics::json_write", "", "let _ = to_json(1)"},
    {"intrinsics::json_read", "", "let _ = from_json::<i64>(\"1\")"},
    {"intrinsics::zone_file", "time", "let _ = time::Location::lookup(\"Etc/GMT\")"},
    {"intrinsics::zone_local", "time", "let _ = time::Location::local()"},
    {"intrinsics::zone_parse", "time",
     "let _ = time::Location::from_bytes(\"x\", \"UTC0\".bytes())"},
    {"intrinsics::set_item_at", "", "for item in #{1, 2} { let _ = item }"},
    {"intrinsics::stdin_read_line", "io",
     "let mut line = \"\"\n    let _ = io::stdin().read_line(&mut line)"},
    {"intrinsics::stdin_read_all", "io", "let _ = io::stdin().read_to_string()"},
    {"intrinsics::stdin_read_text", "io", "let _ = io::stdin().read_to_string()"},
    {"intrinsics::stdin_read", "io", "let _ = io::ReadAll(io::stdin())"},
    {"intrinsics::handle_read", "io", "let _ = io::ReadAll(io::string_reader(\"x\"))"},
    {"intrinsics::handle_write", "io",
     "let _ = io::Copy(io::buffer_writer(), io::string_reader(\"x\"))"},
    {"intrinsics::byte_position", "io",
     "let _ = io::BufReader::new(io::string_reader(\"x\")).lines().collect()"},
    {"intrinsics::lossy_text", "io", "let _ = io::ReadAll(io::string_reader(\"x\"))"},
    {"intrinsics::stream_write", "io", "io::stdout().write(\"x\")"},
    {"intrinsics::stream_flush", "io", "io::stdout().flush()"},
    {"intrinsics::notifier_park", "os::signal",
     "let notifier = signal::on(28)\n    notifier.stop()\n    let _ = notifier.wait()"},
    {"intrinsics::sleep_ms", "time", "time::sleep(1)"},
    {"intrinsics::time_add_date", "time",
     "let _ = time::add_date(0, time::Location::utc(), 1, 1, 1)"},
    {"intrinsics::entropy", "math::rand", "let _ = rand::Rng::from_entropy()"},
    {"intrinsics::go", "", "let _ = spawn(|| 1).join()"},
    {"intrinsics::task_finish", "", "let _ = spawn(|| 1).join()"},
    {"intrinsics::task_wait", "", "let _ = spawn(|| 1).join()"},
    {"intrinsics::daemon", "context", "context::background().child().cancel()"},
    {"intrinsics::cohort_push", "", "let _ = cohort { }"},
    {"intrinsics::cohort_wait", "", "let _ = cohort { }"},
    {"intrinsics::cohort_pop", "", "let _ = cohort { }"},
    {"intrinsics::cohort_limit", "", "let _ = cohort(timeout: 1000) { }"},
    {"intrinsics::cohort_shield", "sync", "let _ = sync::shield(|| 1)"},
    {"intrinsics::slot_get", "sync", "let _ = sync::AtomicI64::new(1).load()"},
    {"intrinsics::slot_set", "sync", "sync::AtomicI64::new(1).store(2)"},
    {"intrinsics::queue_wake", "sync", "sync::WaitGroup::new().add(0)"},
    {"intrinsics::queue_wait", "sync", "let _ = spawn(|| sync::Barrier::new(1).wait()).join()"},
    {"sync::Receiver::recv", "sync",
     "let ends = sync::channel_unbounded::<i64>()\n    ends.0.send(1)\n    let _ = ends.1.recv()"},
    {"sync::Receiver::try_recv", "sync", "let _ = sync::channel::<i64>(cap: 1).1.try_recv()"},
    {"sync::Receiver::close", "sync", "sync::channel::<i64>(cap: 1).1.close()"},
    {"sync::Receiver::is_closed", "sync", "let _ = sync::channel::<i64>(cap: 1).1.is_closed()"},
    {"sync::Sender::close", "sync", "sync::channel::<i64>(cap: 1).0.close()"},
    {"sync::Sender::send", "sync", "sync::channel::<i64>(cap: 1).0.send(1)"},
    {"sync::Sender::is_closed", "sync", "let _ = sync::channel::<i64>(cap: 1).0.is_closed()"},
    {"sync::select_begin", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    select { ends.0.send(1) => {}, default => {} }"},
    {"sync::select_recv", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    select { _ = ends.1.recv() => {}, default => {} "
     "}"},
    {"sync::select_send", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    select { ends.0.send(1) => {}, default => {} }"},
    {"sync::select_wait", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    select { ends.0.send(1) => {}, default => {} }"},
    {"sync::select_end", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    select { ends.0.send(1) => {}, default => {} }"},
    {"sync::select_take", "sync",
     "let ends = sync::channel::<i64>(cap: 1)\n    ends.0.send(1)\n    select { _ = ends.1.recv() "
     "=> {}, default => {} }"},
    {"intrinsics::fs_open_with", "fs",
     "let _ = fs::OpenOptions::new().write(true).create(true).open(\"victim.txt\")"},
};

/// A value that only the world gives, by its type.
struct Handle {
  const char* module;
  const char* type;
  const char* name;
  const char* make;
};
constexpr Handle kHandles[] = {
    {"fs", "File", "fs::File",
     "fs::OpenOptions::new().read(true).write(true).open(\"victim.txt\").unwrap()"},
    {"net", "TcpListener", "net::TcpListener", "net::TcpListener::bind(\"127.0.0.1:0\").unwrap()"},
    {"net", "TcpStream", "net::TcpStream", "net::TcpStream::connect(\"PEER\").unwrap()"},
    {"os::signal", "Notifier", "signal::Notifier", "signal::on(28)"},
    {"process", "Child", "process::Child", "process::spawn_piped(\"cat\", #[]).unwrap()"},
};

std::string lastSegment(StringRef path) {
  return path.rsplit("::").second.empty() ? path.str() : path.rsplit("::").second.str();
}

} // namespace

StringRef name(Way way) {
  switch (way) {
  case Way::Path:
    return "path";
  case Way::Alias:
    return "alias";
  case Way::Method:
    return "method";
  case Way::Pipe:
    return "pipe";
  case Way::Stored:
    return "stored value";
  case Way::Closure:
    return "closure";
  case Way::Callback:
    return "callback";
  }
  return {};
}

std::optional<SweepCase> sweepCase(const BuiltinRow& row, Way way, std::string& why) {
  SweepCase made;
  const bool hasDoor = llvm::any_of(kDoors, [&](const Door& door) { return row.path == door.row; });
  if (row.module == "intrinsics" || hasDoor) {
    for (const Door& door : kDoors)
      if (row.path == door.row) {
        if (*door.use)
          made.uses.push_back(std::string("use std::") + door.use);
        switch (way) {
        case Way::Path:
          made.act = {door.statement};
          return made;
        case Way::Closure:
          made.act = {"let reach = || {\n    " + std::string(door.statement) + "\n    1\n    }",
                      "let _ = reach()"};
          return made;
        case Way::Callback:
          made.act = {"#[0].for_each(|unused| {\n    " + std::string(door.statement) + "\n    })"};
          return made;
        case Way::Alias:
        case Way::Method:
        case Way::Pipe:
        case Way::Stored:
          return std::nullopt;
        }
      }
    why = "no door of the library to `" + row.path.str() +
          "` is known to the sweep: add one to kDoors";
    return std::nullopt;
  }

  const Signature signature = parse(row.signature);
  const Sampler sampler{row, signature};
  const bool core = row.module == "core";
  const bool method = !signature.parameters.empty() && signature.parameters[0].name == "self";
  const std::string module = lastSegment(row.module);
  if (!core)
    made.uses.push_back("use std::" + row.module.str());
  if (StringRef(row.signature).contains("Value") && row.module != "encoding::json")
    made.uses.push_back("use std::encoding::json");

  // The arguments, each in a binding so that every spelling takes the same ones.
  std::vector<std::string> arguments;
  bool anyInOut = false;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const std::string variable = "a" + std::to_string(i);
    for (const Handle& handle : kHandles)
      if (row.module == handle.module && parameter.type == handle.type) {
        made.handleType = handle.name;
        made.handle = handle.make;
        made.handleUse = std::string("use std::") + handle.module;
      }
    if (i == 0 && !made.handleType.empty()) {
      arguments.push_back("handle");
      continue;
    }
    std::string value = special(row, parameter.name);
    if (value.empty() && row.type == "Slice" && parameter.name == "self")
      value = "[3, 1, 2]";
    if (value.empty() && row.type == "Vec" && parameter.name == "self")
      value = "#[3, 1, 2]";
    if (value.empty() && (row.type == "Float" || row.type == "f64") && parameter.name == "self")
      value = "1.5f64";
    if (value.empty() && row.type == "Int" && parameter.name == "self")
      value = "6";
    if (value.empty())
      value = sampler.sample(parameter.type);
    if (value.empty()) {
      why = "no sample of `" + parameter.type + "` for `" + row.path.str() +
            "`: add one to the sweep";
      return std::nullopt;
    }
    anyInOut |= parameter.inOut;
    made.before.push_back((parameter.inOut ? "let mut " : "let ") + variable + " = " + value);
    arguments.push_back((parameter.inOut ? "&mut " : "") + variable);
  }

  auto list = [](const std::vector<std::string>& items, size_t from) {
    std::string text;
    for (size_t i = from; i < items.size(); ++i)
      text += (i > from ? ", " : "") + items[i];
    return text;
  };
  // How the row is named: `fs::read`, `fs::File::read`, `String::trim`.
  std::string scope;
  if (row.type == "Int")
    scope = "i64::";
  else if (row.type == "Float")
    scope = "f64::";
  else if (!row.type.empty())
    scope = (core ? "" : module + "::") + row.type.str() + "::";
  else
    scope = module + "::";
  const bool nameable = row.type != "Slice" && row.type != "Any";
  const std::string path = scope + row.name.str();
  const bool diverges = signature.result == "!";
  // A container without elements is told its type.
  std::string keep = "let _ = ";
  if (signature.parameters.empty() && !signature.bounds.empty())
    keep = "let made: " + sampler.concrete(signature.result) + " = ";
  if (core && method == false && !signature.bounds.empty() &&
      StringRef(signature.result).contains('<') && !signature.parameters.empty() &&
      row.name == "with_capacity")
    keep = "let made: " + sampler.concrete(signature.result) + " = ";
  if (diverges || signature.result.empty())
    keep = "";

  auto receiverless = [&](const std::string& callee) {
    return callee + "(" + list(arguments, 0) + ")";
  };
  std::string receiver = method ? arguments[0] : "";
  if (StringRef(receiver).starts_with("&mut "))
    receiver = receiver.substr(5);
  const std::string asMethod =
      method ? receiver + "." + row.name.str() + "(" + list(arguments, 1) + ")" : "";
  const std::string call = method ? asMethod : receiverless(path);

  switch (way) {
  case Way::Path:
    if (!nameable)
      return std::nullopt;
    made.act = {keep + receiverless(path)};
    return made;
  case Way::Alias:
    if (core || !row.type.empty()) {
      // A type of a module, through an alias of the module.
      if (core)
        return std::nullopt;
      made.uses.push_back("use std::" + row.module.str() + " as other");
      made.act = {keep + receiverless("other::" + row.type.str() + "::" + row.name.str())};
      return made;
    }
    made.uses.push_back("use std::" + row.module.str() + "::" + row.name.str() + " as other");
    made.act = {keep + receiverless("other")};
    return made;
  case Way::Method:
    if (!method)
      return std::nullopt;
    made.act = {keep + asMethod};
    return made;
  case Way::Pipe: {
    if (arguments.empty() || signature.parameters[0].inOut || (!nameable && !method))
      return std::nullopt;
    std::vector<std::string> piped = arguments;
    piped[0] = "v";
    const std::string inner = method ? "v." + row.name.str() + "(" + list(piped, 1) + ")"
                                     : path + "(" + list(piped, 0) + ")";
    made.act = {keep + arguments[0] + " |> |v| " + inner};
    return made;
  }
  case Way::Stored:
    // A closure of the declared parameters; a generic has none, and `&mut` cannot be handed
    // through.
    if (method || core || !signature.bounds.empty() || anyInOut || !row.type.empty())
      return std::nullopt;
    made.act = {"let stored = " + path, keep + receiverless("stored")};
    return made;
  case Way::Closure:
    if (anyInOut)
      return std::nullopt;
    if (keep.empty() && diverges)
      made.act = {"let reach = || " + call, "reach()"};
    else
      made.act = {"let reach = || {\n    " + keep + call + "\n    1\n    }", "let _ = reach()"};
    return made;
  case Way::Callback:
    if (anyInOut)
      return std::nullopt;
    made.act = {"#[0].for_each(|unused| {\n    " + keep + call + "\n    })"};
    return made;
  }
  return std::nullopt;
}

StringRef deniedAtConfinedBecause(const BuiltinRow& row) {
  if (row.path == "env::vars")
    return "all variables are more than the permitted ones";
  if (row.path == "intrinsics::zone_file")
    return "the database of the host lies outside of every package";
  if (row.path.starts_with("os::user::"))
    return "the accounts of the host lie outside of every package";
  if (row.path == "fs::permissions")
    return "a mode is host identity, which no checkout keeps";
  return {};
}

StringRef notRunAtFullBecause(const BuiltinRow& row) {
  struct Skip {
    const char* path;
    const char* reason;
  };
  static constexpr Skip kSkips[] = {
      {"process::kill", "its sample would reach a process of the system"},
      {"process::signal", "its sample would reach a process of the system"},
      {"process::kill_group", "its sample would reach processes of the system"},
      {"process::abort", "ends the tool by its own signal"},
      {"net::TcpListener::accept", "waits for a peer"},
      {"process::Child::wait", "waits for a child that waits for us"},
      {"process::Child::read_line", "waits for a child that waits for us"},
      {"process::Child::read_stdout", "waits for a child that waits for us"},
  };
  for (const Skip& skip : kSkips)
    if (row.path == skip.path)
      return skip.reason;
  return {};
}

} // namespace gos::threats
