#include "engine/runtime/admission_feed.h"

#include <utility>

namespace fairlead {

AdmissionFeed::AdmissionFeed(const Configuration& configuration) {
  auto view = std::make_shared<AdmissionView>();
  view->terms = std::make_shared<AdmissionTerms>(admission_terms(configuration));
  current_ = std::move(view);
}

void AdmissionFeed::publish(const State& state, ViewState synced) {
  auto next = mirror_.next(state, synced);
  const std::lock_guard lock(mutex_);
  std::swap(current_, next);
  // The last view, in `next`, is let go behind the lock.
}

std::shared_ptr<const AdmissionView> AdmissionFeed::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace fairlead
