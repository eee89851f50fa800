#include "engine/runtime/hub_loop.h"

#include <algorithm>
#include <utility>

#include "engine/base/stop_point.h"

namespace fairlead {

void HubStatus::set(const HubStats& stats) {
  const std::lock_guard lock(mutex_);
  stats_ = stats;
}

void HubStatus::fail() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
}

HubStats HubStatus::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

bool HubStatus::ready() const {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  if (!stats_.role.trouble.empty()) return false;
  return stats_.role.role == HubRole::follower ? stats_.role.caught_up : stats_.planning;
}

HubLoop::HubLoop(Leader& leader, Inbox& inbox, HubStatus& status, HubPorts ports)
    : leader_(leader), inbox_(inbox), status_(status), ports_(std::move(ports)) {}

Duration HubLoop::wait() const {
  const LogTime due = leader_.next_due();
  const LogTime now = leader_.now();
  if (due <= now) return leader_.pause();
  const Duration longest = !notices_.empty()           ? kNoticeInterval
                           : leader_.awaited().empty() ? kIdleMax
                                                       : kAbsenceInterval;
  const Duration span = due - now;
  return std::min(ports_.on_the_machine ? ports_.on_the_machine(span) : span, longest);
}

Result<void> HubLoop::run() {
  for (;;) {
    if (ports_.turned) ports_.turned();
    Inbox::Content content = inbox_.dequeue(wait(), kBatchFactsMax);
    if (content.stops > 0) {
      auto done = finish(std::move(content));
      status_.set(stats());
      return done;
    }
    if (auto done = round(std::move(content)); !done) {
      status_.fail();
      return done;
    }
    status_.set(stats());
  }
}

Result<void> HubLoop::round(Inbox::Content content) {
  for (WatchFact& fact : content.facts) leader_.offer(std::move(fact));
  for (WriteAnswer& answer : content.answers) leader_.answer(std::move(answer));
  leader_.note(std::move(content.notes));
  if (content.configuration)
    if (const auto configuration = ports_.read_configuration())
      if (auto changed = leader_.reconfigure(*configuration); !changed) return changed;
  if (!leader_.awaited().empty())
    for (const Kind kind : ports_.absent_kinds()) leader_.absent(kind);
  auto effects = leader_.step(content.more_facts ? Input::more_pending : Input::complete);
  if (!effects) return effects.error();
  if (effects->watch && ports_.follow)
    ports_.follow(leader_.state().configuration, *effects->watch);
  for (const Recommendation& recommendation : effects->recommendations)
    ports_.recommend(recommendation);
  if (ports_.notify)
    for (Notice& notice : effects->notices)
      if (!notices_.push(std::move(notice))) leader_.lose_notice();
  send_notices();
  for (WriteRequest& request : effects->requests) send(std::move(request));
  return {};
}

void HubLoop::send(WriteRequest request) {
  PatchSink* sink = ports_.sink_of(request.cluster);
  if (sink == nullptr) {
    WriteAnswer answer;
    answer.intent = request.intent;
    answer.result = WriteResult::unserved;
    answer.reason = "not connected to " + request.cluster;
    // Through the inbox, as every answer, so that the leader is not entered from within its
    // effects.
    return inbox_.push(std::move(answer));
  }
  stop_point("send.before");
  sink->send(std::move(request),
             [&inbox = inbox_](WriteAnswer answer) { inbox.push(std::move(answer)); });
  stop_point("send.after");
}

void HubLoop::send_notices() {
  for (const Notice& notice : notices_.dequeue(ports_.now())) ports_.notify(notice);
}

// The facts are dropped: what they observe is listed again at the next start.
Result<void> HubLoop::finish(Inbox::Content content) {
  for (WriteAnswer& answer : content.answers) leader_.answer(std::move(answer));
  leader_.note(std::move(content.notes));
  int stops = content.stops;
  inbox_.close();  // first: an I/O thread that waits in push() of a fact could deliver no answer
  leader_.wind_down();
  const LogTime end = ports_.now() + kStopGrace;
  while (stops < 2 && leader_.under_way() > 0) {
    const Duration left = end - ports_.now();
    if (left.ns <= 0) break;
    if (ports_.turned) ports_.turned();
    if (ports_.pass) ports_.pass(left);
    content = inbox_.dequeue(ports_.pass ? Duration{} : left, 0);
    for (WriteAnswer& answer : content.answers) leader_.answer(std::move(answer));
    leader_.note(std::move(content.notes));
    stops = content.stops;
    if (auto done = leader_.step(Input::complete); !done) return done.error();
  }
  return leader_.give_up();
}

HubStats HubLoop::stats() const {
  HubStats stats = leader_.stats();
  stats.inbox = inbox_.depth();
  stats.inbox_max = inbox_.facts_max();
  return stats;
}

}  // namespace fairlead
