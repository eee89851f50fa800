// How Kueue reaches a cluster, and when a listed worker changes from one way to the other:
// docs/decisions/0026-a-worker-list-moves-late.md.
#include "engine/fold/multikueue/credentials.h"

#include <catch2/catch.hpp>

#include "engine/fold/objects.h"

namespace fairlead::credentials_test {
namespace {

const std::string kNamespace = "kueue-system";
const std::string kSecret = "kueue-admin-a-kubeconfig";  // that of cluster a
const Credential kBySecret{"", kSecret};
const Credential kByProfile{"p", ""};

struct Hub {
  State state;
  MultiKueue& all = state.multikueue;
  Seq last{10};

  Hub() { at(1000); }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  Seq sees(const ObjectKey& key, std::optional<Facts> facts) {
    ObjectObserved seen;
    seen.key = key;
    if (facts) seen.facts = *std::move(facts);
    fold_object(state, std::string(kHub), key, facts ? &seen : nullptr, last = next(last));
    return last;
  }
  Seq secret(std::vector<std::string> keys, const std::string& namespace_ = kNamespace) {
    return sees({Kind::secret, namespace_, kSecret}, SecretFacts{std::move(keys), {}});
  }
  // The label of the profile names `cluster`; empty: it has none, and is that of its own name.
  Seq profile(const std::string& name, const std::string& cluster,
              std::vector<std::string> providers, const std::string& namespace_ = kNamespace) {
    return sees({Kind::cluster_profile, namespace_, name},
                ClusterProfileFacts{cluster.empty() ? name : cluster, !cluster.empty(),
                                    std::move(providers)});
  }
  Seq no_secret() { return sees({Kind::secret, kNamespace, kSecret}, std::nullopt); }
  Seq no_profile() { return sees({Kind::cluster_profile, kNamespace, "p"}, std::nullopt); }
  Credential of(const std::string& cluster) const { return credential_of(state, cluster); }
  bool refresh(Seq seq = {}) { return refresh_credential(state, "a", seq); }
  const CredentialRecord& record() const { return *find_credential(state.multikueue, "a"); }
  // Worker gpu-a is in the list of Placement `placement`.
  void listed(const std::string& placement, Duration settle, Duration grace) {
    WorkerList& list = all.lists[placement];
    list.names = {"gpu-a"};
    list.windows.settle = settle;
    list.windows.credential_grace = grace;
  }
  Credential source(LogTime* next = nullptr) const {
    LogTime when = kForever;
    const Credential found = source_for(state, "gpu-a", "a", when);
    if (next) *next = when;
    return found;
  }
};

TEST_CASE("credentials: a Secret is one with its key, in the namespace of Kueue") {
  Hub hub;
  CHECK_FALSE(hub.of("a").any());
  hub.secret({"kubeconfig"}, "elsewhere");
  CHECK_FALSE(hub.of("a").any());
  hub.secret({"config", "token"});
  CHECK_FALSE(hub.of("a").any());
  hub.secret({"config", "kubeconfig"});
  CHECK(hub.of("a") == kBySecret);
  CHECK_FALSE(hub.of("b").any());
  hub.state.configuration.multikueue.profile = NamingProfile::cluster;  // where it has another name
  CHECK_FALSE(hub.of("a").any());
}

TEST_CASE("credentials: a profile is the labelled one, else the one of the cluster's name") {
  Hub hub;
  hub.profile("a", "", {"gcp"});
  CHECK(hub.of("a").profile == "a");
  hub.profile("p", "a", {"gcp"}, "elsewhere");
  CHECK(hub.of("a").profile == "a");
  hub.profile("p", "a", {});  // labelled, and of no use: the other one is not meant
  CHECK(hub.of("a").profile.empty());
  hub.profile("p", "a", {"gcp"});
  CHECK(hub.of("a").profile == "p");
  hub.no_profile();
  hub.profile("a", "b", {"gcp"});  // its label names another cluster
  CHECK(hub.of("a").profile.empty());
  CHECK(hub.of("b").profile == "a");
}

TEST_CASE("credentials: a profile has a provider that Kueue's own configuration names") {
  Hub hub;
  hub.profile("p", "a", {"aws", "gcp"});
  auto& allowed = hub.state.configuration.multikueue.access_providers;
  CHECK(hub.of("a") == kByProfile);
  allowed = {"azure"};
  CHECK_FALSE(hub.of("a").any());
  allowed = {"azure", "gcp"};
  CHECK(hub.of("a") == kByProfile);
}

TEST_CASE("credentials: no profile counts where Kueue does not use them") {
  Hub hub;
  hub.profile("p", "a", {"gcp"});
  SECTION("its MultiKueueCluster cannot name one") {
    auto& crd = hub.all.crds["multikueueclusters.kueue.x-k8s.io"].facts;
    CHECK_FALSE(hub.of("a").any());
    crd.cluster_profile_ref = true;
    CHECK(hub.of("a") == kByProfile);
  }
  SECTION("it reported the feature gate off, unless the administrator lists its providers") {
    hub.all.profiles_off = Seq{7};
    CHECK_FALSE(hub.of("a").any());
    hub.state.configuration.multikueue.access_providers = {"gcp"};
    CHECK(hub.of("a") == kByProfile);
  }
}

TEST_CASE("credentials: the record has the times of its changes, and the events that made them") {
  Hub hub;
  CHECK(find_credential(hub.state.multikueue, "a") == nullptr);
  CHECK(hub.refresh(Seq{3}));
  CHECK_FALSE(hub.record().lost_since);  // there never was one
  CHECK(hub.record().seq == Seq{3});
  CHECK_FALSE(hub.refresh(Seq{4}));
  CHECK(hub.record().seq == Seq{3});
  hub.at(1010);
  const Seq made = hub.secret({"kubeconfig"});
  CHECK(hub.refresh(Seq{900}));
  CHECK(hub.record().now == kBySecret);
  CHECK(hub.record().seq == made);
  hub.at(1020);
  const Seq profiled = hub.profile("p", "a", {"gcp"});
  CHECK(hub.refresh(Seq{900}));
  CHECK(hub.record().seq == profiled);
  CHECK(hub.record().profile_since == LogTime{} + seconds(1020));
  CHECK_FALSE(hub.record().profile_lost_since);
  hub.at(1030);
  hub.no_secret();  // while a profile is left nothing is lost
  CHECK(hub.refresh(Seq{900}));
  CHECK_FALSE(hub.record().lost_since);
  CHECK(hub.record().profile_since == LogTime{} + seconds(1020));
  hub.at(1040);
  hub.no_profile();
  CHECK(hub.refresh(Seq{900}));
  CHECK(hub.record().lost_since == hub.state.now);
  CHECK(hub.record().profile_lost_since == hub.state.now);
  CHECK(hub.record().seq == Seq{900});
  hub.at(1050);
  hub.secret({"kubeconfig"});
  CHECK(hub.refresh());
  CHECK_FALSE(hub.record().lost_since);
}

TEST_CASE("credentials: a worker that is in no list takes its present source, a profile first") {
  Hub hub;
  CHECK_FALSE(hub.source().any());  // its cluster was never looked at
  hub.refresh();
  CHECK_FALSE(hub.source().any());
  hub.secret({"kubeconfig"});
  hub.refresh();
  CHECK(hub.source() == kBySecret);
  hub.all.sources["gpu-a"] = kBySecret;
  hub.profile("p", "a", {"gcp"});
  hub.refresh();
  CHECK(hub.source() == kByProfile);
}

TEST_CASE("credentials: a listed worker changes to a profile after settle") {
  Hub hub;
  hub.listed("gpu", seconds(2), seconds(600));
  hub.all.sources["gpu-a"] = kBySecret;
  hub.secret({"kubeconfig"});
  hub.profile("p", "a", {"gcp"});
  hub.refresh();
  LogTime next;
  CHECK(hub.source(&next) == kBySecret);
  CHECK(next == LogTime{} + seconds(1002));
  SECTION("that is over") {
    hub.at(1002);
    CHECK(hub.source(&next) == kByProfile);
    CHECK(next == kForever);
  }
  SECTION("the longest of its lists") {
    hub.listed("another", seconds(9), seconds(1));
    hub.listed("other", seconds(1), seconds(1));
    hub.at(1008);
    CHECK(hub.source() == kBySecret);
    hub.at(1009);
    CHECK(hub.source() == kByProfile);
  }
}

TEST_CASE("credentials: a listed worker changes from a profile to a Secret after the grace") {
  Hub hub;
  hub.listed("gpu", seconds(2), seconds(600));
  hub.secret({"kubeconfig"});
  hub.profile("p", "a", {"gcp"});
  hub.refresh();
  hub.all.sources["gpu-a"] = kByProfile;
  hub.at(1100);
  hub.no_profile();
  hub.refresh();
  LogTime next;
  CHECK(hub.source(&next) == kByProfile);
  CHECK(next == LogTime{} + seconds(1700));
  SECTION("that is over") {
    hub.at(1700);
    CHECK(hub.source() == kBySecret);
  }
  SECTION("at once if Kueue does not use profiles") {
    hub.all.profiles_off = Seq{7};
    CHECK(hub.source() == kBySecret);
  }
}

TEST_CASE("credentials: without a credential the source stays as it was") {
  Hub hub;
  hub.refresh();
  hub.all.clusters["gpu-a"].facts.secret = "by-hand";
  CHECK_FALSE(hub.source().any());  // another writer's object, of a worker that is not listed
  hub.listed("gpu", seconds(2), seconds(600));
  CHECK(hub.source() == Credential{"", "by-hand"});
  hub.all.sources["gpu-a"] = kByProfile;  // what we wrote precedes what is observed
  CHECK(hub.source() == kByProfile);
}

}  // namespace
}  // namespace fairlead::credentials_test
