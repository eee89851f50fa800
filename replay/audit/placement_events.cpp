// `audit history` of the super cluster pool, and the decisions behind `why` and `why-not`.
#include "replay/audit/placement_events.h"

#include <algorithm>
#include <set>

#include "engine/base/resource_version.h"
#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/shares.h"
#include "replay/audit/audit_span.h"
#include "replay/audit/event_changes.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/unseen.h"
#include "replay/beginning.h"

namespace fairlead {

namespace {

Error unknown_name(const State& state, const std::string& what, const std::string& name,
                   const std::vector<std::string>& known) {
  return {ErrorCode::bad_input, what + " \"" + name + "\" at seq " +
                                    std::to_string(state.seq.value) +
                                    "; known: " + nearby(known, name)};
}

template <typename Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// ---- what happened, in words ----

std::string amounts_words(const std::map<std::string, Amount>& amounts) {
  std::string words;
  for (const auto& [resource, amount] : amounts) {
    const bool is_cpu = resource == "cpu" || resource == "requests.cpu";
    words += (words.empty() ? "" : ", ") + resource + " " +
             amount_text(is_cpu                         ? "cpu"
                         : resource.ends_with("memory") ? "memory"
                                                        : resource,
                         amount);
  }
  return words;
}

std::string facts_words(const Facts& facts) {
  if (const auto* quota = std::get_if<ResourceQuotaFacts>(&facts))
    return amounts_words(quota->hard) + (quota->scoped ? ", scoped: it does not count" : "");
  if (const auto* pod = std::get_if<PodFacts>(&facts))
    return amounts_words(pod->requests.to_map()) +
           (pod->super_cluster ? ", superCluster " + *pod->super_cluster : "") +
           (pod->bound ? ", bound" : "") + (pod->over ? ", over" : "") +
           (pod->deleting ? ", deleted" : "");
  if (const auto* of = std::get_if<NamespaceFacts>(&facts))
    return "placements " + of->placements.value_or("none") +
           (of->slice ? ", slice " + *of->slice : "") + (of->deleting ? ", deleted" : "");
  if (const auto* info = std::get_if<ConfigMapFacts>(&facts))
    return "id " + info->id.value_or("none");
  return "";
}

std::string pool_event_words(const Event& event, const State& state) {
  std::string words = what_happened(event, state.configuration.resource_aliases, "cpu");
  if (const auto* intent = std::get_if<PatchIntended>(&event.fact))
    return "our write of " + std::string(info(intent->target.kind).name) + " " +
           intent->target.name + " of " + intent->cluster;
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const std::string said = seen ? facts_words(seen->facts) : "";
  if (said.empty()) return words;
  constexpr std::string_view kChanged = " changed";
  if (words.ends_with(kChanged)) words.resize(words.size() - kChanged.size());
  return words + ": " + said;
}

// ---- where the object is placed ----

// The value of the annotation: a map, so that order and spelling do not matter; a text where it
// cannot be read.
Json value_of(const Facts& facts) {
  if (const auto* pod = std::get_if<PodFacts>(&facts))
    return pod->super_cluster ? Json(*pod->super_cluster) : Json();
  const auto* of = std::get_if<NamespaceFacts>(&facts);
  if (!of || !of->placements) return nullptr;
  const auto slices = read_placements(of->placements, INT64_MAX);
  if (!slices) return *of->placements;
  Json json = Json::object();
  for (const auto& [id, count] : *slices) json[id] = count;
  return json;
}

// The value of the object before an event.
struct PlacedBefore {
  Json value;
  bool known = true;
};

// Consumes the events of one object in order.
class PlacementFollower {
 public:
  PlacementFollower(const ReadableLog& log, PlacedBefore before)
      : log_(log), current_(std::move(before)) {}

  Result<void> consume(const Event& event) {
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      observe(event, value_of(seen->facts), seen->resource_version);
    } else if (std::holds_alternative<ObjectGone>(event.fact)) {
      pending_.reset();
      observe(event, nullptr, "");
    } else if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      return intend(event, *intent);
    }
    return {};
  }
  Json rows = Json::array();

 private:
  struct Pending {
    Json value;
    WriteOutcome answer;
    std::size_t row;
  };

  Result<void> intend(const Event& event, const PatchIntended& intent) {
    if (!intent.expected) return {};
    Json value = value_of(*intent.expected);
    if (current_.known && value == current_.value) return {};
    auto answer = answer_of(log_, event.seq, log_.last_seq());
    if (!answer) return answer.error();
    rows.push_back({{"seq", event.seq.value},
                    {"time", to_rfc3339(event.log_time)},
                    {"old", current_.value},
                    {"new", value},
                    {"writer", "fairlead"},
                    {"rule", intent.reason.rule},
                    {"text", intent.reason.text},
                    {"because", seqs_json(intent.reason.because)},
                    {"answer", outcome_json(*answer)},
                    {"seen", nullptr}});
    if (answer->outcome != Outcome::rejected)
      pending_ = Pending{std::move(value), *std::move(answer), rows.size() - 1};
    return {};
  }

  void observe(const Event& event, const Json& value, const std::string& version) {
    if (pending_ && value == pending_->value) {
      rows[pending_->row]["seen"] = {{"seq", event.seq.value},
                                     {"time", to_rfc3339(event.log_time)}};
      current_ = {value};
      pending_.reset();
      return;
    }
    if (pending_) {
      // Older than our write, or not known to be newer: the value before it is not a change.
      const WriteOutcome& answer = pending_->answer;
      const bool accepted = answer.outcome == Outcome::accepted;
      if (accepted && is_lower_version(version, answer.resource_version)) return;
      if (!accepted && current_.value == value) return;
      current_ = {pending_->value};  // another writer wrote over it
      pending_.reset();
    }
    if (current_.known && current_.value != value)
      rows.push_back({{"seq", event.seq.value},
                      {"time", to_rfc3339(event.log_time)},
                      {"old", current_.value},
                      {"new", value},
                      {"writer", "foreign"},
                      {"rule", nullptr}});
    current_ = {value};
  }

  const ReadableLog& log_;
  PlacedBefore current_;
  std::optional<Pending> pending_;
};

// Where the object was placed before the first event about it that the log keeps.
Result<PlacedBefore> placed_before(const AuditSource& source, const AuditPlacement& asked,
                                   Seq first) {
  if (source.log.first_seq() <= Seq{1}) return PlacedBefore{};
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  if (!*state) return PlacedBefore{nullptr, false};
  if (!asked.pod.empty()) {
    const auto* pod = find_pod((*state)->pool, {asked.tenant, asked.namespace_, asked.pod});
    return PlacedBefore{pod ? value_of(pod->seen.facts) : Json()};
  }
  const auto* of = find_namespace((*state)->pool, {asked.tenant, asked.namespace_});
  return PlacedBefore{of && of->seen ? value_of(of->seen->facts) : Json()};
}

Result<std::vector<Seq>> events_about(const ReadableLog& log, const AuditPlacement& asked) {
  auto seqs = log.history(tenant_source(asked.tenant), object_of(asked));
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < log.first_seq(); });
  return seqs;
}

// The silences of the tenant and of the super clusters that there are at the span's end.
Result<Json> unseen_of_placements(const AuditSource& source, const std::string& tenant,
                                  const EventSpan& span, const AuditPosition& to) {
  const auto end = moment_at(source, span.end);
  if (!end) return end.error();
  const auto* time = std::get_if<LogTime>(&to);
  return unseen_between(source, {span.begin, span.end, time ? *time : end->event_time},
                        sources_of_placements(end->state, tenant));
}

}  // namespace

ObjectKey object_of(const AuditPlacement& asked) {
  if (asked.pod.empty()) return {Kind::namespace_, "", asked.namespace_};
  return {Kind::pod, asked.namespace_, asked.pod};
}

Result<void> check_placement_named(const State& state, const AuditPlacement& asked) {
  const auto tenant = state.pool.tenants.find(asked.tenant);
  if (tenant == state.pool.tenants.end())
    return unknown_name(state, "no tenant is called", asked.tenant, keys_of(state.pool.tenants));
  const auto& namespaces = tenant->second.namespaces;
  const auto at = namespaces.find(asked.namespace_);
  if (at == namespaces.end())
    return unknown_name(state, "tenant " + asked.tenant + " has no namespace", asked.namespace_,
                        keys_of(namespaces));
  if (!asked.pod.empty() && !at->second.pods.contains(asked.pod))
    return unknown_name(state, "namespace " + asked.tenant + "/" + asked.namespace_ + " has no pod",
                        asked.pod, keys_of(at->second.pods));
  return {};
}

Json facts_json(EventLookup& lookup, const State& state, const std::vector<Seq>& because) {
  Json facts = Json::array();
  EventChanges changes(lookup);
  for (const Seq seq : std::set<Seq>(because.begin(), because.end())) {
    if (seq == Seq{}) continue;
    Json fact = lookup.place(seq);
    const Event* event = lookup.at(seq);
    fact["text"] = event ? Json(pool_event_words(*event, state)) : Json();
    fact["changed"] = changes.json_of(event);
    facts.push_back(std::move(fact));
  }
  return facts;
}

Result<Json> decisions_between(const AuditSource& source, const AuditPlacement& asked,
                               const State& state, Seq from, Seq to, std::size_t most) {
  auto seqs = events_about(source.log, asked);
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < from || to < seq; });
  EventLookup lookup(source.log);
  lookup.expect(*seqs);
  std::vector<Event> intents;
  for (const Seq seq : *seqs)
    if (const Event* event = lookup.at(seq);
        event && std::holds_alternative<PatchIntended>(event->fact))
      intents.push_back(*event);
  if (intents.size() > most)
    intents.erase(intents.begin(), intents.end() - static_cast<std::ptrdiff_t>(most));
  std::vector<Seq> behind;
  for (const Event& event : intents) {
    const auto& because = std::get<PatchIntended>(event.fact).reason.because;
    behind.insert(behind.end(), because.begin(), because.end());
  }
  lookup.expect(behind);
  Json rows = Json::array();
  for (const Event& event : intents) {
    const Reason& reason = std::get<PatchIntended>(event.fact).reason;
    auto answer = answer_of(source.log, event.seq, state.seq);
    if (!answer) return answer.error();
    rows.push_back({{"seq", event.seq.value},
                    {"time", to_rfc3339(event.log_time)},
                    {"rule", reason.rule},
                    {"text", reason.text},
                    {"facts", facts_json(lookup, state, reason.because)},
                    {"answer", outcome_json(*answer)}});
  }
  return Result<Json>(boost::system::in_place_value, std::move(rows));
}

Result<AuditAnswer> audit_history_placements(const AuditSource& source, const AuditPlacement& asked,
                                             const AuditPosition& from, const AuditPosition& to) {
  const auto span = span_between(source.log, from, to);
  if (!span) return span.error();
  const auto seqs = events_about(source.log, asked);
  if (!seqs) return seqs.error();
  if (seqs->empty()) {
    const auto last = moment_at(source, last_seq_of(source));
    if (!last) return last.error();
    if (auto known = check_placement_named(last->state, asked); !known) return known.error();
  }
  auto before = placed_before(source, asked, seqs->empty() ? Seq{} : seqs->front());
  if (!before) return before.error();
  EventLookup lookup(source.log);
  lookup.expect(*seqs);
  PlacementFollower follower(source.log, *std::move(before));
  for (const Seq seq : *seqs) {
    if (span->end < seq) break;
    if (const Event* event = lookup.at(seq))
      if (auto consumed = follower.consume(*event); !consumed) return consumed.error();
  }
  Json rows = Json::array();
  for (Json& row : follower.rows)
    if (row["seq"] >= span->begin.value) rows.push_back(std::move(row));
  auto unseen = unseen_of_placements(source, asked.tenant, *span, to);
  if (!unseen) return unseen.error();
  Json answer{{"kind", "PlacementHistory"},       {"tenant", asked.tenant},
              {"namespace", asked.namespace_},    {"from", {{"seq", span->begin.value}}},
              {"to", {{"seq", span->end.value}}}, {"rows", std::move(rows)},
              {"unseen", *std::move(unseen)}};
  if (!asked.pod.empty()) answer["pod"] = asked.pod;
  return AuditAnswer{std::move(answer)};
}

}  // namespace fairlead
