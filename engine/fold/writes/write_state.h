// The part of State about our own writes: what we sent, and what came of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/base/boxed.h"
#include "engine/base/digest.h"
#include "engine/base/time.h"
#include "engine/fold/claims/status_left.h"
#include "engine/fold/deadlines.h"
#include "schema/event.h"

namespace fairlead {

/// A write that was intended and has no concluded outcome yet.
struct Outstanding {
  Seq seq;
  PatchIntended intent;
  std::optional<LogTime>
      doubted_until;  ///< no answer came: what the watch reports until then decides

  friend bool operator==(const Outstanding&, const Outstanding&) = default;
};

/// The last rejection of a write to this target, and when it may be tried again.
struct Refusal {
  Seq seq;
  int http_code = 0;
  std::string reason;
  Digest intent;  ///< wish_of the refused intent, which is not sent again before `retry_at`; zero:
                  ///< a conflict
  LogTime retry_at;
  std::int64_t attempts = 0;
  RejectionCause cause = RejectionCause::content;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Kept of every object that was ever written, a hundred thousand pods among them: what most of
/// them lack is boxed.
struct WriteState {
  Boxed<Outstanding> outstanding;
  std::optional<LogTime> last_write;
  Seq last_write_seq;  ///< of that write
  /// What the watch has to report of our last accepted write: this version, or the object's end.
  std::string awaited_version;
  bool awaits_end = false;
  Boxed<Refusal> refusal;
  /// Of a claim that we created: spec.nominalResources as our last write left it. Absent for other
  /// claims, and from the first change of the list by another writer on.
  Boxed<std::map<std::string, std::string>> nominal;
  Boxed<StatusLeft> status_left;  ///< of statuses only

  const StatusLeft& status() const {
    static const StatusLeft none;
    return status_left ? *status_left : none;
  }
  StatusLeft& change_status() { return status_left ? *status_left : status_left.emplace(); }
  bool awaits() const { return awaits_end || !awaited_version.empty(); }
  void await_version(const std::string& version) {
    awaited_version = version;
    awaits_end = false;
  }
  void await_end() {
    awaited_version.clear();
    awaits_end = true;
  }
  void await_nothing() { await_version(""); }

  friend bool operator==(const WriteState&, const WriteState&) = default;
};

/// Every object that was ever written.
struct WriteTables {
  std::map<WriteKey, WriteState, WriteKeyOrder> by_key;
  std::map<Seq, WriteKey> outstanding;  ///< the unanswered intents
  /// Those whose refusal has another cause than their content.
  std::set<WriteKey, WriteKeyOrder> held_up;

  friend bool operator==(const WriteTables&, const WriteTables&) = default;
};

}  // namespace fairlead
