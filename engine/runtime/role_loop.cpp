#include "engine/runtime/role_loop.h"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

/// How often a follower looks whether it holds the Lease, if nothing wakes it.
constexpr Duration kFollowInterval = milliseconds(100);

/// Whether a replica with this many commits has every one that has left the ring at `place`, and
/// the one that is replaced next.
bool is_inside(std::uint64_t commits, const RingPlace& place) {
  return commits + place.slots > place.next;
}

bool ends_a_term(const Error& error) { return error.code == ErrorCode::conflict; }

}  // namespace

RoleLoop::RoleLoop(Replica& replica, ReplicatedLog* log, Election& election, Inbox& inbox,
                   HubStatus& status, RolePorts ports, Configuration configuration,
                   const CopyTerms& terms, Logger logger)
    : replica_(replica),
      log_(log),
      election_(election),
      inbox_(inbox),
      status_(status),
      ports_(std::move(ports)),
      configuration_(std::move(configuration)),
      logger_(std::move(logger)),
      terms_(terms) {
  ports_.hub.read_configuration = [this, read = std::move(ports_.hub.read_configuration)] {
    auto changed = read();
    if (changed) configuration_ = *changed;
    return changed;
  };
  if (log_ == nullptr) return;
  candidacy_.emplace(*log_, election_, ports_.hub.now, logger_);
  log_->follow();
  log_->read_on();
}

Duration RoleLoop::wait() const {
  if (!loop_) return kFollowInterval;
  return leader_->appending() ? kIdleMax : loop_->wait();
}

Result<void> RoleLoop::run() {
  for (;;) {
    if (ports_.hub.turned) ports_.hub.turned();
    Inbox::Content content = inbox_.dequeue(wait(), kBatchFactsMax);
    const bool stop = content.stops > 0;
    auto done = stop ? finish(std::move(content)) : turn(std::move(content));
    status_.set(stats());
    if (!done && !stop) status_.fail();
    if (stop || !done) return done;
  }
}

Result<void> RoleLoop::turn(Inbox::Content content) {
  if (const auto since = std::exchange(paced_since_, std::nullopt))
    paced_.ns += (ports_.hub.now() - *since).ns;
  auto done = step(std::move(content));
  const LogTime present = ports_.hub.now();
  if (leader_ && leader_->pause().ns > 0) paced_since_ = present;
  if (trouble().empty())
    trouble_since_.reset();
  else if (!trouble_since_)
    trouble_since_ = present;
  return done;
}

Result<void> RoleLoop::step(Inbox::Content content) {
  if (log_ != nullptr) {
    log_->refresh();
    if (const auto stopped = log_->state().stopped) return *stopped;
  }
  if (!leader_) return follow(content);
  if (!election_.leads()) return step_down("the Lease is lost");
  if (trouble_since_ && ports_.hub.now() - *trouble_since_ >= kUnreachedMax) {
    const std::string why = trouble();
    election_.yield();
    return step_down("the log could not be written for " + to_go_duration(kUnreachedMax) + ": " +
                     why);
  }
  if (log_ != nullptr) wait_for_copies();
  auto done = loop_->round(std::move(content));
  if (!said_listed_ && loop_->stats().planning) {
    said_listed_ = true;
    election_.say_listed();
  }
  if (!done && log_ != nullptr && ends_a_term(done.error())) return step_down(done.error().message);
  return done;
}

// Facts and answers of the last term may still come, and are dropped.
Result<void> RoleLoop::follow(const Inbox::Content& content) {
  if (content.configuration) (void)ports_.hub.read_configuration();
  if (log_ != nullptr) log_->take_up();
  const bool whole = log_ != nullptr && log_->state().end_reached > 0 && election_.listed();
  const Seq last = log_ != nullptr ? log_->last_seq() : replica_.state().seq;
  if (auto followed = replica_.follow(last, whole ? ViewState::synced : ViewState::unsynced);
      !followed)
    return followed;
  if (!election_.leads()) {
    if (candidacy_) candidacy_->lost();
    return {};
  }
  return !candidacy_ || candidacy_->may_lead() ? lead() : Result<void>();
}

Result<void> RoleLoop::lead() {
  auto connected = ports_.connect(configuration_);
  if (!connected) return connected.error();
  if (!*connected) return {};
  if (candidacy_) candidacy_->won();
  leader_ = std::make_unique<Leader>(replica_);
  loop_ = std::make_unique<HubLoop>(*leader_, inbox_, status_, ports_.hub);
  logger_({Severity::info,
           "this process leads",
           {{"seq", std::to_string(replica_.state().seq.value)}}});
  auto begun = leader_->begin(configuration_);
  if (!begun && log_ != nullptr && ends_a_term(begun.error()))
    return step_down(begun.error().message);
  return begun;
}

// The next commit replaces an older one in the ring: a replica that lacks that one is behind the
// window then.
void RoleLoop::wait_for_copies() {
  const RingPlace place = log_->state().place;
  const auto copies = election_.copies();
  const bool copied =
      place.next < place.slots ||
      std::ranges::any_of(copies, [&](std::uint64_t commits) { return is_inside(commits, place); });
  const LogTime present = ports_.hub.now();
  if (copied)
    uncopied_since_.reset();
  else if (!uncopied_since_)
    uncopied_since_ = present;
  const bool waited = uncopied_since_ && present - *uncopied_since_ >= terms_.wait;
  if (!copied && (terms_.required > 1 || !waited))
    log_->hold();
  else
    log_->go_on();
  if (std::exchange(alone_, waited) == waited) return;
  if (waited)
    logger_({Severity::warn,
             terms_.required > 1
                 ? "no other replica has the commit that is replaced next: nothing is decided "
                   "until one has (log.replication.copies.required)"
                 : "no other replica has the commit that is replaced next: going on alone",
             {{"commit", std::to_string(place.next - place.slots)}}});
  else
    logger_({Severity::info, "another replica has caught up", {}});
}

// What was sent and not answered is looked at by the next leader.
Result<void> RoleLoop::step_down(const std::string& why) {
  logger_({Severity::warn, "this process leads no more", {{"why", why}}});
  if (log_ == nullptr)
    return Error{ErrorCode::conflict,
                 why + ": another process may write what this one's log does not know"};
  ports_.disconnect();
  uncopied_since_.reset();
  loop_.reset();
  auto down = leader_->step_down();
  leader_.reset();
  log_->follow();
  return down;
}

Result<void> RoleLoop::finish(Inbox::Content content) {
  Result<void> done;
  if (leader_) {
    done = loop_->finish(std::move(content));
    if (!done && log_ != nullptr &&
        (ends_a_term(done.error()) || done.error().code == ErrorCode::unavailable)) {
      logger_({Severity::warn,
               "the next leader looks at what this one left",
               {{"why", done.error().message}}});
      done = {};
    }
  } else {
    inbox_.close();
  }
  election_.release();
  return done;
}

// Why the log does not come on; empty while all is well.
std::string RoleLoop::trouble() const {
  if (log_ == nullptr) return {};
  const ReplicatedLogState state = log_->state();
  if (state.stopped) return state.stopped->message;
  if (!state.behind || !state.trouble.empty()) return state.trouble;
  return "behind the log's window: it begins with commit " + std::to_string(*state.behind) +
         ", and commit " + std::to_string(state.place.next) + " is wanted";
}

HubStats RoleLoop::stats() const {
  HubStats stats = loop_ ? loop_->stats() : replica_.stats();
  RoleStats& role = stats.role;
  role.role = loop_ ? HubRole::leader : HubRole::follower;
  role.leader = election_.leader();
  role.pending_facts = leader_ ? leader_->pending_facts() : 0;
  role.caught_up = true;
  if (log_ == nullptr) return stats;
  const ReplicatedLogState state = log_->state();
  role.store = log_->store();
  if (loop_) {
    role.copies = 1;
    for (const std::uint64_t commits : election_.copies())
      if (is_inside(commits, state.place)) ++role.copies;
  }
  role.caught_up = state.end_reached > 0;
  role.trouble = trouble();
  role.place = state.place;
  role.counters = state.counters;
  role.lag_commits = state.behind ? *state.behind - state.place.next : 0;
  role.lag = trouble_since_ ? ports_.hub.now() - *trouble_since_ : Duration{};
  role.paced = paced_;
  return stats;
}

}  // namespace fairlead
