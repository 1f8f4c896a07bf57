// The self-proof: it holds here, its acts do something where no lock stands, and a plan with any
// part taken away is found out.

#include "sandbox/linux/landlock_abi.h"
#include "sandbox/linux/self_proof.h"
#include "sandbox/linux/unavailable.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <string>
#include <unistd.h>

using namespace gos;
using namespace gos::sandbox;

namespace {

std::string describe(const ProofAct& act) {
  return act.words + " [" + promiseWords(act.promise).str() + "; " + spelling(act.run).str() +
         "; tried " + std::to_string(act.tried) + ", errno " + std::to_string(act.error) + "]";
}

/// The first act that did not hold under a changed plan, a start that failed, or nothing.
std::string caught(SandboxLevel level, std::initializer_list<ProofRun> runs,
                   std::function<void(ChildPlan&)> change) {
  for (ProofRun run : runs) {
    ProofOptions options;
    options.change = change;
    llvm::Expected<std::vector<ProofAct>> acts = proveRun(level, run, options);
    if (!acts)
      return "start: " + llvm::toString(acts.takeError());
    for (const ProofAct& act : *acts)
      if (!act.held)
        return describe(act);
  }
  return {};
}

} // namespace

TEST_CASE("every act of a proof holds on this host") {
  for (SandboxLevel level : {SandboxLevel::Basic, SandboxLevel::Standard, SandboxLevel::Strict}) {
    llvm::Expected<Proof> proof = proveNow(level);
    if (!proof) {
      FAIL_CHECK(llvm::toString(proof.takeError()));
      continue;
    }
    for (const ProofAct& act : proof->acts)
      CHECK_MESSAGE(act.held, spelling(level).str() << ": " << describe(act));
  }
}

TEST_CASE("where no lock stands the acts are let through") {
  // What is refused or done without any of the locks: a proof of it proves the start, or the
  // kernel.
  const llvm::StringRef always[] = {
      "find a descriptor besides the streams",
      "outlive the run in a session of its own",
      "call what the table does not know",
      "send a datagram to another host",
      "make a socket of virtual machines",
      "use the temporary directory",
      "enter the root of the first process",
      "become root",
      "share the user namespace", // the run has one, so that nothing is mounted for others
  };
  size_t through = 0;
  llvm::Expected<std::vector<ProofAct>> acts = proveRun(SandboxLevel::Strict, ProofRun::None);
  if (!acts) {
    FAIL(llvm::toString(acts.takeError()));
    return;
  }
  for (const ProofAct& act : *acts) {
    through += !act.held;
    const bool works = act.promise == Promise::Grants || act.promise == Promise::Loopback;
    const bool view = act.promise == Promise::View; // the host's tree may be as the view is
    if (act.words == "make a directory at `/`" && ::geteuid() != 0)
      continue; // a user may not
    if (!works && !view && !llvm::is_contained(always, llvm::StringRef(act.words)))
      CHECK_MESSAGE(!act.held, describe(act));
  }
  CHECK(through > 60);
}

TEST_CASE("a plan without one step of the view, or with one that can be written, is found out") {
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    size_t count = 1;
    for (size_t index = 0; index < count; ++index) {
      std::string step;
      CHECK_MESSAGE(!caught(level, {ProofRun::Whole, ProofRun::Mounts},
                            [&](ChildPlan& plan) {
                              count = plan.view.size();
                              step = spelling(plan.view[index].kind).str() + " " +
                                     plan.view[index].path;
                              plan.view.erase(plan.view.begin() + ptrdiff_t(index));
                            })
                         .empty(),
                    "without " << step);
      bool changed = false;
      const std::string found = caught(level, {ProofRun::Whole}, [&](ChildPlan& plan) {
        ViewStep& each = plan.view[index];
        step = spelling(each.kind).str() + " " + each.path;
        if ((each.kind != ViewStep::Kind::Bind && each.kind != ViewStep::Kind::Proc))
          return;
        changed = true;
        each.readOnly = !each.readOnly;
      });
      CHECK_MESSAGE(changed != found.empty(), "other access " << step << ": " << found);
    }
    CHECK(count > 20);
  }
}

TEST_CASE("a bind of another object, or one that lets devices work, is found out") {
  for (bool devices : {false, true}) {
    size_t tried = 0, count = 1;
    for (size_t index = 0; index < count; ++index) {
      bool changed = false;
      std::string step;
      const std::string found =
          caught(SandboxLevel::Strict, {ProofRun::Whole}, [&](ChildPlan& plan) {
            count = plan.view.size();
            ViewStep& each = plan.view[index];
            if (each.kind != ViewStep::Kind::Bind || each.node != NodeKind::Directory)
              return;
            changed = true;
            step = each.path;
            if (devices) {
              each.devices = true;
            } else {
              each.source = "/usr";
              each.object = {};
            }
          });
      tried += changed;
      CHECK_MESSAGE(changed != found.empty(), step << ": " << found);
    }
    CHECK(tried >= 5);
  }
}

TEST_CASE("a ruleset without a rule, or with one right more, is found out") {
  size_t count = 1;
  for (size_t index = 0; index < count; ++index) {
    std::string rule;
    bool needed = false;
    const std::string found =
        caught(SandboxLevel::Standard, {ProofRun::Whole, ProofRun::Landlock}, [&](ChildPlan& plan) {
          count = plan.landlock.rules.size();
          const LandlockRule& each = plan.landlock.rules[index];
          rule = each.path;
          // Grants of the policy, and what the acts use of the rest.
          needed = llvm::StringRef(rule).contains("bwr-run-") || rule == "/tmp" ||
                   rule == "/dev/null" || rule == "/dev/shm";
          plan.landlock.rules.erase(plan.landlock.rules.begin() + ptrdiff_t(index));
        });
    if (needed)
      CHECK_MESSAGE(!found.empty(), "without the rule for " << rule);
  }
  // A right on files that the acts can use by itself. REFER alone moves nothing, DeviceControl
  // needs a device, Execute and ReadFile come with every rule for files; all of them together are
  // tried.
  for (const char* path : {"/", "/read", "/work"})
    for (int bit = 0; bit != 17; ++bit) {
      const uint64_t right = uint64_t(1) << bit;
      bool adds = false;
      const std::string found =
          caught(SandboxLevel::Standard, {ProofRun::Landlock}, [&](ChildPlan& plan) {
            for (LandlockRule& rule : plan.landlock.rules)
              if (llvm::StringRef(rule.path).ends_with(path) && (rule.rights & right) == 0 &&
                  (plan.landlock.handledFileSystem & right) != 0) {
                adds = true;
                rule.rights |= right;
              }
          });
      const bool alone = right == kLandlockRefer || right == kLandlockDeviceControl ||
                         right == kLandlockExecute || right == kLandlockResolveUnix;
      if (adds && !alone)
        CHECK_MESSAGE(!found.empty(), path << " with right " << bit);
    }
}

TEST_CASE("a ruleset that handles one right less, or one scope, is found out") {
  for (int bit = 0; bit != 17; ++bit) {
    bool handled = false;
    const std::string found =
        caught(SandboxLevel::Standard, {ProofRun::Landlock}, [&](ChildPlan& plan) {
          handled = (plan.landlock.handledFileSystem >> bit & 1) != 0;
          plan.landlock.handledFileSystem &= ~(uint64_t(1) << bit);
        });
    CHECK_MESSAGE(handled != found.empty(), "right " << bit << ": " << found);
    // The same where the rules do not name it: then the kernel does not complain.
    const std::string quiet =
        caught(SandboxLevel::Standard, {ProofRun::Landlock}, [&](ChildPlan& plan) {
          plan.landlock.handledFileSystem &= ~(uint64_t(1) << bit);
          for (LandlockRule& rule : plan.landlock.rules)
            rule.rights &= ~(uint64_t(1) << bit);
          llvm::erase_if(plan.landlock.rules,
                         [](const LandlockRule& rule) { return rule.rights == 0; });
        });
    const uint64_t right = uint64_t(1) << bit;
    // Listing is granted from the root on; the others see above.
    const bool alone = right == kLandlockReadDirectory || right == kLandlockDeviceControl ||
                       right == kLandlockExecute || right == kLandlockResolveUnix ||
                       right == kLandlockRefer;
    if (handled && !alone)
      CHECK_MESSAGE(!quiet.empty(), "quietly without right " << bit);
  }
  for (int bit = 0; bit != 2; ++bit) {
    bool scoped = false;
    const std::string found =
        caught(SandboxLevel::Standard, {ProofRun::Landlock}, [&](ChildPlan& plan) {
          scoped = (plan.landlock.scopes >> bit & 1) != 0;
          plan.landlock.scopes &= ~(uint64_t(1) << bit);
        });
    CHECK_MESSAGE(scoped != found.empty(), "scope " << bit << ": " << found);
  }
  CHECK_FALSE(caught(SandboxLevel::Standard, {ProofRun::Landlock}, [](ChildPlan& plan) {
                plan.landlock.enabled = false;
              }).empty());
}

TEST_CASE("a filter that allows everything, and no filter, are found out") {
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (ProofRun run : {ProofRun::Whole, ProofRun::Filter, ProofRun::Client}) {
      CHECK_FALSE(caught(level, {run}, [](ChildPlan& plan) {
                    plan.filter = {{0x06 /* BPF_RET | BPF_K */, 0, 0, 0x7fff0000}};
                  }).empty());
      CHECK_FALSE(caught(level, {run}, [](ChildPlan& plan) { plan.filter.clear(); }).empty());
    }
}

TEST_CASE("a plan without one of its namespaces is found out") {
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (int bit = 0; bit != 7; ++bit)
      for (ProofRun run : {ProofRun::Whole, ProofRun::Namespaces}) {
        bool had = false;
        const std::string found = caught(level, {run}, [&](ChildPlan& plan) {
          had = (plan.namespaces >> bit & 1) != 0;
          plan.namespaces &= ~(1u << bit);
        });
        CHECK_MESSAGE(had != found.empty(), "namespace " << bit << ": " << found);
      }
}

TEST_CASE("a plan that keeps privileges, or has no loopback, is found out") {
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    CHECK_FALSE(caught(level, {ProofRun::Whole}, [](ChildPlan& plan) {
                  plan.noNewPrivileges = false;
                }).empty());
    CHECK_FALSE(caught(level, {ProofRun::Whole}, [](ChildPlan& plan) {
                  plan.dropCapabilities = false;
                }).empty());
    CHECK_FALSE(caught(level, {ProofRun::Whole}, [](ChildPlan& plan) {
                  plan.raiseLoopback = false;
                }).empty());
  }
  CHECK_FALSE(caught(SandboxLevel::Basic, {ProofRun::Whole}, [](ChildPlan& plan) {
                plan.noNewPrivileges = false;
              }).empty());
}

TEST_CASE("T132 a level with a broken act is not offered, and the promise is named") {
  ProofOptions options;
  options.change = [](ChildPlan& plan) { plan.landlock.enabled = false; };
  llvm::Expected<Proof> proof = proveNow(SandboxLevel::Standard, options);
  if (!proof) {
    FAIL(llvm::toString(proof.takeError()));
    return;
  }
  REQUIRE(proof->broken() != nullptr);
  bool named = false;
  llvm::handleAllErrors(
      proofError(*proof),
      [&](const Unavailable& missing) {
        named = missing.primitive() == "self-proof" && !missing.fix().empty() &&
                missing.text().contains(promiseWords(proof->broken()->promise)) &&
                missing.text().contains("level `standard` is not available here");
      },
      [](const llvm::ErrorInfoBase&) {});
  CHECK(named);
  proof->acts.clear();
  CHECK_FALSE(bool(proofError(*proof)));
}
