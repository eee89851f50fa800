#include "connectors/kube/document/json_document.h"

#include <catch2/catch.hpp>

using namespace fairlead;

namespace {
std::string canonical(std::string_view text) {
  auto document = parse_json(text);
  return document ? canonical_text(document->root()) : "error: " + document.error().message;
}
}  // namespace

TEST_CASE("canonical text sorts keys, drops white space and keeps number tokens exactly") {
  CHECK(canonical(R"( {"b": [1, 2.50, -0, 1e30], "a": {"z": null, "y": true}} )") ==
        R"({"a":{"y":true,"z":null},"b":[1,2.50,-0,1e30]})");
  CHECK(canonical("123456789012345678901234567890") == "123456789012345678901234567890");
  CHECK(canonical("0.1000") == "0.1000");
  CHECK(canonical(R"({"":[]})") == R"({"":[]})");
}

TEST_CASE("canonical text equals nlohmann's for 64-bit integers and every kind of string") {
  const std::string text =
      "{\"k\":[\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\\\/ é \\ud83d\\ude00 \\u007f\","
      "-9223372036854775808,18446744073709551615],\"a\":{}}";
  CHECK(canonical(text) == to_text(Json::parse(text)));
  auto document = parse_json(text);
  REQUIRE(document.has_value());
  CHECK(to_json(document->root()) == Json::parse(text));
  CHECK(canonical_text(to_document(Json::parse(text)).root()) == canonical(text));
}

TEST_CASE("views find the last member of a name and say absent for what is not there") {
  auto document = parse_json(R"({"a":{"x":1,"y":"two"},"a":{"x":7},"list":[10,20,30]})");
  REQUIRE(document.has_value());
  JsonView root = document->root();
  CHECK(root["a"]["x"].integer() == 7);
  CHECK(root["a"]["y"].kind() == JsonKind::absent);
  CHECK(root["nothing"]["deeper"].kind() == JsonKind::absent);
  CHECK(root["list"]["x"].kind() == JsonKind::absent);
  CHECK(root["list"].size() == 3);
  std::int64_t sum = 0;
  for (JsonView item : root["list"]) sum += item.integer().value_or(0);
  CHECK(sum == 60);
  for (JsonView item : root["list"]["none"]) CHECK(item.kind() == JsonKind::absent);
  CHECK(canonical_text(root) == R"({"a":{"x":7},"list":[10,20,30]})");
}

TEST_CASE("several members found in one walk are those that are found one by one") {
  auto document = parse_json(
      R"({"a":1,"bb":{"a":2},"a":{"x":3},"cc":null,"":4,"list":[{"a":5},"a"],"bb":"last"})");
  REQUIRE(document.has_value());
  const JsonView root = document->root();
  const auto check = [](JsonView value) {
    const auto [a, bb, cc, none, list] = value.members("a", "bb", "cc", "none", "list");
    for (const auto& [name, found] :
         {std::pair("a", a), {"bb", bb}, {"cc", cc}, {"none", none}, {"list", list}}) {
      const JsonView alone = value[std::string_view(name)];
      CHECK(found.kind() == alone.kind());
      CHECK(canonical_text(found) == canonical_text(alone));
      CHECK(found.key() == alone.key());
    }
  };
  check(root);
  check(root["a"]);
  check(root["bb"]);
  check(root["list"]);
  check(root["nothing"]);
  check(JsonView());
  const auto [a, bb] = root.members("a", "bb");
  CHECK(a["x"].integer() == 3);
  CHECK(bb.string() == "last");
}

TEST_CASE("everything that is no JSON is refused with line and byte") {
  for (const char* bad : {"",
                          " ",
                          "{",
                          "[1,2",
                          R"({"a":1)",
                          R"({"a" 1})",
                          R"({"a":1,})",
                          "[1,]",
                          "[1 2]",
                          "tru",
                          "nul",
                          "truex",
                          "01",
                          "1.",
                          "1e",
                          "+1",
                          ".5",
                          "-",
                          "[01]",
                          "[1.]",
                          "[-]",
                          "[+1]",
                          "[.5]",
                          "[1e+]",
                          "[0x1]",
                          "[NaN]",
                          R"(["\q"])",
                          R"(["\ud800"])",
                          R"(["\u12"])",
                          "[\"a\nb\"]",
                          "[\"\xff\"]",
                          "{} {}",
                          "[] x",
                          "1 2",
                          "\"a\" \"b\"",
                          R"({"a":1}})",
                          "{1:2}",
                          R"(["a)",
                          R"({"\q":1})",
                          R"([{"a":tru}])",
                          R"([nulll])",
                          "[1,,2]",
                          "{\"a\":}",
                          "[\x01]"}) {
    INFO(bad);
    auto document = parse_json(bad);
    CHECK(document.has_error());
    if (!document) CHECK(document.error().message.find("line 1, byte ") == 0);
  }
  using namespace std::string_literals;
  CHECK(parse_json("[1]\0"s).has_error());
  CHECK(parse_json("1\0 2"s).has_error());
  CHECK(parse_json("{}\0{}"s).has_error());
  auto document = parse_json("{\n \"a\": 1,\n \"b\": oops\n}");
  REQUIRE(document.has_error());
  CHECK(document.error().code == ErrorCode::bad_input);
  CHECK(document.error().message.find("line 3, byte ") == 0);
}

TEST_CASE("depth and size are bounded") {
  CHECK(parse_json(std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']')).has_value());
  auto deep = parse_json(std::string(kJsonDepthMax + 1, '[') + std::string(kJsonDepthMax + 1, ']'));
  REQUIRE(deep.has_error());
  CHECK(deep.error().message.find("nested deeper than 256") != std::string::npos);
  CHECK(parse_json(std::string(1'000'000, '[')).has_error());
  CHECK(parse_json("\"" + std::string(kJsonBytesMax, 'a') + "\"").has_error());
  CHECK(parse_json("[\"" + std::string(kJsonBytesMax - 4, 'a') + "\"]").has_value());
}

TEST_CASE("canonical text is the same whether it is taken as it was written or made") {
  for (const char* text : {
           R"({"a":{"b":[1,250,{"c":null}],"d":"x"},"e":[],"f":{}})",
           R"({"a":1 })",
           R"([[1 ]])",
           R"([[1] ])",
           R"( {"a" :1})",
           R"({"b":1,"a":2})",
           R"({"a":1,"a":2})",
           R"({"a":{"b":1,"a":2}})",
           R"({"a":"\u0041","b":[1]})",
           R"({"\u0061":[1]})",
           R"({"a":"\n"})",
           R"({"a\"":1})",
           R"({"":[true,false,null,""]})",
       }) {
    INFO(text);
    const auto document = parse_json(text);
    REQUIRE(document.has_value());
    const JsonDocument made = to_document(Json::parse(text));
    CHECK(made.root().written().empty());
    CHECK(canonical_text(document->root()) == canonical_text(made.root()));
    for (JsonView member : document->root()) {
      const JsonView same =
          document->root().is(JsonKind::array) ? *made.root().begin() : made.root()[member.key()];
      if (document->root()[member.key()].text() == member.text())
        CHECK(canonical_text(member) == canonical_text(same));
    }
  }
}

TEST_CASE("a container is shown as it was written, unless something in it is not") {
  const auto document = parse_json(R"({"a":[1, {"b":2}],"c":["\u0041",[3]],"d":4})");
  REQUIRE(document.has_value());
  JsonView root = document->root();
  CHECK(root["a"].written() == R"([1, {"b":2}])");
  CHECK(root["c"].written().empty());
  CHECK((*++root["c"].begin()).written() == "[3]");
  CHECK(root["d"].written().empty());
  CHECK(root.written().empty());
}

TEST_CASE("null replaces values that are not read, whatever is in them") {
  JsonIndex index;
  // `t` alone is no JSON; it is not looked at.
  REQUIRE(index.find(R"({"a":[1,t,{}],"b":true,"c":{"d":[7]}})"));
  JsonDocument document;
  JsonFault fault;
  const std::vector<PlaceRange> without{{3, 11}};
  REQUIRE(parse_indexed(index, document, fault, without));
  CHECK(canonical_text(document.root()) == R"({"a":null,"b":true,"c":{"d":[7]}})");
  CHECK(document.root().written().empty());
  CHECK(document.root()["c"].written() == R"({"d":[7]})");
  // The same buffers again, for a text that is refused and for one with less in it.
  REQUIRE(index.find("[1,[2}"));
  CHECK_FALSE(parse_indexed(index, document, fault));
  CHECK_FALSE(document.root().given());
  REQUIRE(index.find("[1]"));
  REQUIRE(parse_indexed(index, document, fault));
  CHECK(canonical_text(document.root()) == "[1]");
}

TEST_CASE("a fault quotes nothing of the text") {
  for (const char* text : {R"({"token":s3cret})", R"({"a":"s3cret)", R"(s3cret)", R"({"a" s3cret})",
                           R"({"a":"s3cret'; expected s3cret)"}) {
    INFO(text);
    const auto read = parse_json(text);
    REQUIRE(read.has_error());
    CHECK(read.error().message.find("s3c") == std::string::npos);
    CHECK(read.error().message.find("syntax error while parsing") != std::string::npos);
  }
}
