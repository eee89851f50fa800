// A Workload as State keeps it.
//
// A hub may have 100,000 of them that wait for quota. Each has some fifteen texts, which as
// std::string take more memory than what they say, and which no rule reads until the Workload
// changes.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/base/shared_bytes.h"
#include "engine/base/shared_value.h"
#include "engine/fold/observed.h"

namespace fairlead {

/// A Workload as last observed. Its fields are in one block of bytes, which copies of State share,
/// and are read from there. Where its pods use devices they are kept as they are: each pass that
/// places Workloads reads all of those that wait.
class SeenWorkload {
 public:
  using Contents = Observed<WorkloadFacts>;
  /// What names its state. The texts are valid as long as the SeenWorkload.
  struct Head {
    std::string_view uid, version, resource_version;
    std::int64_t generation = 0;
  };

  SeenWorkload() = default;
  explicit SeenWorkload(Contents seen) { adopt(std::move(seen)); }

  /// Returns all that was observed. Decodes it where it is bytes, so a rule that reads several
  /// fields keeps it.
  Shared<Contents> read() const;
  Shared<Contents> operator->() const { return read(); }
  Head head() const;

  Contents contents() const { return *read(); }
  /// Keeps `seen` instead of what was observed before.
  void adopt(Contents seen);

  friend bool operator==(const SeenWorkload& a, const SeenWorkload& b);

 private:
  std::variant<Shared<Contents>, SharedBytes> kept_;  ///< the contents, or their canonical bytes
};

}  // namespace fairlead
