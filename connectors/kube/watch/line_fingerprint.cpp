#include "connectors/kube/watch/line_fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/line_fields.h"

namespace fairlead {
namespace {

// Fields of the object that make no fact, by kind; `*` is every item of a list. A field that is not
// named here is hashed: forgetting one costs time, never a change. The test of this file checks
// each entry against the projections.
constexpr std::array<std::string_view, 3> kOfAll{
    "metadata.managedFields",
    "metadata.resourceVersion",
    "metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration",
};
// Not for claims: their facts have a digest of the whole status, which shows what others changed.
constexpr std::array<std::string_view, 2> kOfConditions{
    "status.conditions.*.lastTransitionTime",
    "status.conditions.*.message",
};
constexpr std::array<std::string_view, 9> kOfNodes{
    "metadata.annotations",   "status.conditions.*.lastHeartbeatTime",
    "status.images",          "status.volumesInUse",
    "status.volumesAttached", "status.nodeInfo",
    "status.daemonEndpoints", "status.addresses",
    "status.runtimeHandlers",
};
constexpr std::array<std::string_view, 8> kOfQueues{
    "status.pendingWorkloads",       "status.reservingWorkloads",
    "status.admittedWorkloads",      "status.flavorsReservation",
    "status.pendingWorkloadsStatus", "status.fairSharing",
    "status.flavorsUsage",           "status.flavors"};  // these two of LocalQueues alone
constexpr std::array<std::string_view, 4> kOfClusterMetrics{
    "status.nodes.*.capacityResources",
    "status.nodes.*.usage",
    "status.nodes.*.requests",
    "status.nodes.*.limits",
};
constexpr std::array<std::string_view, 4> kOfManagedClusters{
    "metadata.annotations",
    "status.clusterClaims",
    "status.capacity",
    "status.version",
};
constexpr std::array<std::string_view, 1> kStatus{"status"};
constexpr std::array<std::string_view, 1> kOfWorks{"status.resourceStatus.manifests.*.conditions"};

// Workloads are many, and nearly all of their long specs is what the containers run with.
constexpr std::array kOfWorkloads = std::to_array<std::string_view>({
    "metadata.labels",
    "metadata.annotations",
    "metadata.ownerReferences",
    "spec.active",
    "spec.queueName",
    "spec.maximumExecutionTimeSeconds",
    "spec.preemptionGates",
    "spec.priorityClassName",
    "spec.priorityClassRef",
    "spec.priorityClassSource",
    "spec.podSets.*.minCount",
    "spec.podSets.*.topologyRequest",
    "spec.podSets.*.template.metadata.labels",
    "spec.podSets.*.template.spec.affinity.podAffinity",
    "spec.podSets.*.template.spec.affinity.podAntiAffinity",
    "spec.podSets.*.template.spec.containers.*.args",
    "spec.podSets.*.template.spec.containers.*.command",
    "spec.podSets.*.template.spec.containers.*.env",
    "spec.podSets.*.template.spec.containers.*.envFrom",
    "spec.podSets.*.template.spec.containers.*.image",
    "spec.podSets.*.template.spec.containers.*.imagePullPolicy",
    "spec.podSets.*.template.spec.containers.*.lifecycle",
    "spec.podSets.*.template.spec.containers.*.livenessProbe",
    "spec.podSets.*.template.spec.containers.*.name",
    "spec.podSets.*.template.spec.containers.*.ports",
    "spec.podSets.*.template.spec.containers.*.readinessProbe",
    "spec.podSets.*.template.spec.containers.*.securityContext",
    "spec.podSets.*.template.spec.containers.*.startupProbe",
    "spec.podSets.*.template.spec.containers.*.terminationMessagePath",
    "spec.podSets.*.template.spec.containers.*.terminationMessagePolicy",
    "spec.podSets.*.template.spec.containers.*.volumeMounts",
    "spec.podSets.*.template.spec.initContainers.*.args",
    "spec.podSets.*.template.spec.initContainers.*.command",
    "spec.podSets.*.template.spec.initContainers.*.env",
    "spec.podSets.*.template.spec.initContainers.*.image",
    "spec.podSets.*.template.spec.initContainers.*.name",
    "spec.podSets.*.template.spec.initContainers.*.volumeMounts",
    "spec.podSets.*.template.spec.dnsPolicy",
    "spec.podSets.*.template.spec.restartPolicy",
    "spec.podSets.*.template.spec.schedulerName",
    "spec.podSets.*.template.spec.schedulingGates",
    "spec.podSets.*.template.spec.securityContext",
    "spec.podSets.*.template.spec.serviceAccountName",
    "spec.podSets.*.template.spec.terminationGracePeriodSeconds",
    "spec.podSets.*.template.spec.topologySpreadConstraints",
    "spec.podSets.*.template.spec.volumes",
    "status.admission.clusterQueue",
    "status.admission.podSetAssignments.*.delayedTopologyRequest",
    "status.admission.podSetAssignments.*.flavors",
    "status.admission.podSetAssignments.*.resourceUsage",
    "status.admission.podSetAssignments.*.topologyAssignment",
    "status.requeueState",
    "status.reclaimablePods",
    "status.accumulatedPastExecutionTimeSeconds",
    "status.resourceRequests",
    "status.schedulingStats",
    "status.preemptionGates",
    "status.unhealthyNodes",
    "status.admissionChecks.*.lastTransitionTime",
    "status.admissionChecks.*.message",
    "status.admissionChecks.*.podSetUpdates",
    "status.admissionChecks.*.retryCount",
    "status.admissionChecks.*.requeueAfterSeconds",
});
constexpr std::array<std::string_view, 1> kOfDecisions{"status.decisions.*.reason"};
constexpr std::array<std::string_view, 4> kOfProfiles{"spec", "status.conditions", "status.version",
                                                      "status.properties"};
constexpr std::array<std::string_view, 1> kSpec{"spec"};
// The weighted share changes with each workload.
constexpr std::array<std::string_view, 1> kOfCohorts{"status.fairSharing"};
constexpr std::array<std::string_view, 2> kOfDefinitions{"spec.conversion", "status"};

// Of members' Pods only the metadata is sent.
constexpr std::array<std::string_view, 7> kOfPods{"metadata.ownerReferences",
                                                  "spec.volumes",
                                                  "status.conditions",
                                                  "status.containerStatuses",
                                                  "status.initContainerStatuses",
                                                  "status.ephemeralContainerStatuses",
                                                  "status.resourceClaimStatuses"};

// A driver writes its slices again where nothing of a device changed; in v1beta1 a device's fields
// are in `basic`.
constexpr std::array<std::string_view, 11> kOfSlices{
    "metadata.labels",
    "metadata.annotations",
    "metadata.ownerReferences",
    "spec.devices.*.bindsToNode",
    "spec.devices.*.bindingFailureConditions",
    "spec.devices.*.nodeAllocatableResourceMappings",
    "spec.devices.*.taints.*.timeAdded",
    "spec.devices.*.basic.bindsToNode",
    "spec.devices.*.basic.bindingFailureConditions",
    "spec.devices.*.basic.nodeAllocatableResourceMappings",
    "spec.devices.*.basic.taints.*.timeAdded",
};
constexpr std::array<std::string_view, 3> kOfDeviceClasses{"metadata.labels",
                                                           "metadata.annotations", "spec.config"};
// Drivers report the health of allocated devices in status.devices.
constexpr std::array<std::string_view, 8> kOfResourceClaims{
    "metadata.labels",
    "spec.devices.config",
    "status.devices",
    "status.allocation.devices.config",
    "status.allocation.devices.results.*.tolerations",
    "status.allocation.devices.results.*.bindingConditions",
    "status.allocation.devices.results.*.bindingFailureConditions",
    "status.allocation.allocationTimestamp",
};
constexpr std::array<std::string_view, 4> kOfClaimTemplates{
    "metadata.labels", "metadata.annotations", "spec.metadata", "spec.spec.devices.config"};
constexpr std::array<std::string_view, 4> kOfTaintRules{"metadata.labels", "metadata.annotations",
                                                        "spec.taint.timeAdded", "status"};

std::span<const std::string_view> of_kind(Kind kind) {
  switch (kind) {
    case Kind::node: return kOfNodes;
    case Kind::cluster_queue: return std::span(kOfQueues).first<6>();
    case Kind::cluster_metrics: return kOfClusterMetrics;
    case Kind::managed_cluster: return kOfManagedClusters;
    case Kind::manifest_work: return kOfWorks;
    case Kind::workload: return kOfWorkloads;
    case Kind::placement_decision: return kOfDecisions;
    case Kind::cluster_profile: return kOfProfiles;
    case Kind::addon_placement_score:
    case Kind::mutating_admission_policy: return kSpec;
    case Kind::custom_resource_definition: return kOfDefinitions;
    case Kind::cohort: return kOfCohorts;
    case Kind::local_queue: return kOfQueues;
    case Kind::multikueue_config:
    case Kind::namespace_:
    case Kind::resource_quota:
    case Kind::placement: return kStatus;
    case Kind::virtual_cluster: return kSpec;
    case Kind::pod: return kOfPods;
    case Kind::resource_slice: return kOfSlices;
    case Kind::device_class: return kOfDeviceClasses;
    case Kind::resource_claim: return kOfResourceClaims;
    case Kind::resource_claim_template: return kOfClaimTemplates;
    case Kind::device_taint_rule: return kOfTaintRules;
    case Kind::fleet_resource_class:
    case Kind::fleet_resource_claim:
    case Kind::fleet_resource_claim_template:
    case Kind::fleet_scheduling:
    case Kind::topology: return {};
    case Kind::resource_flavor:
    case Kind::admission_check:
    case Kind::claim:
    case Kind::multikueue_cluster:
    case Kind::secret:
    case Kind::config_map:
    case Kind::binding_policy: return {};
  }
  return {};
}

std::vector<std::string_view> ignored_of(Kind kind) {
  std::vector<std::string_view> out(kOfAll.begin(), kOfAll.end());
  const std::span<const std::string_view> of_it = of_kind(kind);
  out.insert(out.end(), of_it.begin(), of_it.end());
  if (kind != Kind::claim) out.insert(out.end(), kOfConditions.begin(), kOfConditions.end());
  return out;
}

constexpr std::size_t kGatheredKeptMax = std::size_t{1} << 20;

// A random key of this process, which never leaves it.
std::uint64_t key() {
  static const std::uint64_t made = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  return made;
}

// The hash's secret, derived from the key once: XXH3 would derive it anew for each long text.
std::span<const std::uint8_t> secret() {
  static const auto made = [] {
    std::array<std::uint8_t, XXH3_SECRET_DEFAULT_SIZE> bytes{};
    XXH3_generateSecret_fromSeed(bytes.data(), key());
    return bytes;
  }();
  return made;
}

// Memory for the hashed bytes of a line, which are gathered: hashing them at once avoids the state
// of a streaming hash.
char* room_for(std::size_t bytes) {
  thread_local std::string room;
  if (room.size() > kGatheredKeptMax && bytes <= kGatheredKeptMax) std::string().swap(room);
  if (room.size() < bytes) room.resize(bytes);
  return room.data();
}

// By how much a character changes the depth.
constexpr std::array<int, 256> kDeeper = [] {
  std::array<int, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}();

// Eight bytes at a time; the last eight may overlap those before.
bool has_escape(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 0xff, kTops = kOnes << 7;
  if (text.size() < kWord) return text.find('\\') != std::string_view::npos;
  const auto any_in_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kWord);
    word ^= kOnes * '\\';  // makes each byte that is a backslash zero
    return ((word - kOnes) & ~word & kTops) != 0;
  };
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord)
    if (any_in_word(at)) return true;
  return any_in_word(text.size() - kWord);
}

}  // namespace

LineFingerprinter::LineFingerprinter(Kind kind) : kind_(kind), root_(&fields_of(kind)) {}

const LineField& LineFingerprinter::fields_of(Kind kind) {
  static std::mutex mutex;
  static std::map<Kind, LineField> known;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(kind);
  LineField& root = at->second;
  if (!is_new) return root;
  root.reach("type").reported = LineField::Reported::type;
  root.reach("type").left_out = true;  // a relist says ADDED of what was MODIFIED before
  LineField& object = root.reach("object");
  object.reach("metadata.namespace").reported = LineField::Reported::namespace_;
  object.reach("metadata.name").reported = LineField::Reported::name;
  object.reach("metadata.uid").reported = LineField::Reported::uid;
  object.reach("metadata.resourceVersion").reported = LineField::Reported::resource_version;
  for (const std::string_view path : ignored_of(kind)) object.reach(path).left_out = true;
  // Who wrote a quota is kept with a change of it, and is no change by itself: a controller that
  // writes a status changes the entry of its manager.
  object.reach("metadata.managedFields").read = has_quota_writers(kind);
  return root;
}

std::vector<std::string_view> LineFingerprinter::ignored() const { return ignored_of(kind_); }

// Walks over the places of a line once. The byte behind the text is valid in no position, and its
// place follows the last one, twice: so no step needs an end test.
class LineFingerprinter::Walk {
 public:
  using Place = const std::uint32_t*;

  Walk(const JsonIndex& line, std::vector<PlaceRange>& left_out, LineFingerprint& out)
      : text_(line.text().data()),
        size_(line.text().size()),
        first_(line.places().data()),
        last_(first_ + line.places().size()),
        left_out_(left_out),
        out_(out),
        kept_(room_for(size_)),
        kept_end_(kept_) {
    left_out_.clear();
  }

  bool walk(const LineField& root) {
    if (first_ == last_ || text_[*first_] != '{' || members(root, first_) != last_) return false;
    copy_up_to(size_);
    const std::span<const std::uint8_t> own = secret();
    const XXH128_hash_t hash = XXH3_128bits_withSecretandSeed(
        kept_, static_cast<std::size_t>(kept_end_ - kept_), own.data(), own.size(), key());
    out_.rest = {hash.low64, hash.high64};
    return true;
  }

 private:
  // Keeps the bytes between the last field that was left out and `end`.
  void copy_up_to(std::size_t end) {
    std::memcpy(kept_end_, text_ + copied_, end - copied_);
    kept_end_ += end - copied_;
    copied_ = end;
  }

  int deeper(Place at) const { return kDeeper[static_cast<unsigned char>(text_[*at])]; }

  // Returns the place behind the value at `at`, which it does not read; null if it has no end.
  Place skip(Place at) const {
    int depth = deeper(at++);
    if (depth < 0) return nullptr;
    if (depth == 0) return at;
    // Four places at a time, so that the end is tested less often.
    for (; last_ - at >= 4; at += 4)
      for (int i = 0; i < 4; ++i)
        if ((depth += deeper(at + i)) == 0) return at + i + 1;
    for (; at < last_; ++at)
      if ((depth += deeper(at)) == 0) return at + 1;
    return nullptr;
  }

  // Behind the value at `at`.
  Place value(const LineField& field, Place at) {
    if (field.reported != LineField::Reported::no) report(field.reported, at);
    if (field.below.empty()) return skip(at);
    if (text_[*at] == '{') return members(field, at);
    if (text_[*at] == '[') return items(field, at);
    return skip(at);
  }

  // Behind the object that begins at `at`.
  Place members(const LineField& object, Place at) {
    const char* const text = text_;  // (what is stored below could be it, for all a compiler knows)
    for (++at; text[*at] != '}';) {
      if (text[*at] == ',') ++at;
      // A name, its colon and something behind it.
      if (text[*at] != '"' || text[at[1]] != ':') return nullptr;
      const std::uint32_t begin = *at;
      const LineField* const field = object.find(string_at(at));
      at += 2;
      if (field == nullptr)
        at = deeper(at) == 0 ? at + 1 : skip(at);
      else
        at = field->left_out ? leave_out(*field, begin, at) : value(*field, at);
      if (at == nullptr || at > last_) return nullptr;
    }
    return at + 1;
  }

  // Behind the member that begins at `begin` with its name; its value is at `at`.
  Place leave_out(const LineField& field, std::uint32_t begin, Place at) {
    copy_up_to(begin);
    const bool reported = field.reported != LineField::Reported::no;
    if (reported) report(field.reported, at);
    const Place end = skip(at);
    if (end == nullptr || end >= last_) return nullptr;
    if (!reported && !field.read) left_out_.push_back({index_of(at), index_of(end)});
    copied_ = *end;
    return end;
  }
  std::size_t index_of(Place place) const { return static_cast<std::size_t>(place - first_); }

  // Behind the array that begins at `at`.
  Place items(const LineField& list, Place at) {
    const LineField* const each = list.find("*");
    if (each == nullptr) return skip(at);
    for (++at; text_[*at] != ']';) {
      if (text_[*at] == ',') ++at;
      at = value(*each, at);
      if (at == nullptr || at > last_) return nullptr;
    }
    return at + 1;
  }

  // Between the quotes, as it is spelt.
  std::string_view string_at(Place at) const {
    const std::size_t begin = *at + 1;
    std::size_t end = at[1];
    if (text_[end - 1] != '"')
      while (end > begin && JsonIndex::is_space(text_[end - 1])) --end;
    return end > begin ? std::string_view(text_ + begin, end - 1 - begin) : std::string_view{};
  }

  void report(LineField::Reported reported, Place at) {
    if (text_[*at] != '"') return;
    const std::string_view text = string_at(at);
    if (has_escape(text)) return;
    switch (reported) {
      case LineField::Reported::type: out_.type = text; break;
      case LineField::Reported::namespace_: out_.namespace_ = text; break;
      case LineField::Reported::name: out_.name = text; break;
      case LineField::Reported::uid: out_.uid = text; break;
      case LineField::Reported::resource_version: out_.resource_version = text; break;
      case LineField::Reported::no: break;
    }
  }

  const char* const text_;
  const std::size_t size_;
  const Place first_, last_;
  std::vector<PlaceRange>& left_out_;
  LineFingerprint& out_;
  char* const kept_;
  char* kept_end_;
  std::size_t copied_ = 0;  // bytes of the text that are kept or left out
};

std::optional<LineFingerprint> LineFingerprinter::fingerprint(
    const JsonIndex& line, std::vector<PlaceRange>& left_out) const {
  std::optional<LineFingerprint> out(std::in_place);
  if (!Walk(line, left_out, *out).walk(*root_)) out.reset();
  return out;
}

}  // namespace fairlead
