// `fairlead log stat`: what is in a log, and whether its chain holds.
#include <ostream>

#include "engine/base/json.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/log_page.h"

namespace fairlead {
namespace {

Json stat_json(const LogStat& stat, const LogVerdict& verdict) {
  const bool empty = stat.events == 0;
  Json epochs = Json::array();
  for (const Epoch epoch : stat.epochs) epochs.push_back(epoch.value);
  Json json{{"first_seq", stat.first.value},
            {"last_seq", stat.last.value},
            {"events", stat.events},
            {"bytes", stat.bytes},
            {"raw_bytes", stat.raw_bytes},
            {"first_time", empty ? Json(nullptr) : Json(to_rfc3339(stat.first_time))},
            {"last_time", empty ? Json(nullptr) : Json(to_rfc3339(stat.last_time))},
            {"epochs", epochs},
            {"chain", chain_text(verdict)},
            {"program_version", stat.program_version}};
  if (verdict.broken_at) json["what"] = verdict.what;
  return json;
}

void print_stat_text(const LogStat& stat, const LogVerdict& verdict, TimeZone zone,
                     std::ostream& out) {
  out << "events           " << stat.events << '\n';
  if (stat.events > 0)
    out << "seq              " << stat.first.value << " to " << stat.last.value << '\n'
        << "time             " << to_text(stat.first_time, zone) << " to "
        << to_text(stat.last_time, zone) << '\n';
  out << "bytes            " << stat.bytes << " (raw objects " << stat.raw_bytes << ")\n"
      << "epochs          ";
  for (const Epoch epoch : stat.epochs) out << ' ' << epoch.value;
  out << '\n'
      << "program version  " << stat.program_version << '\n'
      << "chain            " << chain_text(verdict);
  if (verdict.broken_at) out << " (" << verdict.what << ')';
  out << '\n';
}

}  // namespace

std::string chain_text(const LogVerdict& verdict) {
  return verdict.broken_at ? "broken@" + std::to_string(verdict.broken_at->value) : "ok";
}

Result<int> print_stat(const ReadableLog& log, LogOutput output, std::ostream& out, TimeZone zone,
                       const std::optional<ReplicationReport>& replication) {
  const auto stat = log.stat();
  if (!stat) return stat.error();
  const auto verdict = log.verify_chain();
  if (!verdict) return verdict.error();
  if (output == LogOutput::json) {
    Json json = stat_json(*stat, *verdict);
    if (replication) json["replication"] = to_json(*replication);
    out << to_text(json) << '\n';
  } else {
    print_stat_text(*stat, *verdict, zone, out);
    if (replication) out << "replication      " << to_text(*replication) << '\n';
  }
  return verdict->broken_at ? kAnswerIsNo : kDone;
}

}  // namespace fairlead
