// What the kernel alone takes for the kind of work that a start at `strict` is: the six namespaces,
// a tmpfs as root, COUNT read-only binds, a proc and a devpts of its own, pivot_root, process 1 and
// a command behind it. No policy, no Landlock, no filter, no private temp, no message to anybody:
// whoever starts a command in such a sandbox is not faster than this.
//
//   sandbox_floor COUNT PROGRAM    Linux 5.12; freestanding, as the first process of a run is

#include "sandbox/linux/first_process/raw.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

extern "C" void* memset(void* to, int value, size_t size) {
  for (size_t at = 0; at != size; ++at)
    ((char*)to)[at] = (char)value;
  return to;
}

namespace {

using namespace gos::sandbox;

/// Every step has to succeed: a floor that left one out would be none.
long must(int step, long result) {
  if (result < 0)
    raw::quit(step);
  return result;
}

void writeText(int step, const char* path, const char* text) {
  const long file = must(step, raw::sys(__NR_openat, raw::kAtFdCwd, path, O_WRONLY | O_CLOEXEC));
  must(step, raw::sys(__NR_write, file, text, raw::length(text)));
  raw::sys(__NR_close, file);
}

/// The id map needs the number as text.
void mapSelf(int step, const char* path, long id) {
  char text[48];
  int at = 0;
  for (int twice = 0; twice != 2; ++twice) {
    char digits[20];
    int count = 0;
    for (long rest = id; count == 0 || rest != 0; rest /= 10)
      digits[count++] = (char)('0' + rest % 10);
    while (count != 0)
      text[at++] = digits[--count];
    text[at++] = ' ';
  }
  text[at++] = '1';
  text[at] = '\0';
  writeText(step, path, text);
}

const char* const kFiles[] = {"/etc/hosts", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
                              "/dev/null",  "/dev/zero",   "/dev/full",  "/dev/urandom"};

void bind(const char* from, const char* to, bool directory) {
  must(20, directory ? raw::sys(__NR_mkdirat, raw::kAtFdCwd, to, 0755)
                     : raw::sys(__NR_mknodat, raw::kAtFdCwd, to, S_IFREG | 0644, 0));
  must(21, raw::sys(__NR_mount, from, to, 0, 4096 | 16384 /* MS_BIND | MS_REC */, 0));
}

void fresh(const char* type, const char* where) {
  must(22, raw::sys(__NR_mkdirat, raw::kAtFdCwd, where, 0755));
  must(23, raw::sys(__NR_mount, type, where, type, 0, 0));
}

/// Goes on in a process with vfork semantics, in this very frame; its end is this one's, which
/// touches nothing of the frame but what is its own.
inline __attribute__((always_inline)) void handOver() {
  const long id = must(30, raw::sys(__NR_clone, CLONE_VM | CLONE_VFORK | 17 /* SIGCHLD */, 0));
  if (id == 0)
    return;
  int status = 0;
  must(31, raw::retry(__NR_wait4, id, &status, 0, 0));
  raw::quit((status >> 8) & 255);
}

[[noreturn]] void run(long count, char* const* words) {
  if (count != 3)
    raw::quit(2);
  int binds = 0;
  for (const char* digit = words[1]; *digit != '\0'; ++digit)
    binds = binds * 10 + (*digit - '0');
  const long user = raw::sys(__NR_geteuid), group = raw::sys(__NR_getegid);
  must(10,
       raw::sys(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
                                  CLONE_NEWUTS | 0x02000000 /* CLONE_NEWCGROUP */ | CLONE_NEWPID));
  writeText(11, "/proc/self/setgroups", "deny");
  mapSelf(12, "/proc/self/uid_map", user);
  mapSelf(13, "/proc/self/gid_map", group);
  handOver(); // to process 1
  must(14, raw::sys(__NR_mount, 0, "/", 0, 16384 | (1 << 18) /* MS_REC | MS_PRIVATE */, 0));
  must(15, raw::sys(__NR_mount, "tmpfs", "/tmp", "tmpfs", 0, "mode=755"));
  must(16, raw::sys(__NR_chdir, "/tmp"));
  bind("/usr", "usr", true);
  must(17, raw::sys(__NR_symlinkat, "usr/bin", raw::kAtFdCwd, "bin"));
  must(17, raw::sys(__NR_symlinkat, "usr/lib", raw::kAtFdCwd, "lib"));
  must(17, raw::sys(__NR_symlinkat, "usr/lib64", raw::kAtFdCwd, "lib64"));
  for (int at = 1; at < binds; ++at) {
    const char name[3] = {(char)('a' + at / 10), (char)('0' + at % 10), '\0'};
    bind(kFiles[at % (sizeof kFiles / sizeof *kFiles)], name, false);
  }
  fresh("proc", "proc");
  fresh("devpts", "pts");
  raw::MountAttributes readOnly = {raw::kMountReadOnly | raw::kMountNoSuid, 0, 0, 0};
  must(18, raw::sys(__NR_mount_setattr, raw::kAtFdCwd, ".", raw::kAtRecursive, &readOnly,
                    sizeof readOnly));
  must(19, raw::sys(__NR_pivot_root, ".", "."));
  must(24, raw::sys(__NR_umount2, ".", 2 /* MNT_DETACH */));
  must(25, raw::sys(__NR_chdir, "/"));
  handOver(); // to the command
  char* const arguments[] = {words[2], nullptr};
  must(26, raw::sys(__NR_execve, words[2], arguments, 0));
  raw::quit(1);
}

} // namespace

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call "
        "floorEntry\n  hlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl floorEntry\n");
#endif
extern "C" [[noreturn]] __attribute__((used)) void floorEntry(const long* stack) {
  run(stack[0], (char* const*)(stack + 1));
}
