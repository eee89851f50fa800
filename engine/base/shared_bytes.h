// Immutable bytes with a count of their holders, in one allocation. They may hold other such bytes,
// their base, of which they say only what differs.
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
    if (counted_ && count().fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  /// Returns `size` bytes, which the caller writes at `begin` before it shares them.
  static SharedBytes make(std::size_t size, char*& begin) {
    return place(::operator new(kHeadBytes + size), Holds::nothing, begin);
  }
  /// The same, of bytes that hold `base`, which is counted and has no base of its own.
  static SharedBytes make_on(const SharedBytes& base, std::size_t size, char*& begin) {
    auto* const held = static_cast<const char**>(::operator new(sizeof(char*) + kHeadBytes + size));
    base.count().fetch_add(1, std::memory_order_relaxed);
    *held = base.bytes_;
    return place(held + 1, Holds::base, begin);
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
  /// Returns the bytes of the base; null if these have none.
  const char* base() const {
    return counted_ && head().holds == Holds::base ? *held_base() : nullptr;
  }

 private:
  enum class Holds : std::uint32_t {
    nothing,
    base,  // the address of the base's bytes lies in front of the head
  };
  struct Head {
    std::atomic<std::uint32_t> count;
    Holds holds;
  };
  static constexpr std::size_t kHeadBytes = sizeof(Head);
  static_assert(kHeadBytes == sizeof(char*), "the bytes behind it are aligned");

  static SharedBytes place(void* at, Holds holds, char*& begin) {
    ::new (at) Head{1, holds};
    begin = static_cast<char*>(at) + kHeadBytes;
    return counted_of(begin);
  }
  // Takes over one count.
  static SharedBytes counted_of(const char* bytes) {
    SharedBytes made = view_of(bytes);
    made.counted_ = true;
    return made;
  }
  void destroy() {
    const char** const held = head().holds == Holds::base ? held_base() : nullptr;
    const SharedBytes base = held ? counted_of(*held) : SharedBytes();
    ::operator delete(held ? static_cast<void*>(held) : &head());
  }
  Head& head() const {
    return *std::launder(reinterpret_cast<Head*>(const_cast<char*>(bytes_) - kHeadBytes));
  }
  std::atomic<std::uint32_t>& count() const { return head().count; }
  const char** held_base() const {
    return std::launder(reinterpret_cast<const char**>(const_cast<char*>(bytes_) - kHeadBytes) - 1);
  }

  const char* bytes_ = nullptr;
  bool counted_ = false;
};

}  // namespace fairlead
