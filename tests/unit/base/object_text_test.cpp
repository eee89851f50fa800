#include "engine/base/object_text.h"

#include <catch2/catch.hpp>

#include "engine/base/json.h"

namespace fairlead {
namespace {

std::string quoted(const std::string& text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace

TEST_CASE("an object is printed as the same tree of values is") {
  ObjectText inner;
  inner.number("count", -7).text("name", "a \"b\"");
  ObjectText object;
  object.json("inner", inner.take()).json("list", list_text({"1", "\"two\""})).text("z", "");
  const std::string text = object.take();
  CHECK(text == R"({"inner":{"count":-7,"name":"a \"b\""},"list":[1,"two"],"z":""})");
  CHECK(to_text(Json::parse(text)) == text);
  CHECK(ObjectText().take() == "{}");
  CHECK(list_text({}) == "[]");
}

TEST_CASE("every text is quoted as it is in a tree of values") {
  for (int c = 0; c < 256; ++c) {
    const std::string text{'a', static_cast<char>(c), 'b'};
    CHECK(quoted(text) == to_text(Json(text)));
  }
  CHECK(quoted("größer") == to_text(Json("größer")));
}

}  // namespace fairlead
