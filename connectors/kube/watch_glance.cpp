#include "connectors/kube/watch_glance.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
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
  std::vector<Field> below;
  bool left_out = false;
  Told told = Told::no;

  std::uint64_t sizes = 0;  // bit n: the name of a field below has n characters

  const Field* find(std::string_view key) const {
    if (key.size() >= 64 || (sizes >> key.size() & 1) == 0) return nullptr;
    for (const Field& field : below)
      if (field.name == key) return &field;
    return nullptr;
  }
  Field& reach(std::string_view path);
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

WatchGlancer::Field& WatchGlancer::Field::reach(std::string_view path) {
  Field* at = this;
  for (std::string& part : split(path)) {
    const auto has_name = [&](const Field& field) { return field.name == part; };
    at->sizes |= std::uint64_t{1} << part.size();
    const auto found = std::find_if(at->below.begin(), at->below.end(), has_name);
    at = found != at->below.end()
             ? &*found
             : &at->below.emplace_back(Field{std::move(part), {}, false, {}, 0});
  }
  return *at;
}

WatchGlancer::WatchGlancer(Kind kind) : kind_(kind), root_(std::make_unique<Field>()) {
  root_->reach("type").told = Field::Told::type;
  root_->reach("type").left_out = true;  // a relist says ADDED of what was MODIFIED before
  Field& object = root_->reach("object");
  object.reach("metadata.namespace").told = Field::Told::name_space;
  object.reach("metadata.name").told = Field::Told::name;
  object.reach("metadata.uid").told = Field::Told::uid;
  object.reach("metadata.resourceVersion").told = Field::Told::resource_version;
  for (const std::string_view path : ignored()) object.reach(path).left_out = true;
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
  Walk(const JsonIndex& line, std::vector<PlaceRange>& left_out)
      : text_(line.text()),
        first_(line.places().data()),
        last_(first_ + line.places().size()),
        at_(first_),
        left_out_(left_out) {
    left_out_.clear();
  }

  bool walk(const Field& root, WatchGlance& out) {
    if (here() != '{' || !members(root, out) || at_ != last_) return false;
    take_up_to(text_.size());
    const XXH128_hash_t hash = XXH3_128bits_withSeed(kept_.data(), kept_.size(), key());
    out.rest = {hash.low64, hash.high64};
    return true;
  }

 private:
  char here() const { return at_ != last_ ? text_[*at_] : '\0'; }

  // Keeps what lies between the last field that was left out and `end`.
  void take_up_to(std::size_t end) {
    kept_.append(text_, taken_, end - taken_);
    taken_ = end;
  }

  // Moves behind the value at at_ without a look inside.
  bool skip() {
    if (at_ == last_) return false;
    int depth = deeper(*at_++);
    if (depth < 0) return false;
    const std::uint32_t* at = at_;
    while (depth != 0) {
      if (at == last_) return false;
      depth += deeper(*at++);
    }
    at_ = at;
    return true;
  }

  // By how much what stands at a place changes the depth.
  int deeper(std::uint32_t place) const {
    static constexpr std::array<std::int8_t, 256> kChange = [] {
      std::array<std::int8_t, 256> change{};
      change['{'] = change['['] = 1;
      change['}'] = change[']'] = -1;
      return change;
    }();
    return kChange[static_cast<unsigned char>(text_[place])];
  }

  bool value(const Field& field, WatchGlance& out) {
    if (field.told != Field::Told::no) tell(field.told, out);
    if (field.below.empty()) return skip();
    if (here() == '{') return members(field, out);
    if (here() == '[') return items(field, out);
    return skip();
  }

  bool members(const Field& object, WatchGlance& out) {
    for (++at_; here() != '}';) {
      if (here() == ',') ++at_;
      // A name, its colon and something behind it.
      if (last_ - at_ < 3 || text_[*at_] != '"' || text_[at_[1]] != ':') return false;
      const std::uint32_t begin = *at_;
      const Field* const field = object.find(string_here());
      at_ += 2;
      if (field == nullptr  ? !skip()
          : field->left_out ? !leave_out(*field, begin, out)
                            : !value(*field, out))
        return false;
    }
    ++at_;
    return true;
  }

  // The member that begins at `begin` with its name; its value is at at_.
  bool leave_out(const Field& field, std::uint32_t begin, WatchGlance& out) {
    take_up_to(begin);
    const bool told = field.told != Field::Told::no;
    if (told) tell(field.told, out);
    const std::uint32_t* const value = at_;
    if (!skip() || at_ == last_) return false;
    if (!told) left_out_.push_back({index_of(value), index_of(at_)});
    taken_ = *at_;
    return true;
  }
  std::size_t index_of(const std::uint32_t* place) const {
    return static_cast<std::size_t>(place - first_);
  }

  bool items(const Field& list, WatchGlance& out) {
    const Field* const each = list.find("*");
    if (each == nullptr) return skip();
    for (++at_; here() != ']';) {
      if (here() == ',') ++at_;
      if (!value(*each, out)) return false;
    }
    ++at_;
    return true;
  }

  // Between the quotes, as it is spelt.
  std::string_view string_here() const {
    const std::size_t begin = *at_ + 1;
    std::size_t end = at_[1];
    if (text_[end - 1] != '"')
      while (end > begin && JsonIndex::is_space(text_[end - 1])) --end;
    return end > begin ? text_.substr(begin, end - 1 - begin) : std::string_view{};
  }

  void tell(Field::Told told, WatchGlance& out) const {
    if (here() != '"') return;
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
  const std::uint32_t* const first_;  // places
  const std::uint32_t* const last_;
  const std::uint32_t* at_;
  std::vector<PlaceRange>& left_out_;
  std::size_t taken_ = 0;  // bytes of text_ that are kept or left out
  std::string& kept_ = gathered();
};

std::optional<WatchGlance> WatchGlancer::glance(const JsonIndex& line,
                                                std::vector<PlaceRange>& left_out) const {
  WatchGlance out;
  if (!Walk(line, left_out).walk(*root_, out)) return std::nullopt;
  return out;
}

}  // namespace fairlead
