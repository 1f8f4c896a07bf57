#include "stdlib/host_state.h"

#include "sandbox/sys_error.h"

#include "llvm/Support/Errno.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace gos::stdlib {

using llvm::StringRef;

namespace {
constexpr size_t kOutputBuffer = size_t(64) << 10;
} // namespace

// ---- handles
// --------------------------------------------------------------------------------------

int64_t HandleTable::add(std::unique_ptr<Handle> handle) {
  uint32_t at = 0;
  if (!free_.empty()) {
    at = free_.back();
    free_.pop_back();
  } else {
    at = uint32_t(places_.size());
    places_.emplace_back();
  }
  places_[at].handle = std::move(handle);
  return int64_t(uint64_t(places_[at].generation) << 32 | at);
}

Handle* HandleTable::findAny(int64_t number) const {
  const uint64_t at = uint64_t(number) & 0xffffffffu;
  if (number < 0 || at >= places_.size() || uint64_t(number) >> 32 != places_[at].generation)
    return nullptr;
  return places_[at].handle.get();
}

bool HandleTable::close(int64_t number) {
  if (findAny(number) == nullptr)
    return false;
  Place& place = places_[uint64_t(number) & 0xffffffffu];
  place.handle.reset();
  place.generation = (place.generation + 1) & 0x7fffffffu;
  free_.push_back(uint32_t(uint64_t(number) & 0xffffffffu));
  return true;
}

// ---- streams
// --------------------------------------------------------------------------------------

LibraryHost::~LibraryHost() {
  flush();
}

int LibraryHost::writeFully(int fd, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        retryInterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written <= 0)
      return written == 0 ? EIO : errno;
    bytes = bytes.drop_front(size_t(written));
  }
  return 0;
}

vm::Trap LibraryHost::takeOutputTrap() {
  const int error = std::exchange(outputError_, 0);
  if (error == 0)
    return {};
  if (error == EPIPE) // SIGPIPE is ignored here, by whoever started the tool
    return vm::Trap::exit(128 + SIGPIPE);
  return vm::Trap::panic("standard output: " + llvm::sys::StrError(error));
}

void LibraryHost::write(Stream stream, StringRef bytes) {
  if (vm_ != nullptr && vm_->inFold()) {
    vm_->captureOutput(bytes);
    return;
  }
  if (stream == Stream::Error) {
    flush();
    writeFully(STDERR_FILENO, bytes);
    return;
  }
  if (outputGone_)
    return;
  if (!outputIsTerminal_)
    outputIsTerminal_ = ::isatty(STDOUT_FILENO) == 1;
  output_.append(bytes.data(), bytes.size());
  if (output_.size() >= kOutputBuffer || (*outputIsTerminal_ && bytes.ends_with("\n")))
    flush();
}

void LibraryHost::flush() {
  if (output_.empty())
    return;
  outputError_ = writeFully(STDOUT_FILENO, output_);
  outputGone_ = outputError_ != 0;
  output_.clear();
}

// ---- environment
// ------------------------------------------------------------------------------------

std::optional<std::string> LibraryHost::variable(StringRef name) const {
  if (name.empty() || name.contains('=') || name.contains('\0'))
    return std::nullopt;
  if (auto changed = environment_.find(name.str()); changed != environment_.end())
    return changed->second;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    StringRef text(*entry);
    if (text.consume_front(name) && text.consume_front("="))
      return text.str();
  }
  return std::nullopt;
}

std::map<std::string, std::string> LibraryHost::variables() const {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const auto [name, value] = StringRef(*entry).split('=');
    all.emplace(name.str(), value.str());
  }
  for (const auto& [name, value] : environment_) {
    if (value)
      all[name] = *value;
    else
      all.erase(name);
  }
  return all;
}

void LibraryHost::setVariable(StringRef name, std::optional<std::string> value) {
  environment_[name.str()] = std::move(value);
}

// ---- roots
// --------------------------------------------------------------------------------------------

const Root* LibraryHost::rootOfCaller(std::string& reason) {
  const PackagePolicy* package = vm_->callingPackagePolicy();
  if (package == nullptr) {
    reason = "the calling package is not known";
    return nullptr;
  }
  if (!package->hasRoot) {
    reason = package->whyNoRoot.empty() ? "the package has no root" : package->whyNoRoot;
    return nullptr;
  }
  const uint32_t id = vm_->callingPackage();
  if (auto known = roots_.find(id); known != roots_.end())
    return &known->second;
  llvm::Expected<Root> root =
      Root::open(package->rootSpelling.empty() ? package->root : package->rootSpelling);
  if (!root) {
    reason = llvm::toString(root.takeError());
    return nullptr;
  }
  // The directory that the policy speaks of, not another one that took its place.
  if (root->realPath() != package->root) {
    reason = "the package root `" + package->root + "` has moved";
    return nullptr;
  }
  root->setPolicy(vm_->callingPolicy());
  return &roots_.emplace(id, std::move(*root)).first->second;
}

std::unique_ptr<vm::HostState> makeHost(HostOptions options) {
  return std::make_unique<LibraryHost>(std::move(options));
}

LibraryHost& hostOf(vm::Vm& vm) {
  if (vm.host() == nullptr)
    vm.setHost(makeHost({}));
  auto& host = static_cast<LibraryHost&>(*vm.host());
  host.attach(vm);
  if (!vm.inFold())
    vm.setBeforeWaiting(flushOutput);
  return host;
}

void flushOutput(vm::Vm& vm) {
  hostOf(vm).flush();
}

vm::Trap finishOutput(vm::Vm& vm) {
  hostOf(vm).flush();
  return hostOf(vm).takeOutputTrap();
}

} // namespace gos::stdlib
