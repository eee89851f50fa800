#include "engine/runtime/queue_use_text.h"

#include <array>
#include <string_view>

#include "engine/base/plain_decimal.h"

namespace fairlead {

namespace {

struct UseFamily {
  std::string_view name;  // without _total
  std::string_view help;
  int places;
  Int128 (*value)(const QueueCounter& counter);
};

constexpr int kPlacesOfSeconds = 3;  // of milliseconds
constexpr int kPlacesOfAmounts = 6;  // of milli-units x milliseconds
constexpr int kPlacesOfCreated = 9;  // of nanoseconds

constexpr std::array kUseFamilies{
    UseFamily{"fairlead_queue_granted_resource_seconds",
              "Effective nominal quota of a ClusterQueue over time.", kPlacesOfAmounts,
              [](const QueueCounter& of) { return of.sums.granted; }},
    UseFamily{"fairlead_queue_used_resource_seconds",
              "What a ClusterQueue reported as used over time.", kPlacesOfAmounts,
              [](const QueueCounter& of) { return of.sums.used; }},
    UseFamily{"fairlead_queue_borrowed_resource_seconds",
              "What it used beyond its nominal quota over time.", kPlacesOfAmounts,
              [](const QueueCounter& of) { return of.sums.borrowed; }},
    UseFamily{"fairlead_queue_idle_resource_seconds",
              "What of its nominal quota it did not use over time.", kPlacesOfAmounts,
              [](const QueueCounter& of) { return of.sums.idle; }},
    UseFamily{"fairlead_queue_unknown_seconds",
              "Time in which its API server was silent or no hub ran.", kPlacesOfSeconds,
              [](const QueueCounter& of) { return Int128{of.unknown}; }},
};

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string labels_of(const QueueCounter& of) {
  return "{cluster_queue=\"" + escaped(of.queue) + "\",flavor=\"" + escaped(of.pair.first) +
         "\",resource=\"" + escaped(of.pair.second) + "\"} ";
}

void add_family_head(std::string& out, std::string_view name, std::string_view type,
                     std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void add_series(std::string& out, const UseFamily& family, const QueueCounter& of) {
  out.append(family.name).append("_total").append(labels_of(of));
  out.append(plain_decimal(family.value(of), family.places)).append("\n");
}

void add_created(std::string& out, const UseFamily& family, const QueueCounter& of) {
  out.append(family.name).append("_created").append(labels_of(of));
  out.append(plain_decimal(of.created.ns, kPlacesOfCreated)).append("\n");
}

}  // namespace

std::string queue_use_text(const std::vector<QueueCounter>& counters, MetricsForm form) {
  std::string out;
  for (const UseFamily& family : kUseFamilies) {
    const std::string name(family.name);
    if (form == MetricsForm::open_metrics) {
      add_family_head(out, name, "counter", family.help);
      for (const QueueCounter& of : counters) {
        add_series(out, family, of);
        add_created(out, family, of);
      }
    } else {
      add_family_head(out, name + "_total", "counter", family.help);
      for (const QueueCounter& of : counters) add_series(out, family, of);
      add_family_head(out, name + "_created", "gauge", "When its counter began, since 1970.");
      for (const QueueCounter& of : counters) add_created(out, family, of);
    }
  }
  return out;
}

// Twice the interval: an observation is held back for one, and may wait for its commit.
SharedCounters count_use(UseReader state) {
  return std::make_shared<const std::vector<QueueCounter>>(
      queue_counters(state.usage, {state.now.ns - 2 * state.configuration.usage.interval.ns}));
}

}  // namespace fairlead
