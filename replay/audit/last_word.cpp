#include "replay/audit/last_word.h"

#include <algorithm>
#include <vector>

namespace fairlead {

namespace {

// So many events before the silence was noticed are searched for the last report of the source.
constexpr std::size_t kLookBackMax = 64;

bool is_from(const Event& event, const SourceName& source, Kind kind) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* gone = std::get_if<ObjectGone>(&event.fact);
  const ObjectKey* key = seen ? &seen->key : gone ? &gone->key : nullptr;
  return key != nullptr && event.source == source && key->kind == kind;
}

}  // namespace

Result<Duration> stale_after_at(const ReadableLog& log, Seq seq) {
  const auto signs = log.signs(kSelf);
  if (!signs) return signs.error();
  EventLookup lookup(log);
  for (auto at = signs->rbegin(); at != signs->rend(); ++at) {
    if (*at > seq) continue;
    const Event* event = lookup.at(*at);
    const auto* changed = event ? std::get_if<ConfigChanged>(&event->fact) : nullptr;
    if (changed) return changed->configuration.debounce.stale_after;
  }
  return Configuration().debounce.stale_after;
}

LogTime last_word_of(EventLookup& lookup, const SourceName& source, Kind kind,
                     const EventPlace& noticed, Duration stale_after) {
  const LogTime earliest{std::max<std::int64_t>(0, noticed.time.ns - stale_after.ns)};
  const Seq first = lookup.log().first_seq();
  std::vector<Seq> before;
  for (std::uint64_t seq = noticed.seq.value; seq-- > first.value && before.size() < kLookBackMax;)
    before.push_back(Seq{seq});
  lookup.expect(before);
  for (const Seq seq : before) {
    const Event* event = lookup.at(seq);
    if (event == nullptr || event->log_time <= earliest) break;
    if (is_from(*event, source, kind)) return event->log_time;
  }
  return earliest;
}

}  // namespace fairlead
