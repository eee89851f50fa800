// Sums at the edge: the verdict against exact rational numbers.
#include <boost/multiprecision/cpp_int.hpp>
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/admission/stage.h"

namespace fairlead::admission_test {
namespace {

using Whole = boost::multiprecision::cpp_int;

// A quantity as text, with its exact value in thousandths of nano units.
struct Spelled {
  std::string text;
  Whole value;
};

const Whole kNano = 1'000'000'000;

struct Suffix {
  std::string text;
  Whole factor;  // in nano units
};

std::vector<Suffix> suffixes() {
  return {{"n", 1},
          {"u", 1000},
          {"m", 1'000'000},
          {"", kNano},
          {"k", kNano * 1000},
          {"M", kNano * 1'000'000},
          {"Ki", kNano * 1024},
          {"Mi", kNano * 1024 * 1024}};
}

class Spelling {
 public:
  explicit Spelling(unsigned seed) : random_(seed) {}

  // A random quantity with at most three digits behind the point.
  Spelled any() {
    const auto all = suffixes();
    const Suffix& suffix = all[below(all.size())];
    const std::uint64_t before = below(5000), behind = below(1000);
    std::string digits = std::to_string(behind);
    digits.insert(0, 3 - digits.size(), '0');
    return {std::to_string(before) + "." + digits + suffix.text,
            (Whole(before) * 1000 + behind) * suffix.factor};  // a thousandth of nano units
  }
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

 private:
  std::mt19937 random_;
};

// A thousandth of nano units -> units of Amount, rounded up: first to nano, as a Quantity holds it,
// then to milli-cores or units.
Whole amount_of(const std::string& resource, const Whole& value) {
  const Whole nano = (value + 999) / 1000;
  const Whole unit = resource == "cpu" ? Whole(1'000'000) : kNano;
  return (nano + unit - 1) / unit;
}

std::string text_of_amount(const std::string& resource, const Whole& amount) {
  return amount.str() + (resource == "cpu" ? "m" : "");
}

bool is_denied(const ClaimFacts& facts) {
  return Stage().judged(create(Kind::claim, "k", facts)).denied();
}

TEST_CASE("sums: equal to the ceiling is valid, one unit above is not, however it is spelt") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Spelling spelling(seed);
    const std::string resource = seed % 2 == 0 ? "cpu" : "memory";
    ClaimFacts facts = claim_facts({}, {});
    Whole sum = 0;
    const std::size_t rows = 1 + spelling.below(20);
    for (std::size_t i = 0; i < rows; ++i) {
      const Spelled one = spelling.any();
      sum += amount_of(resource, one.value);
      facts.spec.assignments.push_back(row("q", "f" + std::to_string(i), {{resource, one.text}}));
    }
    INFO("seed " << seed << ", " << sum.str());
    facts.spec.nominal_resources = {{resource, text_of_amount(resource, sum)}};
    CHECK_FALSE(is_denied(facts));
    if (sum == 0) continue;
    facts.spec.nominal_resources = {{resource, text_of_amount(resource, sum - 1)}};
    CHECK(is_denied(facts));
  }
}

TEST_CASE("sums: amounts that a floating point sum cannot tell apart") {
  CHECK(is_denied(claim_facts(
      {{"cpu", "1000"}}, {row("q", "a", {{"cpu", "500"}}), row("q", "b", {{"cpu", "500001m"}})})));
  CHECK_FALSE(is_denied(claim_facts(
      {{"cpu", "300m"}}, {row("q", "a", {{"cpu", "100m"}}), row("q", "b", {{"cpu", "0.2"}})})));
  CHECK(is_denied(claim_facts({{"memory", "4Ei"}}, {row("q", "a", {{"memory", "4Ei"}}),
                                                    row("q", "b", {{"memory", "1"}})})));
  CHECK(is_denied(claim_facts(
      {{"memory", "9E"}}, {row("q", "a", {{"memory", "5E"}}), row("q", "b", {{"memory", "5E"}})})));
  CHECK_FALSE(
      is_denied(claim_facts({{"memory", "1000Gi"}}, {row("q", "a", {{"memory", "500Gi"}}),
                                                     row("q", "b", {{"memory", "500Gi"}})})));
  CHECK(is_denied(claim_facts(
      {{"memory", "1000Gi"}},
      {row("q", "a", {{"memory", "500Gi"}}), row("q", "b", {{"memory", "536870912001"}})})));
}

}  // namespace
}  // namespace fairlead::admission_test
