// `fairlead-bench [--list] [--only PREFIX] [--tiny] [--repeat N] [--directory DIR] [--perturb
// NAME]`: runs the benches and prints one JSON line each. scripts/bench makes the table.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string_view>
#include <system_error>

#include "engine/base/json.h"
#include "tests/bench/benches.h"
#include "tests/bench/perturbation.h"

namespace fairlead::bench {
namespace {

struct Options {
  bool list = false;
  std::string only;
  Size size = Size::full;
  std::size_t repeat = 7;
  Perturbation perturbation = Perturbation::none;
  std::filesystem::path directory = ".";
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Runs the bound and the measured code in turn, so that a slow phase of the machine affects both.
Json run(const Bench& bench, const Options& options) {
  const Place place{options.size, options.directory / ("bench-data-" + std::to_string(::getpid()))};
  std::filesystem::create_directories(place.directory);
  std::vector<double> measured;
  std::vector<double> bounds;
  std::vector<double> ratios;
  {
    const Trial trial = bench.prepare(place);
    for (std::size_t i = 0; i < options.repeat; ++i) {
      const bool bound_first = i % 2 == 0;
      if (bound_first) bounds.push_back(trial.bound());
      {
        const Perturbed perturbed(options.perturbation);
        measured.push_back(trial.measured());
      }
      if (!bound_first) bounds.push_back(trial.bound());
      ratios.push_back(measured.back() / bounds.back());
    }
  }
  std::filesystem::remove_all(place.directory);
  const double ratio = median(ratios);
  const bool more = bench.better == Better::more;
  return {{"name", bench.name},
          {"unit", bench.unit},
          {"measured", median(measured)},
          {"bound", median(bounds)},
          {"bound_is", bench.bound},
          {"ratio", ratio},
          {"better", more ? "more" : "less"},
          {"limit", bench.limit},
          {"ok", more ? ratio >= bench.limit : ratio <= bench.limit},
          {"ratios", ratios}};
}

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const char* value = i + 1 < count ? arguments[i + 1] : nullptr;
    if (word == "--list") {
      options.list = true;
    } else if (word == "--tiny") {
      options.size = Size::tiny;
    } else if (word == "--only" && value != nullptr) {
      options.only = arguments[++i];
    } else if (word == "--directory" && value != nullptr) {
      options.directory = arguments[++i];
    } else if (word == "--perturb" && value != nullptr) {
      const auto perturbation = perturbation_named(arguments[++i]);
      if (!perturbation) return false;
      options.perturbation = *perturbation;
    } else if (word == "--repeat" && value != nullptr) {
      const std::string_view digits = arguments[++i];
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), options.repeat);
      if (error != std::errc{} || *end != '\0' || options.repeat == 0) return false;
    } else {
      return false;
    }
  }
  return true;
}

int run_all(const Suite& suite, const Options& options) {
  std::size_t found = 0;
  for (const Bench& bench : suite.benches()) {
    if (!bench.name.starts_with(options.only)) continue;
    ++found;
    if (options.list)
      std::cout << bench.name << '\n';
    else
      std::cout << to_text(run(bench, options)) << std::endl;
  }
  if (found == 0) std::cerr << "fairlead-bench: no bench begins with \"" << options.only << "\"\n";
  return found == 0 ? 2 : 0;
}

}  // namespace
}  // namespace fairlead::bench

int main(int count, char** arguments) {
  using namespace fairlead::bench;
  Options options;
  if (!parse(count, arguments, options)) {
    std::cerr << "usage: fairlead-bench [--list] [--only PREFIX] [--tiny] [--repeat N] "
                 "[--directory DIR] [--perturb worse-codec|doubled-hash|better-codec]\n";
    return 2;
  }
  Suite suite;
  add_append_benches(suite);
  add_ring_benches(suite);
  add_log_benches(suite);
  add_decode_benches(suite);
  add_debounce_benches(suite);
  add_placement_benches(suite);
  add_fold_benches(suite);
  add_live_benches(suite);
  add_hub_benches(suite);
  add_member_benches(suite);
  add_pool_benches(suite);
  add_device_benches(suite);
  add_device_decision_benches(suite);
  add_dispatch_benches(suite);
  add_waiting_benches(suite);
  add_replay_benches(suite);
  add_page_benches(suite);
  add_large_page_benches(suite);
  add_usage_benches(suite);
  add_wait_record_benches(suite);
  add_webhook_benches(suite);
  add_served_webhook_benches(suite);
  try {
    return run_all(suite, options);
  } catch (const std::exception& error) {
    std::cerr << "fairlead-bench: " << error.what() << '\n';
    return 3;
  }
}
