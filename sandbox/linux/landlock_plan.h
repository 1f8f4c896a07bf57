#pragma once
// The Landlock ruleset of a view: the inner lock says what the mounts say. Rules only add rights
// up, so what is narrower than something above it is kept by its mount alone, and has no rule.

#include "sandbox/linux/plan.h"

namespace gos::sandbox {

/// What may be done with what a rule names. The ruleset of an ABI has the rights that it knows.
constexpr uint64_t kReadRights = kLandlockExecute | kLandlockReadFile | kLandlockReadDirectory;
/// Everything but making device nodes and talking to devices.
constexpr uint64_t kWriteRights =
    kReadRights | kLandlockWriteFile | kLandlockRemoveDirectory | kLandlockRemoveFile |
    kLandlockMakeDirectory | kLandlockMakeRegular | kLandlockMakeSocket | kLandlockMakeFifo |
    kLandlockMakeLink | kLandlockRefer | kLandlockTruncate | kLandlockResolveUnix;
constexpr uint64_t kDeviceRights = kLandlockReadFile | kLandlockWriteFile | kLandlockDeviceControl;
/// Of these a rule on something that is not a directory may have some; others are EINVAL (B004).
constexpr uint64_t kFileRights = kLandlockExecute | kLandlockWriteFile | kLandlockReadFile |
                                 kLandlockTruncate | kLandlockDeviceControl | kLandlockResolveUnix;

/// The ruleset for a view. The ABI is at least kLandlockLeastAbi.
LandlockPlan landlockPlan(llvm::ArrayRef<ViewStep> view, NetworkMode network, int abi);

/// Lets a command reopen the terminal that is one of its streams: a bind at /dev/console and its
/// rule. `terminal` is the device's path on the host (`/dev/pts/3`), `object` what it is.
void addTerminal(ChildPlan& plan, llvm::StringRef terminal, ObjectId object);

} // namespace gos::sandbox
