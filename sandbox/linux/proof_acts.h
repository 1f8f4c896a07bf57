#pragma once
// The acts of a proof, as a script for one run. Of this folder only.

#include "sandbox/linux/probe_script.h"
#include "sandbox/linux/proof_scene.h"
#include "sandbox/linux/self_proof.h"

namespace gos::sandbox {

struct ProofScript {
  ProbeScript script;
  std::vector<ProofAct> acts; // parallel to the script's; verdicts are still to come
};

/// What has to be tried under `plan`, which is the plan as it was compiled.
ProofScript proofActs(const ProofScene& scene, const ChildPlan& plan, NetworkMode network,
                      ProofRun run);

} // namespace gos::sandbox
