#pragma once
// What a proof acts on: a tree with grants, holes and a canary outside of them, and things outside
// the sandbox that answer: sockets, a shared memory segment, this process itself.

#include "sandbox/linux/temporary.h"
#include "sandbox/policy/policy.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace gos::sandbox {

class ProofScene {
public:
  /// With `outside` there are also the things that answer.
  static llvm::Expected<ProofScene> create(bool outside = true);
  ProofScene(ProofScene&& other) noexcept;
  ProofScene& operator=(ProofScene&&) = delete;
  ~ProofScene();

  /// `work` read-write, `work/sub/held` and `read` read-only, `work/hole` and `work/hole-file`
  /// denied; nothing where the level bounds no files.
  Policy policy(SandboxLevel level, NetworkMode network) const;

  std::string at(llvm::StringRef name) const { return (fixture_.path() + "/" + name).str(); }
  TemporaryDirectory& temporary() { return temporary_; }
  const TemporaryDirectory& temporary() const { return temporary_; }
  uint16_t tcpPort() const { return tcpPort_; }
  const std::string& abstractName() const { return abstractName_; } // without the leading NUL
  int sharedMemoryKey() const { return sharedMemoryKey_; }
  bool hasIpv6() const { return hasIpv6_; }

private:
  ProofScene() = default;
  llvm::Error makeTree();
  llvm::Error makeOutside();

  TemporaryDirectory fixture_, temporary_;
  UniqueFd tcp_, abstract_, socket_;
  std::string abstractName_;
  uint16_t tcpPort_ = 0;
  int sharedMemoryKey_ = 0, sharedMemory_ = -1;
  bool hasIpv6_ = false;
};

} // namespace gos::sandbox
