#pragma once
// The users and groups of the host, as its two files have them: no module of the C library is
// loaded for that. Whatever the files hold, a line that is none of the format is passed over.

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gos::stdlib {

struct UserAccount {
  std::string name;
  int64_t id = 0;
  int64_t groupId = 0;
  std::string fullName; // of the comment, up to its first comma
  std::string home;
  std::string shell;
};

struct GroupAccount {
  std::string name;
  int64_t id = 0;
  std::vector<std::string> members; // beside those whose own group it is
};

/// "name:password:id:group:comment:home:shell".
std::optional<UserAccount> readUser(llvm::StringRef line);
/// "name:password:id:member,member".
std::optional<GroupAccount> readGroup(llvm::StringRef line);
/// The first that fits, in the lines of a file.
std::optional<UserAccount> findUser(llvm::StringRef content,
                                    llvm::function_ref<bool(const UserAccount&)> fits);
std::optional<GroupAccount> findGroup(llvm::StringRef content,
                                      llvm::function_ref<bool(const GroupAccount&)> fits);

} // namespace gos::stdlib
