#include "engine/base/made.h"

#include <catch2/catch.hpp>
#include <optional>
#include <variant>

namespace fairlead {
namespace {

// Stays where it is made.
struct Settled {
  explicit Settled(int given) : value(given), self(this) {}
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
  int value;
  Settled* self;
};

TEST_CASE("What is put somewhere as made is made there") {
  std::optional<Settled> one;
  one.emplace(Made([] { return Settled(1); }));
  CHECK(one->value == 1);
  CHECK(one->self == &*one);
  const std::variant<int, Settled> two(std::in_place_type<Settled>,
                                       Made([] { return Settled(2); }));
  CHECK(std::get<Settled>(two).value == 2);
  CHECK(std::get<Settled>(two).self == &std::get<Settled>(two));
}

}  // namespace
}  // namespace fairlead
