// The review of an edit that lowers one quota of a ClusterQueue.
#pragma once

#include <string>
#include <vector>

namespace fairlead::bench {

/// Returns an AdmissionReview of an UPDATE of `queue`, in which each of `flavors` has the nominal
/// cpu quota `is` instead of `was`.
std::string review_text(const std::string& queue, const std::vector<std::string>& flavors,
                        const std::string& was, const std::string& is);

}  // namespace fairlead::bench
