#include "schema/facts.h"

namespace fairlead {

Facts::Facts() = default;
Facts::Facts(const Facts& other) = default;
Facts::Facts(Facts&& other) noexcept = default;
Facts& Facts::operator=(const Facts& other) = default;
Facts& Facts::operator=(Facts&& other) noexcept = default;
Facts::~Facts() = default;
bool operator==(const Facts& a, const Facts& b) {
  return static_cast<const AnyFacts&>(a) == static_cast<const AnyFacts&>(b);
}

}  // namespace fairlead
