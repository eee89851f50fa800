#include "tests/bench/review.h"

#include "engine/base/json.h"

namespace fairlead::bench {
namespace {

Json cluster_queue(const std::string& name, const std::vector<std::string>& flavors,
                   const std::string& nominal) {
  Json rows = Json::array();
  for (const std::string& flavor : flavors)
    rows.push_back({{"name", flavor},
                    {"resources", Json::array({{{"name", "cpu"}, {"nominalQuota", nominal}}})}});
  return {
      {"apiVersion", "kueue.x-k8s.io/v1beta2"},
      {"kind", "ClusterQueue"},
      {"metadata", {{"name", name}, {"resourceVersion", "1"}, {"uid", "u"}}},
      {"spec",
       {{"resourceGroups", Json::array({{{"coveredResources", {"cpu"}}, {"flavors", rows}}})}}}};
}

}  // namespace

std::string review_text(const std::string& queue, const std::vector<std::string>& flavors,
                        const std::string& was, const std::string& is) {
  return to_text(Json{
      {"apiVersion", "admission.k8s.io/v1"},
      {"kind", "AdmissionReview"},
      {"request",
       {{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
        {"kind", {{"group", "kueue.x-k8s.io"}, {"version", "v1beta2"}, {"kind", "ClusterQueue"}}},
        {"name", queue},
        {"operation", "UPDATE"},
        {"userInfo", {{"username", "alice"}, {"groups", {"system:authenticated"}}}},
        {"object", cluster_queue(queue, flavors, is)},
        {"oldObject", cluster_queue(queue, flavors, was)}}}});
}

}  // namespace fairlead::bench
