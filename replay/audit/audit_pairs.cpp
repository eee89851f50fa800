// `audit why QUEUE` and `why-not QUEUE`: of every pair of a queue that has few.
#include "replay/audit/audit_moment.h"

namespace fairlead {

Result<AuditAnswer> audit_each_pair(const AuditSource& source, const AuditPair& of,
                                    const AuditPosition& as_of, AskAboutPair ask) {
  const auto moment = moment_at(source, as_of);
  if (!moment) return moment.error();
  const State& state = moment->state;
  if (auto known = check_queue_named(state, of.queue); !known) return known.error();
  std::vector<KnownPair> pairs = pairs_of_queue(state, of.queue);
  std::vector<std::string> flavors, names;
  for (const KnownPair& pair : pairs) flavors.push_back(pair.key.flavor);
  if (!of.flavor.empty())
    std::erase_if(pairs, [&](const KnownPair& pair) { return pair.key.flavor != of.flavor; });
  for (const KnownPair& pair : pairs) names.push_back(pair.key.flavor + " " + pair.spelled);
  const std::string queue = "ClusterQueue " + of.queue;
  if (pairs.empty())
    return Error{ErrorCode::bad_input,
                 queue + " at seq " + std::to_string(state.seq.value) +
                     (of.flavor.empty() ? " has no quota"
                                        : " has no flavor \"" + of.flavor +
                                              "\"; it has: " + nearby(flavors, of.flavor))};
  if (pairs.size() > kPairsAtOnce)
    return Error{ErrorCode::bad_input,
                 queue + " has " + std::to_string(pairs.size()) +
                     " quotas: name a ResourceFlavor and a resource, such as " +
                     nearby(names, of.flavor)};
  // At an event all of them are answered from this state. At a time each one folds.
  AuditSource once = source;
  if (std::holds_alternative<Seq>(as_of)) once.present = &state;
  Json answers = Json::array();
  for (const KnownPair& pair : pairs) {
    auto answer = ask(once, {of.queue, pair.key.flavor, pair.spelled}, as_of);
    if (!answer) return answer.error();
    answers.push_back(std::move(answer->document));
  }
  return AuditAnswer{{{"kind", "QuotaWhyList"},
                      {"asOf", as_of_json(*moment)},
                      {"configuration", configuration_json(state)},
                      {"queue", of.queue},
                      {"unseen", Json::array()},
                      {"answers", std::move(answers)}}};
}

}  // namespace fairlead
