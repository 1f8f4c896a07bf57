#pragma once
// The owner of a descriptor. Every descriptor of ours is one of these, opened close-on-exec.

#include <unistd.h>

#include <utility>

namespace gos {

class UniqueFd {
public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other)
      reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  /// Gives the descriptor away.
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0)
      ::close(fd_); // not retried on EINTR: Linux has released the number by then
    fd_ = fd;
  }

private:
  int fd_ = -1;
};

} // namespace gos
