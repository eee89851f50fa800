// The webhook without its server: bytes of a review in, bytes of the answer out.
//
// An answer reads the last published view and nothing else: no log, no disk, no API server. What is
// worth a record goes to the hub's inbox behind the answer, and is lost where that has no place.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/main/service/note_budget.h"
#include "engine/runtime/admission_feed.h"
#include "engine/runtime/http_endpoint.h"
#include "engine/runtime/webhook_stats.h"
#include "schema/event.h"

namespace fairlead {

/// The path of the webhook, without the query (API servers add `?timeout=5s`).
inline constexpr std::string_view kAdmitPath = "/admit";
/// The longest override reason and user name that are recorded, in characters.
inline constexpr std::size_t kNoteCharactersMax = 512;

/// A review up to this many bytes is answered on the endpoint's thread: reading and judging it
/// takes less than a millisecond.
inline constexpr std::size_t kInlineReviewMax = std::size_t{64} << 10;

struct WebhookSettings {
  /// The user as which the hub writes; its own requests are not judged. Empty: not known yet.
  std::string hub_user = {};
  /// Accepts the record of a decision without waiting; returns false if it is lost. Empty: no
  /// record is kept, as where another process appends to the log, and they count as lost.
  std::function<bool(AdmissionDecided)> post;
};

/// Any thread may call it.
class WebhookService {
 public:
  /// `feed` outlives it.
  WebhookService(const AdmissionFeed& feed, WebhookSettings settings);

  /// Answers the body of a POST: 200 for every review with a uid; 413 for a body that is too long
  /// and 400 for one that is not a review, with the reason as text. A record of the decision is
  /// posted last, without waiting.
  HttpReply reply(std::string_view body);
  /// Replaces WebhookSettings::hub_user.
  void identify(std::string hub_user);
  WebhookStats stats() const;

 private:
  HttpReply answer(std::string_view body, WebhookStats& counted,
                   std::optional<AdmissionDecided>& note) const;

  bool may_note();

  const AdmissionFeed& feed_;
  const std::function<bool(AdmissionDecided)> post_;
  mutable std::mutex mutex_;  // guards what follows
  std::string hub_user_;
  WebhookStats stats_;
  NoteBudget notes_;
};

}  // namespace fairlead
