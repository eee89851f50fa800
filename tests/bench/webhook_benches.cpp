// The webhook: from the bytes of a review to the bytes of its answer, on a hub with thousands of
// claims; and what a step of such a hub costs to make the next view.
//
// The bound of an answer is reading the same bytes into a JSON tree, which no webhook can leave
// out.
#include <memory>

#include "connectors/kube/admission_review.h"
#include "connectors/kube/document/json_document.h"
#include "engine/admission/admission_mirror.h"
#include "tests/bench/benches.h"
#include "tests/bench/review.h"

namespace fairlead::bench {
namespace {

ClaimFacts claim_for(const std::string& cluster, const std::string& cpu) {
  ClaimFacts facts;
  facts.spec.cluster_name = cluster;
  facts.spec.nominal_resources = {{"cpu", "100"}};
  facts.spec.assignments = {{"q", "od", {{"cpu", cpu}}, {}, {}}};
  return facts;
}

void put_claim(State& state, int number, const std::string& cpu) {
  const std::string cluster = "c" + std::to_string(number);
  Claim& claim = state.claims.by_name[cluster + "-claim"];
  claim.facts = claim_for(cluster, cpu);
  claim.terms =
      std::get<ClaimTerms>(understand(claim.facts.spec, state.configuration.resource_aliases));
  claim.winner = true;
  state.claims.of_cluster[cluster].insert(cluster + "-claim");
  state.clusters[cluster].known = true;
}

// A hub whose claims all assign quota of one pair, which the hub has written.
State crowded_hub(int claims) {
  State state;
  state.flavors.by_name["od"];
  Queue& queue = state.queues.by_name["q"];
  queue.present = true;
  queue.written[{"od", "cpu"}] = Amount{claims} * 10'000;
  for (int i = 0; i < claims; ++i) put_claim(state, i, "10");
  return state;
}

// Microseconds for one of `count` runs of `work`.
template <class Work>
double microseconds_each(int count, const Work& work) {
  const double seconds = seconds_of([&] {
    for (int i = 0; i < count; ++i) work();
  });
  return seconds * 1e6 / count;
}

Trial answer_trial(const Place& place) {
  const int claims = place.size == Size::tiny ? 10 : 10'000;
  const int count = place.size == Size::tiny ? 10 : 5'000;
  const auto view = std::make_shared<AdmissionView>(view_of(crowded_hub(claims)));
  const auto text = std::make_shared<std::string>(
      review_text("q", {"od", "f1", "f2", "f3", "f4", "f5", "f6", "f7"}, "5", "7"));
  return {[view, text, count] {
            return microseconds_each(count, [&] {
              const auto review = read_admission_review(*text);
              if (!review || !review->request) give_up("the review cannot be read");
              const AdmissionVerdict verdict = judge(*view, *review->request);
              if (verdict.findings.empty()) give_up("the rule did not object");
              keep(admission_answer(*review, verdict));
            });
          },
          [text, count] {
            return microseconds_each(count, [&] {
              JsonFault fault;
              keep(parse_json(*text, fault));
            });
          }};
}

// One claim changes, and the next view is made; bound: the same with a tenth of the claims.
double microseconds_of_a_step(int claims, int count) {
  State state = crowded_hub(claims);
  AdmissionMirror mirror;
  mirror.next(state, ViewState::synced);
  int at = 0;
  return microseconds_each(count, [&] {
    put_claim(state, at % claims, at % 2 == 0 ? "11" : "12");
    Event event;
    event.source = kHub;
    event.fact =
        ObjectGone{{Kind::claim, "", "c" + std::to_string(at++ % claims) + "-claim"}, "", ""};
    mirror.note(std::span(&event, 1));
    keep(mirror.next(state, ViewState::synced));
  });
}

Trial view_trial(const Place& place) {
  const int claims = place.size == Size::tiny ? 10 : 10'000;
  const int count = place.size == Size::tiny ? 10 : 2'000;
  return {[claims, count] { return microseconds_of_a_step(claims, count); },
          [claims, count] { return microseconds_of_a_step(std::max(claims / 10, 1), count); }};
}

}  // namespace

void add_webhook_benches(Suite& suite) {
  suite.add({"webhook/answer", "the same bytes read into a JSON tree", "us", Better::less, 30,
             answer_trial});
  suite.add({"webhook/view of 10,000 claims", "the same of 1,000 claims", "us", Better::less, 4,
             view_trial});
}

}  // namespace fairlead::bench
