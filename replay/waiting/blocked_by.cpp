// `audit blocked-by`: whom a loss kept waiting, and which quotas it lowered.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/base/plain_decimal.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"
#include "replay/waiting/lowered_quotas.h"
#include "replay/waiting/wait_walk.h"
#include "replay/waiting/waiting.h"
#include "replay/waiting/waiting_json.h"

namespace fairlead {

namespace {

// The events about one object, and the names of the others of its kind.
class EventsAbout {
 public:
  EventsAbout(std::string kind, std::string name)
      : kind_(std::move(kind)), name_(std::move(name)) {}

  void take(const Event& event) {
    const ObjectKey* key = nullptr;
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) key = &seen->key;
    if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) key = &gone->key;
    if (kind_ == "cluster") return take_of_cluster(event, key);
    if (key == nullptr) return;
    if ((kind_ == "node" && key->kind == Kind::node && event.source != kHub) ||
        (kind_ == "claim" && key->kind == Kind::claim && event.source == kHub))
      add(event.seq, key->name);
  }
  bool contain_one_of(const std::vector<Seq>& causes) const {
    return std::any_of(causes.begin(), causes.end(), [this](Seq seq) {
      return std::binary_search(seqs_.begin(), seqs_.end(), seq);
    });
  }
  bool empty() const { return seqs_.empty(); }
  const std::set<std::string>& names() const { return names_; }

 private:
  // What its API server says, and what the hub says of it.
  void take_of_cluster(const Event& event, const ObjectKey* key) {
    if (event.source != kHub && event.source != kSelf && !is_tenant(event.source))
      return add(event.seq, event.source);
    if (key != nullptr &&
        (key->kind == Kind::managed_cluster || key->kind == Kind::cluster_metrics))
      add(event.seq, key->name);
    if (const auto* stale = std::get_if<SourceStale>(&event.fact)) add(event.seq, stale->cluster);
    if (const auto* lost = std::get_if<SourceLost>(&event.fact)) add(event.seq, lost->cluster);
  }
  void add(Seq seq, const std::string& name) {
    if (name == name_)
      seqs_.push_back(seq);
    else if (names_.size() < kNamesMax && !name.empty())
      names_.insert(name);
  }

  static constexpr std::size_t kNamesMax = 1000;

  const std::string kind_;
  const std::string name_;
  std::vector<Seq> seqs_;  // ascending
  std::set<std::string> names_;
};

struct BlockedSpan {
  LogTime from;
  LogTime to;
};

// Amount of a resource x time, in amounts x nanoseconds.
using ResourceTime = std::map<std::string, Int128>;

// Sums up the intervals in which the Workload lacked quota because of these events. One goes on to
// lack it for that while Kueue only changes its words.
Duration blocked_time(const WaitHistory& history, const ServerWaits& hub, const EventsAbout& events,
                      const BlockedSpan& span, ResourceTime& sums) {
  Duration waited;
  for (const Wait& wait : history.waits) {
    bool lacks = false;
    for (const WaitInterval& one : intervals_of(wait, hub.silences, span.to)) {
      lacks = one.fit == QuotaFit::no && (events.contain_one_of(one.causes) || lacks);
      if (!lacks) continue;
      const LogTime from = std::max(one.from, span.from), to = std::min(one.to, span.to);
      if (from >= to) continue;
      waited.ns += (to - from).ns;
      for (const auto& [resource, amount] : history.requests)
        sums[resource] += Int128{amount} * (to - from).ns;
    }
  }
  return waited;
}

Json workloads_json(const ServerWaits& hub, const EventsAbout& events, const BlockedSpan& span,
                    ResourceTime& sums) {
  std::vector<std::tuple<std::int64_t, NamespacedName>> rows;  // the longest wait first
  for (const auto& [id, histories] : hub.workloads) {
    Duration waited;
    for (const WaitHistory& history : histories)
      waited.ns += blocked_time(history, hub, events, span, sums).ns;
    if (waited.ns > 0) rows.emplace_back(-waited.ns, id);
  }
  std::sort(rows.begin(), rows.end());
  Json out = Json::array();
  for (const auto& [waited, id] : rows)
    out.push_back({{"namespace", id.first},
                   {"name", id.second},
                   {"waited", seconds_text(Duration{-waited})}});
  return out;
}

Json sums_json(const ResourceTime& sums) {
  constexpr int kNanoseconds = 9, kMilli = 3;
  Json out = Json::array();
  for (const auto& [resource, sum] : sums)
    out.push_back(
        {{"resource", resource},
         {"amount", plain_decimal(sum, resource == "cpu" ? kNanoseconds + kMilli : kNanoseconds)}});
  return out;
}

Json lowered_json(const LoweredQuotas& quotas, const EventsAbout& events, const BlockedSpan& span) {
  Json out = Json::array();
  for (const LoweredQuota& one : quotas.all()) {
    if (one.time < span.from || one.time > span.to || !events.contain_one_of(one.causes)) continue;
    out.push_back({{"clusterQueue", one.cluster_queue},
                   {"flavor", one.flavor},
                   {"resource", one.resource},
                   {"from", amount_text(one.resource, one.from)},
                   {"to", amount_text(one.resource, one.to)},
                   {"time", to_rfc3339(one.time)},
                   {"seq", one.seq.value}});
  }
  return out;
}

Result<BlockedSpan> span_of(const AuditSource& source, const AuditPosition& from,
                            const WaitEnd& end) {
  BlockedSpan span{{}, end.time};
  if (const auto* time = std::get_if<LogTime>(&from)) {
    span.from = *time;
  } else if (const Seq seq = std::get<Seq>(from); seq > source.log.first_seq()) {
    EventLookup lookup(source.log);
    const Event* event = lookup.at(seq);
    if (event == nullptr)
      return Error{ErrorCode::bad_input, "seq " + std::to_string(seq.value) + " is not in the log"};
    span.from = event->log_time;
  }
  return span;
}

}  // namespace

Result<AuditAnswer> audit_blocked_by(const AuditSource& source, const std::string& object,
                                     const AuditPosition& from, const AuditPosition& to) {
  const std::size_t slash = object.find('/');
  const std::string kind = object.substr(0, slash);
  const std::string name = slash == std::string::npos ? "" : object.substr(slash + 1);
  const bool known = kind == "node" || kind == "claim" || kind == "window" || kind == "cluster";
  if (!known || name.empty())
    return Error{ErrorCode::bad_input,
                 "audit blocked-by: expected node/NAME, claim/NAME, window/NAME or cluster/NAME, "
                 "got \"" +
                     object + "\""};
  if (auto ends = span_between(source.log, from, to); !ends) return ends.error();
  const auto end = wait_end(source, to);
  if (!end) return end.error();
  const auto span = span_of(source, from, *end);
  if (!span) return span.error();
  EventsAbout events(kind, name);
  LoweredQuotas lowered;
  const auto record = record_waits(source, {std::nullopt, true, &lowered}, *end,
                                   [&events](const Event& event) { events.take(event); });
  if (!record) return record.error();
  if (events.empty())
    return Error{
        ErrorCode::not_found,
        "no " + kind + " \"" + name + "\" in the log until " + to_rfc3339(end->time) +
            "; there are: " + nearby({events.names().begin(), events.names().end()}, name)};
  const auto hub = record->servers().find(SourceName(kHub));
  ResourceTime sums;
  Json workloads = hub == record->servers().end()
                       ? Json::array()
                       : workloads_json(hub->second, events, *span, sums);
  return AuditAnswer{{{"kind", "BlockedBy"},
                      {"object", object},
                      {"workloads", std::move(workloads)},
                      {"resourceSeconds", sums_json(sums)},
                      {"quotas", lowered_json(lowered, events, *span)}}};
}

}  // namespace fairlead
