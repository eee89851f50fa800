// A view that is made of the one before equals one that is made of the whole State.
#include <catch2/catch.hpp>
#include <random>

#include "engine/admission/admission_mirror.h"
#include "engine/fold/evolve.h"
#include "tests/unit/admission/stage.h"

namespace fairlead::admission_test {
namespace {

const std::vector<std::string> kNames{"a", "b", "c", "d", "e"};

// Folds events, moment by moment, with a mirror beside.
class Folded {
 public:
  Folded() {
    Configuration configuration;
    configuration.debounce.shrink_window = configuration.debounce.grow_window = Duration{};
    append(ConfigChanged{configuration}, std::string(kSelf));
  }

  void append(Fact fact, SourceName source = std::string(kHub)) {
    now_ = now_ + seconds(1);
    const Event event{next(state_.seq), now_, Epoch{1}, std::move(source), {}, std::move(fact)};
    mirror_.note(std::span(&event, 1));
    DirtySet dirty;
    evolve(state_, event, dirty);
    close_moment(state_, dirty);
    mirror_.note(state_, dirty);
  }
  void see(Kind kind, const std::string& name, Facts facts, SourceName source = std::string(kHub)) {
    ObjectObserved seen;
    seen.key = {kind, "", name};
    seen.version = "v1";
    seen.uid = "u-" + name;
    seen.resource_version = std::to_string(state_.seq.value);
    seen.facts = std::move(facts);
    append(std::move(seen), std::move(source));
  }
  void miss(Kind kind, const std::string& name) { append(ObjectGone{{kind, "", name}, "", ""}); }

  const State& state() const { return state_; }
  std::shared_ptr<const AdmissionView> view() { return mirror_.next(state_, ViewState::synced); }

 private:
  State state_;
  AdmissionMirror mirror_;
  LogTime now_;
};

template <class T>
void check_same(const SharedMap<T>& made, const SharedMap<T>& whole, const std::string& name) {
  const T* a = made.find(name);
  const T* b = whole.find(name);
  INFO(name);
  REQUIRE((a == nullptr) == (b == nullptr));
  if (a != nullptr) CHECK(*a == *b);
}

void check_same(const AdmissionView& made, const AdmissionView& whole) {
  CHECK(*made.terms == *whole.terms);
  for (const std::string& name : kNames) {
    check_same(made.claims, whole.claims, name);
    check_same(made.clusters, whole.clusters, name);
    check_same(made.queues, whole.queues, name);
    check_same(made.flavors, whole.flavors, name);
  }
}

class Deeds {
 public:
  explicit Deeds(unsigned seed) : random_(seed) {}

  void one(Folded& folded) {
    const std::string name = any();
    switch (below(11)) {
      case 0:
      case 1: return folded.see(Kind::claim, name, claim(1));
      case 2: return folded.miss(Kind::claim, name);
      case 3: return folded.see(Kind::cluster_queue, name, queue());
      case 4: return folded.miss(Kind::cluster_queue, name);
      case 5: return folded.see(Kind::resource_flavor, name, ResourceFlavorFacts{});
      case 6: return folded.miss(Kind::resource_flavor, name);
      case 7: return folded.see(Kind::managed_cluster, name, managed());
      case 8: return folded.miss(Kind::managed_cluster, name);
      case 9: return folded.see(Kind::cluster_queue, any(), queue(), name);
      default: return folded.see(Kind::claim, name, claim(0));
    }
  }
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

 private:
  std::string any() { return kNames[below(kNames.size())]; }
  std::string amount() { return std::to_string(below(9)); }

  ClaimFacts claim(std::size_t living) {
    ClaimFacts facts = claim_facts({{"cpu", "20"}}, {}, any());
    facts.created = LogTime{} + seconds(static_cast<std::int64_t>(below(3)));
    facts.deleting = living == 0;
    const std::size_t rows = below(4);
    for (std::size_t i = 0; i < rows; ++i)
      facts.spec.assignments.push_back(row(any(), kNames[i], {{"cpu", amount()}}));
    return facts;
  }
  ClusterQueueFacts queue() {
    ClusterQueueFacts facts = fairlead::admission_test::queue_facts("cpu", {{any(), amount()}});
    facts.usage = {{any(), "cpu", static_cast<Amount>(below(9))}};
    return facts;
  }
  ManagedClusterFacts managed() {
    ManagedClusterFacts facts;
    facts.available = {ConditionStatus::yes, "", 0};
    facts.allocatable = ResourceAmounts{{"cpu", static_cast<Amount>(below(20)) * 1000}};
    return facts;
  }

  std::mt19937 random_;
};

TEST_CASE("mirror: step by step it shows what a whole reading shows") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Deeds deeds(seed);
    Folded folded;
    INFO("seed " << seed);
    for (int step = 0; step < 80; ++step) {
      deeds.one(folded);
      if (deeds.below(3) == 0) continue;  // a view of several steps at once
      INFO("step " << step);
      check_same(*folded.view(), view_of(folded.state()));
    }
  }
}

TEST_CASE("mirror: what did not change is shared, and a view stays as it was") {
  Folded folded;
  folded.see(Kind::resource_flavor, "od", ResourceFlavorFacts{});
  for (const std::string& name : kNames)
    folded.see(Kind::claim, name,
               claim_facts({{"cpu", "9"}}, {row("q", "od", {{"cpu", "1"}})}, name));
  const auto before = folded.view();
  CHECK(folded.view() == before);  // nothing happened
  folded.see(Kind::claim, "a", claim_facts({{"cpu", "9"}}, {row("q", "od", {{"cpu", "2"}})}, "a"));
  const auto after = folded.view();
  CHECK(after->claims.find("b") == before->claims.find("b"));
  CHECK(after->clusters.find("b") == before->clusters.find("b"));
  CHECK(after->claims.find("a") != before->claims.find("a"));
  CHECK(before->claims.find("a")->terms->rows[0].assigned == 1000);
  CHECK(after->claims.find("a")->terms->rows[0].assigned == 2000);
  CHECK(after->queues.find("q")->claims.count == 5);
}

TEST_CASE("mirror: an unsynced view has the terms alone, and the next one all") {
  Folded folded;
  folded.see(Kind::claim, "a", claim_facts({{"cpu", "9"}}, {}, "a"));
  AdmissionMirror mirror;
  const auto unsynced = mirror.next(folded.state(), ViewState::unsynced);
  CHECK(unsynced->state == ViewState::unsynced);
  CHECK(unsynced->terms->aliases == default_resource_aliases());
  CHECK(unsynced->claims.find("a") == nullptr);
  CHECK(mirror.next(folded.state(), ViewState::synced)->claims.find("a") != nullptr);
}

}  // namespace
}  // namespace fairlead::admission_test
