#pragma once
// System calls without a C library, and the few functions a compiler expects to find. Used by the
// first process, and by nobody else: what the supervisor does between clone and execve goes through
// the C library's `syscall`, which is safe there.

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

namespace gos::sandbox::raw {

#if defined(__x86_64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "the first process is not ported to this CPU"
#endif

template <class T> long word(T value) {
  return (long)value;
}
inline long word(int value) {
  return value;
}

/// Repeats an interrupted call.
template <class... Arguments> long retry(long number, Arguments... arguments) {
  long result = call(number, word(arguments)...);
  while (result == -4 /* EINTR */)
    result = call(number, word(arguments)...);
  return result;
}
template <class... Arguments> long sys(long number, Arguments... arguments) {
  return call(number, word(arguments)...);
}

[[noreturn]] inline void quit(int code) {
  while (true)
    call(__NR_exit_group, code);
}

inline size_t length(const char* text) {
  size_t size = 0;
  while (text[size] != '\0')
    ++size;
  return size;
}

struct OpenHow {
  uint64_t flags, mode, resolve;
};
constexpr uint64_t kResolveNoMagicLinks = 0x02, kResolveNoLinks = 0x04, kResolveBeneath = 0x08;

// Values of <fcntl.h>, <linux/mount.h> and <linux/stat.h>, which differ between C libraries and
// ages.
constexpr int kAtFdCwd = -100;
constexpr int kAtEmptyPath = 0x1000, kAtNoFollow = 0x100, kAtRecursive = 0x8000,
              kAtRemoveDirectory = 0x200;
constexpr uint64_t kMountReadOnly = 1, kMountNoSuid = 2, kMountNoDevices = 4, kMountNoExecute = 8;
constexpr unsigned kFsConfigFlag = 0, kFsConfigString = 1, kFsConfigCreate = 6;
constexpr unsigned kMoveFromEmpty = 0x04, kMoveToEmpty = 0x40;
constexpr int kOpenTreeClone = 1, kCloseOnExec = 02000000;
struct MountAttributes {
  uint64_t set, clear, propagation, userNamespace;
};

constexpr int kErrorNotPermitted = 1, kErrorAbsent = 2, kErrorExists = 17, kErrorNotExecutable = 8,
              kErrorNoChild = 10;

} // namespace gos::sandbox::raw
