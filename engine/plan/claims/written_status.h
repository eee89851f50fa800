// The status in our last accepted write of a claim, as far as it decides about the next write.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/fold/capacity/capacity_state.h"

namespace fairlead {

/// The part of a status that is compared, in the texts of its JSON. Comparing values makes it
/// unnecessary to build a body to find that a status did not change.
struct StatusContent {
  // A change of these is written at once.
  std::int64_t observed_generation = 0;
  std::vector<std::array<std::string, 6>> grants;         ///< fields in the order of their names
  std::vector<std::array<std::string, 5>> overcommitted;  ///< likewise
  /// Type, status, reason (empty for a warning), message (empty unless it names objects).
  std::vector<std::array<std::string, 4>> conditions;
  // A change of these waits until capacity holds still.
  std::vector<std::array<std::string, 3>> accepted;  ///< flavor, resource, amount: those above 0
  std::vector<std::string> warnings;                 ///< the reasons of condition Valid

  bool urgently_differs(const StatusContent& other) const;
  bool patiently_differs(const StatusContent& other) const;

  friend bool operator==(const StatusContent&, const StatusContent&) = default;
};

/// Adds the compared part of a condition to `content`.
void add_condition(StatusContent& content, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message);

/// A status that we wrote.
struct WrittenStatus {
  std::uint64_t seq = 0;  ///< State::input_seq when it was written
  /// Empty if this version would not write such a status, so that every new one differs.
  std::optional<StatusContent> content;
  struct Row {
    CapacityKey key;
    std::optional<Quantity> accepted;

    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<Row> capacity;
  /// When a condition got its status.
  struct Turn {
    std::string type;
    std::string status;
    std::string since;  ///< lastTransitionTime

    friend bool operator==(const Turn&, const Turn&) = default;
  };
  std::vector<Turn> turns;

  friend bool operator==(const WrittenStatus&, const WrittenStatus&) = default;
};

/// Parses "status" of a body that we wrote; nullopt if there is none or it is empty.
std::optional<WrittenStatus> read_status(const std::string& body);

/// The last accepted status of each claim. A body is parsed when it changes, unless it is the one
/// that was planned last.
class WrittenStatuses {
 public:
  /// Notes that the claim's next accepted body is likely `body`, which read_status parses as
  /// `written`.
  void expect(const std::string& claim, const std::string& body, WrittenStatus written);
  /// Returns the status in `body`, the claim's last accepted one. The reference is valid until the
  /// next call.
  const std::optional<WrittenStatus>& of(const std::string& claim, const std::string& body);
  /// Drops a claim that is gone.
  void forget(const std::string& claim);

 private:
  struct Entry {
    std::string body;
    std::optional<WrittenStatus> written;
  };
  std::map<std::string, Entry> entries_;
  std::map<std::string, Entry> expected_;  // by claim too
};

}  // namespace fairlead
