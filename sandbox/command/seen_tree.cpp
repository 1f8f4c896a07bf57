#include "sandbox/command/seen_tree.h"

#include "sandbox/linux/path_walk.h"

namespace gos::sandbox {

using Kind = ViewStep::Kind;

SeenTree::SeenTree(const ChildPlan& plan, const HostTree& host)
    : host_(host), temporary_(plan.temporaryDirectory) {
  for (const ViewStep& step : plan.view) {
    switch (step.kind) {
    case Kind::MakeDirectory:
    case Kind::MakeFile:
    case Kind::MakeLink:
      made_[step.path] = &step;
      break;
    case Kind::Bind:
    case Kind::Cover:
    case Kind::Mask:
    case Kind::Proc:
    case Kind::DevicePts:
    case Kind::SharedMemory:
      mounts_[step.path] = &step; // the last one is on top
      break;
    }
  }
}

const ViewStep* SeenTree::covering(llvm::StringRef path) const {
  while (true) {
    if (const auto found = mounts_.find(path); found != mounts_.end())
      return found->second;
    if (path == "/")
      return nullptr;
    path = parentPath(path);
  }
}

const ViewStep* SeenTree::made(llvm::StringRef path) const {
  const auto found = made_.find(path);
  return found == made_.end() ? nullptr : found->second;
}

bool SeenTree::isMountPoint(llvm::StringRef path) const {
  return mounts_.contains(path);
}

bool SeenTree::isOwn(llvm::StringRef path) const {
  const ViewStep* cover = covering(path);
  if (cover == nullptr)
    return false;
  switch (cover->kind) {
  case Kind::Proc:
  case Kind::DevicePts:
  case Kind::SharedMemory:
  case Kind::Mask:
    return true;
  case Kind::Bind:
    return cover->node == NodeKind::Device || cover->path == "/proc" ||
           (!temporary_.empty() && cover->source == temporary_);
  case Kind::Cover:
  case Kind::MakeDirectory:
  case Kind::MakeFile:
  case Kind::MakeLink:
    return false;
  }
  return false;
}

bool SeenTree::permits(llvm::StringRef path, bool writes) const {
  const ViewStep* cover = covering(path);
  return cover != nullptr && cover->kind == Kind::Bind && cover->source == cover->path &&
         !(writes && cover->readOnly);
}

std::optional<size_t> SeenTree::ruleOver(llvm::StringRef path) const {
  const ViewStep* cover = covering(path);
  return cover == nullptr ? std::nullopt : cover->rule;
}

NodeKind SeenTree::behindTemporary(llvm::StringRef path) const {
  const ViewStep* cover = covering(path);
  const bool isTemporary = cover != nullptr && cover->kind == Kind::Bind && !temporary_.empty() &&
                           cover->source == temporary_;
  return isTemporary ? host_.look(path).kind : NodeKind::Missing;
}

HostTree::Entry SeenTree::look(llvm::StringRef path) const {
  const ViewStep* cover = covering(path);
  if (const ViewStep* step = made(path); step != nullptr) {
    if (step->kind == Kind::MakeLink)
      return {NodeKind::Link, {}, step->text};
    return {step->kind == Kind::MakeFile ? NodeKind::File : NodeKind::Directory, {}, {}};
  }
  if (cover == nullptr)
    return host_.look(path);
  switch (cover->kind) {
  case Kind::Bind:
    if (cover->path == "/proc")
      return {NodeKind::Directory, {}, {}};
    if (cover->source == cover->path)
      return host_.look(path);
    return host_.look(cover->source + path.drop_front(cover->path.size()).str());
  case Kind::Proc: // its magic links lead to what the process has already
  case Kind::DevicePts:
  case Kind::SharedMemory:
  case Kind::Mask:
    return {NodeKind::Directory, {}, {}};
  case Kind::Cover: // the command sees nothing; the report asks what is behind it
  case Kind::MakeDirectory:
  case Kind::MakeFile:
  case Kind::MakeLink:
    return host_.look(path);
  }
  return {};
}

std::string SeenTree::real(llvm::StringRef path) const {
  PathWalk walk(*this);
  const WalkedPath walked = walk.follow(path);
  return walked.entry.kind == NodeKind::Missing ? std::string() : walked.path;
}

} // namespace gos::sandbox
