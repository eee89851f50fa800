#include "engine/fleet/model/virtual_time.h"

#include <algorithm>

namespace fairlead::model {

class VirtualTime::Cancel final : public Transport::Timer {
 public:
  Cancel(VirtualTime& time, Place place) : time_(time), place_(place) {}
  ~Cancel() override { time_.due_.erase(place_); }

 private:
  VirtualTime& time_;
  const Place place_;
};

// One after the other: what is dropped may hold timers of what is still here.
VirtualTime::~VirtualTime() {
  while (!due_.empty()) (void)due_.extract(due_.begin());
}

VirtualTime::Place VirtualTime::enqueue(Duration span, std::function<void()> work) {
  const Place place{now_ + std::max(span, Duration{}), ++asked_};
  due_.emplace(place, std::move(work));
  return place;
}

std::unique_ptr<Transport::Timer> VirtualTime::after(Duration span, std::function<void()> work) {
  return std::make_unique<Cancel>(*this, enqueue(span, std::move(work)));
}

void VirtualTime::post(Duration span, std::function<void()> work) {
  enqueue(span, std::move(work));
}

void VirtualTime::advance_to(LogTime then) {
  while (next_due() <= then) {
    // Taken out first: the work may ask for more, and end its own timer.
    const auto next = due_.extract(due_.begin());
    now_ = std::max(now_, next.key().first);
    next.mapped()();
  }
  now_ = std::max(now_, then);
}

}  // namespace fairlead::model
