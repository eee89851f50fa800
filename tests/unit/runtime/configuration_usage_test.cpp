// The settings of what is recorded of Workloads and of use: `members.workloads`, and the sections
// `workloads` and `usage` of the configuration file.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/runtime/configuration.h"
#include "schema/event_json.h"

using namespace fairlead;

namespace {

Configuration configuration_of(const std::string& text) {
  const Result<Configuration> read = read_configuration(text, "f.yaml");
  INFO(text);
  if (read.has_error()) FAIL(read.error().message);
  return *read;
}

/// What is said of the first line.
std::string refusal_of(const std::string& text) {
  const Result<Configuration> read = read_configuration(text, "f.yaml");
  INFO(text);
  REQUIRE(read.has_error());
  CHECK(read.error().code == ErrorCode::bad_input);
  const std::string place = "f.yaml:1: ";
  CHECK(read.error().message.substr(0, place.size()) == place);
  return read.error().message.substr(place.size());
}
std::string price_refusal(const std::string& price) {
  return refusal_of("usage: {prices: [" + price + "]}");
}

constexpr const char* kEveryUsageSetting = R"(
members: {workloads: true}
workloads: {max: 7, keepFinished: 0s}
usage:
  interval: 0s
  labels: [team, example.com/cost-center]
  prices:
  - {flavor: spot, resource: nvidia.com/gpu, perHour: "2.50", currency: EUR}
  - {flavor: spot, resource: cpu, perHour: 0.02, currency: EUR}
  allocation: used-hours
)";

}  // namespace

TEST_CASE("every setting of Workloads and of use is read, and printed as it can be read again") {
  const Configuration read = configuration_of(kEveryUsageSetting);
  CHECK(read.workloads.of_members == MemberWorkloads::yes);
  CHECK(read.workloads.max == 7);
  CHECK(read.workloads.keep_finished == Duration{});
  CHECK(read.usage.interval == Duration{});
  CHECK(read.usage.labels == std::vector<std::string>{"team", "example.com/cost-center"});
  REQUIRE(read.usage.prices.size() == 2);
  CHECK(read.usage.prices[0] == UsagePrice{"spot", "nvidia.com/gpu", "2.50", "EUR"});
  CHECK(read.usage.prices[1].per_hour == "0.02");
  CHECK(read.usage.allocation == UsageAllocation::used_hours);
  CHECK(configuration_of(to_yaml(read)) == read);
  CHECK(configuration_of(to_text(to_json(read))) == read);
}

TEST_CASE("members.workloads is a YAML bool or the word auto") {
  CHECK(configuration_of("members: {workloads: false}").workloads.of_members ==
        MemberWorkloads::no);
  CHECK(configuration_of("members: {workloads: auto}") == Configuration{});
  CHECK(refusal_of("members: {workloads: sometimes}") ==
        "members.workloads: expected one of auto, true, false");
}

TEST_CASE("docs/configuration.md shows every setting of Workloads and of use") {
  std::ifstream file("docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json every = to_json(configuration_of(kEveryUsageSetting));
  for (const char* section : {"workloads", "usage"}) {
    const std::size_t begin = text.find("\n" + std::string(section) + ":");
    REQUIRE(begin != std::string::npos);
    for (const auto& [name, value] : every[section].items())
      CHECK(text.find("\n  " + name + ": ", begin) != std::string::npos);
  }
}

TEST_CASE("a bound of Workloads that keeps none is refused") {
  CHECK(refusal_of("workloads: {max: 0}") ==
        "workloads.max: expected a whole number from 1 to 10000000");
  CHECK(refusal_of("workloads: {keepFinished: soon}") ==
        "workloads.keepFinished: expected a duration such as 15s, 5m or 1h30m");
}

TEST_CASE("use is held back for an hour at most") {
  CHECK(configuration_of("usage: {interval: 1h}").usage.interval == hours(1));
  CHECK(refusal_of("usage: {interval: 61m}") ==
        "usage.interval: expected a duration of at most 1h");
}

TEST_CASE("what is no key of a label, or one twice, is refused") {
  CHECK(refusal_of("usage: {labels: [team, \"a b\"]}") ==
        "usage.labels[1]: expected the key of a label such as example.com/team");
  CHECK(refusal_of("usage: {labels: [team, team]}") ==
        "usage.labels[1]: expected each label only once");
  CHECK(refusal_of("usage: {labels: team}") == "usage.labels: expected a list");
}

TEST_CASE("a price is a plain decimal in a currency, and each pair has one") {
  const std::string pair = "flavor: spot, resource: cpu, ";
  CHECK(price_refusal("{" + pair + "currency: EUR}") ==
        "usage.prices[0]: expected {flavor, resource, perHour, currency}");
  for (const char* number : {"-1", "1e3", "2.", ".5", "1_000", "1234567890", "0.1234567890", "1,5"})
    CHECK(price_refusal("{" + pair + "perHour: \"" + number + "\", currency: EUR}") ==
          "usage.prices[0].perHour: expected a plain decimal such as \"2.50\", with at most 9 "
          "digits on each side");
  for (const char* currency : {"eur", "EURO", "€"})
    CHECK(price_refusal("{" + pair + "perHour: 1, currency: " + currency + "}") ==
          "usage.prices[0].currency: expected three capitals such as EUR");
  CHECK(price_refusal("{flavour: spot}") ==
        "usage.prices[0].flavour: unknown key; expected {flavor, resource, perHour, currency}");
  CHECK(price_refusal("{flavor: Spot, resource: cpu, perHour: 1, currency: EUR}") ==
        "usage.prices[0].flavor: expected the name of a ResourceFlavor");
  const std::string price = "{" + pair + "perHour: 1, currency: EUR}";
  CHECK(price_refusal(price + ", " + price) ==
        "usage.prices[1]: expected each flavor and resource only once");
}
