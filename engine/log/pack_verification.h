// Private to the log and the bundle: holds packs against everything that they must be.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/log/commit.h"
#include "engine/log/event_log.h"

namespace fairlead {

/// One walk over the packs of a log, in order; remembers how far all was well.
class PackVerification {
 public:
  /// Sees each event that is good so far; what is wrong beside it, or empty. May be empty.
  using Beside = std::function<std::string(const Event&)>;

  /// Packs go on from `base`.
  PackVerification(const LogTail& base, Beside beside);

  /// Its check, its place in the chain, every record's bytes and place. Whether all is well; after
  /// a pack that is not, `verdict` says where and why.
  bool check_pack(std::string_view value);
  /// Whether `listed` are the epochs of the events so far, with their program versions.
  bool check_epochs(const std::map<Epoch, std::string>& listed);
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
