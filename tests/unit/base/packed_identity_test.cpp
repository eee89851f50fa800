#include "engine/base/packed_identity.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

template <class Packed>
void check_each(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    INFO('"' << text << '"');
    Packed packed{text};
    CHECK(packed.text() == text);
    CHECK(packed.empty() == text.empty());
    for (const std::string& other : texts) CHECK((packed == other) == (text == other));
    Packed moved = std::move(packed);
    CHECK(moved.text() == text);
    moved = Packed("another text, which is too long to be in place");
    CHECK(moved == "another text, which is too long to be in place");
    moved = Packed(text);
    CHECK(moved == text);
  }
}

TEST_CASE("packed uid: what goes in comes out, a UUID or not") {
  CHECK(sizeof(PackedUid) == 16);
  check_each<PackedUid>(
      {"", "u", "uid-1", "dd8520a1-2555-4e92-981e-470e2cb8d98a",
       "dd8520a1-2555-4e92-981e-470e2cb8d98b",
       "DD8520A1-2555-4E92-981E-470E2CB8D98A",  // upper case
       "dd8520a1-2555-4e92-081e-470e2cb8d98a",  // of no variant
       "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-8000-000000000000",
       "ffffffff-ffff-ffff-bfff-ffffffffffff",
       "dd8520a1-2555-4e92-981e-470e2cb8d98",    // a digit less
       "dd8520a1-2555-4e92-981e-470e2cb8d98a0",  // a digit more
       "dd8520a1-2555-4e92-981e-470e2cb8d98g", "dd8520a102555-4e92-981e-470e2cb8d98a"});
}

TEST_CASE("packed version: it is compared as its text") {
  for (const char* a : {"", "0", "7", "007", "8", "10", "18446744073709551615", "x", "7x"})
    for (const char* b : {"", "0", "7", "007", "8", "10", "18446744073709551615", "x", "7x"}) {
      INFO('"' << a << "\" \"" << b << '"');
      CHECK(is_lower_version(a, PackedVersion(b)) ==
            is_lower_version(std::string_view(a), std::string_view(b)));
    }
}

TEST_CASE("packed version: what goes in comes out, a number or not") {
  CHECK(sizeof(PackedVersion) == 8);
  check_each<PackedVersion>({"", "0", "1", "01", "00", "+1", "-1", " 1", "1 ", "1.5", "404", "1e3",
                             "999999999999999999", "1000000000000000000", "9223372036854775807",
                             "18446744073709551615", "18446744073709551616", "opaque"});
}

}  // namespace
}  // namespace fairlead
