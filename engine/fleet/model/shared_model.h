// A Model that threads use in turn: the one that serves it, and those of a fleet.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "engine/fleet/model/model.h"

namespace fairlead::model {

/// Begins with the built-in kinds and namespaces and the kinds of schema/crd.
class SharedModel {
 public:
  /// `clock` outlives it.
  explicit SharedModel(Clock& clock, ModelOptions options = {})
      : model_(clock, std::move(options)) {
    model_.install_fairlead_crds();
  }
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;

  /// Returns what `use` makes of the model, which no other thread uses meanwhile. Not reentrant.
  template <class Use>
  auto with_model(const Use& use) {
    const std::lock_guard lock(mutex_);
    return use(model_);
  }

  std::string url;  ///< where it is served; empty: nowhere. Set before other threads read it

 private:
  std::mutex mutex_;  // guards model_ and its streams
  Model model_;
};

/// Returns a kubeconfig with one context for `url`, named `name`. The model needs no credentials.
std::string kubeconfig_for(const std::string& name, const std::string& url);

}  // namespace fairlead::model
