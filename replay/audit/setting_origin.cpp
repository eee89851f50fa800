#include "replay/audit/setting_origin.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/fold/capacity/cluster.h"
#include "replay/beginning.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

// So many events of a claim are read in one walk; an edit is most often near.
constexpr std::size_t kEventsAtOnce = 64;

std::vector<std::string_view> named_by(LayerName layer) {
  switch (layer) {
    case LayerName::first_quiet: return {"firstQuiet", "growWindow"};
    case LayerName::deadband: return {"growDeadbandPercent", "deadbandMaxAge"};
    case LayerName::frozen: return {"growWindow"};
    // They decide since when and until when a node is left out.
    case LayerName::flap_suppress:
      return {"flapSuppress", "flapReuse", "flapHalfLife", "flapSuppressMax"};
    case LayerName::mass_shrink_hold:
    case LayerName::shrink_window:
    case LayerName::grow_window:
    case LayerName::min_grow_interval: return {text_of(layer)};
    case LayerName::none:
    case LayerName::detached:
    case LayerName::lost:
    case LayerName::unknown:
    case LayerName::newcomer:
    case LayerName::unwatched:
    case LayerName::due: return {};
  }
  return {};
}

/// An annotation of a claim, with its value.
struct Annotation {
  const std::string& claim;
  const std::string& uid;
  std::string_view parameter;
  std::string value;

  bool is_in(const std::map<std::string, std::string>& annotations) const {
    const auto at = annotations.find(std::string(parameter));
    return at != annotations.end() && at->second == value;
  }
  // Whether the claim has the annotation after the event; nullopt: the event is not about it.
  std::optional<bool> reported_by(const Event& event) const {
    if (std::holds_alternative<ObjectGone>(event.fact)) return false;
    const auto* seen = std::get_if<ObjectObserved>(&event.fact);
    const auto* facts = seen ? std::get_if<ClaimFacts>(&seen->facts) : nullptr;
    if (facts == nullptr) return std::nullopt;
    const bool other = !seen->uid.empty() && !uid.empty() && seen->uid != uid;
    return !other && is_in(facts->debounce);
  }
};

// Whether the annotation was set before `first`, the first kept event about the claim; true too if
// a pruned log cannot answer that.
Result<bool> was_set_before(const AuditSource& source, const Annotation& annotation, Seq first) {
  if (source.log.first_seq() <= Seq{1}) return false;
  const auto state = state_for_pruned(source.log, source.snapshots, first);
  if (!state) return state.error();
  if (!*state) return true;
  const auto claim = (*state)->claims.by_name.find(annotation.claim);
  return claim != (*state)->claims.by_name.end() && claim->second.uid == annotation.uid &&
         annotation.is_in(claim->second.facts.debounce);
}

// Returns the event up to `to` that set the annotation to its value; 0 if that was pruned.
Result<Seq> set_by(const AuditSource& source, const Annotation& annotation, Seq to,
                   EventLookup& lookup) {
  auto seqs = source.log.history(kHub, {Kind::claim, "", annotation.claim});
  if (!seqs) return seqs.error();
  std::erase_if(*seqs, [&](Seq seq) { return seq < source.log.first_seq() || seq > to; });
  Seq setter;
  for (std::size_t i = seqs->size(); i > 0; --i) {
    const auto last = seqs->begin() + static_cast<std::ptrdiff_t>(i);
    const std::size_t many = std::min(i, kEventsAtOnce);
    if ((seqs->size() - i) % kEventsAtOnce == 0)
      lookup.expect({last - static_cast<std::ptrdiff_t>(many), last});
    const Event* event = lookup.at((*seqs)[i - 1]);
    if (event == nullptr)
      return Error{ErrorCode::corrupt,
                   "event " + std::to_string((*seqs)[i - 1].value) + " cannot be read"};
    const auto reported = annotation.reported_by(*event);
    if (!reported) continue;
    if (!*reported) return setter;
    setter = event->seq;
  }
  const auto before = was_set_before(source, annotation, seqs->empty() ? next(to) : seqs->front());
  if (!before) return before.error();
  return *before ? Seq{} : setter;
}

// Returns the claim's annotation if it is in force (a malformed one only raises a warning); null if
// there is none.
const std::string* annotation_in_force(const Claim* claim, std::string_view name) {
  if (claim == nullptr) return nullptr;
  const auto at = claim->facts.debounce.find(std::string(name));
  DebounceSettings probe;
  std::string why_not;
  const bool good =
      at != claim->facts.debounce.end() && set_debounce_parameter(probe, name, at->second, why_not);
  return good ? &at->second : nullptr;
}

const std::string& name_of(const State& state, const Claim& claim) {
  return std::find_if(state.claims.by_name.begin(), state.claims.by_name.end(),
                      [&](const auto& named) { return &named.second == &claim; })
      ->first;
}

}  // namespace

Result<std::vector<Json>> settings_behind(const AuditSource& source, const State& state,
                                          const std::string& cluster, LayerName layer,
                                          EventLookup& lookup) {
  std::vector<Json> rows;
  const DebounceSettings settings = settings_of(state, cluster);
  const Claim* claim = winning_claim(state.claims, cluster);
  for (const std::string_view name : named_by(layer)) {
    const DebounceParameter* parameter = find_debounce_parameter(name);
    if (parameter == nullptr) continue;
    const std::string* annotation = annotation_in_force(claim, name);
    Seq seq = state.configuration_seq;
    Json row{{"name", name},
             {"value", debounce_parameter_text(settings, *parameter)},
             {"from", annotation ? "claim" : "configuration"},
             {"claim", annotation ? Json(name_of(state, *claim)) : Json()}};
    if (annotation) {
      const auto setter = set_by(source, {name_of(state, *claim), claim->uid, name, *annotation},
                                 state.seq, lookup);
      if (!setter) return setter.error();
      seq = *setter;
    }
    const Json place = lookup.place(seq);
    row["seq"] = place.is_null() ? Json() : place["seq"];
    row["time"] = place.is_null() ? Json() : place["time"];
    if (is_pruned(place) || (annotation && seq == Seq{})) row["pruned"] = true;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fairlead
