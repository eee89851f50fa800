// A whole hub on the caller's thread and in virtual time: the code that reads API servers and
// writes to them, the inbox, the loop's rounds and the core, against API servers in memory.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kube/api_server.h"
#include "engine/fleet/model/model_transport.h"
#include "engine/log/event_log.h"
#include "engine/runtime/hub_loop.h"
#include "engine/runtime/hub_scope.h"

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
  SimulatedHub(model::VirtualTime& time, EventLog& log, Configuration configuration,
               const std::map<SourceName, SimulatedServer*>& servers)
      : time_(time),
        configuration_(std::move(configuration)),
        core_(log, time, settings(),
              [this](const Diagnostic& said) { lines.push_back(to_line(said)); }),
        loop_(core_, inbox_, status_, ports()) {
    for (const auto& [name, server] : servers) {
      Connection& made = connections_[name];
      made.transport = std::make_unique<model::ModelTransport>(time_, server->model);
      made.server = std::make_unique<ApiServer>(*made.transport, name, settings_of(name));
    }
    REQUIRE(core_.start(configuration_, {}).has_value());
    for (auto& [name, made] : connections_)
      made.server->watch(name == kHub ? hub_kinds() : std::vector<Kind>{Kind::node},
                         [this](WatchFact fact) { facts_.push_back(std::move(fact)); });
  }

  /// Runs everything that is due until then, from one moment at which something is to the next.
  void run_to(LogTime end) {
    for (settle(); time_.now() < end; settle())
      time_.advance_to(std::min({end, time_.next_due(), core_.next_due()}));
  }
  HubStats stats() { return core_.stats(); }
  const State& state() const { return core_.state(); }

  std::vector<std::string> lines;  ///< diagnostics

 private:
  struct Connection {
    std::unique_ptr<model::ModelTransport> transport;
    std::unique_ptr<ApiServer> server;
  };

  // What the hub's thread does when it wakes, until nothing is left to do now.
  void settle() {
    for (int rounds = 0; !facts_.empty() || inbox_.depth() > 0 || core_.next_due() <= core_.now();
         ++rounds) {
      REQUIRE(rounds < 10'000);
      Inbox::Content content = inbox_.dequeue({}, 0);
      for (; !facts_.empty() && content.facts.size() < kBatchFactsMax; facts_.pop_front())
        content.facts.push_back(std::move(facts_.front()));
      content.more_facts = !facts_.empty();
      const auto done = loop_.round(std::move(content));
      REQUIRE(done.has_value());
    }
  }

  static std::vector<Kind> hub_kinds() {
    std::vector<Kind> kinds;
    for (const KindInfo& row : kKinds)
      if (is_read_from(kHub, row.kind)) kinds.push_back(row.kind);
    return kinds;
  }
  HubSettings settings() const { return {"virtual", WriteMode::apply, hub_kinds()}; }
  HubPorts ports() {
    HubPorts made;
    made.sink_of = [this](const std::string& cluster) -> PatchSink* {
      const auto at = connections_.find(cluster);
      return at == connections_.end() ? nullptr : &at->second.server->sink();
    };
    made.absent_kinds = [this] {
      return connections_.at(std::string(kHub)).server->counters().absent;
    };
    made.read_configuration = [] { return std::optional<Configuration>(); };
    made.recommend = [](const Recommendation&) {};
    return made;
  }
  ApiServerSettings settings_of(const SourceName& name) {
    ApiServerSettings made;
    made.reflector.stale_after = configuration_.debounce.stale_after;
    made.reflector.lost_after = configuration_.debounce.lost_after;
    if (name == kHub)
      for (const Kind kind : hub_kinds())
        if (!is_read_on_hub(kind, configuration_))
          made.scopes[kind] = {WatchScope::Breadth::nowhere, ""};
    made.random = [source = std::make_shared<std::mt19937_64>(connections_.size())] {
      return (*source)();
    };
    made.diagnose = [this](const DiagnosticLine& line) { lines.push_back(line.text); };
    return made;
  }

  model::VirtualTime& time_;
  const Configuration configuration_;
  Inbox inbox_{kInboxFactsMax};
  HubStatus status_;
  HubCore core_;
  HubLoop loop_;
  std::deque<WatchFact> facts_;  // of one turn of the servers
  std::map<SourceName, Connection> connections_;
};

}  // namespace fairlead
