#include "engine/fold/multikueue/names.h"

namespace fairlead {

namespace {

bool by_cluster(const Configuration& configuration) {
  return configuration.multikueue.profile == NamingProfile::cluster;
}

constexpr std::string_view kSecretHead = "kueue-admin-";
constexpr std::string_view kSecretTail = "-kubeconfig";
constexpr std::string_view kSecretHeadOfCluster = "multikueue-";

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string worker_name(const Configuration& configuration, const std::string& placement,
                        const std::string& cluster) {
  return by_cluster(configuration) ? cluster : placement + "-" + cluster;
}

std::optional<std::string> cluster_of_worker(const Configuration& configuration,
                                             const std::string& placement,
                                             std::string_view worker) {
  if (by_cluster(configuration)) return std::string(worker);
  const std::string head = placement + "-";
  // The worker `a-b-c` of Placement `a-b` reads as one of Placement `a`, too: cluster_behind() also
  // compares the mark.
  if (worker.size() <= head.size() || !worker.starts_with(head)) return std::nullopt;
  return std::string(worker.substr(head.size()));
}

std::string secret_name(const Configuration& configuration, const std::string& cluster) {
  if (by_cluster(configuration)) return std::string(kSecretHeadOfCluster) + cluster;
  return std::string(kSecretHead) + cluster + std::string(kSecretTail);
}

std::optional<std::string> cluster_of_secret(const Configuration& configuration,
                                             std::string_view secret) {
  const std::string_view head = by_cluster(configuration) ? kSecretHeadOfCluster : kSecretHead;
  const std::string_view tail = by_cluster(configuration) ? std::string_view() : kSecretTail;
  if (secret.size() <= head.size() + tail.size() || !secret.starts_with(head) ||
      !secret.ends_with(tail))
    return std::nullopt;
  secret.remove_prefix(head.size());
  secret.remove_suffix(tail.size());
  return std::string(secret);
}

bool is_dns_subdomain(std::string_view name) {
  // Source: RFC 1123, as k8s.io/apimachinery IsDNS1123Subdomain has it.
  if (name.empty() || name.size() > 253) return false;
  char before = '.';  // a label begins here
  for (const char c : name) {
    const bool begins = before == '.';
    if (c == '.' ? begins || before == '-' : !is_alphanumeric(c) && (c != '-' || begins))
      return false;
    before = c;
  }
  return is_alphanumeric(before);
}

OwnerMark config_mark(const std::string& placement) { return {true, "placement/" + placement}; }

OwnerMark worker_mark(const Configuration& configuration, const std::string& placement,
                      const std::string& cluster) {
  return {true, by_cluster(configuration) ? "cluster/" + cluster : "placement/" + placement};
}

}  // namespace fairlead
