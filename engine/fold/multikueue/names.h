// The names and marks of the objects of the MultiKueue path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/fold/multikueue/multikueue_state.h"
#include "schema/configuration.h"

namespace fairlead {

/// spec.controllerName of the AdmissionChecks that are ours.
inline constexpr std::string_view kPlacementController = "open-cluster-management.io/placement";
/// spec.controllerName of Kueue's own AdmissionChecks, which name a MultiKueueConfig.
inline constexpr std::string_view kMultiKueueController = "kueue.x-k8s.io/multikueue";
/// The finalizer that the OCM add-on leaves on them.
inline constexpr std::string_view kAddonFinalizer =
    "kueue-addon.open-cluster-management.io/admissioncheck-cleanup";
/// The key of a Secret that holds a kubeconfig.
inline constexpr std::string_view kKubeconfigKey = "kubeconfig";

/// Returns the name of a cluster's MultiKueueCluster in the list of a Placement:
/// `<placement>-<cluster>`, or `<cluster>` in profile `cluster`.
std::string worker_name(const Configuration& configuration, const std::string& placement,
                        const std::string& cluster);
/// Returns the cluster whose MultiKueueCluster in that list is called `worker`; nullopt if none is.
std::optional<std::string> cluster_of_worker(const Configuration& configuration,
                                             const std::string& placement, std::string_view worker);
/// Returns the name of the Secret with the kubeconfig of a cluster.
std::string secret_name(const Configuration& configuration, const std::string& cluster);
/// Returns the cluster whose kubeconfig a Secret of that name holds; nullopt if there is none.
std::optional<std::string> cluster_of_secret(const Configuration& configuration,
                                             std::string_view secret);

/// Whether `name` is an RFC 1123 subdomain of at most 253 characters, as names of objects must be.
bool is_dns_subdomain(std::string_view name);

/// Return the marks of the MultiKueueConfig of a Placement, and of the MultiKueueCluster of a
/// worker.
OwnerMark config_mark(const std::string& placement);
OwnerMark worker_mark(const Configuration& configuration, const std::string& placement,
                      const std::string& cluster);

}  // namespace fairlead
