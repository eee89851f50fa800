// Any body: an answer that is a review with the same uid, or a refusal that says why; never a
// crash, never a hang.
#include "connectors/kube/admission_review.h"

#include "engine/admission/admission_mirror.h"
#include "engine/base/json.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

// A hub with a claim and a queue, so that rules have something to compare with.
State hub() {
  State state;
  Claim& claim = state.claims.by_name["k"];
  claim.facts.spec.cluster_name = "east";
  claim.facts.spec.nominal_resources = {{"cpu", "10"}};
  claim.facts.spec.assignments = {{"q", "od", {{"cpu", "5"}}, {}, {}}};
  claim.terms = std::get<ClaimTerms>(understand(claim.facts.spec, default_resource_aliases()));
  claim.winner = true;
  state.queues.by_name["q"].present = true;
  state.queues.by_name["q"].facts.usage = {{"od", "cpu", 7000}};
  state.clusters["east"].known = true;
  return state;
}

void check_warnings(const Json& response) {
  if (!response.contains("warnings")) return;
  check(response["warnings"].size() <= kWarningsMax, "warnings are bounded");
  for (const Json& warning : response["warnings"]) {
    const auto text = warning.get<std::string>();
    check(text.size() <= kWarningCharactersMax, "a warning is bounded");
    for (const char c : text) check(c >= ' ' && c <= '~', "a warning is printable");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const AdmissionView view = view_of(hub());
  const auto review = read_admission_review(as_text(data, size));
  if (!review) {
    check(review.error().code == ErrorCode::bad_input, "bad input is called so");
    return 0;
  }
  check(!review->uid.empty(), "a review has a uid");
  const AdmissionVerdict verdict =
      review->request ? judge(view, *review->request) : AdmissionVerdict{};
  const Json answer = Json::parse(admission_answer(*review, verdict));
  const Json& response = answer["response"];
  check(response["uid"] == review->uid, "the uid comes back");
  check(response["allowed"] == !verdict.denied(), "the answer is the verdict");
  check(response.contains("status") == verdict.denied(), "a denial has a status");
  check_warnings(response);
  return 0;
}
