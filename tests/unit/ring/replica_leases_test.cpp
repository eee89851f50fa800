// What replicas know of each other's positions: on an API server in memory, in virtual time.
#include "connectors/kube/lease/replica_leases.h"

#include <catch2/catch.hpp>
#include <vector>

#include "engine/fleet/model/model.h"
#include "engine/fleet/model/model_transport.h"

namespace fairlead {
namespace {

using namespace fairlead::model;

struct ReplicaUnderTest {
  ReplicaUnderTest(VirtualTime& time, Model& api, const std::string& name) : transport(time, api) {
    ReplicaLeases::Ports ports;
    ports.own = [this] { return own; };
    ports.others = [this](const std::map<std::string, ReplicaPosition>& seen) { others = seen; };
    ports.say = [this](const std::string& line) { said.push_back(line); };
    leases = std::make_unique<ReplicaLeases>(
        transport,
        ReplicaLeaseSettings{"default", "hub", name, seconds(30), [&time] { return time.now(); }},
        std::move(ports));
  }
  ModelTransport transport;
  ReplicaPosition own{"log", 0};
  std::map<std::string, ReplicaPosition> others;
  std::vector<std::string> said;
  std::unique_ptr<ReplicaLeases> leases;
};

TEST_CASE("Replicas see how far the others are, until one is gone") {
  VirtualTime time(LogTime{1'767'225'600'000'000'000});
  Model api(time);
  ReplicaUnderTest a(time, api, "a");
  ReplicaUnderTest b(time, api, "b");
  a.own.commits = 7;
  b.own = {"other", 3};
  time.advance_to(time.now() + seconds(31));
  CHECK(a.others == std::map<std::string, ReplicaPosition>{{"hub-b", {"other", 3}}});
  CHECK(b.others == std::map<std::string, ReplicaPosition>{{"hub-a", {"log", 7}}});
  a.own = {"log", 8, "https://[fd00::1]:8443"};
  time.advance_to(time.now() + seconds(61));
  CHECK(b.others.at("hub-a") == a.own);
  ReplicaUnderTest candidate(time, api, "c");
  bool read = false;
  candidate.leases->read([&read] { read = true; });
  time.advance_to(time.now() + milliseconds(100));
  CHECK(read);
  CHECK(candidate.others.size() == 2);
  candidate.leases.reset();
  a.leases.reset();
  time.advance_to(time.now() + seconds(60));
  CHECK(b.others.count("hub-a") == 1);
  time.advance_to(time.now() + seconds(60));
  CHECK(b.others.empty());
  CHECK(a.said.empty());
  CHECK(b.said.empty());
}

}  // namespace
}  // namespace fairlead
