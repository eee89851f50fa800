// Events as a fleet produces them: similar, never equal. A measurement of compression needs such
// events.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/log/event_log.h"

namespace fairlead::bench {

/// Pseudo-random numbers, the same in every run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint64_t roll() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  /// A uid in the form of an API server's: a UUID of version 4.
  std::string uid() {
    char text[40];
    const std::uint64_t high = roll();
    const std::uint64_t low = roll();
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xFFFF),
                  static_cast<unsigned>(high & 0xFFF) | 0x4000U,
                  static_cast<unsigned>(low >> 48 & 0x3FFF) | 0x8000U,
                  static_cast<unsigned long long>(low & 0xFFFF'FFFF'FFFF));
    return text;
  }

 private:
  std::uint64_t state_;
};

/// The size of an event in canonical bytes.
enum class Weight : std::uint8_t {
  light,  ///< some 300 bytes: a node of few words
  heavy,  ///< some 2 KB: a node with the labels that a cloud gives it
};

/// An observation of a node of a fleet of 5000; each number changes one node.
inline EventDraft fleet_draft(Weight weight, std::uint64_t number) {
  constexpr std::uint64_t kFleet = 5000;
  Random random(number + 1);
  Random node_random(number % kFleet + 77);
  ObjectObserved seen;
  seen.key = {Kind::node, "", "pool-" + std::to_string(number % kFleet)};
  seen.version = "v1";
  seen.uid = node_random.uid();
  seen.resource_version = std::to_string(40'000'000 + number);
  NodeFacts facts;
  facts.ready = random.roll() % 4 != 0;
  const auto cpu = 3920 + 8 * static_cast<std::int64_t>(random.roll() % 100);
  facts.allocatable = {{"cpu", cpu}};
  if (weight == Weight::heavy) {
    const std::string zone = "europe-west4-" + std::string(1, static_cast<char>('a' + number % 3));
    facts.labels = {{"beta.kubernetes.io/instance-type", "n2-standard-8"},
                    {"cloud.google.com/gke-boot-disk", "pd-balanced"},
                    {"cloud.google.com/gke-container-runtime", "containerd"},
                    {"cloud.google.com/gke-nodepool", "pool-" + std::to_string(number % 40)},
                    {"cloud.google.com/machine-family", "n2"},
                    {"failure-domain.beta.kubernetes.io/region", "europe-west4"},
                    {"failure-domain.beta.kubernetes.io/zone", zone},
                    {"kubernetes.io/arch", "amd64"},
                    {"kubernetes.io/hostname", seen.key.name},
                    {"kubernetes.io/os", "linux"},
                    {"node.kubernetes.io/instance-type", "n2-standard-8"},
                    {"topology.gke.io/zone", zone},
                    {"topology.kubernetes.io/region", "europe-west4"},
                    {"topology.kubernetes.io/zone", zone}};
    const auto memory = 29'000'000'000 + static_cast<std::int64_t>(random.roll() % 999'999);
    facts.allocatable = {{"cpu", cpu},         {"ephemeral-storage", 47'093'746'742},
                         {"hugepages-1Gi", 0}, {"hugepages-2Mi", 0},
                         {"memory", memory},   {"pods", 110}};
    if (!facts.ready) facts.taints = {{"node.kubernetes.io/not-ready", "", "NoSchedule"}};
  }
  seen.facts = std::move(facts);
  return {"cluster1", {}, std::move(seen)};
}

inline std::vector<EventDraft> fleet_drafts(Weight weight, std::uint64_t first, std::size_t count) {
  std::vector<EventDraft> drafts;
  drafts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) drafts.push_back(fleet_draft(weight, first + i));
  return drafts;
}

}  // namespace fairlead::bench
