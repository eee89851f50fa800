#include "engine/fold/multikueue/windows.h"

#include <catch2/catch.hpp>

namespace fairlead::windows_test {
namespace {

AdmissionCheckFacts check_with(std::map<std::string, std::string> settings) {
  AdmissionCheckFacts facts;
  facts.settings = std::move(settings);
  return facts;
}

TEST_CASE("multikueue windows: an annotation replaces its own window and no other") {
  Configuration configuration;
  configuration.multikueue.settle = seconds(2);
  configuration.multikueue.move_window = seconds(120);
  std::vector<std::string> ignored;
  const auto windows =
      windows_of(configuration, check_with({{"moveWindow", "5m"}, {"emptyGrace", "0"}}), &ignored);
  CHECK(windows.settle == seconds(2));
  CHECK(windows.move_window == minutes(5));
  CHECK(windows.empty_grace == Duration{});
  CHECK(windows.drain_timeout == configured_windows(configuration).drain_timeout);
  CHECK(ignored.empty());
}

TEST_CASE(
    "multikueue windows: what is wrong with an annotation is reported, and it does not count") {
  const Configuration configuration;
  for (const char* value : {"soon", "-1s", "5", "1h1", ""}) {
    INFO(value);
    std::vector<std::string> ignored;
    CHECK(windows_of(configuration, check_with({{"settle", value}}), &ignored) ==
          configured_windows(configuration));
    CHECK(ignored == std::vector<std::string>{
                         "annotation fairlead.io/multikueue.settle: \"" + std::string(value) +
                         "\" is ignored, expected a duration such as 2s, 120s or 1h"});
  }
  std::vector<std::string> ignored;
  windows_of(configuration, check_with({{"pause", "1s"}}), &ignored);
  CHECK(ignored == std::vector<std::string>{"annotation fairlead.io/multikueue.pause: \"1s\" is "
                                            "ignored, there is no such setting"});
  // What was ignored is not asked for.
  CHECK(windows_of(configuration, check_with({{"pause", "1s"}})) ==
        configured_windows(configuration));
}

TEST_CASE("multikueue windows: each is found by its setting's name") {
  MembershipWindows windows;
  windows.credential_grace = seconds(7);
  CHECK(window_named(windows, "credentialGrace") == seconds(7));
  CHECK_FALSE(window_named(windows, "credential_grace"));
  CHECK_FALSE(window_named(windows, ""));
}

TEST_CASE("multikueue windows: of two the longer of each") {
  MembershipWindows a{}, b{};
  a.settle = seconds(1);
  b.settle = seconds(2);
  a.drain_timeout = seconds(9);
  b.drain_timeout = seconds(3);
  const auto both = longest(a, b);
  CHECK(both.settle == seconds(2));
  CHECK(both.drain_timeout == seconds(9));
}

}  // namespace
}  // namespace fairlead::windows_test
