// Private to the log and the bundle: verifies packs completely.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/log/commit.h"
#include "engine/log/event_log.h"

namespace fairlead {

/// One walk over the packs of a log, in order. Stops at the first fault.
class PackVerification {
 public:
  /// Receives each verified event and returns the fault of what is stored beside it; empty if there
  /// is none. May be empty.
  using Beside = std::function<std::string(const Event&)>;

  /// The first pack must continue `base`.
  PackVerification(const LogTail& base, Beside beside);

  /// Verifies a pack's check, its place in the chain, and every record's bytes and place. Returns
  /// false at a fault, which `verdict` names; no pack may be checked after that.
  bool check_pack(std::string_view value);
  /// Verifies that `listed` are the epochs of the events so far, with their program versions. A
  /// fault is placed at the first event.
  bool check_epochs(const std::map<Epoch, std::string>& listed);
  /// Records a fault in `verdict` and returns false.
  bool fail(Seq at, std::string what);

  /// The seq that must come next.
  Seq expected() const { return fairlead::next(tail_.last); }
  /// Where the good packs end.
  const LogTail& tail() const { return tail_; }
  const std::map<Epoch, std::string>& epochs() const { return epochs_; }

  LogVerdict verdict;

 private:
  bool check_record(std::string_view record);

  const Seq first_;
  const Beside beside_;
  LogTail tail_;
  std::map<Epoch, std::string> epochs_;  ///< of the events so far, with their program versions
};

}  // namespace fairlead
