#include "tests/unit/schema/samples/sample_members.h"

namespace fairlead::samples {

namespace {

Digest digest_from(std::uint8_t first) {
  Digest digest;
  for (std::uint8_t& byte : digest.bytes) byte = first++;
  return digest;
}

ConditionFacts because_of_tests(ConditionStatus status) { return {status, "BecauseOfTests", 3}; }

}  // namespace

ManifestWorkFacts manifest_work() {
  ManifestWorkFacts facts;
  facts.spec_digest = digest_from(7);
  facts.quotas = {{"queue-a", "default-flavor", "cpu", 4000}};
  facts.local_queues = {{"team-a", "jobs", "queue-a"}};
  facts.applied = because_of_tests(ConditionStatus::yes);
  facts.available = because_of_tests(ConditionStatus::unknown);
  facts.feedback = {{"queue-a", ConditionStatus::no, true, {{"default-flavor", "cpu", 100}}},
                    {"queue-b", ConditionStatus::absent, false, {}}};
  facts.deleting = true;
  return facts;
}

BindingPolicyFacts binding_policy() {
  BindingPolicyFacts facts;
  facts.spec_digest = digest_from(31);
  facts.namespaces = {"team-a", "team-b"};
  facts.ours = true;
  facts.observed_generation = 4;
  facts.synced = because_of_tests(ConditionStatus::no);
  facts.error = "no such collector";
  facts.deleting = true;
  return facts;
}

}  // namespace fairlead::samples
