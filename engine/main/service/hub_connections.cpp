#include "engine/main/service/hub_connections.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/projection/projection.h"

namespace fairlead {

namespace {

// Pods, Workloads, ResourceClaims and ResourceSlices of a member together, by members.nodesMax:
// Kubernetes is tested with 150,000 Pods on 5,000 nodes, not all of which have claims, and some are
// not read.
constexpr std::size_t kPlentifulObjectsPerNode = 10;

// Members, or tenants, whose first lists are read at a time. Enough to keep the thread busy over
// far networks; so few that each is complete soon, and its capacity counts before the last one's
// does.
constexpr std::size_t kBeginningsMax = 16;

ConnectionStats stats_of(const SourceName& source, const ApiServerConnection& connection) {
  const ConnectionCounters counters = connection.counters();
  ConnectionStats stats;
  stats.source = source;
  stats.requests_by_code = counters.requests_by_code;
  stats.synced = counters.synced;
  for (const auto& [kind, reflector] : counters.reflectors) {
    stats.relists += reflector.relists;
    stats.overflows += reflector.overflows;
    stats.refused += reflector.refused;
  }
  stats.notices_lost = counters.posts_lost;
  stats.credentials_usable = counters.credentials.usable;
  stats.credentials_expire = counters.credentials.expires;
  stats.credential_renewals = counters.credentials.renewals;
  stats.plugin_calls = counters.credentials.plugin_calls;
  stats.plugin_failures = counters.credentials.plugin_failures;
  return stats;
}

// Moves the connections that are wanted no more, or in another way.
template <class Connection, class Wanted>
void end_unwanted(std::map<SourceName, Connection>& open,
                  const std::map<SourceName, Wanted>& wanted, std::vector<Connection>& ended) {
  for (auto at = open.begin(); at != open.end();) {
    const auto still = wanted.find(at->first);
    if (still != wanted.end() && still->second == at->second.wanted) {
      ++at;
      continue;
    }
    ended.push_back(std::move(at->second));
    at = open.erase(at);
  }
}

}  // namespace

HubConnections::HubConnections(Inbox& inbox, Logger logger,
                               std::shared_ptr<const AccessProviders> providers)
    : inbox_(inbox),
      logger_(std::move(logger)),
      providers_(std::move(providers)),
      member_beginnings_(
          std::make_shared<TurnGate>(member_loop_, TurnGate::Limits{kBeginningsMax})),
      tenant_beginnings_(
          std::make_shared<TurnGate>(tenant_loop_, TurnGate::Limits{kBeginningsMax})) {}

HubConnections::~HubConnections() { stop(); }

ConnectionSettings HubConnections::settings_for(const Streams& streams) const {
  ConnectionSettings settings;
  settings.http.inflight_max = static_cast<std::size_t>(configuration_.writes.inflight_max) +
                               kKindCount;  // writes never wait for lists
  settings.writes = {configuration_.writes.qps, configuration_.writes.burst};
  settings.reflector.stale_after = configuration_.debounce.stale_after;
  settings.reflector.lost_after = configuration_.debounce.lost_after;
  // A healthy server may send nothing for a minute. A silent stream is opened again after half of
  // staleAfter: a server that answers is alive before its silence counts.
  settings.reflector.watch_silence_max = std::min(
      settings.reflector.watch_silence_max, Duration{configuration_.debounce.stale_after.ns / 2});
  settings.scopes = streams.kinds;
  settings.diagnose = [logger = logger_](const DiagnosticLine& line) {
    const bool over = line.about == LineAbout::recovery;
    logger({over ? Severity::info : Severity::warn, line.text, {}});
  };
  return settings;
}

ConnectionSettings HubConnections::member_settings(const Watch::Member& member) const {
  ConnectionSettings settings = settings_for(watch_.of(member));
  // There may be thousands of members, and nothing is written there. Of tenants as many connections
  // are kept as writes need.
  settings.http.idle_connections_max = 1;
  settings.discovery_inflight = 1;
  settings.beginnings = member_beginnings_;
  const auto nodes_max = static_cast<std::size_t>(configuration_.member_nodes_max);
  settings.reflector.limits = {.objects_max = nodes_max,
                               .shared_objects_max = nodes_max * kPlentifulObjectsPerNode,
                               .changes_per_minute = configuration_.member_changes_per_minute,
                               .objects_setting = "members.nodesMax"};
  settings.http.use = ConnectionPlace::Use::others;
  return settings;
}

ConnectionSettings HubConnections::tenant_settings() const {
  ConnectionSettings settings = settings_for(watch_.tenant);
  settings.discovery_inflight = 1;
  settings.beginnings = tenant_beginnings_;
  const auto objects_max = static_cast<std::size_t>(configuration_.pool.tenant_objects_max);
  settings.reflector.limits = {.objects_max = objects_max,
                               .shared_objects_max = objects_max,
                               .changes_per_minute = configuration_.member_changes_per_minute,
                               .objects_setting = "pool.tenantObjectsMax"};
  settings.http.use = ConnectionPlace::Use::others;
  return settings;
}

Result<void> HubConnections::connect_hub(Credentials credentials,
                                         const Configuration& configuration) {
  configuration_ = configuration;
  auto made = ApiServerConnection::make(hub_loop_, std::string(kHub), std::move(credentials),
                                        settings_for({}));
  if (!made) return made.error();
  const std::lock_guard lock(mutex_);
  hub_ = std::move(*made);
  return {};
}

HubConnections::Member HubConnections::connect(const Watch::Member& wanted) {
  Member made{wanted, connection_to(wanted), nullptr};
  const Streams& streams = watch_.of(wanted);
  watch(*made.connection, streams);
  if (streams.object) watch_object(made, *streams.object);
  auto use = [logger = logger_, cluster = wanted.access.cluster,
              use = made.connection->use()](Result<Credentials> credentials) {
    if (credentials)
      logger({Severity::info, "member credentials taken up", {{"cluster", cluster}}});
    else
      logger({Severity::error,
              "member disconnected: its credentials are gone or cannot be used",
              {{"cluster", cluster}, {"why", credentials.error().message}}});
    use(std::move(credentials));
  };
  made.access = MemberAccess::follow(*hub_, wanted.access, providers_, std::move(use));
  return made;
}

std::unique_ptr<ApiServerConnection> HubConnections::connection_to(const Watch::Member& wanted) {
  const MemberKubeconfig& member = wanted.access;
  const ConnectionSettings settings = member_settings(wanted);
  std::function<Result<Credentials>()> read_again;
  Error why{ErrorCode::denied,
            "waiting for " + (member.secret_ref.empty() ? "ClusterProfile " + member.cluster_profile
                                                        : "Secret " + member.secret_ref)};
  if (!member.file.empty()) {
    read_again = [file = member.file] { return load_kubeconfig(file, {}); };
    auto credentials = read_again();
    if (credentials) {
      auto connection = ApiServerConnection::make(member_loop_, member.cluster,
                                                  std::move(*credentials), settings);
      if (connection) return std::move(*connection);
      credentials = connection.error();
    }
    why = credentials.error();
    logger_({Severity::error,
             "a member's kubeconfig cannot be used: its Nodes are not watched",
             {{"cluster", member.cluster}, {"why", why.message}}});
  }
  return ApiServerConnection::waiting(member_loop_, member.cluster, std::move(why),
                                      std::move(read_again), settings);
}

void HubConnections::follow(const Configuration& configuration, const Watch& wanted) {
  const bool first = watch_.hub.kinds.empty();
  const bool settings_changed =
      watch_.configuration != wanted.configuration || watch_.member != wanted.member;
  configuration_ = configuration;
  watch_ = wanted;
  std::map<SourceName, Member> members;  // made without the lock, for it takes a while
  for (const auto& [name, member] : watch_.members)
    if (const auto known = members_.find(name);
        known == members_.end() || known->second.wanted != member)
      members.emplace(name, connect(member));
  using Ended = std::pair<std::vector<Member>, std::vector<Tenant>>;
  const auto ended = std::make_shared<Ended>();
  {
    const std::lock_guard lock(mutex_);
    end_unwanted(members_, watch_.members, ended->first);
    end_unwanted(tenants_, watch_.tenants, ended->second);
    if (settings_changed) adjust();
    members_.merge(members);
    for (const auto& [source, tenant] : watch_.tenants)
      if (!tenants_.contains(source)) tenants_.emplace(source, connect_tenant(tenant));
  }
  if (first && hub_) watch(*hub_, watch_.hub);
  if (!ended->first.empty() || !ended->second.empty()) retire(ended);
}

void HubConnections::adjust() {
  hub_->adjust(settings_for(watch_.hub));
  for (auto& [name, member] : members_) member.connection->adjust(member_settings(member.wanted));
  for (auto& [source, tenant] : tenants_) tenant.connection->adjust(tenant_settings());
}

void HubConnections::watch(ApiServerConnection& connection, const Streams& streams) {
  std::vector<Kind> kinds;
  for (const auto& [kind, scope] : streams.kinds) kinds.push_back(kind);
  connection.watch(std::move(kinds), [this](WatchFact fact) { inbox_.push(std::move(fact)); });
}

void HubConnections::watch_object(Member& member, const ObjectKey& key) {
  member.object = member.connection->follow(
      "/api/v1/namespaces/" + key.namespace_ + "/" + std::string(info(key.kind).resource), key.name,
      [this, name = member.wanted.access.cluster, key](const std::optional<JsonView>& object) {
        WatchFact fact{name, ObjectMissing{key, "", ""}};
        if (object)
          if (auto seen = project_as(key.kind, "v1", *object); seen && *seen)
            fact.said = **std::move(seen);
        inbox_.push(std::move(fact));
        inbox_.push({name, ListCompleted{key.kind, ""}});
      });
}

HubConnections::Tenant HubConnections::connect_tenant(const TenantAccess& wanted) {
  Tenant made{wanted, nullptr, nullptr};
  const SourceName source = tenant_source(wanted.tenant);
  std::function<Result<Credentials>()> read_again;
  if (!wanted.file.empty()) read_again = [file = wanted.file] { return load_kubeconfig(file, {}); };
  Error why{ErrorCode::denied,
            "waiting for " + (wanted.file.empty() ? "Secret " + wanted.secret_ref : wanted.file)};
  made.connection = ApiServerConnection::waiting(tenant_loop_, source, std::move(why), read_again,
                                                 tenant_settings());
  watch(*made.connection, watch_.tenant);
  auto use = [logger = logger_, tenant = wanted.tenant,
              use = made.connection->use()](Result<Credentials> credentials) {
    if (credentials)
      logger({Severity::info, "tenant credentials taken up", {{"tenant", tenant}}});
    else
      logger({Severity::warn,
              "tenant not connected: its credentials are gone or cannot be used",
              {{"tenant", tenant}, {"why", credentials.error().message}}});
    use(std::move(credentials));
  };
  if (!wanted.file.empty())
    use(read_again());
  else
    made.access =
        MemberAccess::follow_secret(*hub_, wanted.secret_ref, wanted.secret_key, std::move(use));
  return made;
}

// Ending a connection waits for its I/O thread, which may wait for room in the inbox, which the
// hub's thread makes: so the hub's thread must not wait for it.
void HubConnections::retire(std::shared_ptr<void> ended) {
  ++retired_;
  retiring_ =
      std::thread([this, before = std::move(retiring_), ended = std::move(ended)]() mutable {
        ended.reset();
        if (before.joinable()) before.join();
        --retired_;
      });
}

void HubConnections::disconnect() {
  struct Ended {
    std::unique_ptr<ApiServerConnection> hub;  // last: the accesses of the others are on it
    std::map<std::string, Member> members;
    std::map<SourceName, Tenant> tenants;
  };
  const auto ended = std::make_shared<Ended>();
  {
    const std::lock_guard lock(mutex_);
    ended->hub = std::move(hub_);
    ended->members = std::exchange(members_, {});
    ended->tenants = std::exchange(tenants_, {});
  }
  watch_ = {};
  retire(ended);
}

// No lock: only the hub's thread, which asks here, changes what others read under it.
ApiServerConnection* HubConnections::server_of(const SourceName& source) const {
  if (configuration_.record) return nullptr;
  if (source == kHub) return hub_.get();
  const auto tenant = tenants_.find(source);
  if (tenant != tenants_.end()) return tenant->second.connection.get();
  const auto member = members_.find(source);
  return member == members_.end() ? nullptr : member->second.connection.get();
}

void HubConnections::notify(const Notice& notice, std::string_view identity) {
  if (ApiServerConnection* server = server_of(notice.source))
    server->post(kube_event_path(notice), to_text(to_kube_event(notice, identity)));
}

PatchSink* HubConnections::sink_of(const std::string& cluster) {
  ApiServerConnection* server = server_of(cluster);
  return server ? &server->sink() : nullptr;
}

std::set<Kind> HubConnections::absent_kinds() const {
  return hub_ ? hub_->counters().absent : std::set<Kind>{};
}

std::vector<ConnectionStats> HubConnections::stats() const {
  const std::lock_guard lock(mutex_);
  std::vector<ConnectionStats> all;
  if (hub_) all.push_back(stats_of(std::string(kHub), *hub_));
  for (const auto& [name, member] : members_) all.push_back(stats_of(name, *member.connection));
  for (const auto& [source, tenant] : tenants_) all.push_back(stats_of(source, *tenant.connection));
  return all;
}

std::vector<std::unique_ptr<LoopWatch::Loop>> HubConnections::watched_by(LoopWatch& watch) {
  std::vector<std::unique_ptr<LoopWatch::Loop>> watched;
  const auto add = [&](const char* name, IoLoop& loop) {
    watched.push_back(
        watch.watch(name, [&loop](std::function<void()> work) { loop.post(std::move(work)); }));
  };
  add("the hub's connections", hub_loop_);
  add("the members' connections", member_loop_);
  add("the tenants' connections", tenant_loop_);
  return watched;
}

void HubConnections::stop() {
  if (retiring_.joinable()) retiring_.join();
  const std::lock_guard lock(mutex_);
  // Accesses end on the hub's loop, and connections each on its own: loops are stopped last.
  for (auto& [name, member] : members_) member.access.reset();
  for (auto& [source, tenant] : tenants_) tenant.access.reset();
  hub_.reset();
  members_.clear();
  tenants_.clear();
  hub_loop_.stop();
  member_loop_.stop();
  tenant_loop_.stop();
}

}  // namespace fairlead
