// Changing what State has observed of a Workload, which it keeps packed.
#pragma once

#include <utility>

#include "engine/fold/seen_workload.h"

namespace fairlead {

/// The observed fields of a Workload, for a test to change. They are put back when it ends.
class WorkloadEdit {
 public:
  explicit WorkloadEdit(SeenWorkload& seen) : seen_(seen), now_(seen.contents()) {}
  ~WorkloadEdit() { seen_.adopt(std::move(now_)); }
  WorkloadEdit(const WorkloadEdit&) = delete;
  WorkloadEdit& operator=(const WorkloadEdit&) = delete;

  Observed<WorkloadFacts>* operator->() { return &now_; }

 private:
  SeenWorkload& seen_;
  Observed<WorkloadFacts> now_;
};

inline WorkloadEdit edit(SeenWorkload& seen) { return WorkloadEdit(seen); }

}  // namespace fairlead
