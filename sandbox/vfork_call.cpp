#include "sandbox/vfork_call.h"

#include <asm/unistd.h>
#include <csignal>
#include <memory>
#include <sched.h>

namespace gos {

namespace {

/// The bare call. The new process begins on `stackEnd`, with nothing of this frame.
long cloneCall(unsigned long flags, void* stackEnd, int* pidFd, VforkFunction function,
               void* argument) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  register VforkFunction r12 __asm__("r12") = function;
  register void* r13 __asm__("r13") = argument;
  __asm__ volatile("syscall\n\t"
                   "test %%rax, %%rax\n\t"
                   "jnz 1f\n\t"
                   "xor %%ebp, %%ebp\n\t"
                   "mov %%r13, %%rdi\n\t"
                   "call *%%r12\n\t"
                   "hlt\n"
                   "1:"
                   : "=a"(result)
                   : "a"(__NR_clone), "D"(flags), "S"(stackEnd), "d"(pidFd), "r"(r10), "r"(r8),
                     "r"(r12), "r"(r13)
                   : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = __NR_clone;
  register long x0 __asm__("x0") = long(flags);
  register void* x1 __asm__("x1") = stackEnd;
  register int* x2 __asm__("x2") = pidFd;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  register VforkFunction x19 __asm__("x19") = function;
  register void* x20 __asm__("x20") = argument;
  __asm__ volatile("svc 0\n\t"
                   "cbnz x0, 1f\n\t"
                   "mov x29, #0\n\t"
                   "mov x0, x20\n\t"
                   "blr x19\n\t"
                   "brk #0\n"
                   "1:"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20)
                   : "memory", "cc");
  return x0;
#else
#error "starting programs is not ported to this CPU"
#endif
}

} // namespace

int vforkCall(VforkFunction function, void* argument, unsigned long flags, int* pidFd) {
  // Not on this stack, which a thread of a program may have made small.
  constexpr size_t kStack = 32768;
  const auto stack = std::make_unique_for_overwrite<char[]>(kStack);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long id =
      cloneCall(CLONE_VM | CLONE_VFORK | flags, stack.get() + kStack, pidFd, function, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return int(id);
}

} // namespace gos
