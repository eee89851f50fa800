#include "engine/main/client/replication_report.h"

namespace fairlead {

namespace {

Json commit_of(const RingPlace& place) {
  return place.next == 0 ? Json(nullptr) : Json(place.next - 1);
}

}  // namespace

Json to_json(const ReplicationReport& report) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"store", or_null(report.store)},
          {"log", report.place.log},
          {"role", report.role},
          {"leader", or_null(report.leader)},
          {"commit", commit_of(report.place)},
          {"window_first", report.window_first()},
          {"copies", report.copies == 0 ? Json(nullptr) : Json(report.copies)},
          {"lag_commits", report.lag_commits},
          {"lag_seconds", report.lag.ns / 1'000'000'000},
          {"version", report.place.version},
          {"trouble", or_null(report.trouble)},
          {"server_version", or_null(report.server_version)}};
}

std::string to_text(const ReplicationReport& report) {
  std::string text = report.role + " of log " + report.place.log;
  if (!report.store.empty()) text += " in " + report.store;
  text += report.place.next == 0 ? ", no commit yet"
                                 : ", commit " + std::to_string(report.place.next - 1);
  if (report.copies > 0) text += ", copies " + std::to_string(report.copies);
  if (!report.leader.empty()) text += ", led by " + report.leader;
  if (!report.trouble.empty()) text += "; " + report.trouble;
  return text;
}

Json position_json(const RingPlace& place) {
  return {{"log", place.log},
          {"slots", place.slots},
          {"commit", commit_of(place)},
          {"seq", place.last.value},
          {"chain", place.chain.hex()}};
}

}  // namespace fairlead
