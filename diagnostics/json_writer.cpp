#include "diagnostics/json_writer.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cassert>
#include <nlohmann/json.hpp>

namespace gos {

namespace {

using Json = nlohmann::ordered_json;

/// The bytes themselves where they are UTF-8; \xHH for each byte that is not.
std::string validUtf8(llvm::StringRef bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto* at = reinterpret_cast<const llvm::UTF8*>(bytes.begin());
    const auto* end = reinterpret_cast<const llvm::UTF8*>(bytes.end());
    const unsigned length = llvm::getNumBytesForUTF8(*at);
    if (length <= bytes.size() && llvm::isLegalUTF8Sequence(at, end)) {
      out += bytes.take_front(length);
      bytes = bytes.drop_front(length);
      continue;
    }
    out += "\\x";
    out += llvm::hexdigit(*at >> 4, /*LowerCase=*/true);
    out += llvm::hexdigit(*at & 15, /*LowerCase=*/true);
    bytes = bytes.drop_front();
  }
  return out;
}

} // namespace

struct JsonWriter::State {
  Json root;
  // Containers that are open, outermost first. A parent does not grow while its child is open, so
  // the pointers stay good.
  llvm::SmallVector<Json*, 8> open;
  std::string key;

  Json* place(Json value) {
    if (open.empty()) {
      root = std::move(value);
      return &root;
    }
    Json& parent = *open.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& slot = parent[key];
    slot = std::move(value);
    return &slot;
  }
};

JsonWriter::JsonWriter() : state_(std::make_unique<State>()) {}
JsonWriter::~JsonWriter() = default;

void JsonWriter::beginObject() {
  state_->open.push_back(state_->place(Json::object()));
}
void JsonWriter::beginArray() {
  state_->open.push_back(state_->place(Json::array()));
}

void JsonWriter::endObject() {
  assert(!state_->open.empty() && state_->open.back()->is_object() && "an object is open");
  state_->open.pop_back();
}

void JsonWriter::endArray() {
  assert(!state_->open.empty() && state_->open.back()->is_array() && "an array is open");
  state_->open.pop_back();
}

void JsonWriter::key(llvm::StringRef name) {
  assert(!state_->open.empty() && state_->open.back()->is_object() && "keys stand in objects");
  state_->key = validUtf8(name);
}

void JsonWriter::string(llvm::StringRef value) {
  state_->place(validUtf8(value));
}
void JsonWriter::number(int64_t value) {
  state_->place(value);
}
void JsonWriter::number(uint64_t value) {
  state_->place(value);
}
void JsonWriter::real(double value) {
  state_->place(value);
}
void JsonWriter::boolean(bool value) {
  state_->place(value);
}
void JsonWriter::null() {
  state_->place(nullptr);
}

std::string JsonWriter::finish() {
  assert(state_->open.empty() && "every container is closed");
  return state_->root.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                           Json::error_handler_t::replace);
}

} // namespace gos
