#include "connectors/kube/watch_glance.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>
#include <string>

namespace fairlead {
namespace {

// Fields of the object that its projection does not read, by kind; `*` is every item of a list.
// What is not named here counts, so that a field a projection begins to read is safe by itself. The
// test of this file holds each entry against the projections.
constexpr std::array<std::string_view, 3> kOfAll{
    "metadata.managedFields",
    "metadata.resourceVersion",
    "metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration",
};
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
constexpr std::array<std::string_view, 6> kOfClusterQueues{
    "status.pendingWorkloads",   "status.reservingWorkloads",     "status.admittedWorkloads",
    "status.flavorsReservation", "status.pendingWorkloadsStatus", "status.fairSharing",
};
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

// Workloads are many and their specs are long: of the status, what says where one runs.
constexpr std::array<std::string_view, 17> kOfWorkloads{
    "metadata.labels",
    "metadata.annotations",
    "metadata.ownerReferences",
    "spec",
    "status.admission",
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
};
constexpr std::array<std::string_view, 1> kOfDecisions{"status.decisions.*.reason"};
constexpr std::array<std::string_view, 4> kOfProfiles{"spec", "status.conditions", "status.version",
                                                      "status.properties"};
constexpr std::array<std::string_view, 1> kSpec{"spec"};
constexpr std::array<std::string_view, 2> kOfDefinitions{"spec.conversion", "status"};

std::span<const std::string_view> of_kind(Kind kind) {
  switch (kind) {
    case Kind::node: return kOfNodes;
    case Kind::cluster_queue: return kOfClusterQueues;
    case Kind::cluster_metrics: return kOfClusterMetrics;
    case Kind::managed_cluster: return kOfManagedClusters;
    case Kind::manifest_work: return kOfWorks;
    case Kind::workload: return kOfWorkloads;
    case Kind::placement_decision: return kOfDecisions;
    case Kind::cluster_profile: return kOfProfiles;
    case Kind::addon_placement_score: return kSpec;
    case Kind::custom_resource_definition: return kOfDefinitions;
    case Kind::local_queue:
    case Kind::multikueue_config:
    case Kind::placement: return kStatus;
    default: return {};
  }
}

constexpr std::size_t kGatheredKeptMax = std::size_t{1} << 20;

// Of this process, known to nobody.
std::uint64_t key() {
  static const std::uint64_t made = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  return made;
}

// What is hashed of a line, gathered: a hash in one go has none of the cost of a stream's state.
std::string& gathered() {
  thread_local std::string bytes;
  if (bytes.capacity() > kGatheredKeptMax) std::string().swap(bytes);
  bytes.clear();
  return bytes;
}

}  // namespace

// A node of the tree of named fields. Leaves are left out of the hash; some are told.
struct WatchGlancer::Field {
  enum class Told : std::uint8_t { no, type, name_space, name, uid, resource_version };
  std::string name;
  std::vector<std::size_t> below;
  bool left_out = false;
  Told told = Told::no;
};

namespace {

// Splits at dots; a backslash keeps the next character.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.')
      parts.emplace_back();
    else
      parts.back() += path[i] == '\\' ? path[++i] : path[i];
  }
  return parts;
}

}  // namespace

WatchGlancer::WatchGlancer(Kind kind) : kind_(kind), fields_(1) {
  const auto reach = [this](std::string_view path) {
    std::size_t at = 0;
    for (const std::string& part : split(path)) {
      std::size_t next = 0;
      for (const std::size_t child : fields_[at].below)
        if (fields_[child].name == part) next = child;
      if (next == 0) {
        next = fields_.size();
        fields_[at].below.push_back(next);
        fields_.push_back({part, {}, false, Field::Told::no});
      }
      at = next;
    }
    return at;
  };
  const auto tell = [&](std::string_view path, Field::Told told) {
    fields_[reach(path)].told = told;
  };
  tell("type", Field::Told::type);
  fields_[reach("type")].left_out = true;  // a relist says ADDED of what was MODIFIED before
  tell("object.metadata.namespace", Field::Told::name_space);
  tell("object.metadata.name", Field::Told::name);
  tell("object.metadata.uid", Field::Told::uid);
  tell("object.metadata.resourceVersion", Field::Told::resource_version);
  for (const std::string_view path : ignored())
    fields_[reach("object." + std::string(path))].left_out = true;
}

WatchGlancer::~WatchGlancer() = default;
WatchGlancer::WatchGlancer(WatchGlancer&&) noexcept = default;
WatchGlancer& WatchGlancer::operator=(WatchGlancer&&) noexcept = default;

std::vector<std::string_view> WatchGlancer::ignored() const {
  std::vector<std::string_view> out(kOfAll.begin(), kOfAll.end());
  for (const auto list : {std::span<const std::string_view>(kOfConditions), of_kind(kind_)})
    out.insert(out.end(), list.begin(), list.end());
  return out;
}

// Goes over the places of a line once.
class WatchGlancer::Walk {
 public:
  Walk(const JsonIndex& line, const std::vector<Field>& fields, std::vector<PlaceRange>& left_out)
      : text_(line.text()), places_(line.places()), fields_(fields), left_out_(left_out) {
    left_out_.clear();
  }

  bool walk(WatchGlance& out) {
    if (here() != '{' || !value(0, out) || at_ != places_.size()) return false;
    take_up_to(text_.size());
    const XXH128_hash_t hash = XXH3_128bits_withSeed(kept_.data(), kept_.size(), key());
    out.rest = {hash.low64, hash.high64};
    return true;
  }

 private:
  char here() const { return at_ < places_.size() ? text_[places_[at_]] : '\0'; }

  // Keeps what lies between the last field that was left out and `end`.
  void take_up_to(std::size_t end) {
    kept_.append(text_.substr(taken_, end - taken_));
    taken_ = end;
  }

  // Moves behind the value at at_ without a look inside.
  bool skip() {
    // Bit 5 makes [ and { alike, and ] and }.
    const auto bracket = [this](std::size_t at) { return text_[places_[at]] | 0x20; };
    const std::size_t end = places_.size();
    std::size_t at = at_;
    if (at >= end || bracket(at) == '}') return false;
    if (bracket(at++) == '{')
      for (std::size_t depth = 1; depth != 0; ++at) {
        if (at >= end) return false;
        const int c = bracket(at);
        depth += c == '{';
        depth -= c == '}';
      }
    at_ = at;
    return true;
  }

  bool value(std::size_t field, WatchGlance& out) {
    const Field& known = fields_[field];
    if (known.told != Field::Told::no && here() == '"') tell(known.told, out);
    if (known.below.empty()) return skip();
    if (here() == '{') return members(known, out);
    if (here() == '[') return items(known, out);
    return skip();
  }

  bool members(const Field& object, WatchGlance& out) {
    for (++at_; here() != '}';) {
      if (here() == ',') ++at_;
      const std::size_t begin = at_ < places_.size() ? places_[at_] : text_.size();
      if (here() != '"') return false;
      const std::string_view name = string_here();
      ++at_;
      if (here() != ':') return false;
      ++at_;
      const std::size_t field = below(object, name);
      if (field == 0) {
        if (!skip()) return false;
        continue;
      }
      if (!fields_[field].left_out) {
        if (!value(field, out)) return false;
        continue;
      }
      take_up_to(begin);
      const bool told = fields_[field].told != Field::Told::no;
      if (told && here() == '"') tell(fields_[field].told, out);
      const std::size_t value = at_;
      if (!skip() || at_ >= places_.size()) return false;
      if (!told) left_out_.push_back({value, at_});
      taken_ = places_[at_];
    }
    ++at_;
    return true;
  }

  bool items(const Field& list, WatchGlance& out) {
    const std::size_t each = below(list, "*");
    if (each == 0) return skip();
    for (++at_; here() != ']';) {
      if (here() == ',') ++at_;
      if (at_ >= places_.size() || !value(each, out)) return false;
    }
    ++at_;
    return true;
  }

  std::size_t below(const Field& field, std::string_view name) const {
    for (const std::size_t child : field.below)
      if (fields_[child].name == name) return child;
    return 0;
  }

  // Between the quotes, as it is spelt.
  std::string_view string_here() const {
    const std::size_t begin = places_[at_] + 1;
    std::size_t end = at_ + 1 < places_.size() ? places_[at_ + 1] : text_.size();
    if (text_[end - 1] != '"')
      while (end > begin && JsonIndex::is_space(text_[end - 1])) --end;
    return end > begin ? text_.substr(begin, end - 1 - begin) : std::string_view{};
  }

  void tell(Field::Told told, WatchGlance& out) const {
    const std::string_view text = string_here();
    if (text.find('\\') != std::string_view::npos) return;
    switch (told) {
      case Field::Told::type: out.type = text; break;
      case Field::Told::name_space: out.name_space = text; break;
      case Field::Told::name: out.name = text; break;
      case Field::Told::uid: out.uid = text; break;
      case Field::Told::resource_version: out.resource_version = text; break;
      case Field::Told::no: break;
    }
  }

  const std::string_view text_;
  const std::span<const std::uint32_t> places_;
  const std::vector<Field>& fields_;
  std::vector<PlaceRange>& left_out_;
  std::size_t at_ = 0;     // in places_
  std::size_t taken_ = 0;  // bytes of text_ that are kept or left out
  std::string& kept_ = gathered();
};

std::optional<WatchGlance> WatchGlancer::glance(const JsonIndex& line,
                                                std::vector<PlaceRange>& left_out) const {
  WatchGlance out;
  if (!Walk(line, fields_, left_out).walk(out)) return std::nullopt;
  return out;
}

}  // namespace fairlead
