// std::os::user. A fold below `full` cannot reach the files, which lie outside of every package.

#include "stdlib/accounts.h"

#include "stdlib/host_files.h"
#include "stdlib/support.h"
#include "vm/text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <unistd.h>

namespace gos::stdlib {

namespace {

constexpr StringRef kUsers = "/etc/passwd";
constexpr StringRef kGroups = "/etc/group";
constexpr uint64_t kMostBytes = uint64_t(16) << 20; // of a file
constexpr uint64_t kBlock = uint64_t(256) << 10;

/// The fields of a line, if there are `count`, its first one is a name, and all of it is text.
/// Lines that name another database ("+", "-") are no accounts.
bool splitLine(StringRef line, unsigned count, llvm::SmallVectorImpl<StringRef>& fields) {
  line.split(fields, ':');
  if (fields.size() != count || fields[0].empty() || line.contains('\0') || !vm::isValidUtf8(line))
    return false;
  const char first = fields[0].front();
  return first != '#' && first != '+' && first != '-';
}

/// Numbers of users and groups have 32 bits, and the last one stands for nobody.
bool readId(StringRef text, int64_t& id) {
  uint32_t number = 0;
  if (text.empty() || !llvm::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) ||
      text.getAsInteger(10, number) || number == UINT32_MAX)
    return false;
  id = number;
  return true;
}

template <class Account, class Read>
std::optional<Account> findIn(StringRef content, Read read,
                              llvm::function_ref<bool(const Account&)> fits) {
  while (!content.empty()) {
    const auto [line, rest] = content.split('\n');
    content = rest;
    if (std::optional<Account> account = read(line); account && fits(*account))
      return account;
  }
  return std::nullopt;
}

} // namespace

std::optional<UserAccount> readUser(StringRef line) {
  llvm::SmallVector<StringRef, 8> fields;
  UserAccount user;
  if (!splitLine(line, 7, fields) || !readId(fields[2], user.id) ||
      !readId(fields[3], user.groupId))
    return std::nullopt;
  user.name = fields[0].str();
  user.fullName = fields[4].split(',').first.str();
  user.home = fields[5].str();
  user.shell = fields[6].str();
  return user;
}

std::optional<GroupAccount> readGroup(StringRef line) {
  llvm::SmallVector<StringRef, 8> fields;
  GroupAccount group;
  if (!splitLine(line, 4, fields) || !readId(fields[2], group.id))
    return std::nullopt;
  group.name = fields[0].str();
  llvm::SmallVector<StringRef, 8> members;
  fields[3].split(members, ',', -1, /*KeepEmpty=*/false);
  for (const StringRef member : members)
    group.members.push_back(member.str());
  return group;
}

std::optional<UserAccount> findUser(StringRef content,
                                    llvm::function_ref<bool(const UserAccount&)> fits) {
  return findIn<UserAccount>(content, readUser, fits);
}
std::optional<GroupAccount> findGroup(StringRef content,
                                      llvm::function_ref<bool(const GroupAccount&)> fits) {
  return findIn<GroupAccount>(content, readGroup, fits);
}

namespace bodies {

namespace {

/// All of one of the files, within bounds and paid for.
FileResult readAccounts(Vm& vm, StringRef path, std::string& content) {
  HostFiles files(vm);
  std::unique_ptr<FileHandle> file;
  FileResult result = files.open(path, file);
  while (result.done()) {
    std::string block;
    result = files.readMore(*file, kBlock, block);
    if (!result.done() || block.empty())
      break;
    content += block;
    if (content.size() > kMostBytes)
      return {FileResult::Kind::Failed,
              ("`" + path + "` is larger than 16 MiB, which is no list of accounts").str(),
              {}};
    if (Trap trap = chargeEach(vm, block.size()))
      return {FileResult::Kind::Trapped, {}, std::move(trap)};
  }
  return result;
}

Trap refuse(Arguments& arguments, FileResult& result) {
  return result.kind == FileResult::Kind::Trapped ? std::move(result.trap)
                                                  : arguments.returnErr(result.message);
}

Trap returnUser(Arguments& arguments, const std::optional<UserAccount>& user,
                const std::string& wanted) {
  if (!user)
    return arguments.returnErr("there is no user " + wanted);
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId layout = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value fields[] = {builder.string(builder.field(layout, 0), user->name),
                          vm::fromInteger(user->id),
                          vm::fromInteger(user->groupId),
                          builder.string(builder.field(layout, 3), user->fullName),
                          builder.string(builder.field(layout, 4), user->home),
                          builder.string(builder.field(layout, 5), user->shell)};
  const Value made = builder.structure(layout, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

Trap returnGroup(Arguments& arguments, const std::optional<GroupAccount>& group,
                 const std::string& wanted) {
  if (!group)
    return arguments.returnErr("there is no group " + wanted);
  Vm& vm = arguments.vm();
  Builder builder(vm);
  const LayoutId layout = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value fields[] = {builder.string(builder.field(layout, 0), group->name),
                          vm::fromInteger(group->id),
                          builder.strings(builder.field(layout, 2), group->members)};
  const Value made = builder.structure(layout, fields);
  return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
}

std::string quoted(StringRef name) {
  return ("`" + name.take_front(128) + "`").str();
}

} // namespace

/// The user by whose number the process runs; none if nobody has it.
Trap OsUserName(Arguments& arguments) {
  std::string content;
  FileResult result = readAccounts(arguments.vm(), kUsers, content);
  if (result.kind == FileResult::Kind::Trapped)
    return std::move(result.trap);
  const std::optional<UserAccount> user =
      findUser(content, [](const UserAccount& each) { return each.id == int64_t(::getuid()); });
  return user ? arguments.returnSomeString(user->name) : arguments.returnNone();
}
Trap OsUserId(Arguments& arguments) {
  return arguments.returnInteger(int64_t(::getuid()));
}
Trap OsUserGroupId(Arguments& arguments) {
  return arguments.returnInteger(int64_t(::getgid()));
}

Trap OsUserLookup(Arguments& arguments) {
  std::string content;
  FileResult result = readAccounts(arguments.vm(), kUsers, content);
  if (!result.done())
    return refuse(arguments, result);
  const StringRef name = arguments.string(0);
  return returnUser(arguments,
                    findUser(content, [&](const UserAccount& each) { return each.name == name; }),
                    quoted(name));
}
Trap OsUserLookupId(Arguments& arguments) {
  std::string content;
  FileResult result = readAccounts(arguments.vm(), kUsers, content);
  if (!result.done())
    return refuse(arguments, result);
  const int64_t id = arguments.integer(0);
  return returnUser(arguments,
                    findUser(content, [&](const UserAccount& each) { return each.id == id; }),
                    std::to_string(id));
}
Trap OsUserLookupGroup(Arguments& arguments) {
  std::string content;
  FileResult result = readAccounts(arguments.vm(), kGroups, content);
  if (!result.done())
    return refuse(arguments, result);
  const StringRef name = arguments.string(0);
  return returnGroup(
      arguments, findGroup(content, [&](const GroupAccount& each) { return each.name == name; }),
      quoted(name));
}
Trap OsUserLookupGroupId(Arguments& arguments) {
  std::string content;
  FileResult result = readAccounts(arguments.vm(), kGroups, content);
  if (!result.done())
    return refuse(arguments, result);
  const int64_t id = arguments.integer(0);
  return returnGroup(arguments,
                     findGroup(content, [&](const GroupAccount& each) { return each.id == id; }),
                     std::to_string(id));
}

/// The user's own group first, then those that name it, in the order of the file.
Trap OsUserGroupIds(Arguments& arguments) {
  Vm& vm = arguments.vm();
  std::string users;
  std::string groups;
  FileResult result = readAccounts(vm, kUsers, users);
  if (result.done())
    result = readAccounts(vm, kGroups, groups);
  if (!result.done())
    return refuse(arguments, result);
  const StringRef name = arguments.string(0);
  const std::optional<UserAccount> user =
      findUser(users, [&](const UserAccount& each) { return each.name == name; });
  if (!user)
    return arguments.returnErr("there is no user " + quoted(name));
  llvm::SmallVector<int64_t, 16> ids{user->groupId};
  (void)findGroup(groups, [&](const GroupAccount& each) {
    if (llvm::is_contained(each.members, name.str()) && !llvm::is_contained(ids, each.id))
      ids.push_back(each.id);
    return false;
  });
  VecObject* numbers =
      vm.heap().newVec(payloadOf(vm, arguments.resultLayout(), "Ok"), uint64_t(ids.size()));
  if (numbers == nullptr)
    return vm.heapTrap();
  for (const int64_t id : ids)
    numbers->slots[numbers->length++] = vm::fromInteger(id);
  return arguments.returnOkOwned(vm::fromObject(numbers));
}

} // namespace bodies
} // namespace gos::stdlib
