#include "engine/runtime/candidacy.h"

#include <string>
#include <utility>

namespace fairlead {

// The ring is read after the others have answered: what it holds of theirs is here then.
bool Candidacy::may_lead() {
  if (yielded_) return false;
  const LogTime present = now_();
  if (!asked_at_) {
    asked_at_ = present;
    election_.ask_others();
  }
  const OthersSaid others = election_.others();
  if (!lead_at_) {
    if (!others.all && present - *asked_at_ < kOthersMax) return false;
    lead_at_ = log_.read_on();
  }
  const ReplicatedLogState state = log_.state();
  if (state.end_reached < *lead_at_) {
    if (state.behind)
      leave("the ring no longer has what follows here");
    else if (present - *asked_at_ >= kUnreachedMax)
      leave("the ring cannot be read to its end: " + state.trouble);
    return false;
  }
  if (others.commits <= state.place.next || decided_) return true;
  const std::string more = "another replica has " + std::to_string(others.commits) +
                           " commits of the log, and the ring and this one " +
                           std::to_string(state.place.next);
  if (yields(state.place.next)) {
    leave(more);
    return false;
  }
  decided_ = true;
  logger_({Severity::warn, "this process leads without a part of the log", {{"why", more}}});
  return true;
}

void Candidacy::leave(const std::string& why) {
  logger_({Severity::warn, "the Lease is left to another replica", {{"why", why}}});
  yielded_ = true;
  election_.yield();
}

// Whether a candidate with that many commits leaves the Lease to another.
bool Candidacy::yields(std::uint64_t commits) {
  if (std::exchange(yielded_with_, commits) != commits) yields_ = 0;
  return yields_++ < kYieldsMax;
}

void Candidacy::lost() {
  asked_at_.reset();
  lead_at_.reset();
  yielded_ = decided_ = false;
}

void Candidacy::won() {
  lost();
  yields_ = 0;
}

}  // namespace fairlead
