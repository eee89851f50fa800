// A whole hub on the caller's thread and in virtual time: the code that reads API servers and
// writes to them, the inbox, the loop's rounds and the core, against API servers in memory.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kube/api_server.h"
#include "engine/fleet/model/model_transport.h"
#include "engine/log/event_log.h"
#include "engine/runtime/hub_loop.h"
#include "engine/runtime/leader.h"

namespace fairlead {

/// An API server in memory that sends bookmarks each minute.
class SimulatedServer {
 public:
  SimulatedServer(model::VirtualTime& time, std::uint64_t seed)
      : model(time, options(seed)), time_(time) {
    model.install_fairlead_crds();
    send_bookmarks();
  }

  model::Model model;

 private:
  static model::ModelOptions options(std::uint64_t seed) {
    model::ModelOptions chosen;
    chosen.seed = seed;
    return chosen;
  }
  void send_bookmarks() {
    bookmarks_ = time_.after(minutes(1), [this] {
      model.send_bookmarks();
      send_bookmarks();
    });
  }

  model::VirtualTime& time_;
  std::unique_ptr<Transport::Timer> bookmarks_;
};

/// The servers, the log and the time outlive it. Sends no Events: their pace is the machine's.
class SimulatedHub {
 public:
  SimulatedHub(model::VirtualTime& time, EventLog& log, const Configuration& configuration,
               const std::map<SourceName, SimulatedServer*>& servers)
      : time_(time),
        servers_(servers),
        replica_(log, time, {"virtual", WriteMode::apply},
                 [this](const Diagnostic& said) { lines.push_back(to_line(said)); }),
        leader_(replica_),
        loop_(leader_, inbox_, status_, ports()) {
    REQUIRE(replica_.fold({}).has_value());
    REQUIRE(leader_.begin(configuration).has_value());
  }

  /// Runs everything that is due until then, from one moment at which something is to the next.
  void run_to(LogTime end) {
    turn();  // the first one opens the streams
    for (settle(); time_.now() < end; settle())
      time_.advance_to(std::min({end, time_.next_due(), leader_.next_due()}));
  }
  HubStats stats() { return leader_.stats(); }
  const State& state() const { return leader_.state(); }

  std::vector<std::string> lines;  ///< diagnostics

 private:
  struct Connection {
    std::unique_ptr<model::ModelTransport> transport;
    std::unique_ptr<ApiServer> server;
  };

  void turn() {
    Inbox::Content content = inbox_.dequeue({}, 0);
    for (; !facts_.empty() && content.facts.size() < kBatchFactsMax; facts_.pop_front())
      content.facts.push_back(std::move(facts_.front()));
    content.more_facts = !facts_.empty();
    const auto done = loop_.round(std::move(content));
    REQUIRE(done.has_value());
  }
  // What the hub's thread does when it wakes, until nothing is left to do now.
  void settle() {
    for (int turns = 0;
         !facts_.empty() || inbox_.depth() > 0 || leader_.next_due() <= leader_.now(); ++turns) {
      REQUIRE(turns < 10'000);
      turn();
    }
  }

  HubPorts ports() {
    HubPorts made;
    made.sink_of = [this](const std::string& cluster) -> PatchSink* {
      const auto at = connections_.find(cluster);
      return at == connections_.end() ? nullptr : &at->second.server->sink();
    };
    made.absent_kinds = [this] {
      const auto hub = connections_.find(std::string(kHub));  // none before the first turn
      return hub == connections_.end() ? std::set<Kind>() : hub->second.server->counters().absent;
    };
    made.read_configuration = [] { return std::optional<Configuration>(); };
    made.recommend = [](const Recommendation&) {};
    made.follow = [this](const Configuration& configuration, const Watch& watch) {
      open(std::string(kHub), watch.hub, configuration);
      for (const auto& [name, member] : watch.members) open(name, watch.of(member), configuration);
    };
    return made;
  }
  // The configuration of a run does not change, so what is open stays.
  void open(const SourceName& name, const Streams& streams, const Configuration& configuration) {
    if (connections_.contains(name)) return;
    ApiServerSettings settings;
    settings.reflector.stale_after = configuration.debounce.stale_after;
    settings.reflector.lost_after = configuration.debounce.lost_after;
    settings.scopes = streams.kinds;
    settings.random = [source = std::make_shared<std::mt19937_64>(connections_.size())] {
      return (*source)();
    };
    settings.diagnose = [this](const DiagnosticLine& line) { lines.push_back(line.text); };
    Connection& made = connections_[name];
    made.transport = std::make_unique<model::ModelTransport>(time_, servers_.at(name)->model);
    made.server = std::make_unique<ApiServer>(*made.transport, name, std::move(settings));
    std::vector<Kind> kinds;
    for (const auto& [kind, scope] : streams.kinds) kinds.push_back(kind);
    made.server->watch(kinds, [this](WatchFact fact) { facts_.push_back(std::move(fact)); });
  }

  model::VirtualTime& time_;
  const std::map<SourceName, SimulatedServer*> servers_;
  Inbox inbox_{kInboxFactsMax};
  HubStatus status_;
  Replica replica_;
  Leader leader_;
  HubLoop loop_;
  std::deque<WatchFact> facts_;  // of one turn of the servers
  std::map<SourceName, Connection> connections_;
};

}  // namespace fairlead
