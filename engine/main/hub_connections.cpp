#include "engine/main/hub_connections.h"

#include <utility>

namespace fairlead {

namespace {

ConnectionFigures figures_of(const SourceName& source, const ApiServerConnection& connection) {
  const ApiServerCounters counters = connection.counters();
  ConnectionFigures figures;
  figures.source = source;
  figures.requests_by_code = counters.requests_by_code;
  figures.synced = counters.synced;
  for (const auto& [kind, reflector] : counters.reflectors) figures.relists += reflector.relists;
  return figures;
}

}  // namespace

std::vector<Kind> hub_kinds() {
  std::vector<Kind> kinds;
  for (const KindInfo& row : kKinds)
    if (row.kind != Kind::node) kinds.push_back(row.kind);
  return kinds;
}

HubConnections::HubConnections(Inbox& inbox, Say say) : inbox_(inbox), say_(std::move(say)) {}

HubConnections::~HubConnections() { stop(); }

ApiServerSettings HubConnections::settings_for(const Configuration& configuration) const {
  ApiServerSettings settings;
  settings.http.inflight_max = static_cast<std::size_t>(configuration.writes.inflight_max) +
                               kKindCount;  // writes never wait for lists
  settings.writes = {configuration.writes.qps, configuration.writes.burst};
  settings.reflector.stale_after = configuration.debounce.stale_after;
  settings.reflector.lost_after = configuration.debounce.lost_after;
  settings.diagnose = [say = say_](const std::string& line) { say({Urgency::warn, line, {}}); };
  return settings;
}

Result<void> HubConnections::connect_hub(Credentials credentials,
                                         const Configuration& configuration) {
  auto made = ApiServerConnection::make(hub_loop_, std::string(kHub), std::move(credentials),
                                        settings_for(configuration));
  if (!made) return made.error();
  const std::lock_guard lock(mutex_);
  hub_ = std::move(*made);
  hub_->watch(hub_kinds(), [this](WatchFact fact) { inbox_.push(std::move(fact)); });
  return {};
}

Result<HubConnections::Member> HubConnections::prepare(const MemberKubeconfig& member,
                                                       const Configuration& configuration) {
  auto credentials = load_kubeconfig(member.file, {});
  if (!credentials) return in_context("member " + member.cluster, credentials.error());
  auto made = ApiServerConnection::make(member_loop_, member.cluster, std::move(*credentials),
                                        settings_for(configuration));
  if (!made) return made.error();
  return Member{member.file, std::move(*made)};
}

Result<void> HubConnections::follow_members(const Configuration& configuration) {
  std::map<std::string, Member> fresh;
  std::set<std::string> wanted;
  for (const MemberKubeconfig& member : configuration.member_kubeconfigs) {
    if (member.file.empty()) {
      say_({Urgency::warn,
            "only kubeconfigs in files are watched: this member's Nodes are not",
            {{"cluster", member.cluster}}});
      continue;
    }
    wanted.insert(member.cluster);
    const auto known = members_.find(member.cluster);
    if (known != members_.end() && known->second.file == member.file) continue;
    auto prepared = prepare(member, configuration);
    if (!prepared) return prepared.error();
    fresh[member.cluster] = std::move(*prepared);
  }
  std::vector<Member> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = members_.begin(); at != members_.end();) {
      if (wanted.contains(at->first) && !fresh.contains(at->first)) {
        ++at;
        continue;
      }
      ended.push_back(std::move(at->second));
      at = members_.erase(at);
    }
    for (auto& [name, member] : fresh) {
      member.connection->watch({Kind::node, Kind::local_queue, Kind::cluster_queue},
                               [this](WatchFact fact) { inbox_.push(std::move(fact)); });
      members_[name] = std::move(member);
    }
  }
  retire(std::move(ended));
  return {};
}

// Ending a connection waits for its I/O thread, which may wait for room in the inbox, which the
// hub's thread makes: so the hub's thread must not wait for it.
void HubConnections::retire(std::vector<Member> ended) {
  if (ended.empty()) return;
  retiring_ = std::thread([before = std::move(retiring_), ended = std::move(ended)]() mutable {
    ended.clear();
    if (before.joinable()) before.join();
  });
}

PatchSink* HubConnections::sink_of(const std::string& cluster) {
  if (cluster == kHub) return hub_ ? &hub_->sink() : nullptr;
  const auto member = members_.find(cluster);
  return member == members_.end() ? nullptr : &member->second.connection->sink();
}

std::set<Kind> HubConnections::absent_kinds() const {
  return hub_ ? hub_->counters().absent : std::set<Kind>{};
}

std::vector<ConnectionFigures> HubConnections::figures() const {
  const std::lock_guard lock(mutex_);
  std::vector<ConnectionFigures> all;
  if (hub_) all.push_back(figures_of(std::string(kHub), *hub_));
  for (const auto& [name, member] : members_) all.push_back(figures_of(name, *member.connection));
  return all;
}

void HubConnections::stop() {
  if (retiring_.joinable()) retiring_.join();
  const std::lock_guard lock(mutex_);
  hub_.reset();
  members_.clear();
  hub_loop_.stop();
  member_loop_.stop();
}

}  // namespace fairlead
