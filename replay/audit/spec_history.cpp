// `audit history` of a Cohort, a ResourceFlavor, an AdmissionCheck or a LocalQueue.
#include "replay/audit/spec_history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/fold/held.h"
#include "replay/audit/effective.h"
#include "replay/audit/queue_changes.h"
#include "replay/audit/spec_values.h"
#include "replay/beginning.h"

namespace fairlead {

namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 4> kNamedKinds{
    {{"cohort/", Kind::cohort},
     {"resourceflavor/", Kind::resource_flavor},
     {"admissioncheck/", Kind::admission_check},
     {"localqueue/", Kind::local_queue}}};

// The spec that an event shows; nullopt if it shows none.
std::optional<KnownSpec> spec_shown_by(const Event& event) {
  if (std::holds_alternative<ObjectGone>(event.fact)) {
    KnownSpec gone;
    gone.presence = KnownSpec::Presence::absent;
    return gone;
  }
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  return seen ? std::optional(spec_of(seen->facts)) : std::nullopt;
}

// Keeps of a record that lacks fields what an earlier one had: a downgrade forgets nothing.
void keep_known(const KnownSpec& earlier, KnownSpec& now) {
  if (earlier.presence != now.presence || now.presence != KnownSpec::Presence::present) return;
  const bool lacks_quotas = earlier.quotas_known && !now.quotas_known;
  for (const auto& [place, value] : earlier.fields)
    if (place.flavor.empty() || lacks_quotas) now.fields.emplace(place, value);
  now.quotas_known = now.quotas_known || earlier.quotas_known;
}

void add_rows(const Event& event, const KnownSpec& before, const KnownSpec& after,
              std::vector<Json>& rows) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  for (SpecChange& change : spec_changes(before, after)) {
    const bool of_quota = !change.place.flavor.empty();
    Json row{{"seq", event.seq.value},
             {"time", to_rfc3339(event.log_time)},
             {"field", change.place.field},
             {"flavor", of_quota ? Json(change.place.flavor) : Json()},
             {"resource", of_quota ? Json(change.place.resource) : Json()},
             {"old", std::move(change.before)},
             {"new", std::move(change.after)},
             {"writer", "foreign"}};
    if (seen)
      if (Json by = writers_json(seen->writers, owned_field(change.place)); !by.empty())
        row["by"] = std::move(by);
    rows.push_back(std::move(row));
  }
}

// The spec before `first`, the first event about the object that is kept.
Result<KnownSpec> spec_before(const AuditSource& source, const ObjectKey& key, Seq first) {
  if (source.log.first_seq() <= Seq{1}) return spec_in(State(), key);
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  return *state ? spec_in(**state, key) : KnownSpec();
}

std::string name_in_words(const ObjectKey& key) {
  return (key.namespace_.empty() ? "" : key.namespace_ + "/") + key.name;
}

// Fails if no such object was ever seen; returns the note of an answer about a Cohort that has no
// object, in which Kueue puts the ClusterQueues that name it all the same.
Result<std::optional<std::string>> note_of_unseen(const AuditSource& source, const ObjectKey& key) {
  const auto moment = moment_at(source, last_seq_of(source));
  if (!moment) return moment.error();
  if (spec_in(moment->state, key).presence == KnownSpec::Presence::present)
    return std::optional<std::string>();
  const std::string kind(info(key.kind).name);
  std::size_t queues = 0;
  if (key.kind == Kind::cohort)
    for (const auto& [name, queue] : moment->state.queues.by_name)
      queues += queue.present && queue.facts.cohort == key.name ? 1 : 0;
  if (queues > 0)
    return std::optional(std::to_string(queues) + " ClusterQueues are in Cohort " + key.name +
                         ", of which no object was seen: it has no quota of its own");
  std::vector<std::string> names;
  for (const ObjectKey& known : held_objects(moment->state, std::string(kHub), key.kind))
    names.push_back(name_in_words(known));
  return Error{ErrorCode::bad_input, "no " + kind + " is called \"" + name_in_words(key) +
                                         "\"; known: " + nearby(names, name_in_words(key))};
}

}  // namespace

std::optional<ObjectKey> object_named(const std::string& text) {
  for (const auto& [prefix, kind] : kNamedKinds) {
    if (!text.starts_with(prefix)) continue;
    const std::string name = text.substr(prefix.size());
    const std::size_t slash = name.find('/');
    const bool whole = !name.empty() && slash != 0 && !name.ends_with('/');
    if (!whole || (slash != std::string::npos) != is_namespaced(kind)) return std::nullopt;
    if (slash == std::string::npos) return ObjectKey{kind, "", name};
    return ObjectKey{kind, name.substr(0, slash), name.substr(slash + 1)};
  }
  return std::nullopt;
}

std::size_t last_shown_before(const std::vector<Seq>& seqs, Seq from, EventLookup& lookup) {
  std::size_t at =
      static_cast<std::size_t>(std::lower_bound(seqs.begin(), seqs.end(), from) - seqs.begin());
  while (at > 0) {
    const Event* event = lookup.at(seqs[--at]);
    if (event && !std::holds_alternative<PatchIntended>(event->fact)) return at;
  }
  return 0;
}

Result<std::vector<Json>> spec_history(const AuditSource& source, const ObjectKey& key,
                                       const EventSpan& span, EventLookup& lookup) {
  std::vector<Json> rows;
  auto seqs = source.log.history(kHub, key);
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < source.log.first_seq() || seq > span.end; });
  if (seqs->empty()) return rows;
  const std::size_t start = last_shown_before(*seqs, span.begin, lookup);
  auto before = start > 0 ? KnownSpec() : spec_before(source, key, seqs->front());
  if (!before) return before.error();
  lookup.expect({seqs->begin() + static_cast<std::ptrdiff_t>(start), seqs->end()});
  for (std::size_t i = start; i < seqs->size(); ++i) {
    const Event* event = lookup.at((*seqs)[i]);
    auto now = event ? spec_shown_by(*event) : std::nullopt;
    if (!now) continue;
    if (event->seq >= span.begin) add_rows(*event, *before, *now, rows);
    keep_known(*before, *now);
    *before = *std::move(now);
  }
  return rows;
}

Result<AuditAnswer> audit_history_object(const AuditSource& source, const ObjectKey& key,
                                         const EventSpan& span) {
  EventLookup lookup(source.log);
  auto rows = spec_history(source, key, span, lookup);
  if (!rows) return rows.error();
  Result<std::vector<Json>> effective = std::vector<Json>();
  if (key.kind == Kind::cohort) effective = effective_changes(source, key, span, lookup);
  if (!effective) return effective.error();
  Json note;
  if (rows->empty()) {
    const auto seqs = source.log.history(kHub, key);
    if (!seqs) return seqs.error();
    if (seqs->empty()) {
      auto noted = note_of_unseen(source, key);
      if (!noted) return noted.error();
      if (*noted) note = **noted;
    }
  }
  return AuditAnswer{{{"kind", "ObjectHistory"},
                      {"object",
                       {{"kind", std::string(info(key.kind).name)},
                        {"namespace", key.namespace_},
                        {"name", key.name}}},
                      {"from", {{"seq", span.begin.value}}},
                      {"to", {{"seq", span.end.value}}},
                      {"rows", *std::move(rows)},
                      {"effective", *std::move(effective)},
                      {"note", std::move(note)}}};
}

}  // namespace fairlead
