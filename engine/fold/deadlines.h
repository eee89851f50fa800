// Internal deadlines of the fold, in (time, key) order.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "engine/base/time.h"
#include "schema/event.h"

namespace fairlead {

/// The target of writes: an object, or its status, which has writes of its own.
struct WriteKey {
  std::string cluster;  ///< the API server, as a SourceName
  ObjectKey object;
  bool status = false;

  friend auto operator<=>(const WriteKey&, const WriteKey&) = default;
};

/// A WriteKey that owns no text, for lookups.
struct WriteKeyView {
  std::string_view cluster;
  Kind kind{};
  std::string_view namespace_;
  std::string_view name;
  bool status = false;

  friend auto operator<=>(const WriteKeyView&, const WriteKeyView&) = default;
};
inline WriteKeyView of_object(std::string_view cluster, const ObjectKey& object) {
  return {cluster, object.kind, object.namespace_, object.name, false};
}
inline WriteKeyView of_status(std::string_view cluster, const ObjectKey& object) {
  return {cluster, object.kind, object.namespace_, object.name, true};
}
inline WriteKeyView view_of(const WriteKey& key) {
  return key.status ? of_status(key.cluster, key.object) : of_object(key.cluster, key.object);
}

/// Orders WriteKeys and their views alike.
struct WriteKeyOrder {
  using is_transparent = void;
  bool operator()(const WriteKey& a, const WriteKey& b) const { return view_of(a) < view_of(b); }
  bool operator()(const WriteKey& a, const WriteKeyView& b) const { return view_of(a) < b; }
  bool operator()(const WriteKeyView& a, const WriteKey& b) const { return a < view_of(b); }
};

/// When the windows of a cluster are evaluated again, by the cluster's name.
struct ClusterDeadline {
  std::string cluster;

  friend auto operator<=>(const ClusterDeadline&, const ClusterDeadline&) = default;
};

/// When the worker list of a Placement is evaluated again, by the Placement's name.
struct ListDeadline {
  std::string placement;

  friend auto operator<=>(const ListDeadline&, const ListDeadline&) = default;
};

/// When the conditions of an AdmissionCheck are evaluated again, by its name.
struct CheckDeadline {
  std::string check;

  friend auto operator<=>(const CheckDeadline&, const CheckDeadline&) = default;
};

/// When the quota of a hub queue that follows its workers is evaluated again, by the queue's name.
struct QuotaDeadline {
  std::string queue;

  friend auto operator<=>(const QuotaDeadline&, const QuotaDeadline&) = default;
};

/// When the super cluster pool is evaluated again: a cluster is gone, or counts again, or a reason
/// has held for long enough.
struct PoolDeadline {
  friend auto operator<=>(const PoolDeadline&, const PoolDeadline&) = default;
};

/// When Workloads that use devices are placed again (Dispatch::due).
struct DispatchDeadline {
  friend auto operator<=>(const DispatchDeadline&, const DispatchDeadline&) = default;
};

/// What a deadline is for. With a WriteKey: when the object may be written again.
using DeadlineKey = std::variant<ClusterDeadline, WriteKey, ListDeadline, CheckDeadline,
                                 QuotaDeadline, PoolDeadline, DispatchDeadline>;

/// A set of deadlines, at most one per key.
class Deadlines {
 public:
  /// Sets the deadline of `key` to `when`; kForever clears it.
  void set(const DeadlineKey& key, LogTime when) {
    if (when == kForever) return clear(key);
    const auto [at, added] = by_key_.try_emplace(key, when);
    if (added) {
      ordered_.emplace(when, key);
    } else if (at->second != when) {
      auto node = ordered_.extract(ordered_.find(Due{at->second, key}));
      node.value().first = at->second = when;
      ordered_.insert(std::move(node));
    }
  }
  void clear(const DeadlineKey& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return;
    ordered_.erase(ordered_.find(Due{at->second, key}));
    by_key_.erase(at);
  }
  /// Returns the earliest deadline; kForever if there is none.
  LogTime next() const { return ordered_.empty() ? kForever : ordered_.begin()->first; }
  /// Removes and returns the first key whose deadline is at or before `now`; nullopt if none is.
  std::optional<DeadlineKey> dequeue_due(LogTime now) {
    if (ordered_.empty() || ordered_.begin()->first > now) return std::nullopt;
    DeadlineKey key = ordered_.begin()->second;
    clear(key);
    return key;
  }
  const std::map<DeadlineKey, LogTime>& all() const { return by_key_; }

  friend bool operator==(const Deadlines&, const Deadlines&) = default;

 private:
  using Entry = std::pair<LogTime, DeadlineKey>;
  /// An Entry that owns no key, for lookups.
  struct Due {
    LogTime when;
    const DeadlineKey& key;

    Due(LogTime at, const DeadlineKey& of) : when(at), key(of) {}
    Due(const Entry& entry) : when(entry.first), key(entry.second) {}  // NOLINT: it is the same
  };
  struct Order {
    using is_transparent = void;
    bool operator()(const Due& a, const Due& b) const {
      return std::tie(a.when, a.key) < std::tie(b.when, b.key);
    }
  };

  std::map<DeadlineKey, LogTime> by_key_;
  std::set<Entry, Order> ordered_;
};

}  // namespace fairlead
