// resource.Quantity: Kubernetes' way of writing amounts.
//
// Rules: k8s.io/apimachinery pkg/api/resource/quantity.go. Values are 128-bit integers of nano
// units, so no float ever touches one. Compare values, never text: `1000m` equals `1`.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

/// Wide enough for every sum and product of amounts that the fold makes.
__extension__ using Int128 = __int128;

/// The family of suffixes that a Quantity is written with.
enum class QuantityFormat : std::uint8_t { decimal_si, binary_si };

/// One amount as a user wrote it: exact value and suffix family.
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr Quantity(Int128 nano, QuantityFormat format) : nano_(nano), format_(format) {}

  /// Reads `1`, `1.5Gi`, `100m`, `1e3`, `1E`, `.5`, `-2`; nullopt if it is malformed. Rounds away
  /// from zero to nano; binary suffixes cap at 2^63-1; larger decimals saturate at the greatest
  /// 128-bit value.
  static std::optional<Quantity> parse(std::string_view text);

  /// The amount in nano units.
  constexpr Int128 nano() const { return nano_; }
  constexpr QuantityFormat format() const { return format_; }
  constexpr bool negative() const { return nano_ < 0; }

  /// Returns canonical text: `1000` -> `1k`, `1024Mi` -> `1Gi`, `0.5` -> `500m`. Input with an
  /// exponent prints as decimal SI.
  std::string text() const;

  /// Compare by value alone, whatever the suffix family.
  friend constexpr bool operator==(const Quantity& a, const Quantity& b) {
    return a.nano_ == b.nano_;
  }
  friend constexpr auto operator<=>(const Quantity& a, const Quantity& b) {
    return a.nano_ <=> b.nano_;
  }

 private:
  Int128 nano_ = 0;
  QuantityFormat format_ = QuantityFormat::decimal_si;
};

/// An amount as Kueue computes with it: cpu in milli-cores, every other resource in whole units.
/// Source: Kueue pkg/resources (int64, rounded up, saturating).
using Amount = std::int64_t;

/// Returns the Amount of `quantity` for `resource`: rounded away from zero, saturating at the ends
/// of int64.
Amount to_amount(std::string_view resource, const Quantity& quantity);
/// Returns the canonical Quantity of an amount: memory, ephemeral-storage and hugepages with binary
/// suffixes.
Quantity to_quantity(std::string_view resource, Int128 amount);
/// Returns `to_quantity(resource, amount).text()`, faster.
std::string amount_text(std::string_view resource, Int128 amount);

/// Returns the smallest step of a quota in Amount units of `resource`: cpu 1 core (1000 milli),
/// memory, ephemeral-storage and hugepages 1Mi, every other resource 1.
Amount quantum_of(std::string_view resource);

/// Returns the Amount nearest to `wide`: saturates at the ends of int64.
constexpr Amount saturate(Int128 wide) {
  return wide > INT64_MAX ? INT64_MAX : wide < INT64_MIN ? INT64_MIN : static_cast<Amount>(wide);
}

}  // namespace fairlead
