// An immutable map from names to shared entries, of which the next version is made at the cost of
// what differs.
//
// A reader on another thread keeps the version that it has. A new version copies one array of
// pointers and the buckets of the names that changed, so that a change of one name among ten
// thousand copies some twenty entries' pointers, not all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

template <class T>
class SharedMap {
 public:
  /// New entries by name; null: the name has none any more.
  using Changes = std::map<std::string, std::shared_ptr<const T>>;

  /// Returns the entry of `name`; null if there is none. Valid while this version lives.
  const T* find(std::string_view name) const {
    if (!buckets_) return nullptr;
    const auto& bucket = (*buckets_)[bucket_of(name)];
    if (!bucket) return nullptr;
    const auto at = place(*bucket, name);
    return at != bucket->end() && at->first == name ? at->second.get() : nullptr;
  }

  /// Returns the version in which `changes` are made. Shares all else with this one.
  SharedMap with(const Changes& changes) const {
    if (changes.empty()) return *this;
    auto buckets = std::make_shared<Buckets>(buckets_ ? *buckets_ : Buckets{});
    std::map<std::size_t, std::vector<typename Changes::const_iterator>> by_bucket;
    for (auto change = changes.begin(); change != changes.end(); ++change)
      by_bucket[bucket_of(change->first)].push_back(change);
    for (const auto& [number, of_bucket] : by_bucket) {
      std::shared_ptr<const Bucket>& bucket = (*buckets)[number];
      auto next = std::make_shared<Bucket>(bucket ? *bucket : Bucket{});
      for (const auto& change : of_bucket) put(*next, change->first, change->second);
      bucket = std::move(next);
    }
    SharedMap made;
    made.buckets_ = std::move(buckets);
    return made;
  }

 private:
  using Bucket = std::vector<std::pair<std::string, std::shared_ptr<const T>>>;  // by name
  using Buckets = std::array<std::shared_ptr<const Bucket>, 512>;

  // FNV-1a, which is the same on every machine.
  static std::size_t bucket_of(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return static_cast<std::size_t>((hash ^ (hash >> 32)) % std::tuple_size_v<Buckets>);
  }

  template <class B>
  static auto place(B& bucket, std::string_view name) {
    return std::lower_bound(
        bucket.begin(), bucket.end(), name,
        [](const auto& entry, std::string_view to) { return entry.first < to; });
  }

  static void put(Bucket& bucket, const std::string& name, const std::shared_ptr<const T>& entry) {
    const auto at = place(bucket, name);
    const bool had = at != bucket.end() && at->first == name;
    if (had && entry)
      at->second = entry;
    else if (had)
      bucket.erase(at);
    else if (entry)
      bucket.emplace(at, name, entry);
  }

  std::shared_ptr<const Buckets> buckets_;
};

}  // namespace fairlead
