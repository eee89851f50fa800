#include "replay/audit/audit_moment.h"

#include <algorithm>
#include <memory>
#include <set>

#include "engine/base/spelling.h"
#include "engine/fold/capacity/capacity.h"
#include "engine/fold/evolve.h"
#include "engine/fold/queues/queues.h"
#include "replay/audit/effective.h"
#include "replay/beginning.h"
#include "schema/event_json.h"

namespace fairlead {

std::string plural_of(Kind kind) {
  std::string name(info(kind).name);
  if (name.ends_with('s')) return name;
  if (!name.ends_with("y")) return name + "s";
  name.pop_back();
  return name + "ies";
}

namespace {

constexpr std::size_t kNearbyMax = 5;
// At most so many events are read to reach the next wanted one: beyond that, a new seek costs less.
constexpr std::uint64_t kPassedOverMax = 128;

Error bad_input(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }

Error begins_later(const ReadableLog& log, const std::string& asked) {
  std::string begin = "seq " + std::to_string(log.first_seq().value);
  EventLookup lookup(log);
  if (const Event* first = lookup.at(log.first_seq()))
    begin = to_rfc3339(first->log_time) + " (" + begin + ")";
  return bad_input(asked + " is before the log begins: " + begin);
}

// Returns the state after `seq`. A state that pruning removed is not a fault of the log but
// `bad_input`: the caller must ask for a later place.
Result<State> known_state(const AuditSource& source, Seq seq) {
  const ReadableLog& log = source.log;
  auto state = state_at(log, source.snapshots, seq, source.progress);
  if (state || state.error().code != ErrorCode::not_found || log.first_seq() <= Seq{1})
    return state;
  const auto oldest = oldest_beginning(log, source.snapshots);
  if (!oldest) return oldest.error();
  if (!*oldest && seq >= log.first_seq()) return state;  // no state of this log can be folded
  return bad_input("the state at seq " + std::to_string(seq.value) +
                   " is not known: the log was pruned and begins at seq " +
                   std::to_string(log.first_seq().value) +
                   (*oldest ? ", the first known state is that of seq " +
                                  std::to_string((*oldest)->state.seq.value)
                            : ", and no good snapshot holds what was before"));
}

std::string node_words(const NodeFacts& node, const ResourceAliases& aliases,
                       const std::string& resource) {
  std::string words = node.ready ? "Ready" : "NotReady";
  if (node.unschedulable) words += ", cordoned";
  for (const Taint& taint : node.taints) words += ", taint " + taint.key + ":" + taint.effect;
  const auto amounts = canonical_amounts(node.allocatable, aliases);
  const auto amount = amounts.find(resource);
  if (amount != amounts.end())
    words += ", " + resource + " " + amount_text(resource, amount->second);
  return words;
}

std::string slice_words(const ResourceSliceFacts& slice) {
  const auto tainted = std::count_if(
      slice.devices.begin(), slice.devices.end(),
      [](const DeviceFacts& device) { return device.extras && !device.extras->taints.empty(); });
  return "generation " + std::to_string(slice.generation) + " of pool " + slice.driver + "/" +
         slice.pool + ", " + std::to_string(slice.devices.size()) +
         (slice.devices.size() == 1 ? " device" : " devices") +
         (tainted > 0 ? ", " + std::to_string(tainted) + " tainted" : "");
}

std::string object_words(const std::string& source, const ObjectKey& key) {
  std::string words = std::string(info(key.kind).name) + " " +
                      (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name;
  return source == kHub ? words : words + " of " + source;
}

std::string source_words(const Event& event, const std::optional<Kind>& kind,
                         const std::string& cluster, const char* what) {
  const std::string of =
      kind ? plural_of(*kind) + " of " + event.source : "capacity sources of " + cluster;
  return of + " " + what;
}

}  // namespace

Seq last_seq_of(const AuditSource& source) {
  return source.present ? source.present->seq : source.log.last_seq();
}

// By seq: the state behind that event, closed as if its moment ended there, although more events of
// the same log time may follow. By time: the state behind the last event until then, with every
// deadline until then. So the same place in history may have two answers, each of what was asked.
Result<Moment> moment_at(const AuditSource& source, const AuditPosition& position) {
  const ReadableLog& log = source.log;
  if (auto known = expect_before_damage(log, position); !known) return known.error();
  if (log.last_seq() == Seq{}) return bad_input("the log is empty");
  Moment moment;
  DirtySet dirty;
  if (const auto* seq = std::get_if<Seq>(&position)) {
    if (*seq > log.last_seq())
      return bad_input("seq " + std::to_string(seq->value) + " is behind the end of the log: seq " +
                       std::to_string(log.last_seq().value) + " at " + to_rfc3339(log.last_time()));
    if (*seq == Seq{}) return begins_later(log, "seq 0");
    if (source.present && source.present->seq == *seq) {
      moment.state = *source.present;
    } else {
      auto state = known_state(source, *seq);
      if (!state) return state.error();
      moment.state = *std::move(state);
      close_moment(moment.state, dirty);
    }
    moment.asked = moment.event_time = moment.state.now;
    return moment;
  }
  const LogTime time = std::get<LogTime>(position);
  auto last = log.last_at(time);
  if (!last && last.error().code == ErrorCode::gone) return begins_later(log, to_rfc3339(time));
  if (!last) return last.error();
  if (*last == Seq{}) return begins_later(log, to_rfc3339(time));
  auto state = known_state(source, *last);
  if (!state) return state.error();
  moment.state = *std::move(state);
  moment.event_time = moment.state.now;
  run_until(moment.state, std::max(time, moment.state.now), dirty);
  moment.asked = time;
  return moment;
}

Json as_of_json(const Moment& moment) {
  return {{"seq", moment.state.seq.value},
          {"time", to_rfc3339(moment.asked)},
          {"eventTime", to_rfc3339(moment.event_time)}};
}

Json configuration_json(const State& state) {
  return {{"seq", state.configuration_seq.value},
          {"digest", sha256(to_text(to_json(state.configuration))).hex()}};
}

void EventLookup::expect(std::vector<Seq> seqs) {
  std::sort(seqs.begin(), seqs.end());
  std::unique_ptr<EventReader> reader;
  Seq there;  // what it reads next
  for (const Seq seq : seqs) {
    if (seq == Seq{} || seq < log_.first_seq() || read_.contains(seq)) continue;
    if (!reader || seq < there || seq.value - there.value > kPassedOverMax) {
      auto opened = log_.read(seq);
      // What cannot be read is left to at(), which returns null for it.
      if (!opened) continue;
      reader = *std::move(opened);
      there = seq;
    }
    for (; reader && there <= seq; there = next(there)) {
      auto event = reader->next();
      if (!event || !*event)
        reader.reset();
      else if (there == seq && (*event)->seq == seq)
        read_[seq] = std::move(**event);
    }
  }
}

const Event* EventLookup::at(Seq seq) {
  const auto known = read_.find(seq);
  if (known != read_.end()) return known->second ? &*known->second : nullptr;
  // Kept even if it stays empty: a seq that cannot be read is not tried again.
  std::optional<Event>& event = read_[seq];
  if (seq == Seq{} || seq < log_.first_seq()) return nullptr;
  if (auto reader = log_.read(seq); reader)
    if (auto next = (*reader)->next(); next && *next && (*next)->seq == seq)
      event = std::move(**next);
  return event ? &*event : nullptr;
}

Json EventLookup::place(Seq seq) {
  if (seq == Seq{}) return nullptr;
  const Event* event = at(seq);
  Json place{{"seq", seq.value}, {"time", event ? Json(to_rfc3339(event->log_time)) : Json()}};
  if (seq < log_.first_seq()) place["pruned"] = true;
  return place;
}

std::string name_of(const NamespacedName& id) { return id.first + "/" + id.second; }

bool is_pruned(const Json& place) { return place.is_object() && place.contains("pruned"); }

std::string what_happened(const Event& event, const ResourceAliases& aliases,
                          const std::string& resource) {
  if (const auto* gone = std::get_if<ObjectGone>(&event.fact))
    return object_words(event.source, gone->key) + " gone";
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
    const std::string object = object_words(event.source, seen->key);
    if (const auto* node = std::get_if<NodeFacts>(&seen->facts))
      return object + ": " + node_words(*node, aliases, resource);
    if (const auto* metrics = std::get_if<ClusterMetricsFacts>(&seen->facts))
      return object + ": " + std::to_string(metrics->nodes.size()) +
             (metrics->nodes.size() == 1 ? " node" : " nodes");
    if (const auto* slice = std::get_if<ResourceSliceFacts>(&seen->facts))
      return object + ": " + slice_words(*slice);
    if (std::holds_alternative<ClaimFacts>(seen->facts))
      return object + ": generation " + std::to_string(seen->generation);
    return object + " changed";
  }
  if (const auto* synced = std::get_if<SourceSynced>(&event.fact))
    return source_words(event, synced->kind, synced->cluster, "live");
  if (const auto* stale = std::get_if<SourceStale>(&event.fact))
    return source_words(event, stale->kind, stale->cluster, "stale");
  if (const auto* lost = std::get_if<SourceLost>(&event.fact))
    return source_words(event, lost->kind, lost->cluster, "lost");
  return std::string(fact_name(event.fact));
}

std::string nearby(const std::vector<std::string>& names, const std::string& wanted) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : std::set<std::string>(names.begin(), names.end()))
    ranked.emplace_back(edit_distance(name, wanted), name);
  std::sort(ranked.begin(), ranked.end());
  std::string list;
  for (std::size_t i = 0; i < std::min(ranked.size(), kNearbyMax); ++i)
    list += (list.empty() ? "" : ", ") + ranked[i].second +
            (i == 0 && ranked[i].second != wanted && is_near(ranked[i].second, wanted)
                 ? " (did you mean this?)"
                 : "");
  if (ranked.size() > kNearbyMax)
    list += " and " + std::to_string(ranked.size() - kNearbyMax) + " more";
  return list.empty() ? "none" : list;
}

Result<void> check_queue_named(const State& state, const std::string& queue) {
  if (state.queues.by_name.contains(queue) || state.claims.of_queue.contains(queue)) return {};
  std::vector<std::string> names;
  for (const auto& [name, known] : state.queues.by_name) names.push_back(name);
  for (const auto& [name, claims] : state.claims.of_queue) names.push_back(name);
  return bad_input("no ClusterQueue is called \"" + queue + "\" at seq " +
                   std::to_string(state.seq.value) + "; known: " + nearby(names, queue));
}

std::vector<KnownPair> pairs_of_queue(const State& state, const std::string& queue) {
  std::vector<KnownPair> pairs;
  std::set<QuotaKey> listed;
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  const auto at = state.queues.by_name.find(queue);
  if (at != state.queues.by_name.end() && at->second.present)
    for (const ResourceGroup& group : at->second.facts.groups)
      for (const FlavorQuotas& flavor : group.flavors)
        for (const ResourceQuota& quota : flavor.resources) {
          const QuotaKey key{flavor.name, canonical_resource(aliases, quota.name)};
          listed.insert(key);
          pairs.push_back({queue, key, quota.name});  // each spelling, even of one resource
        }
  for (const QuotaKey& key : owned_pairs(state, queue))
    if (listed.insert(key).second) pairs.push_back({queue, key, key.resource});
  for (KnownPair& pair : pairs_of_override(state, queue))
    if (listed.insert(pair.key).second) pairs.push_back(std::move(pair));
  return pairs;
}

Result<KnownPair> find_pair_named(const State& state, const AuditPair& pair) {
  if (auto known = check_queue_named(state, pair.queue); !known) return known.error();
  const std::string& canonical =
      canonical_resource(state.configuration.resource_aliases, pair.resource);
  std::vector<std::string> flavors, resources;
  const std::vector<KnownPair> all = pairs_of_queue(state, pair.queue);
  for (const KnownPair& known : all)
    // As it is spelled first: a queue may list an alias and the resource behind it side by side.
    if (known.key.flavor == pair.flavor && known.spelled == pair.resource) return known;
  for (const KnownPair& known : all) {
    if (known.key.flavor == pair.flavor && known.key.resource == canonical) return known;
    flavors.push_back(known.key.flavor);
    if (known.key.flavor == pair.flavor) resources.push_back(known.spelled);
  }
  const std::string where =
      "ClusterQueue " + pair.queue + " at seq " + std::to_string(state.seq.value);
  if (resources.empty())
    return bad_input(where + " has no flavor \"" + pair.flavor +
                     "\"; it has: " + nearby(flavors, pair.flavor));
  return bad_input(where + " has no resource \"" + pair.resource + "\" in flavor " + pair.flavor +
                   "; it has: " + nearby(resources, pair.resource));
}

std::optional<Amount> current_nominal(const State& state, const KnownPair& pair) {
  const auto at = state.queues.by_name.find(pair.queue);
  if (at == state.queues.by_name.end() || !at->second.present) return std::nullopt;
  const ResourceQuota* quota = find_quota(at->second.facts.groups, pair.key.flavor, pair.spelled);
  if (!quota) return std::nullopt;
  return to_amount(pair.key.resource, quota->nominal);
}

Json PairAtMoment::text(std::optional<Int128> amount) const {
  return amount ? Json(amount_text(pair.key.resource, *amount)) : Json();
}

Json PairAtMoment::desired() const { return ours && !quota.unknown ? text(quota.nominal) : Json(); }

Json PairAtMoment::answer(const char* kind) const {
  return {{"kind", kind},
          {"asOf", as_of_json(moment)},
          {"configuration", configuration_json(state())},
          {"queue", pair.queue},
          {"flavor", pair.key.flavor},
          {"resource", pair.spelled}};
}

Result<PairAtMoment> pair_at(const AuditSource& source, const AuditPair& asked,
                             const AuditPosition& as_of) {
  auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  auto pair = find_pair_named(moment->state, asked);
  if (!pair) return pair.error();
  const State& state = moment->state;
  HubQuota quota = hub_quota(state, pair->queue, pair->key);
  const bool ours = owned_pairs(state, pair->queue).contains(pair->key);
  const auto current = current_nominal(state, *pair);
  return PairAtMoment{*std::move(moment), *std::move(pair), std::move(quota), ours, current};
}

Json time_json(std::optional<LogTime> time) {
  return time && *time != kForever ? Json(to_rfc3339(*time)) : Json();
}

}  // namespace fairlead
