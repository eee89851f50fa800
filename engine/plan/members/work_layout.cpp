#include "engine/plan/members/work_layout.h"

#include <algorithm>
#include <optional>

#include "engine/fold/members/works.h"

namespace fairlead {

namespace {

// What is in a work so far.
class Filling {
 public:
  bool fits(const QueueSize& queue, const std::map<std::string, std::size_t>& flavor_bytes) const {
    if (is_empty_) return true;
    return bytes_with(queue, flavor_bytes) <= kWorkBytesMax &&
           paths_ + queue.paths <= kWorkPathsMax;
  }
  void add(const QueueSize& queue, const std::map<std::string, std::size_t>& flavor_bytes) {
    bytes_ = bytes_with(queue, flavor_bytes);
    paths_ += queue.paths;
    flavors_.insert(queue.flavors.begin(), queue.flavors.end());
    is_empty_ = false;
  }

 private:
  std::size_t bytes_with(const QueueSize& queue,
                         const std::map<std::string, std::size_t>& flavor_bytes) const {
    std::size_t bytes = bytes_ + queue.bytes;
    for (const std::string& flavor : queue.flavors)
      if (!flavors_.contains(flavor)) bytes += flavor_bytes.at(flavor);
    return bytes;
  }

  std::size_t bytes_ = 0;
  std::size_t paths_ = 0;
  std::set<std::string> flavors_;
  bool is_empty_ = true;
};

// A queue that needs a place, and the lowest number that it may get.
struct Homeless {
  const QueueSize* queue;
  std::size_t from;
};

std::optional<std::size_t> home_of(const Cluster& cluster, const std::string& queue) {
  const std::vector<std::string> works = works_with(cluster, queue);
  if (works.empty()) return std::nullopt;
  // Of two works, the last by number is the one that a moving queue goes to (place_queues looks
  // upwards).
  return quota_work_number(works.back());
}

}  // namespace

std::map<std::string, std::size_t> place_queues(
    const Cluster& cluster, const std::vector<QueueSize>& queues,
    const std::map<std::string, std::size_t>& flavor_bytes) {
  std::map<std::string, std::size_t> places;
  std::map<std::size_t, Filling> works;
  std::vector<Homeless> homeless;
  const auto put = [&](const QueueSize& queue, std::size_t number) {
    Filling& work = works[number];
    if (!work.fits(queue, flavor_bytes)) return false;
    work.add(queue, flavor_bytes);
    places[queue.name] = number;
    return true;
  };
  for (const QueueSize& queue : queues) {
    // Queues that are in a work come first, so that a newcomer does not drive one of them out.
    const auto home = home_of(cluster, queue.name);
    if (!home)
      homeless.push_back({&queue, 0});
    else if (!put(queue, *home))
      homeless.push_back({&queue, *home + 1});
  }
  // A work without queues takes any queue, so the search ends.
  for (const auto& [queue, from] : homeless)
    for (std::size_t number = from; !put(*queue, number);) ++number;
  return places;
}

bool has_arrived(const Cluster& cluster, const std::string& queue, std::size_t number) {
  const auto at = cluster.member.quota_works.find(quota_work_name(number));
  return at != cluster.member.quota_works.end() && at->second.applied_and_available() &&
         !quotas_in(at->second, queue).empty();
}

}  // namespace fairlead
