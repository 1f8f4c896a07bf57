#include "sandbox/linux/view.h"

#include "sandbox/linux/view_rules.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <cassert>

namespace gos::sandbox {

bool isMount(ViewStep::Kind kind) {
  switch (kind) {
  case ViewStep::Kind::MakeDirectory:
  case ViewStep::Kind::MakeFile:
  case ViewStep::Kind::MakeLink:
    return false;
  case ViewStep::Kind::Bind:
  case ViewStep::Kind::Cover:
  case ViewStep::Kind::Mask:
  case ViewStep::Kind::Proc:
  case ViewStep::Kind::DevicePts:
  case ViewStep::Kind::SharedMemory:
    return true;
  }
  return false;
}

const ViewStep* stepCovering(llvm::ArrayRef<ViewStep> steps, llvm::StringRef path) {
  for (const ViewStep& step : llvm::reverse(steps))
    if (isMount(step.kind) && isAtOrBeneath(path, step.path))
      return &step;
  return nullptr;
}

bool standsInView(llvm::ArrayRef<ViewStep> steps, const HostTree& tree, llvm::StringRef path) {
  if (path == "/")
    return true;
  const ViewStep* cover = stepCovering(steps, path);
  if (cover != nullptr && cover->kind == ViewStep::Kind::Cover)
    return false;
  if (cover != nullptr && (cover->path == path || cover->kind == ViewStep::Kind::Proc))
    return true;
  if (cover != nullptr && cover->kind == ViewStep::Kind::Bind && cover->source == cover->path)
    return tree.look(path).kind != NodeKind::Missing;
  return llvm::any_of(
      steps, [&](const ViewStep& step) { return !isMount(step.kind) && step.path == path; });
}

namespace {

using Kind = ViewStep::Kind;

/// What stands on a part of the view while the compiler is in it.
struct Layer {
  enum class Holds : uint8_t {
    Host,  // the host's objects, under their own names
    Fresh, // an empty place where mount points can be made: the private temp, shared memory
    Proc,  // processes
    Closed // a hole, or something that has nothing beneath it
  };
  std::string path;
  Holds holds = Holds::Closed;
  Access access = Access::Deny; // of Host
  std::optional<size_t> rule;
};

/// What the rules say from a path downwards.
struct Frame {
  std::string path;
  std::optional<size_t> denial, grant;
  Access access = Access::Deny;
};

template <class Stack> void popTo(Stack& stack, llvm::StringRef path) {
  while (!stack.empty() && !isAtOrBeneath(path, stack.back().path))
    stack.pop_back();
}

class ViewCompiler {
public:
  ViewCompiler(const Policy& policy, const HostTree& tree, PathWalk& walk,
               const ViewRequest& request)
      : policy_(policy), tree_(tree), walk_(walk), request_(request) {}

  llvm::Expected<View> compile() {
    std::vector<ViewPart> parts = viewParts(request_, tree_, walk_);
    llvm::StringSet<> skipped;
    for (const ViewPart& part : parts)
      if (part.kind != ViewPart::Kind::Home && part.kind != ViewPart::Kind::File)
        skipped.insert(part.path);
    llvm::Expected<ResolvedRules> resolved = resolveRules(policy_, tree_, walk_, skipped);
    if (!resolved)
      return resolved.takeError();
    states_ = std::move(resolved->states);
    for (LinkHop& hop : resolved->hops)
      parts.push_back({ViewPart::Kind::Link, std::move(hop.path), std::move(hop.text)});
    llvm::stable_sort(
        parts, [](const ViewPart& a, const ViewPart& b) { return pathLess(a.path, b.path); });
    for (const ViewPart& part : parts)
      partAt_.try_emplace(part.path, part.kind);

    // One walk down the tree; at one path the rules come before what every view has.
    size_t part = 0;
    for (const PathState& state : states_) {
      for (; part != parts.size() && pathLess(parts[part].path, state.path); ++part)
        place(parts[part]);
      if (llvm::Error error = place(state))
        return error;
    }
    for (; part != parts.size(); ++part)
      place(parts[part]);
    return std::move(view_);
  }

private:
  const PathRule& rule(size_t index) const { return policy_.rules()[index]; }
  Layer* top() { return layers_.empty() ? nullptr : &layers_.back(); }
  bool onHost() { return top() != nullptr && top()->holds == Layer::Holds::Host; }
  void enter(llvm::StringRef path) {
    popTo(layers_, path);
    popTo(frames_, path);
  }

  // ---- steps
  // --------------------------------------------------------------------------------------

  ViewStep& add(Kind kind, llvm::StringRef path, NodeKind node = NodeKind::Directory) {
    ViewStep step;
    step.kind = kind;
    step.path = path.str();
    step.node = node;
    view_.steps.push_back(std::move(step));
    return view_.steps.back();
  }

  /// The directories above a path that nothing else makes.
  void makeParents(llvm::StringRef path) {
    std::vector<llvm::StringRef> missing;
    for (llvm::StringRef parent = parentPath(path); parent != "/"; parent = parentPath(parent)) {
      if (top() != nullptr && !(isAtOrBeneath(parent, top()->path) && parent != top()->path))
        break;
      if (made_.contains(parent))
        break;
      missing.push_back(parent);
    }
    for (llvm::StringRef parent : llvm::reverse(missing)) {
      made_.insert(parent);
      add(Kind::MakeDirectory, parent);
    }
  }

  /// Makes room for a mount at a path. Beneath a read-write bind every directory above it becomes a
  /// mount of its own, so that it cannot be renamed away and the name made anew (B006): EBUSY.
  void makeRoom(llvm::StringRef path) {
    if (!onHost()) {
      makeParents(path);
      return;
    }
    if (top()->access != Access::ReadWrite)
      return;
    std::vector<std::string> between;
    for (llvm::StringRef parent = parentPath(path); parent.size() > top()->path.size();
         parent = parentPath(parent))
      between.push_back(parent.str());
    for (const std::string& directory : llvm::reverse(between))
      pin(directory, walk_.look(directory));
  }

  void pin(const std::string& path, const HostTree::Entry& entry) {
    const NodeKind node = entry.kind == NodeKind::Missing ? NodeKind::Directory : entry.kind;
    bind(path, path, node, entry.object, Access::ReadWrite, top()->rule);
  }

  ViewStep& bind(llvm::StringRef path, llvm::StringRef source, NodeKind node, ObjectId object,
                 Access access, std::optional<size_t> rule) {
    ViewStep& step = add(Kind::Bind, path, node);
    step.source = source.str();
    step.object = object;
    step.readOnly = access == Access::ReadOnly;
    step.rule = rule;
    layers_.push_back(
        {path.str(), path == source ? Layer::Holds::Host : Layer::Holds::Fresh, access, rule});
    return step;
  }

  // ---- rules
  // --------------------------------------------------------------------------------------

  llvm::Error place(const PathState& state) {
    enter(state.path);
    Frame frame = frames_.empty() ? Frame{} : frames_.back();
    const bool deniedAbove = frame.denial.has_value();
    frame.path = state.path;
    if (!deniedAbove)
      frame.denial = state.denial;
    if (state.grant) {
      frame.grant = state.grant;
      frame.access = state.access;
    }
    frames_.push_back(frame);
    if (frame.denial) {
      if (!deniedAbove)
        placeHole(state.path, *frame.denial);
      return llvm::Error::success();
    }
    return state.path == "/" ? llvm::Error::success() : placeGrant(state);
  }

  llvm::Error placeGrant(const PathState& state) {
    const PathRule& grant = rule(*state.grant);
    if (auto part = partAt_.find(state.path);
        part != partAt_.end() && partStandsInstead(part->second, grant))
      return llvm::Error::success();
    const bool inProcesses =
        state.path == "/proc" || (top() != nullptr && top()->holds == Layer::Holds::Proc);
    if (inProcesses) {
      if (grant.origin == Origin::User &&
          (state.path != "/proc" || grant.access == Access::ReadWrite))
        return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                       "the view has a `/proc` of its own, so %s can't be kept",
                                       describeRule(grant).c_str());
      return llvm::Error::success();
    }
    const bool device = state.entry.kind == NodeKind::Device;
    if (top() != nullptr) {
      if (onHost() && top()->access == state.access && !device)
        return llvm::Error::success();
      if (top()->holds == Layer::Holds::Closed)
        return llvm::Error::success();
    }
    makeRoom(state.path);
    ViewStep& step = bind(state.path, state.path, state.entry.kind, state.entry.object,
                          state.access, state.grant);
    step.optional = grant.origin == Origin::Shipped;
    // Devices beneath /dev are what somebody who names a directory of it wants; elsewhere a node in
    // a tree is an accident or a trick.
    step.devices = device || (isAtOrBeneath(state.path, "/dev") && grant.origin == Origin::User);
    return llvm::Error::success();
  }

  /// Does what every view has take the place of a grant of exactly its path? What a user names wins
  /// over an empty place, since the grant would be lost without a word.
  bool partStandsInstead(ViewPart::Kind kind, const PathRule& grant) const {
    switch (kind) {
    case ViewPart::Kind::Device:
      return true;
    case ViewPart::Kind::Temp:
    case ViewPart::Kind::SharedMemory:
    case ViewPart::Kind::DevicePts:
      return grant.origin == Origin::Shipped;
    case ViewPart::Kind::Directory:
    case ViewPart::Kind::Home:
    case ViewPart::Kind::Link:
    case ViewPart::Kind::File:
    case ViewPart::Kind::Proc:
    case ViewPart::Kind::Mask:
      return false;
    }
    return false;
  }

  void placeHole(llvm::StringRef path, size_t denial) {
    const Layer* covered = top();
    if (covered == nullptr || covered->holds == Layer::Holds::Fresh ||
        covered->holds == Layer::Holds::Closed)
      return; // nothing of the host is visible there
    const HostTree::Entry& entry = walk_.look(path);
    const Origin origin = rule(denial).origin;
    const bool meant = origin == Origin::User || origin == Origin::Manifest;
    NodeKind node = entry.kind;
    if (node == NodeKind::Missing) {
      // Of what is not there nothing can be read, and beneath a read-only bind nothing can be made.
      if (!meant || covered->holds != Layer::Holds::Host || covered->access != Access::ReadWrite ||
          !standIn(path))
        return;
      node = NodeKind::File;
    } else if (covered->holds == Layer::Holds::Host) {
      makeRoom(path);
    }
    ViewStep& step = add(Kind::Cover, path, node);
    step.rule = denial;
    step.optional = !meant;
    layers_.push_back({path.str(), Layer::Holds::Closed, Access::Deny, denial});
  }

  /// Makes a missing name uncreatable: something of ours stands there while the command runs, and
  /// beneath it pins. False where no name can be made: a file stands in the way, and stays.
  bool standIn(llvm::StringRef path) {
    std::vector<std::string> names;
    for (llvm::StringRef name = path; name.size() > top()->path.size(); name = parentPath(name))
      names.push_back(name.str());
    for (const std::string& name : llvm::reverse(names)) {
      const HostTree::Entry& entry = walk_.look(name);
      const bool last = name == path;
      if (entry.kind == NodeKind::Link)
        return false; // what it leads to has its own denial
      if (entry.kind == NodeKind::Missing)
        view_.placeholders.push_back({name, !last});
      if (!last)
        pin(name, entry);
      if (entry.kind != NodeKind::Missing && entry.kind != NodeKind::Directory)
        return false;
    }
    return true;
  }

  // ---- what every view has
  // ------------------------------------------------------------------------

  void place(const ViewPart& part) {
    enter(part.path);
    const Frame* frame = frames_.empty() ? nullptr : &frames_.back();
    if (frame != nullptr && frame->denial)
      return;
    switch (part.kind) {
    case ViewPart::Kind::Directory:
    case ViewPart::Kind::Home:
      if (top() == nullptr && made_.insert(part.path).second) {
        makeParents(part.path);
        add(Kind::MakeDirectory, part.path);
      }
      return;
    case ViewPart::Kind::Link:
    case ViewPart::Kind::File:
      placeText(part);
      return;
    case ViewPart::Kind::Device:
    case ViewPart::Kind::Proc:
    case ViewPart::Kind::Mask:
    case ViewPart::Kind::DevicePts:
    case ViewPart::Kind::SharedMemory:
    case ViewPart::Kind::Temp:
      placeMount(part, frame);
      return;
    }
  }

  void placeText(const ViewPart& part) {
    const bool free = top() == nullptr || top()->holds == Layer::Holds::Fresh;
    if (!free || !made_.insert(part.path).second)
      return; // the host's own stands there
    makeParents(part.path);
    const bool link = part.kind == ViewPart::Kind::Link;
    ViewStep& step = add(link ? Kind::MakeLink : Kind::MakeFile, part.path,
                         link ? NodeKind::Link : NodeKind::File);
    step.text = part.text;
    step.mode = 0644;
  }

  /// Is there a place on the host's tree where the part can be mounted?
  bool fits(const ViewPart& part, bool directory) {
    const NodeKind kind = walk_.look(part.path).kind;
    return directory
               ? kind == NodeKind::Directory
               : kind != NodeKind::Missing && kind != NodeKind::Directory && kind != NodeKind::Link;
  }

  void placeMount(const ViewPart& part, const Frame* frame) {
    const bool directory = part.kind != ViewPart::Kind::Device && part.kind != ViewPart::Kind::Mask;
    const bool granted = frame != nullptr && frame->path == part.path && frame->grant;
    if (granted && onHost() && !partStandsInstead(part.kind, rule(*frame->grant)))
      return; // the grant won
    const Layer::Holds holds = top() == nullptr ? Layer::Holds::Fresh : top()->holds;
    const bool inProc = holds == Layer::Holds::Proc && part.kind == ViewPart::Kind::Mask;
    if (holds == Layer::Holds::Closed || (holds == Layer::Holds::Proc && !inProc) ||
        (holds == Layer::Holds::Host && !fits(part, directory)) ||
        (top() != nullptr && holds == Layer::Holds::Fresh))
      return;
    if (!inProc)
      makeRoom(part.path);
    const std::optional<size_t> rule = granted ? frame->grant : std::nullopt;
    switch (part.kind) {
    case ViewPart::Kind::Device: {
      const HostTree::Entry& entry = walk_.look(part.path);
      ViewStep& step =
          bind(part.path, part.path, entry.kind, entry.object, Access::ReadWrite, rule);
      step.devices = true;
      step.optional = part.path == "/dev/tty";
      layers_.back().holds = Layer::Holds::Closed;
      return;
    }
    case ViewPart::Kind::Temp: {
      bind(part.path, request_.temporaryDirectory, NodeKind::Directory, {}, Access::ReadWrite,
           rule);
      layers_.back().holds = Layer::Holds::Fresh;
      if (view_.temporaryName.empty())
        view_.temporaryName = part.path;
      return;
    }
    case ViewPart::Kind::Proc:
      if (!request_.ownProc) {
        const HostTree::Entry& entry = walk_.look(part.path);
        bind(part.path, part.path, NodeKind::Directory, entry.object, Access::ReadOnly, rule);
        layers_.back().holds = Layer::Holds::Proc;
        return;
      }
      addMount(Kind::Proc, part.path, Layer::Holds::Proc).rule = rule;
      return;
    case ViewPart::Kind::Mask:
      addMount(Kind::Mask, part.path, Layer::Holds::Closed).node = NodeKind::File;
      return;
    case ViewPart::Kind::DevicePts:
      addMount(Kind::DevicePts, part.path, Layer::Holds::Closed);
      return;
    case ViewPart::Kind::SharedMemory:
      addMount(Kind::SharedMemory, part.path, Layer::Holds::Fresh);
      return;
    case ViewPart::Kind::Directory:
    case ViewPart::Kind::Home:
    case ViewPart::Kind::Link:
    case ViewPart::Kind::File:
      return;
    }
  }

  ViewStep& addMount(Kind kind, llvm::StringRef path, Layer::Holds holds) {
    ViewStep& step = add(kind, path);
    step.readOnly = kind == Kind::Proc || kind == Kind::Mask;
    step.optional = kind == Kind::Mask;
    layers_.push_back({path.str(), holds, Access::ReadWrite, std::nullopt});
    return step;
  }

  const Policy& policy_;
  const HostTree& tree_;
  PathWalk& walk_;
  const ViewRequest& request_;
  std::vector<PathState> states_;
  llvm::StringMap<ViewPart::Kind> partAt_;
  std::vector<Layer> layers_;
  std::vector<Frame> frames_;
  llvm::StringSet<> made_;
  View view_;
};

} // namespace

llvm::Expected<View> compileView(const Policy& policy, const HostTree& tree, PathWalk& walk,
                                 const ViewRequest& request) {
  return ViewCompiler(policy, tree, walk, request).compile();
}

} // namespace gos::sandbox
