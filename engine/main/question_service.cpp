#include "engine/main/question_service.h"

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/log_export.h"
#include "engine/main/log_page.h"

namespace fairlead {

namespace {

constexpr const char* kJsonType = "application/json";

HttpReply refusal(const Error& error) {
  const int status = error.code == ErrorCode::bad_input ? 400 : 500;
  return {status, kJsonType, to_text(Json{{"error", error.message}}) + "\n"};
}

}  // namespace

QuestionService::QuestionService(const RocksdbLog& log, const std::filesystem::path& data)
    : log_(log), snapshots_(data) {}

HttpReply QuestionService::reply(std::string_view target) const {
  const std::lock_guard lock(one_at_a_time_);
  if (is_export_target(target)) {
    auto page = answer_export_target(log_, snapshots_, target);
    if (!page) return refusal(page.error());
    return {200, "application/octet-stream", *std::move(page)};
  }
  const auto answer = [&]() -> Result<std::string> {
    if (target.starts_with(kLogPath)) return answer_log_target(log_, target);
    auto question = from_target(target);
    if (!question) return question.error();
    auto answered = answer_question({log_, &snapshots_}, *question);
    if (!answered) return answered.error();
    return to_text(answered->document);
  };
  const Result<std::string> document = answer();
  if (!document) return refusal(document.error());
  return {200, kJsonType, *document + "\n"};
}

}  // namespace fairlead
