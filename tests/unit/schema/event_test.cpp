#include "schema/event.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("Verbs are spelled as they are printed, and read back") {
  CHECK(text_of(Verb::apply) == "apply");
  CHECK(text_of(Verb::apply_status) == "apply-status");
  CHECK(text_of(Verb::create) == "create");
  CHECK(text_of(Verb::patch) == "patch");
  CHECK(text_of(Verb::remove) == "delete");
  for (const Verb verb : {Verb::apply, Verb::apply_status, Verb::create, Verb::patch, Verb::remove})
    CHECK(parse_word<Verb>(text_of(verb)) == verb);
  CHECK_FALSE(parse_word<Verb>("remove"));
  CHECK_FALSE(parse_word<Verb>(""));
}

TEST_CASE("The kind of facts is their place in the variant") {
  CHECK(Facts(NodeFacts{}).index() == static_cast<std::size_t>(Kind::node));
  CHECK(Facts(ManifestWorkFacts{}).index() == static_cast<std::size_t>(Kind::manifest_work));
  CHECK(Facts(ClaimFacts{}).index() == static_cast<std::size_t>(Kind::claim));
}

}  // namespace
}  // namespace fairlead
