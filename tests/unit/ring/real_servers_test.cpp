// The stores on real servers, which tests/conformance starts and names in the environment. Hidden:
// run by that test alone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>
#include <random>
#include <sstream>

#include "connectors/kube/lease/lease_elector.h"
#include "connectors/kube/transport/http_client.h"
#include "connectors/ring/etcd_connections.h"
#include "connectors/ring/kube_commit_store.h"
#include "engine/base/base64.h"
#include "engine/base/bounded_file.h"
#include "engine/base/json.h"
#include "tests/unit/ring/kubernetes_ways.h"
#include "tests/unit/ring/on_loop.h"

using namespace fairlead;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  INFO(name);
  REQUIRE(value != nullptr);
  return value;
}

std::unique_ptr<HttpClient> client_of(IoLoop& loop, Credentials credentials) {
  auto client = HttpClient::make(loop, std::move(credentials), HttpLimits{});
  REQUIRE(client.has_value());
  return std::move(*client);
}

// A real API server.
struct RealKubernetes {
  RealKubernetes() {
    auto credentials = load_kubeconfig(variable("FAIRLEAD_RING_KUBECONFIG"), {});
    REQUIRE(credentials.has_value());
    client = client_of(loop, std::move(*credentials));
    store.emplace(*client, KubeRingPlace{"default", "fairlead"});
    elsewhere.emplace(*client, KubeRingPlace{"nowhere", "fairlead"});
  }
  ~RealKubernetes() {
    loop.run([this] {
      store.reset();
      elsewhere.reset();
      client.reset();
    });
    loop.stop();
  }

  IoLoop loop;
  std::unique_ptr<HttpClient> client;
  std::optional<KubeCommitStore> store, elsewhere;
};

EtcdAccess etcd_access() {
  EtcdAccess access;
  std::istringstream endpoints(variable("FAIRLEAD_RING_ETCD"));
  for (std::string endpoint; endpoints >> endpoint;) access.endpoints.push_back(endpoint);
  access.ca = variable("FAIRLEAD_RING_ETCD_CA");
  access.certificate = variable("FAIRLEAD_RING_ETCD_CERTIFICATE");
  access.key = variable("FAIRLEAD_RING_ETCD_KEY");
  return access;
}

// A real etcd.
struct RealEtcd {
  explicit RealEtcd(const EtcdAccess& access = etcd_access()) {
    auto made = EtcdConnections::connect(loop, access, "/fairlead/test/");
    if (!made) FAIL(made.error().message);
    etcd = std::move(*made);
  }
  ~RealEtcd() {
    loop.run([this] { etcd.reset(); });
    loop.stop();
  }

  IoLoop loop;
  std::unique_ptr<EtcdConnections> etcd;
};

// Asks the gateway of a member for something that a store does not.
Json ask_etcd(const std::string& target, const Json& body) {
  const EtcdAccess access = etcd_access();
  Credentials credentials;
  credentials.server = parse_server(access.endpoints.front()).value();
  credentials.ca_pem = read_bounded(access.ca).value();
  credentials.client_certificate_pem = read_bounded(access.certificate).value();
  credentials.client_key_pem = read_bounded(access.key).value();
  IoLoop loop;
  auto client = client_of(loop, std::move(credentials));
  std::promise<Json> answer;
  HttpRequest request;
  request.method = "POST";
  request.target = target;
  request.body = to_text(body);
  loop.post([&] {
    client->send(std::move(request), [&](const Result<HttpResponse>& got) {
      answer.set_value(got ? read_json(got->body) : Json(got.error().message));
    });
  });
  Json got = answer.get_future().get();
  loop.run([&] { client.reset(); });
  loop.stop();
  return got;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// One commit after the other: prints the times of `count` of them, and this process' CPU.
void measure(StoreUnderTest& under, const char* name, std::size_t bytes, int count) {
  const StoreCalls calls(under);
  StoreAnswer last = calls.create(contract_unused(0));
  REQUIRE(last.result == StoreResult::stored);
  std::vector<double> took;
  std::mt19937_64 random{1};
  RingCommit commit = contract_commit(0, bytes);
  for (char& byte : commit.pack) byte = static_cast<char>(random());
  const double before = cpu_seconds();
  for (int i = 0; i < count; ++i) {
    commit.pack.front() = static_cast<char>(i);
    const LogTime began = under.store.now();
    last = calls.replace(commit, last.version);
    REQUIRE(last.result == StoreResult::stored);
    took.push_back(static_cast<double>((under.store.now() - began).ns) / 1e6);
  }
  const double cpu = cpu_seconds() - before;
  std::sort(took.begin(), took.end());
  std::printf("%s %zu B: p50 %.1f ms, p99 %.1f ms, CPU of this process %.2f ms per commit\n", name,
              bytes, took[took.size() / 2], took[took.size() * 99 / 100], cpu * 1000 / count);
  REQUIRE(calls.remove(0).result == StoreResult::stored);
}

}  // namespace

TEST_CASE("kube-apiserver keeps the contract of commit stores", "[.][kubernetes]") {
  RealKubernetes real;
  StoreOnLoop store(real.loop, *real.store), elsewhere(real.loop, *real.elsewhere);
  StoreUnderTest under{store, [&] { store.pump(); }};
  check_commit_store_contract(under);
  StoreUnderTest other{elsewhere, [&] { elsewhere.pump(); }};
  check_kubernetes_ways(under, other);
}

TEST_CASE("etcd keeps the contract of commit stores", "[.][etcd]") {
  RealEtcd real;
  StoreOnLoop store(real.loop, real.etcd->store());
  const auto compact = [] {
    // A revision that is compacted can still be read itself.
    const Json now = ask_etcd("/v3/kv/put", {{"key", "YQ=="}, {"value", "YQ=="}});
    const Json done = ask_etcd("/v3/kv/compaction", {{"revision", now["header"]["revision"]}});
    INFO(to_text(done));
    REQUIRE(done.contains("header"));
  };
  StoreUnderTest under{store, [&] { store.pump(); }, compact};
  check_commit_store_contract(under);
  const StoreCalls calls(under);
  const StoreAnswer made = calls.create(contract_unused(0));
  CHECK(calls.replace(contract_commit(0), 0).result == StoreResult::conflict);
  CHECK(calls.replace(contract_commit(0, 1'250'000), made.version).result == StoreResult::refused);
  // More pages than one, and keys of others.
  constexpr std::uint32_t kMany = 120;
  for (std::uint32_t slot = 1; slot < kMany; ++slot) {
    RingCommit unused{kContractLog, kMany, slot, {}, 0, {}};
    REQUIRE(calls.create(unused).result == StoreResult::stored);
  }
  ask_etcd("/v3/kv/put", {{"key", encode_base64("/fairlead/test/x")}, {"value", "YQ=="}});
  ask_etcd("/v3/kv/put", {{"key", encode_base64("/fairlead/tesu/1")}, {"value", "YQ=="}});
  const auto listed = calls.list();
  REQUIRE(listed.slots.size() == kMany);
  for (std::uint32_t slot = 0; slot < kMany; ++slot)
    REQUIRE(listed.slots[slot].commit.commit == slot);
  // A value that another hand wrote.
  ask_etcd("/v3/kv/put", {{"key", encode_base64("/fairlead/test/7")}, {"value", "YQ=="}});
  CHECK(calls.list().slots.size() == kMany - 1);
  std::optional<Error> why;
  store.read(7, [&](auto got) { why = got.error(); });
  calls.wait_until([&] { return why.has_value(); });
  CHECK(why->code == ErrorCode::corrupt);
  for (std::uint32_t slot = 0; slot < kMany; ++slot) calls.remove(slot);
}

// The first member of the list is dead.
TEST_CASE("the next member of an etcd is asked where one does not answer", "[.][etcd-failover]") {
  RealEtcd real;
  StoreOnLoop store(real.loop, real.etcd->store());
  StoreUnderTest under{store, [&] { store.pump(); }};
  const StoreCalls calls(under);
  StoreAnswer made = calls.create(contract_unused(0));
  CHECK(made.result == StoreResult::unknown);
  CHECK(made.why.find(etcd_access().endpoints.front()) != std::string::npos);
  for (int i = 0; i < 50 && made.result == StoreResult::unknown; ++i)
    made = calls.create(contract_unused(0));
  CHECK(made.result == StoreResult::stored);
  CHECK(calls.replace(contract_commit(0), made.version).result == StoreResult::stored);
  CHECK(calls.read(0)->commit == contract_commit(0));
  CHECK(calls.remove(0).result == StoreResult::stored);
}

TEST_CASE("an etcd that is too old, or does not trust us, is not written to", "[.][etcd-refused]") {
  RealEtcd real;
  StoreOnLoop store(real.loop, real.etcd->store());
  StoreUnderTest under{store, [&] { store.pump(); }};
  const StoreAnswer made = StoreCalls(under).create(contract_unused(0));
  std::printf("%s\n", made.why.c_str());
  CHECK(made.result != StoreResult::stored);
}

TEST_CASE("a Lease of kube-apiserver is held, annotated, yielded and taken", "[.][kubernetes]") {
  RealKubernetes real;
  std::string events;
  std::vector<std::string> said;
  std::optional<LeaseElector> a, b;
  const auto make = [&](std::optional<LeaseElector>& elector, char name) {
    LeaseSettings settings;
    settings.namespace_ = "default";
    settings.name = "hub";
    settings.identity = std::string(1, name);
    settings.lease_duration = seconds(2);
    settings.renew_deadline = milliseconds(1500);
    settings.retry_period = milliseconds(300);
    settings.random = [] { return 0; };
    settings.wall_clock = [] {
      return LogTime{
          std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count()};
    };
    elector.emplace(*real.client, std::move(settings),
                    LeaseElector::Events{[&events, name] { events += {'+', name}; },
                                         [&events, name] { events += {'-', name}; },
                                         [&said](std::string line) { said.push_back(line); }});
  };
  const auto happens = [&](const std::string& what) {
    for (int i = 0; i < 500; ++i) {
      bool seen = false;
      real.loop.run([&] { seen = events == what; });
      if (seen) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  std::promise<Result<void>> annotated;
  real.loop.run([&] {
    make(a, 'a');
    make(b, 'b');
    a->annotate({{"fairlead.io/log", "x"}}, [&](Result<void> how) { annotated.set_value(how); });
    a->start();
  });
  const Result<void> how = annotated.get_future().get();
  if (!how) FAIL(how.error().message);
  CHECK(happens("+a"));
  real.loop.run([&] { b->start(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  CHECK(happens("+a"));
  real.loop.run([&] { a->yield(); });
  CHECK(happens("+a-a+b"));
  real.loop.run([&] {
    CHECK(b->seen()->transitions == 2);
    CHECK(b->seen()->annotations.at("fairlead.io/log") == "x");
    // As if it had died.
    b.reset();
  });
  CHECK(happens("+a-a+b+a"));
  std::promise<void> released;
  real.loop.run([&] { a->release([&] { released.set_value(); }); });
  released.get_future().get();
  real.loop.run([&] {
    CHECK(a->seen()->holder.empty());
    for (const std::string& line : said) CHECK(line.starts_with("Lease default/hub: "));
    a.reset();
  });
}

TEST_CASE("what a commit costs", "[.][measure]") {
  const int commits = std::stoi(variable("FAIRLEAD_RING_COMMITS"));
  RealKubernetes kubernetes;
  StoreOnLoop kube(kubernetes.loop, *kubernetes.store);
  StoreUnderTest under_kube{kube, [&] { kube.pump(); }};
  RealEtcd real;
  StoreOnLoop etcd(real.loop, real.etcd->store());
  StoreUnderTest under_etcd{etcd, [&] { etcd.pump(); }};
  for (const std::size_t bytes : {std::size_t{412}, std::size_t{2} << 10, std::size_t{30} << 10}) {
    measure(under_kube, "kubernetes", bytes, commits);
    measure(under_etcd, "etcd", bytes, commits);
  }
}
