// lying_host CALL COMMAND...: executes a command on a kernel that answers one system call with
// success and does nothing. `nothing` lies about none.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Row {
  const char* name;
  int call;     // -1: none
  int argument; // only where the first argument is this; -1: whatever it is
};
const Row kRows[] = {{"nothing", -1, -1},
                     {"landlock_add_rule", 445, -1},
                     {"landlock_restrict_self", 446, -1},
                     {"seccomp", SYS_seccomp, SECCOMP_SET_MODE_FILTER},
                     {"pivot_root", SYS_pivot_root, -1},
                     {"mount_setattr", 442, -1},
                     {"capset", SYS_capset, -1},
                     {"unshare", SYS_unshare, -1},
                     {"no_new_privs", SYS_prctl, PR_SET_NO_NEW_PRIVS}};

} // namespace

int main(int count, char** words) {
  const Row* found = nullptr;
  for (const Row& row : kRows)
    if (count > 2 && std::strcmp(row.name, words[1]) == 0)
      found = &row;
  if (found == nullptr) {
    std::fprintf(stderr, "usage: lying_host CALL COMMAND...\n");
    return 2;
  }
  if (found->call >= 0) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(found->call), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(found->argument), 0,
                 static_cast<unsigned char>(found->argument < 0 ? 0 : 1)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO), // an errno of 0 is success
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {static_cast<unsigned short>(sizeof program / sizeof program[0]),
                               program};
    // As root without no_new_privs, so that the lie about it is one.
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0 &&
        (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)) {
      std::perror("seccomp");
      return 99;
    }
  }
  ::execv(words[2], words + 2);
  std::perror(words[2]);
  return 99;
}
