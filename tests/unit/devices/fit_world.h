// Worlds of devices as text, and what the search answers in them. README.md has the language.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "engine/devices/cluster_devices.h"
#include "engine/devices/fit.h"

namespace fairlead {

/// One cluster, and one question to it.
class FitWorld {
 public:
  /// Reads one statement. Fails the test that calls it if it does not understand it.
  void read(const std::string& line);
  /// Returns the answer: a line for each pod, or the reason.
  std::string answer();

  FitQuestion question();
  ClusterDeviceIndex& devices() { return devices_; }

 private:
  using Words = std::vector<std::string>;
  struct PodSet {
    std::string name;
    std::int64_t count = 1;
    PodDeviceFacts pod;
  };

  void node(const Words& words);
  void slice(const Words& words);
  void device_class(const Words& words, const std::string& line);
  void taint_rule(const Words& words);
  void uses(const Words& words);
  void claim(const Words& words);
  void pods(const Words& words);
  void entry(const Words& words);
  void request(const Words& words, const std::string& line);
  void constraint(const Words& words);

  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, ResourceSliceFacts> slices_;
  std::map<std::string, DeviceClassFacts> classes_;
  std::map<std::string, DeviceTaintRuleFacts> rules_;
  std::map<std::string, ResourceClaimTemplateFacts> templates_;
  std::map<std::string, ResourceClaimFacts> claims_;
  std::map<std::string, std::vector<DeviceId>> held_;
  std::deque<PodSet> pod_sets_;
  DeviceClaimSpec* spec_ = nullptr;  // that requests belong to
  std::vector<Toleration> flavor_;
  std::set<std::string> extended_;
  std::int64_t steps_max_ = 100'000;
  bool show_free_ = false, show_steps_ = false;
  ClusterDeviceIndex devices_;
};

}  // namespace fairlead
