#include "engine/devices/fit/plan.h"

#include <algorithm>
#include <limits>

namespace fairlead::fitting {

namespace {

constexpr std::string_view kImplicit = "deviceclass.resource.kubernetes.io/";
constexpr std::int64_t kDevicesMax = 32;  // of a claim. Source: AllocationResultsMaxSize

// Whether the constraint applies to this ask: one that names a request covers its alternatives, one
// that names none covers all.
bool concerns(const DeviceConstraint& constraint, const std::string& request,
              const std::string& ask) {
  const auto& named = constraint.requests;
  return named.empty() || std::find(named.begin(), named.end(), request) != named.end() ||
         std::find(named.begin(), named.end(), ask) != named.end();
}

template <class Condition>
bool any_ask(const PodPlan& plan, const Condition& condition) {
  return std::any_of(plan.requests.begin(), plan.requests.end(), [&](const Request& request) {
    return std::any_of(request.asks.begin(), request.asks.end(), condition);
  });
}

}  // namespace

const std::string* matched_by(const ClaimPlan& claim, const Ask& ask) {
  for (const std::uint32_t number : ask.constraints)
    if (!claim.constraints[number]->match.empty()) return &claim.constraints[number]->match;
  return nullptr;
}

bool PodPlan::asks_admin() const {
  return any_ask(*this, [](const Ask& ask) { return ask.facts->admin; });
}
bool PodPlan::can_break() const {
  return any_ask(*this, [](const Ask& ask) { return ask.all() && !ask.constraints.empty(); });
}

Resolver::Resolver(ClusterDeviceIndex& devices, const FitQuestion& question)
    : devices_(devices), question_(question) {
  resolve_claims();
  if (!refusal_) find_classes();
  if (!refusal_) find_unsupported();
}

void Resolver::refuse(FitReason reason, std::string detail) {
  if (!refusal_) refusal_ = {reason, std::move(detail)};
}

void Resolver::resolve_claims() {
  for (const PodSetToFit& set : question_.pod_sets) {
    Entries& entries = entries_.emplace_back();
    // The set keeps its number in entries_, but asks for nothing.
    if (set.count <= 0) continue;
    for (const PodClaim& claim : set.pod->claims) {
      Entry& entry = entries.emplace_back();
      entry.name = claim.name;
      // An entry with neither name is reported as a claim that is not found.
      if (!claim.claim.empty() || claim.template_.empty()) {
        const auto found = question_.claim_of(claim.claim);
        if (!found) return refuse(FitReason::claim_not_found, claim.claim);
        entry.named = &claim.claim;
        entry.claim = *found;
        const bool pinned = found->facts->allocation || found->reserved;
        if (!pinned) entry.spec = &found->facts->spec;
      } else {
        const auto* found = question_.template_of(claim.template_);
        if (!found) return refuse(FitReason::template_not_found, claim.template_);
        entry.spec = &found->spec;
      }
    }
    resolve_extended(*set.pod, entries);
  }
}

// Each extended resource that devices give is a claim of one request, both named like it.
void Resolver::resolve_extended(const PodDeviceFacts& pod, Entries& entries) {
  for (const auto& [resource, count] : pod.extended) {
    const bool implicit = resource.starts_with(kImplicit);
    if (!implicit && !question_.extended.contains(resource)) continue;
    DeviceAsk ask;
    ask.count = count;
    if (const std::string* given = devices_.class_giving(resource))
      ask.device_class = *given;
    else if (implicit)
      ask.device_class = resource.substr(kImplicit.size());
    Entry& entry = entries.emplace_back();
    entry.name = entry.extended = resource;
    entry.no_class = ask.device_class.empty();
    DeviceRequest request;
    request.name = resource;
    request.asks.push_back(std::move(ask));
    // A deque: entries and asks keep pointing into it.
    entry.spec = &made_.emplace_back(DeviceClaimSpec{{std::move(request)}, {}});
  }
}

void Resolver::find_classes() {
  for (const Entries& entries : entries_)
    for (const Entry& entry : entries) {
      if (!entry.spec || entry.no_class) continue;
      for (const DeviceRequest& request : entry.spec->requests)
        for (const DeviceAsk& ask : request.asks)
          if (!devices_.find_class(ask.device_class))
            return refuse(FitReason::class_not_found, ask.device_class);
    }
}

void Resolver::find_unsupported() {
  for (const Entries& entries : entries_)
    for (const Entry& entry : entries) {
      if (!entry.spec) continue;
      if (auto what = unsupported(entry)) return refuse(FitReason::unsupported, std::move(*what));
    }
}

std::optional<std::string> Resolver::unsupported(const Entry& entry) const {
  for (const DeviceRequest& request : entry.spec->requests)
    if (auto what = unsupported(entry, request)) return what;
  for (const DeviceConstraint& constraint : entry.spec->constraints)
    if (constraint.match.empty() && constraint.distinct.empty())
      return "a constraint of " + entry.name;
  if (too_many(entry)) return "more than 32 devices of " + entry.name;
  return std::nullopt;
}

std::optional<std::string> Resolver::unsupported(const Entry& entry,
                                                 const DeviceRequest& request) const {
  const std::string name = entry.name + "/" + request.name;
  if (request.asks.empty()) return "the kind of " + name;
  for (const DeviceAsk& ask : request.asks) {
    if (ask.mode == AllocationMode::unknown) return "allocationMode of " + name;
    if (entry.no_class) continue;
    // Not null: find_classes() refuses a question with a class that is missing.
    const auto& of_class = devices_.find_class(ask.device_class)->selectors;
    if (auto what = unsupported(of_class, kCelStepsMax, "class " + ask.device_class)) return what;
    if (auto what = unsupported(ask.selectors, kCelRequestStepsMax, name)) return what;
  }
  return std::nullopt;
}

std::optional<std::string> Resolver::unsupported(const std::vector<DeviceSelector>& selectors,
                                                 int steps_max, const std::string& of) const {
  SelectorLists& lists = devices_.selectors();
  for (const DeviceSelector& selector : selectors) {
    if (!selector.cel) return "a selector of " + of;
    const CelSelector& text = lists.selector(lists.intern_text(selector, steps_max));
    if (!text.supported()) return "a selector of " + of + ": " + text.unsupported();
  }
  return std::nullopt;
}

bool Resolver::too_many(const Entry& entry) const {
  std::int64_t sum = 0;
  for (const DeviceRequest& request : entry.spec->requests) {
    std::int64_t least = kDevicesMax + 1;
    for (const DeviceAsk& ask : request.asks)
      // "All" is at least one device; how many depends on the node (PodSolver::exceeds_results).
      least = std::min(least, ask.mode == AllocationMode::all ? 1 : ask.count);
    sum += least;
  }
  if (sum <= kDevicesMax || entry.extended.empty()) return sum > kDevicesMax;
  // A node whose device plugin offers the resource is asked for no device.
  const auto& nodes = devices_.nodes();
  return std::none_of(nodes.begin(), nodes.end(), [&](const DeviceNode* node) {
    return node->facts->allocatable.find(entry.extended).value_or(0) > 0;
  });
}

void Resolver::add_claim(const Entry& entry, std::uint32_t order, PodPlan& plan) const {
  const auto index = static_cast<std::uint32_t>(plan.claims.size());
  ClaimPlan& claim = plan.claims.emplace_back();
  claim.entry = entry.name;
  claim.order = order;
  for (const DeviceConstraint& constraint : entry.spec->constraints)
    claim.constraints.push_back(&constraint);
  for (const DeviceRequest& asked : entry.spec->requests) {
    Request& request = plan.requests.emplace_back();
    request.claim = index;
    request.name = asked.name;
    request.extended = entry.extended;
    for (const DeviceAsk& facts : asked.asks) {
      Ask& ask = request.asks.emplace_back();
      ask.facts = &facts;
      ask.name = asked.alternatives ? asked.name + "/" + facts.name : asked.name;
      ask.nothing = entry.no_class;
      if (ask.all()) ask.all_number = plan.alls++;
      for (std::uint32_t i = 0; i < claim.constraints.size(); ++i)
        if (concerns(*claim.constraints[i], asked.name, ask.name)) ask.constraints.push_back(i);
      if (entry.no_class) continue;
      const auto& of_class = devices_.find_class(facts.device_class)->selectors;
      ask.of_class = of_class.size();
      ask.list = devices_.selectors().intern(of_class, facts.selectors);
    }
  }
}

PodPlan Resolver::plan(std::size_t pod_set, std::vector<std::string>& solved) const {
  PodPlan plan;
  plan.pod = question_.pod_sets[pod_set].pod;
  for (const Entry& entry : entries_[pod_set]) {
    const auto order = static_cast<std::uint32_t>(plan.entries.size());
    plan.entries.push_back(entry.name);
    if (!entry.spec) {
      const bool allocated = entry.claim.facts->allocation.has_value();
      plan.pins.push_back({order, allocated ? entry.claim.facts : nullptr,
                           allocated ? nullptr : entry.claim.reserved, std::nullopt});
      continue;
    }
    if (!entry.named) {
      add_claim(entry, order, plan);
      continue;
    }
    const auto at = std::find(solved.begin(), solved.end(), *entry.named);
    const auto number = static_cast<std::uint32_t>(at - solved.begin());
    if (at != solved.end()) {
      plan.pins.push_back({order, nullptr, nullptr, number});
      continue;
    }
    solved.push_back(*entry.named);
    add_claim(entry, order, plan);
    plan.claims.back().named = number;
  }
  return plan;
}

GangPlan Resolver::gang(std::size_t pod_sets) const {
  GangPlan gang;
  std::vector<std::string> solved;
  std::int64_t pods = 0;
  for (std::size_t set = 0; set < pod_sets; ++set) {
    // Pods without claims need no node.
    std::int64_t left = entries_[set].empty() ? 0 : question_.pod_sets[set].count;
    while (left > 0) {
      const std::size_t before = solved.size();
      gang.plans.push_back(plan(set, solved));
      // The first pod that names a claim is solved with it, and so is not like those after it.
      const std::int64_t count = solved.size() > before ? 1 : left;
      // Claims that are new with this plan are solved with its one pod. A second plan of the set
      // finds none that are new, so a set has two plans at most.
      gang.solvers.resize(solved.size(), pods);
      gang.runs.push_back({static_cast<std::uint32_t>(set),
                           static_cast<std::uint32_t>(gang.plans.size() - 1), count});
      pods += count;
      left -= count;
    }
  }
  return gang;
}

GangPlan Resolver::alone(std::size_t pod_set) const {
  GangPlan gang;
  if (entries_[pod_set].empty()) return gang;
  std::vector<std::string> solved;
  gang.plans.push_back(plan(pod_set, solved));
  gang.solvers.resize(solved.size(), 0);
  gang.runs.push_back({static_cast<std::uint32_t>(pod_set), 0, 1});
  return gang;
}

GangPlan Resolver::each_alone() const {
  GangPlan plans;
  for (std::size_t set = 0; set < entries_.size(); ++set) {
    GangPlan one = alone(set);
    plans.plans.push_back(one.plans.empty() ? PodPlan() : std::move(one.plans.front()));
  }
  return plans;
}

std::vector<std::string> Resolver::classes() const {
  std::set<std::string> names;
  for (const Entries& entries : entries_)
    for (const Entry& entry : entries)
      if (entry.spec && !entry.no_class)
        for (const DeviceRequest& request : entry.spec->requests)
          for (const DeviceAsk& ask : request.asks)
            if (devices_.find_class(ask.device_class)) names.insert(ask.device_class);
  return {names.begin(), names.end()};
}

}  // namespace fairlead::fitting
