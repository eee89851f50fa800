#include "tests/simulation/process.h"

#include <utility>

#include "engine/core/notice.h"
#include "engine/fleet/random.h"

namespace fairlead::simulation {

Connections::Connections(const HubWorld& world, std::string name, std::function<Epoch()> epoch)
    : world_(world), name_(std::move(name)), epoch_(std::move(epoch)) {}

Connections::~Connections() { end(); }

void Connections::end() {
  for (auto& [source, connection] : connections_) connection.server->stop();
  connections_.clear();
  facts_.clear();
}

Inbox::Content Connections::content(Inbox& inbox) {
  Inbox::Content content = inbox.dequeue({}, 0);
  for (; !facts_.empty() && content.facts.size() < kBatchFactsMax; facts_.pop_front())
    content.facts.push_back(std::move(facts_.front()));
  content.more_facts = !facts_.empty();
  return content;
}

HubPorts Connections::ports() {
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
  made.notify = [this](const Notice& notice) {
    world_.said(to_text(to_kube_event(notice, name_)));
  };
  made.now = [&time = world_.time] { return time.now(); };
  return made;
}

std::unique_ptr<Network> Connections::way_to(const SourceName& server, const std::string& who) {
  return std::make_unique<Network>(
      world_.time, *world_.servers.at(server), world_.faults, world_.life,
      [this, who] { return Sender{who, world_.time.now(), epoch_()}; });
}

// What is open stays and is told what to read now: which kinds those are also follows from what the
// hub has, such as an AdmissionCheck.
void Connections::open(const SourceName& name, const Streams& streams,
                       const Configuration& configuration) {
  ApiServerSettings settings;
  settings.reflector.stale_after = configuration.debounce.stale_after;
  settings.reflector.lost_after = configuration.debounce.lost_after;
  settings.scopes = streams.kinds;
  settings.random = [source = std::make_shared<Random>(connections_.size())] {
    return static_cast<std::uint64_t>(source->below(INT64_MAX));
  };
  settings.diagnose = [this](const DiagnosticLine& line) { world_.said(line.text); };
  if (const auto known = connections_.find(name); known != connections_.end())
    return known->second.server->adjust(settings);
  Connection& made = connections_[name];
  made.network = way_to(name, name_);
  made.server = std::make_unique<ApiServer>(*made.network, name, std::move(settings));
  std::vector<Kind> kinds;
  for (const auto& [kind, scope] : streams.kinds) kinds.push_back(kind);
  made.server->watch(kinds, [this](WatchFact fact) { facts_.push_back(std::move(fact)); });
}

}  // namespace fairlead::simulation
