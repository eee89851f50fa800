#include "engine/runtime/configuration_roles.h"

#include <algorithm>
#include <utility>

#include "engine/base/quantity.h"
#include "engine/runtime/configuration.h"
#include "engine/runtime/configuration_values.h"

namespace fairlead {

namespace {

// A slot's object is NAME-SLOT, at most 253 bytes.
constexpr std::size_t kRingNameMax = 240;
// Below 8 a follower is always behind; 8,192 commits of 64 KiB are 740 MB of etcd's default 2 GiB.
constexpr std::int64_t kWindowMin = 8, kWindowMax = 8'192;
constexpr std::size_t kEndpointsMax = 9;

const std::string kReplication = "log.replication";
const std::string kElection = "leaderElection";

std::string read_ring_name(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected the name of an object, at most 240 bytes";
  std::string name = read_text(node, key, expected);
  if (!is_object_name(name) || name.size() > kRingNameMax) refuse(node, key, std::string(expected));
  return name;
}

std::string read_lease_name(const YamlNode& node, const std::string& key) {
  std::string name = read_text(node, key, "expected namespace/name");
  if (!is_namespaced_name(name)) refuse(node, key, "expected namespace/name");
  return name;
}

// Without https whoever reaches the port could write the log.
std::string read_endpoint(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected https://HOST:PORT", scheme = "https://";
  std::string endpoint = read_text(node, key, expected);
  const std::size_t colon = endpoint.rfind(':');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!endpoint.starts_with(scheme) || colon <= scheme.size() || colon + 1 == endpoint.size() ||
      !std::all_of(endpoint.begin() + static_cast<std::ptrdiff_t>(colon) + 1, endpoint.end(),
                   is_digit))
    refuse(node, key, std::string(expected));
  return endpoint;
}

std::vector<std::string> read_endpoints(const YamlNode& node, const std::string& key) {
  auto endpoints = read_items(node, key, read_endpoint);
  if (endpoints.empty() || endpoints.size() > kEndpointsMax)
    refuse(node, key, "expected 1 to " + std::to_string(kEndpointsMax) + " of https://HOST:PORT");
  return endpoints;
}

std::string read_prefix(const YamlNode& node, const std::string& key) {
  constexpr std::string_view expected = "expected a prefix such as /fairlead/";
  std::string prefix = read_text(node, key, expected);
  if (prefix.size() < 3 || !prefix.starts_with('/') || !prefix.ends_with('/'))
    refuse(node, key, std::string(expected));
  return prefix;
}

std::string read_file_path(const YamlNode& node, const std::string& key) {
  return read_text(node, key, "expected a path");
}

std::int64_t read_byte_rate(const YamlNode& node, const std::string& key) {
  constexpr std::int64_t min = 1 << 10, max = 1 << 30;
  const std::string text = read_reserved(node, key);
  const std::int64_t rate = to_amount("memory", *Quantity::parse(text));
  if (rate < min || rate > max) refuse(node, key, "expected bytes from 1Ki to 1Gi");
  return rate;
}

// A Lease counts in whole seconds.
Duration read_lease_duration(const YamlNode& node, const std::string& key) {
  const Duration span = read_duration(node, key);
  if (span < seconds(1) || span.ns % seconds(1).ns != 0)
    refuse(node, key, "expected whole seconds, at least 1s");
  return span;
}

Duration read_period(const YamlNode& node, const std::string& key) {
  const Duration span = read_duration(node, key);
  if (span < milliseconds(10)) refuse(node, key, "expected at least 10ms");
  return span;
}

template <class Field, class Read>
ConfigurationField role_row(std::string path, Field field, Read read) {
  ConfigurationField row;
  row.read_role = [path, field, read](HubRoleSettings& settings, const YamlNode& node) {
    field(settings) = read(node, path);
  };
  row.same_role = [field](HubRoleSettings a, HubRoleSettings b) { return field(a) == field(b); };
  row.path = std::move(path);
  return row;
}

auto whole_number(std::int64_t min, std::int64_t max) {
  return [min, max](const YamlNode& node, const std::string& key) {
    return read_number(node, key, min, max);
  };
}

KubernetesRing& kubernetes_of(HubRoleSettings& settings) {
  auto& ring = settings.replication.kubernetes;
  return ring ? *ring : ring.emplace();
}

EtcdRing& etcd_of(HubRoleSettings& settings) {
  auto& ring = settings.replication.etcd;
  return ring ? *ring : ring.emplace();
}

// Refuses `path` at its line in the file, or at the line of the section that it would be in.
[[noreturn]] void refuse_together(const MentionedPaths& mentioned, std::string path,
                                  std::string expected) {
  auto found = mentioned.find(path);
  for (std::string at = path; found == mentioned.end() && at.find('.') != std::string::npos;) {
    at.resize(at.rfind('.'));
    found = mentioned.find(at);
  }
  throw RefusedValue{found == mentioned.end() ? 0 : found->second, std::move(path),
                     std::move(expected)};
}

void complete_replication(HubRoleSettings& roles, const MentionedPaths& mentioned) {
  ReplicationSettings& replication = roles.replication;
  const auto has = [&](std::string_view key) {
    return mentioned.contains(kReplication + "." + std::string(key));
  };
  if (has("kubernetes")) kubernetes_of(roles);  // also {}: the default names
  if (has("etcd")) etcd_of(roles);
  if (!replication.on()) {
    const auto first = mentioned.lower_bound(kReplication);
    if (first == mentioned.end() || !first->first.starts_with(kReplication)) return;
    throw RefusedValue{first->second, kReplication,
                       "expected one of kubernetes, etcd; kubernetes: {} takes its defaults"};
  }
  if (replication.kubernetes && replication.etcd)
    refuse_together(mentioned, kReplication, "expected only one of kubernetes, etcd");
  if (const auto& etcd = replication.etcd) {
    if (etcd->endpoints.empty())
      refuse_together(mentioned, "log.replication.etcd",
                      "expected endpoints: [https://HOST:PORT, ...]");
    if (etcd->certificate.empty() != etcd->key.empty())
      refuse_together(mentioned, "log.replication.etcd.tls", "expected both certificate and key");
    if (!has("pace.perSecond")) replication.pace.per_second = 50;
    if (!has("pace.burst")) replication.pace.burst = 500;
    if (!has("pace.bytesPerSecond")) replication.pace.bytes_per_second = 4 << 20;
  }
  if (roles.election.lease.empty())
    refuse_together(
        mentioned, kReplication,
        "expected leaderElection.lease too, such as fairlead-system/fairlead: who appends "
        "is elected");
}

// As client-go demands; 1.2 is its jitter.
void check_election(const LeaderElectionSettings& election, const MentionedPaths& mentioned) {
  if (election.renew_deadline >= election.lease_duration)
    refuse_together(mentioned, "leaderElection.renewDeadline",
                    "expected less than leaseDuration, " + to_go_duration(election.lease_duration));
  if (election.retry_period.ns * 6 / 5 >= election.renew_deadline.ns)
    refuse_together(mentioned, "leaderElection.retryPeriod",
                    "expected that 1.2 times it is less than renewDeadline, " +
                        to_go_duration(election.renew_deadline));
  const auto first = mentioned.lower_bound(kElection);
  if (election.lease.empty() && first != mentioned.end() && first->first.starts_with(kElection))
    throw RefusedValue{first->second, kElection,
                       "expected lease: NAMESPACE/NAME; without one nobody is elected"};
}

}  // namespace

std::vector<ConfigurationField> role_fields() {
#define FAIRLEAD_ROLE(member) [](HubRoleSettings& s) -> auto& { return s.member; }
#define FAIRLEAD_ETCD(member) [](HubRoleSettings& s) -> auto& { return etcd_of(s).member; }
  return {
      role_row(
          "log.replication.kubernetes.namespace",
          [](HubRoleSettings& s) -> auto& { return kubernetes_of(s).namespace_; }, read_namespace),
      role_row(
          "log.replication.kubernetes.name",
          [](HubRoleSettings& s) -> auto& { return kubernetes_of(s).name; }, read_ring_name),
      role_row("log.replication.etcd.endpoints", FAIRLEAD_ETCD(endpoints), read_endpoints),
      role_row("log.replication.etcd.prefix", FAIRLEAD_ETCD(prefix), read_prefix),
      role_row("log.replication.etcd.tls.ca", FAIRLEAD_ETCD(ca), read_file_path),
      role_row("log.replication.etcd.tls.certificate", FAIRLEAD_ETCD(certificate), read_file_path),
      role_row("log.replication.etcd.tls.key", FAIRLEAD_ETCD(key), read_file_path),
      role_row("log.replication.window", FAIRLEAD_ROLE(replication.window),
               whole_number(kWindowMin, kWindowMax)),
      role_row("log.replication.pace.perSecond", FAIRLEAD_ROLE(replication.pace.per_second),
               whole_number(1, 10'000)),
      role_row("log.replication.pace.burst", FAIRLEAD_ROLE(replication.pace.burst),
               whole_number(1, 100'000)),
      role_row("log.replication.pace.bytesPerSecond",
               FAIRLEAD_ROLE(replication.pace.bytes_per_second), read_byte_rate),
      role_row("log.replication.copies.required", FAIRLEAD_ROLE(replication.copies_required),
               whole_number(1, 9)),
      role_row("log.replication.copies.wait", FAIRLEAD_ROLE(replication.copies_wait),
               read_duration),
      role_row("log.replication.create", FAIRLEAD_ROLE(replication.create),
               [](const YamlNode& node, const std::string& key) {
                 return read_word<bool>(node, key, kSwitch);
               }),
      role_row("leaderElection.lease", FAIRLEAD_ROLE(election.lease), read_lease_name),
      role_row("leaderElection.leaseDuration", FAIRLEAD_ROLE(election.lease_duration),
               read_lease_duration),
      role_row("leaderElection.renewDeadline", FAIRLEAD_ROLE(election.renew_deadline), read_period),
      role_row("leaderElection.retryPeriod", FAIRLEAD_ROLE(election.retry_period), read_period),
  };
#undef FAIRLEAD_ETCD
#undef FAIRLEAD_ROLE
}

std::vector<std::string> changed_role_settings(const HubRoleSettings& before,
                                               const HubRoleSettings& after) {
  std::vector<std::string> paths;
  const ReplicationSettings &was = before.replication, &is = after.replication;
  if (was.kubernetes.has_value() != is.kubernetes.has_value())
    paths.push_back(kReplication + ".kubernetes");
  if (was.etcd.has_value() != is.etcd.has_value()) paths.push_back(kReplication + ".etcd");
  for (const ConfigurationField& field : role_fields())
    if (!field.same_role(before, after)) paths.push_back(field.path);
  return paths;
}

void complete_roles(HubRoleSettings& roles, const MentionedPaths& mentioned) {
  complete_replication(roles, mentioned);
  check_election(roles.election, mentioned);
}

}  // namespace fairlead
