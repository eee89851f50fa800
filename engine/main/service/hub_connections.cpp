#include "engine/main/service/hub_connections.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/projection/projection.h"
#include "engine/fold/capacity/pool_capacity.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/runtime/hub_scope.h"

namespace fairlead {

namespace {

// Pods, ResourceClaims and ResourceSlices of a member together, by members.nodesMax: Kubernetes is
// tested with 150,000 Pods on 5,000 nodes, not all of which have claims, and some are not read.
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

}  // namespace

namespace {

std::map<Kind, WatchScope> hub_scopes(const Configuration& configuration) {
  std::map<Kind, WatchScope> scopes;
  for (const Kind kind : hub_kinds())
    if (!is_read_on_hub(kind, configuration))
      scopes[kind] = {WatchScope::Breadth::nowhere, ""};
    else if (std::string namespace_ = hub_namespace(kind, configuration); !namespace_.empty())
      scopes[kind] = {kind == Kind::placement ? WatchScope::Breadth::everywhere_if_allowed
                                              : WatchScope::Breadth::one_namespace,
                      std::move(namespace_)};
  return scopes;
}

// What is read nowhere on the hub may be read of a member: its streams have no scopes but those of
// devices and Pods, which are watched where the configuration says so. Of Pods the metadata says
// which Workload or tenant they belong to; their specs may hold secrets, and are long. A syncer
// marks the Pods of tenants by an annotation: no label selects them.
std::map<Kind, WatchScope> member_scopes(const Configuration& configuration,
                                         const std::string& member) {
  const WatchScope nowhere{WatchScope::Breadth::nowhere, ""};
  const bool super = pool_entry_of(configuration.pool, member) != nullptr;
  std::map<Kind, WatchScope> scopes;
  for (const Kind kind : device_kinds())
    if (!are_devices_read(kind, configuration) && !(super && are_devices_read_for_pool(kind)))
      scopes[kind] = nowhere;
  const auto metadata_of = [](std::string label) {
    return WatchScope{WatchScope::Breadth::everywhere, "", std::move(label), ObjectPart::metadata};
  };
  if (super)
    scopes[Kind::pod] = metadata_of("");
  else
    scopes[Kind::pod] =
        are_member_pods_read(configuration) ? metadata_of(std::string(kPodSetLabel)) : nowhere;
  return scopes;
}

}  // namespace

std::vector<Kind> hub_kinds() {
  std::vector<Kind> kinds;
  for (const KindInfo& row : kKinds)
    if (is_read_from(kHub, row.kind)) kinds.push_back(row.kind);
  return kinds;
}

std::vector<Kind> device_kinds() {
  std::vector<Kind> kinds;
  for (const KindInfo& row : kKinds)
    if (is_of_devices(row.kind)) kinds.push_back(row.kind);
  return kinds;
}

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

ConnectionSettings HubConnections::settings_for(const Configuration& configuration) const {
  ConnectionSettings settings;
  settings.http.inflight_max = static_cast<std::size_t>(configuration.writes.inflight_max) +
                               kKindCount;  // writes never wait for lists
  settings.writes = {configuration.writes.qps, configuration.writes.burst};
  settings.reflector.stale_after = configuration.debounce.stale_after;
  settings.reflector.lost_after = configuration.debounce.lost_after;
  // A healthy server may send nothing for a minute. A silent stream is opened again after half of
  // staleAfter: a server that answers is alive before its silence counts.
  settings.reflector.watch_silence_max = std::min(
      settings.reflector.watch_silence_max, Duration{configuration.debounce.stale_after.ns / 2});
  settings.scopes = hub_scopes(configuration);
  settings.diagnose = [logger = logger_](const DiagnosticLine& line) {
    const bool over = line.about == LineAbout::recovery;
    logger({over ? Severity::info : Severity::warn, line.text, {}});
  };
  return settings;
}

ConnectionSettings HubConnections::member_settings(const std::string& member) const {
  ConnectionSettings settings = settings_for(configuration_);
  settings.scopes = member_scopes(configuration_, member);
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
  ConnectionSettings settings = settings_for(configuration_);
  settings.scopes.clear();
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
  auto made = ApiServerConnection::make(hub_loop_, std::string(kHub), std::move(credentials),
                                        settings_for(configuration));
  if (!made) return made.error();
  const std::lock_guard lock(mutex_);
  hub_ = std::move(*made);
  hub_->watch(hub_kinds(), [this](WatchFact fact) { inbox_.push(std::move(fact)); });
  for (auto& [name, member] : members_) follow_access(member);
  return {};
}

HubConnections::Member HubConnections::connect(const MemberKubeconfig& member) {
  Member made{member, nullptr, nullptr};
  const ConnectionSettings settings = member_settings(member.cluster);
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
      if (connection) {
        made.connection = std::move(*connection);
        return made;
      }
      credentials = connection.error();
    }
    why = credentials.error();
    logger_({Severity::error,
             "a member's kubeconfig cannot be used: its Nodes are not watched",
             {{"cluster", member.cluster}, {"why", why.message}}});
  }
  made.connection = ApiServerConnection::waiting(member_loop_, member.cluster, std::move(why),
                                                 std::move(read_again), settings);
  return made;
}

void HubConnections::follow_access(Member& member) {
  if (!hub_ || member.access) return;
  auto use = [logger = logger_, cluster = member.configuration.cluster,
              use = member.connection->use()](Result<Credentials> credentials) {
    if (credentials)
      logger({Severity::info, "member credentials taken up", {{"cluster", cluster}}});
    else
      logger({Severity::error,
              "member disconnected: its credentials are gone or cannot be used",
              {{"cluster", cluster}, {"why", credentials.error().message}}});
    use(std::move(credentials));
  };
  member.access = MemberAccess::follow(*hub_, member.configuration, providers_, std::move(use));
}

void HubConnections::follow(const Configuration& configuration) {
  configuration_ = configuration;
  std::map<std::string, Member> fresh;
  std::set<std::string> wanted;
  for (const MemberKubeconfig& member : configuration.member_kubeconfigs) {
    wanted.insert(member.cluster);
    const auto known = members_.find(member.cluster);
    const bool super = pool_entry_of(configuration.pool, member.cluster) != nullptr;
    // A member that has become a super cluster, or is one no more, needs other streams.
    if (known != members_.end() && known->second.configuration == member &&
        super == (known->second.info != nullptr))
      continue;
    fresh[member.cluster] = connect(member);
  }
  const auto ended = std::make_shared<std::vector<Member>>();
  {
    const std::lock_guard lock(mutex_);
    if (hub_) hub_->adjust(settings_for(configuration));
    for (auto& [source, tenant] : tenants_) tenant.connection->adjust(tenant_settings());
    for (auto at = members_.begin(); at != members_.end();) {
      if (wanted.contains(at->first) && !fresh.contains(at->first)) {
        at->second.connection->adjust(member_settings(at->first));
        ++at;
        continue;
      }
      ended->push_back(std::move(at->second));
      at = members_.erase(at);
    }
    for (auto& [name, member] : fresh) {
      watch_member(name, member);
      follow_access(members_[name] = std::move(member));
    }
  }
  if (!ended->empty()) retire(ended);
}

// Of a super cluster also what tenants have there, and the ConfigMap with its id: by name, so that
// a Role may allow exactly that.
void HubConnections::watch_member(const std::string& name, Member& member) {
  std::vector<Kind> kinds{Kind::node, Kind::local_queue, Kind::cluster_queue, Kind::pod};
  const bool super = pool_entry_of(configuration_.pool, name) != nullptr;
  if (super) kinds.push_back(Kind::namespace_);
  for (const Kind kind : device_kinds()) kinds.push_back(kind);
  member.connection->watch(std::move(kinds),
                           [this](WatchFact fact) { inbox_.push(std::move(fact)); });
  if (!super) return;
  const std::string home(kSuperClusterInfoNamespace);
  const ObjectKey key{Kind::config_map, home, std::string(kSuperClusterInfo)};
  member.info = member.connection->follow(
      "/api/v1/namespaces/" + home + "/configmaps", key.name,
      [this, name, key](const std::optional<JsonView>& info) {
        WatchFact fact{name, ObjectMissing{key, "", ""}};
        if (info)
          if (auto seen = project_as(Kind::config_map, "v1", *info); seen && *seen)
            fact.said = **std::move(seen);
        inbox_.push(std::move(fact));
        inbox_.push({name, ListCompleted{Kind::config_map, ""}});
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
  made.connection->watch({Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::resource_claim,
                          Kind::resource_claim_template},
                         [this](WatchFact fact) { inbox_.push(std::move(fact)); });
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
  else if (hub_)
    made.access =
        MemberAccess::follow_secret(*hub_, wanted.secret_ref, wanted.secret_key, std::move(use));
  return made;
}

std::vector<SourceName> HubConnections::follow_tenants(const std::vector<TenantAccess>& tenants) {
  std::map<SourceName, const TenantAccess*> wanted;
  for (const TenantAccess& tenant : tenants) wanted[tenant_source(tenant.tenant)] = &tenant;
  const auto ended = std::make_shared<std::vector<Tenant>>();
  std::vector<SourceName> fresh;
  const std::lock_guard lock(mutex_);
  for (auto at = tenants_.begin(); at != tenants_.end();) {
    const auto still = wanted.find(at->first);
    if (still != wanted.end() && *still->second == at->second.wanted) {
      ++at;
      continue;
    }
    ended->push_back(std::move(at->second));
    at = tenants_.erase(at);
  }
  for (const auto& [source, access] : wanted) {
    if (tenants_.contains(source)) continue;
    tenants_[source] = connect_tenant(*access);
    fresh.push_back(source);
  }
  if (!ended->empty()) retire(ended);
  return fresh;
}

// Ending a connection waits for its I/O thread, which may wait for room in the inbox, which the
// hub's thread makes: so the hub's thread must not wait for it.
void HubConnections::retire(std::shared_ptr<void> ended) {
  retiring_ = std::thread([before = std::move(retiring_), ended = std::move(ended)]() mutable {
    ended.reset();
    if (before.joinable()) before.join();
  });
}

void HubConnections::notify(const Notice& notice, std::string_view identity) {
  if (configuration_.record) return;
  ApiServerConnection* server = hub_.get();
  if (is_tenant(notice.source)) {
    const auto tenant = tenants_.find(notice.source);
    server = tenant == tenants_.end() ? nullptr : tenant->second.connection.get();
  }
  if (server) server->post(kube_event_path(notice), to_text(to_kube_event(notice, identity)));
}

PatchSink* HubConnections::sink_of(const std::string& cluster) {
  if (configuration_.record) return nullptr;
  // No lock: only the hub's thread, which asks here, changes what others read under it.
  if (cluster == kHub) return hub_ ? &hub_->sink() : nullptr;
  if (is_tenant(cluster)) {
    const auto tenant = tenants_.find(cluster);
    return tenant == tenants_.end() ? nullptr : &tenant->second.connection->sink();
  }
  const auto member = members_.find(cluster);
  return member == members_.end() ? nullptr : &member->second.connection->sink();
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
