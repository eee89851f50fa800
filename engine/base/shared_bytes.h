// Immutable bytes with a count of their holders, in one allocation.
//
// std::make_shared of an array takes 47 bytes beside its content (libstdc++ 12), this 8: State
// holds millions of small ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace fairlead {

/// Either owns a part in counted bytes, or views bytes of another owner. Counted ones may be copied
/// and destroyed on several threads at a time.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(const SharedBytes& other) : bytes_(other.bytes_), counted_(other.counted_) {
    if (counted_) count().fetch_add(1, std::memory_order_relaxed);
  }
  SharedBytes(SharedBytes&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)),
        counted_(std::exchange(other.counted_, false)) {}
  SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(counted_, other.counted_);
    return *this;
  }
  ~SharedBytes() {
    if (counted_ && count().fetch_sub(1, std::memory_order_acq_rel) == 1)
      ::operator delete(block());
  }

  /// Returns `size` bytes, which the caller writes at `begin` before it shares them.
  static SharedBytes make(std::size_t size, char*& begin) {
    auto* block = static_cast<char*>(::operator new(kHead + size));
    ::new (block) Count(1);
    begin = block + kHead;
    SharedBytes made = view_of(begin);
    made.counted_ = true;
    return made;
  }
  static SharedBytes copy_of(std::string_view bytes) {
    char* begin = nullptr;
    SharedBytes copy = make(bytes.size(), begin);
    std::memcpy(begin, bytes.data(), bytes.size());
    return copy;
  }
  /// Must not outlive `bytes`, and neither must its copies.
  static SharedBytes view_of(const char* bytes) {
    SharedBytes view;
    view.bytes_ = bytes;
    return view;
  }

  const char* get() const { return bytes_; }
  bool is_view() const { return !counted_; }
  explicit operator bool() const { return bytes_ != nullptr; }

 private:
  using Count = std::atomic<std::uint32_t>;
  static constexpr std::size_t kHead = 8;  // keeps the bytes aligned

  char* block() const { return const_cast<char*>(bytes_) - kHead; }
  Count& count() const { return *std::launder(reinterpret_cast<Count*>(block())); }

  const char* bytes_ = nullptr;
  bool counted_ = false;
};

}  // namespace fairlead
