// The status that a claim has by our last accepted write, as far as it decides about the next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/fold/state.h"

namespace fairlead {

/// What is compared of two statuses, in the words of their JSON. Values alone: no bodies are made
/// to find that a status stays as it is.
struct StatusContent {
  // Whose change is written at once.
  std::int64_t observed_generation = 0;
  std::vector<std::array<std::string, 6>> grants;         ///< fields in the order of their names
  std::vector<std::array<std::string, 5>> overcommitted;  ///< likewise
  /// Type, status, reason (empty of a warning), message (empty unless it names objects).
  std::vector<std::array<std::string, 4>> conditions;
  // Whose change waits until capacity holds still.
  std::vector<std::array<std::string, 3>> accepted;  ///< flavor, resource, amount: those above 0
  std::vector<std::string> warnings;                 ///< the reasons of those

  bool urgently_differs(const StatusContent& other) const;
  bool patiently_differs(const StatusContent& other) const;

  friend bool operator==(const StatusContent&, const StatusContent&) = default;
};

/// The condition, with what of it is compared.
void add_condition(StatusContent& content, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message);

/// A status that was written.
struct ToldStatus {
  std::uint64_t seq = 0;
  /// None if this program would not write such a one: whatever it writes now is another.
  std::optional<StatusContent> content;
  struct Row {
    CapacityKey key;
    std::optional<Quantity> accepted;

    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<Row> capacity;
  /// When a condition took its status.
  struct Turn {
    std::string type;
    std::string status;
    std::string since;  ///< lastTransitionTime

    friend bool operator==(const Turn&, const Turn&) = default;
  };
  std::vector<Turn> turns;

  friend bool operator==(const ToldStatus&, const ToldStatus&) = default;
};

/// Reads "status" of a body that we wrote; nullopt if it is empty or has none.
std::optional<ToldStatus> read_status(const std::string& body);

/// The last status of each claim, read when its body changes, unless it is the one that was planned
/// last.
class ToldStatuses {
 public:
  /// The claim's next accepted body is likely `body`, of which read_status reads `told`.
  void expect(const std::string& claim, const std::string& body, ToldStatus told);
  /// Of the claim's last accepted body. The reference holds until the next call.
  const std::optional<ToldStatus>& of(const std::string& claim, const std::string& body);
  /// The claim is gone.
  void forget(const std::string& claim);

 private:
  struct Entry {
    std::string body;
    std::optional<ToldStatus> told;
  };
  std::map<std::string, Entry> entries_;
  std::map<std::string, Entry> expected_;  // by claim too
};

}  // namespace fairlead
