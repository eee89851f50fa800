// The uid and the resourceVersion of an object in 16 and 8 bytes.
//
// A hub keeps both of every object, twice or more. As texts they take 64 bytes and, for the uid, a
// piece of the heap. An API server makes UUIDs and decimal numbers; what has another form is kept
// as text, so that each comes back as it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

/// A uid. Compares by its text.
class PackedUid {
 public:
  PackedUid() = default;
  explicit PackedUid(std::string_view text);
  PackedUid(PackedUid&& other) noexcept
      : high_(std::exchange(other.high_, 0)), low_(std::exchange(other.low_, 0)) {}
  PackedUid& operator=(PackedUid&& other) noexcept {
    std::swap(high_, other.high_);
    std::swap(low_, other.low_);
    return *this;
  }
  PackedUid(const PackedUid&) = delete;
  PackedUid& operator=(const PackedUid&) = delete;
  ~PackedUid();

  bool empty() const { return high_ == 0 && low_ == 0; }
  std::string text() const;
  friend bool operator==(const PackedUid& a, std::string_view b);

 private:
  // A UUID of RFC 4122 begins its lower half with the bits 10. Any other text is on the heap, and
  // `high_` its address.
  bool is_uuid() const { return low_ >> 62 == 2; }
  const std::string* other() const { return reinterpret_cast<const std::string*>(high_); }

  std::uint64_t high_ = 0, low_ = 0;
};

/// A resourceVersion. Compares by its text.
class PackedVersion {
 public:
  PackedVersion() = default;
  explicit PackedVersion(std::string_view text);
  PackedVersion(PackedVersion&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  PackedVersion& operator=(PackedVersion&& other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  PackedVersion(const PackedVersion&) = delete;
  PackedVersion& operator=(const PackedVersion&) = delete;
  ~PackedVersion();

  bool empty() const { return bits_ == 0; }
  std::string text() const;
  friend bool operator==(const PackedVersion& a, std::string_view b);
  /// As of their texts (resource_version.h).
  friend bool is_lower_version(std::string_view a, const PackedVersion& b);

 private:
  // Odd: a number and this bit. Even: the address of a text.
  bool is_number() const { return (bits_ & 1) != 0; }
  const std::string* other() const { return reinterpret_cast<const std::string*>(bits_); }

  std::uint64_t bits_ = 0;
};

}  // namespace fairlead
