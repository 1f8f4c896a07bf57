#pragma once
// New file systems of a view, each as a mount that is nowhere yet. Negative: an errno. The contexts
// stay open and are closed with the other spent descriptors.

#include "sandbox/linux/first_process/raw.h"

namespace gos::sandbox::file_systems {

inline long begin(const char* type) {
  return raw::sys(__NR_fsopen, type, 1 /* FSOPEN_CLOEXEC */);
}
inline long option(long context, const char* key, const char* value) {
  return raw::sys(__NR_fsconfig, context,
                  value == nullptr ? raw::kFsConfigFlag : raw::kFsConfigString, key, value, 0);
}
inline long mountOf(long context, uint64_t attributes) {
  long result = raw::sys(__NR_fsconfig, context, raw::kFsConfigCreate, 0, 0, 0);
  if (result >= 0)
    result = raw::sys(__NR_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, attributes);
  return result;
}

inline long emptyRoot() {
  const long context = begin("tmpfs");
  if (context < 0)
    return context;
  option(context, "mode", "0755");
  option(context, "size", "16m");
  return mountOf(context, raw::kMountNoSuid | raw::kMountNoDevices);
}
inline long processes(bool readOnly) {
  const long context = begin("proc");
  if (context < 0)
    return context;
  return mountOf(context, raw::kMountNoSuid | raw::kMountNoDevices | raw::kMountNoExecute |
                              (readOnly ? raw::kMountReadOnly : 0));
}
inline long terminals() {
  const long context = begin("devpts");
  if (context < 0)
    return context;
  option(context, "newinstance", nullptr);
  option(context, "ptmxmode", "0666");
  option(context, "mode", "0620");
  return mountOf(context, raw::kMountNoSuid | raw::kMountNoExecute);
}
inline long sharedMemory() {
  const long context = begin("tmpfs");
  if (context < 0)
    return context;
  option(context, "mode", "1777");
  return mountOf(context, raw::kMountNoSuid | raw::kMountNoDevices);
}

} // namespace gos::sandbox::file_systems
