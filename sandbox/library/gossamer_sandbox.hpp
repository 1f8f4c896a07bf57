// libgossamer_sandbox for C++17 and newer: owners and exceptions-free results over the C interface.
// Header-only; needs nothing but gossamer_sandbox.h.
#ifndef GOSSAMER_SANDBOX_HPP
#define GOSSAMER_SANDBOX_HPP

#include "gossamer_sandbox.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::sandbox {

/// Why nothing was run.
struct Error {
  gsb_error_kind kind = GSB_ERROR_POLICY;
  int exitCode = 126;
  std::string text, remedy, primitive;
};

/// A value or an error.
template <class Value> class Result {
public:
  Result(Value value) : value_(std::make_unique<Value>(std::move(value))) {}
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return value_ != nullptr; }
  Value& operator*() { return *value_; }
  Value* operator->() { return value_.get(); }
  const Error& error() const { return error_; }

private:
  std::unique_ptr<Value> value_;
  Error error_;
};

namespace detail {
inline Error take(gsb_error* error) {
  Error made;
  if (error != nullptr) {
    made = {gsb_error_get_kind(error), gsb_error_exit_code(error), gsb_error_text(error), gsb_error_remedy(error),
            gsb_error_primitive(error)};
    gsb_error_free(error);
  }
  return made;
}
inline std::vector<const char*> pointers(const std::vector<std::string>& words) {
  std::vector<const char*> made;
  for (const std::string& word : words)
    made.push_back(word.c_str());
  made.push_back(nullptr);
  return made;
}
inline std::string text(char* made) {
  std::string result = made != nullptr ? made : "";
  gsb_string_free(made);
  return result;
}
} // namespace detail

struct Output {
  int code = 0, signal = 0;
  std::string standardOutput, standardError;
};

/// A policy as a value.
class Policy {
public:
  Policy() : policy_(gsb_policy_new()) {}
  Policy(const Policy& other) : policy_(gsb_policy_copy(other.policy_.get())) {}
  Policy(Policy&&) = default;
  Policy& operator=(Policy other) {
    policy_ = std::move(other.policy_);
    return *this;
  }
  static Result<Policy> commandDefault(const std::string& directory = {}) {
    gsb_error* error = nullptr;
    gsb_policy* made = gsb_policy_command_default(directory.empty() ? nullptr : directory.c_str(), &error);
    if (made == nullptr)
      return detail::take(error);
    return Policy(made);
  }

  Policy& level(const std::string& level) { return gsb_policy_level(get(), level.c_str()), *this; }
  Policy& readOnly(const std::string& path) { return gsb_policy_read_only(get(), path.c_str()), *this; }
  Policy& readWrite(const std::string& path) { return gsb_policy_read_write(get(), path.c_str()), *this; }
  Policy& deny(const std::string& path) { return gsb_policy_deny(get(), path.c_str()), *this; }
  Policy& network(const std::string& mode) { return gsb_policy_network(get(), mode.c_str()), *this; }
  Policy& envAllow(const std::string& name) { return gsb_policy_env_allow(get(), name.c_str()), *this; }
  Policy& envSet(const std::string& name, const std::string& value) {
    return gsb_policy_env_set(get(), name.c_str(), value.c_str()), *this;
  }
  Policy& temp(const std::string& mode) { return gsb_policy_temp(get(), mode.c_str()), *this; }
  Policy& workingDirectory(const std::string& path) { return gsb_policy_working_directory(get(), path.c_str()), *this; }

  std::string access(const std::string& path) const { return gsb_policy_access(policy_.get(), path.c_str()); }
  Result<std::string> explain(const std::vector<std::string>& command, bool json = false) const {
    gsb_error* error = nullptr;
    char* made = gsb_policy_explain(policy_.get(), detail::pointers(command).data(), json ? 1 : 0, &error);
    if (made == nullptr)
      return detail::take(error);
    return detail::text(made);
  }
  /// Runs a command and captures both streams.
  Result<Output> run(const std::vector<std::string>& command, const gsb_options* options = nullptr) const {
    gsb_error* error = nullptr;
    gsb_output output;
    if (gsb_run_capture(policy_.get(), detail::pointers(command).data(), options, &output, &error) != 0)
      return detail::take(error);
    Output made{output.result.code, output.result.signal, std::string(output.standard_output, output.standard_output_size),
                std::string(output.standard_error, output.standard_error_size)};
    gsb_string_free(output.standard_output);
    gsb_string_free(output.standard_error);
    return made;
  }
  gsb_policy* get() { return policy_.get(); }

private:
  explicit Policy(gsb_policy* policy) : policy_(policy) {}
  struct Free {
    void operator()(gsb_policy* policy) const { gsb_policy_free(policy); }
  };
  std::unique_ptr<gsb_policy, Free> policy_;
};

inline std::string maxLevel() {
  return gsb_max_level();
}
inline std::string capabilitiesJson() {
  return detail::text(gsb_capabilities_json());
}

} // namespace gossamer::sandbox

#endif
