#include "engine/log/log_reader.h"

#include <algorithm>

namespace fairlead {

Result<std::vector<Seq>> LogHistory::history_before(std::string_view source, const ObjectKey& key,
                                                    Seq before, std::size_t most) const {
  auto seqs = history(source, key);
  if (!seqs) return seqs;
  seqs->erase(std::lower_bound(seqs->begin(), seqs->end(), before), seqs->end());
  if (seqs->size() > most)
    seqs->erase(seqs->begin(), seqs->end() - static_cast<std::ptrdiff_t>(most));
  return seqs;
}

Result<void> EventReader::next_batch(EventBatch& batch) {
  batch.clear();
  while (batch.size() < kBatchEvents) {
    auto event = next();
    if (!event) return event.error();
    if (!*event) break;
    batch.add() = std::move(**event);
  }
  return {};
}

bool is_sign(const Event& event) {
  return std::holds_alternative<SourceSynced>(event.fact) ||
         std::holds_alternative<SourceStale>(event.fact) ||
         std::holds_alternative<SourceLost>(event.fact) ||
         std::holds_alternative<EpochStarted>(event.fact) ||
         std::holds_alternative<ConfigChanged>(event.fact);
}

Seq end_of(const LogReader& log) {
  return log.damage().empty() ? log.last_seq() : next(log.last_seq());
}

Result<void> expect_before_damage(const LogReader& log, const std::variant<Seq, LogTime>& place) {
  const std::string damage = log.damage();
  if (damage.empty()) return {};
  // By time only what is strictly earlier is certain: lost events may have the last readable time.
  const auto* seq = std::get_if<Seq>(&place);
  if (seq ? *seq <= log.last_seq() : std::get<LogTime>(place) < log.last_time()) return {};
  return Error{ErrorCode::corrupt, "the log is " + damage + "; only the past until seq " +
                                       std::to_string(log.last_seq().value) + ", before " +
                                       to_rfc3339(log.last_time()) + ", is known. " +
                                       kDamageAdvice};
}

}  // namespace fairlead
