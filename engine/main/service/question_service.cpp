#include "engine/main/service/question_service.h"

#include <chrono>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/http_target.h"
#include "engine/main/client/log_export.h"
#include "engine/main/client/log_page.h"
#include "engine/main/client/position.h"
#include "engine/main/service/described_events.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

namespace {

constexpr const char* kJsonType = "application/json";

HttpReply refusal(const Error& error) {
  const int status = error.code == ErrorCode::bad_input   ? 400
                     : error.code == ErrorCode::not_found ? 404
                                                          : 500;
  return {status, kJsonType, to_text(Json{{"error", error.message}}) + "\n"};
}

HttpReply export_reply(const ServedLog& served, std::string_view target) {
  if (!served.exported_log)
    return refusal(
        {ErrorCode::bad_input, "only a hub hands out exports; here use `fairlead log export " +
                                   served.option + " " + served.path + " FILE`"});
  auto page = answer_export_target(*served.exported_log, *served.exported_snapshots, target);
  if (!page) return refusal(page.error());
  return {200, "application/octet-stream", *std::move(page)};
}

bool is_what_if(std::string_view target) {
  return target.substr(0, target.find('?')) == kWhatIfPath;
}

}  // namespace

std::string QuestionService::version() const { return source_.version(); }

Result<bool> QuestionService::follow() const {
  const std::unique_lock lock(one_at_a_time_, std::chrono::seconds(1));
  if (!lock) return true;
  const auto served = source_.open();
  if (!served) return served.error();
  const auto at_end = page_->follow(*served);
  if (!at_end || !*at_end) return at_end;
  return usage_->follow(*served);
}

Result<void> QuestionService::save_index(std::uint64_t events_min, Duration patience) const {
  const std::unique_lock lock(one_at_a_time_, std::chrono::nanoseconds(patience.ns));
  if (!lock) return {};
  const auto served = source_.open();
  if (!served) return served.error();
  if (auto saved = page_->save_index(*served, events_min); !saved) return saved;
  return usage_->save(*served);
}

// What is asked about now is answered from the State that the hub has.
std::optional<State> QuestionService::present_for(const AuditQuestion& question) const {
  if (!source_.present || !is_about_now(question)) return std::nullopt;
  return source_.present(
      [&question](const State& state) { return clusters_read(state, question); });
}

HttpReply QuestionService::reply(std::string_view target) const {
  const std::lock_guard lock(one_at_a_time_);
  const auto served = source_.open();
  if (!served) return refusal(served.error());
  if (is_export_target(target)) return export_reply(*served, target);
  const auto answer = [&]() -> Result<std::string> {
    const auto now = source_.now ? std::optional(source_.now()) : std::nullopt;
    if (target.starts_with(kLogPath))
      return answer_log_target(*served->log, target, now, describe_changes,
                               source_.replication ? source_.replication() : std::nullopt);
    if (target.starts_with(kPageApiPath) || is_what_if(target))
      return page_->answer(*served, target);
    auto question = from_target(target);
    if (!question) return question.error();
    // What the hub has is as of now.
    if (now && question->as_of == "now") question->as_of.clear();
    make_absolute(*question, frame_of(*served->log, {}, now));
    const std::optional<State> present = present_for(*question);
    auto answered = answer_question(
        {*served->log, served->snapshots.get(), present ? &*present : nullptr, now}, *question);
    if (!answered) return answered.error();
    return to_text(answered->document);
  };
  const Result<std::string> document = answer();
  if (!document) return refusal(document.error());
  return {200, kJsonType, *document + "\n"};
}

}  // namespace fairlead
