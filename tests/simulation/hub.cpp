#include "tests/simulation/hub.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/random.h"

namespace fairlead::simulation {

Hub::Hub(const HubWorld& world, std::string name, EventLog& log, Clock& clock)
    : world_(world),
      name_(std::move(name)),
      replica_(log, clock, {name_, WriteMode::apply},
               [this](const Diagnostic& said) { world_.said(to_line(said)); }),
      leader_(replica_),
      loop_(leader_, inbox_, status_, ports()) {}

Hub::~Hub() {
  for (auto& [source, connection] : connections_) connection.server->stop();
}

Result<void> Hub::begin(const Configuration& configuration) {
  if (auto folded = replica_.fold({}); !folded) return folded;
  return leader_.begin(configuration);
}

Result<void> Hub::turn() {
  Inbox::Content content = inbox_.dequeue({}, 0);
  for (; !facts_.empty() && content.facts.size() < kBatchFactsMax; facts_.pop_front())
    content.facts.push_back(std::move(facts_.front()));
  content.more_facts = !facts_.empty();
  if (auto done = loop_.round(std::move(content)); !done) return done;
  if (!world_.life->over) world_.turned();
  return {};
}

Result<void> Hub::settle() {
  constexpr int kTurnsMax = 10'000;
  for (int turns = 0; !facts_.empty() || inbox_.depth() > 0 || leader_.next_due() <= leader_.now();
       ++turns) {
    check(turns < kTurnsMax, "a hub comes to rest within a moment");
    if (auto done = turn(); !done) return done;
  }
  return {};
}

// The hub's clock may go at another pace than the world's: it looks again then.
LogTime Hub::next_due() const {
  const LogTime now = world_.time.now();
  const Duration most = leader_.awaited().empty() ? Duration{INT64_MAX} : kAbsenceInterval;
  const LogTime due = leader_.next_due();
  if (due == kForever) return now + most;
  const Duration span{std::max(milliseconds(1).ns, (due - leader_.now()).ns)};
  return now + std::min(span, most);
}

HubPorts Hub::ports() {
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
void Hub::open(const SourceName& name, const Streams& streams, const Configuration& configuration) {
  if (connections_.contains(name)) return;
  ApiServerSettings settings;
  settings.reflector.stale_after = configuration.debounce.stale_after;
  settings.reflector.lost_after = configuration.debounce.lost_after;
  settings.scopes = streams.kinds;
  settings.random = [source = std::make_shared<Random>(connections_.size())] {
    return static_cast<std::uint64_t>(source->below(INT64_MAX));
  };
  settings.diagnose = [this](const DiagnosticLine& line) { world_.said(line.text); };
  Connection& made = connections_[name];
  made.network = std::make_unique<Network>(
      world_.time, *world_.servers.at(name), world_.faults, world_.life,
      [this] { return Sender{name_, world_.time.now(), leader_.state().epoch}; });
  made.server = std::make_unique<ApiServer>(*made.network, name, std::move(settings));
  std::vector<Kind> kinds;
  for (const auto& [kind, scope] : streams.kinds) kinds.push_back(kind);
  made.server->watch(kinds, [this](WatchFact fact) { facts_.push_back(std::move(fact)); });
}

}  // namespace fairlead::simulation
