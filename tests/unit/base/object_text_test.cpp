#include "engine/base/object_text.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

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
  std::string text = "before ";
  ObjectText object(text);
  ObjectText inner(object.value("inner"));
  inner.number("count", -7).text("name", "a \"b\"").close();
  append_list(object.value("list"), std::vector{1, 2}, [&](int n) { text += std::to_string(n); });
  object.text("z", "").close();
  CHECK(text == R"(before {"inner":{"count":-7,"name":"a \"b\""},"list":[1,2],"z":""})");
  CHECK(to_text(Json::parse(text.substr(7))) == text.substr(7));
}

TEST_CASE("an object and a list may be empty") {
  std::string text;
  ObjectText(text).close();
  append_list(text, std::vector<int>{}, [](int) {});
  CHECK(text == "{}[]");
}

TEST_CASE("every text is quoted as it is in a tree of values") {
  for (int c = 0; c < 256; ++c) {
    const std::string text{'a', static_cast<char>(c), 'b'};
    CHECK(quoted(text) == to_text(Json(text)));
  }
  CHECK(quoted("größer") == to_text(Json("größer")));
}

}  // namespace fairlead
