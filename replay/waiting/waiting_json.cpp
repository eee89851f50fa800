#include "replay/waiting/waiting_json.h"

#include <algorithm>

#include "engine/base/plain_decimal.h"

namespace fairlead {

std::string seconds_text(Duration span) { return plain_decimal(span.ns / 1'000'000, 3); }

Json shortage_json(const std::vector<Shortage>& shortage) {
  Json rows = Json::array();
  for (const Shortage& one : shortage)
    rows.push_back({{"flavor", one.flavor},
                    {"resource", one.resource},
                    {"amount", one.amount},
                    {"source", std::string(text_of(one.source))}});
  return rows;
}

Json fit_json(QuotaFit fit) {
  return fit == QuotaFit::unknown ? Json() : Json(std::string(text_of(fit)));
}

Json interval_json(const WaitInterval& interval, std::string_view where) {
  Json checks = Json::array(), causes = Json::array();
  for (const WorkloadCheck& check : interval.checks)
    checks.push_back({{"name", check.name}, {"state", check.state}});
  for (const Seq seq : interval.causes)
    if (seq != Seq{}) causes.push_back(seq.value);
  return {{"from", to_rfc3339(interval.from)},
          {"to", to_rfc3339(interval.to)},
          {"class", std::string(text_of(interval.reason.of))},
          {"reason", interval.reason.reason},
          {"where", std::string(where)},
          {"fit", fit_json(interval.fit)},
          {"changes", interval.changes},
          {"shortage", shortage_json(interval.shortage)},
          {"checks", std::move(checks)},
          {"message", interval.reason.message},
          {"causes", std::move(causes)}};
}

// A group commit has its digest at its last event.
Result<void> add_span(const ReadableLog& log, Seq first, Seq last, Json& answer) {
  Seq end = std::max(last, Seq{log.first_seq().value - 1});
  Result<Digest> chain = log.chain_at(end);
  while (!chain && chain.error().code == ErrorCode::not_found && end < log.last_seq()) {
    end = next(end);
    chain = log.chain_at(end);
  }
  if (!chain) return chain.error();
  const bool any = first <= last;
  answer["firstSeq"] = any ? first.value : 0;
  answer["lastSeq"] = any ? last.value : 0;
  answer["digest"] = chain->hex();
  return {};
}

}  // namespace fairlead
