// What an expression may cost: its length, its brackets, its steps; and what hostile text does.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/cel.h"
#include "engine/devices/selector_lists.h"

using namespace fairlead;

namespace {

SelectorVerdict ask(const std::string& expression, const DeviceFacts& device = {}) {
  return CelSelector::compile(expression).evaluate("gpu.example.com", device);
}
bool understood(const std::string& expression) {
  return CelSelector::compile(expression).supported();
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}
std::string nested(std::string_view open, std::string_view inner, std::string_view close,
                   std::size_t depth) {
  return repeated(open, depth) + std::string(inner) + repeated(close, depth);
}

/// `levels` loops in each other over ten numbers, with a condition that is true for each.
std::string loops(int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i)
    text += "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(x" + std::to_string(i) + ", ";
  return text + "x0 < 10" + repeated(")", static_cast<std::size_t>(levels));
}

DeviceFacts with_text(const std::string& text) {
  DeviceFacts device;
  device.attributes = {{"text", kStringAttribute + text}};
  return device;
}
const std::string kText = R"(device.attributes["gpu.example.com"].text)";

}  // namespace

TEST_CASE("An expression of 10 KiB is understood, a longer one is not") {
  const std::string tail = "true";
  const std::string longest = std::string(kCelBytesMax - tail.size(), ' ') + tail;
  CHECK(ask(longest) == SelectorVerdict::yes);
  CHECK(ask(" " + longest) == SelectorVerdict::unsupported);
  CHECK(CelSelector::compile(" " + longest).unsupported() ==
        "an expression of more than 10240 bytes");
  CHECK(ask(std::string(100 * kCelBytesMax, '(')) == SelectorVerdict::unsupported);
}

TEST_CASE("Fifty brackets may be open at once, whatever they are") {
  const std::vector<std::pair<std::string, std::string>> brackets{
      {"(", ")"}, {"[", "]"}, {"size(", ")"}, {"!(", ")"}, {"[1].exists(x,", ")"}, {"[0][", "]"}};
  for (const auto& [open, close] : brackets) {
    INFO(open);
    const auto deepest = static_cast<std::size_t>(kCelBracketsMax);
    CHECK(understood(nested(open, "1", close, deepest)));
    CHECK_FALSE(understood(nested(open, "1", close, deepest + 1)));
    CHECK(CelSelector::compile(nested(open, "1", close, deepest + 1)).unsupported() ==
          "more than 50 nested brackets");
  }
  CHECK(ask(repeated("(true) && ", 1000) + "true") == SelectorVerdict::yes);
  CHECK(ask("'" + repeated("(", 1000) + "' != ''") == SelectorVerdict::yes);
}

TEST_CASE("Operators nest as deep as the text is long") {
  const std::string truth = "1==1";
  CHECK(ask(repeated("!", 10'000) + "true") == SelectorVerdict::yes);
  CHECK(ask(repeated("!", 10'001) + "true") == SelectorVerdict::no);
  CHECK(ask(truth + repeated("==true", 1700)) == SelectorVerdict::yes);
  CHECK(ask("true" + repeated("&&true", 1700)) == SelectorVerdict::yes);
  CHECK(ask("false" + repeated("||false", 1400)) == SelectorVerdict::no);
  CHECK(ask(repeated("false?true:", 900) + "true") == SelectorVerdict::yes);
  CHECK(ask(repeated("true?true:", 1000) + "false") == SelectorVerdict::yes);
  CHECK(ask("[true][0]" + repeated(" ", 10)) == SelectorVerdict::yes);
  CHECK(ask("device" + repeated(".a", 5000)) == SelectorVerdict::unsupported);
  CHECK(ask("[1]" + repeated(".a", 5000)) == SelectorVerdict::error);
  CHECK(ask("[1]" + repeated("[0]", 3000)) == SelectorVerdict::error);
  CHECK(ask("[" + repeated("1,", 5000) + "].size() == 5000") == SelectorVerdict::yes);
  CHECK(ask("[" + repeated("device.driver,", 700) + "].size() == 700") == SelectorVerdict::yes);
  CHECK(ask("'a'" + repeated(".upperAscii()", 700) + " == 'A'") == SelectorVerdict::yes);
}

TEST_CASE("Ten thousand steps on a device are enough, more are an error") {
  const std::string of_driver = R"(device.driver != "gpu.example.com" || )";
  CHECK(ask(of_driver + loops(3)) == SelectorVerdict::yes);
  CHECK(ask(of_driver + loops(4)) == SelectorVerdict::error);
  CHECK(ask(of_driver + loops(40)) == SelectorVerdict::error);
  std::string why;
  CHECK(CelSelector::compile(of_driver + loops(6)).evaluate("gpu.example.com", {}, why) ==
        SelectorVerdict::error);
  CHECK(why == "more than 10000 evaluation steps");
  // It ends the evaluation: no operator absorbs it.
  CHECK(ask(of_driver + loops(4) + " || true") == SelectorVerdict::error);
  CHECK(ask(of_driver + "!(" + loops(4) + ") && false") == SelectorVerdict::error);
  CHECK(ask("true || " + loops(4)) == SelectorVerdict::yes);
}

TEST_CASE("An expression that takes more where nothing is published is not asked on any device") {
  CHECK(ask(loops(3)) == SelectorVerdict::yes);
  CHECK(ask(loops(4)) == SelectorVerdict::unsupported);
  CHECK(CelSelector::compile(loops(4)).unsupported() ==
        "an expression that takes more than 10000 evaluation steps");
}

TEST_CASE("A selector of a request may take a tenth of the steps of a class's") {
  SelectorLists lists;
  const std::string text = R"(device.driver != "gpu.example.com" || )" + loops(3);
  const auto ask = [&](SelectorListId list) {
    return lists.ask(lists.texts(list).front(), "gpu.example.com", {});
  };
  const auto of_class = lists.intern({{text}});
  const auto of_request = lists.intern({}, {{text}});
  CHECK(ask(of_class) == SelectorVerdict::yes);
  CHECK(ask(of_request) == SelectorVerdict::error);
  CHECK(ask(lists.intern({{text}})) == SelectorVerdict::yes);
  CHECK(ask(lists.intern({}, {{R"(device.driver == "gpu.example.com")"}})) == SelectorVerdict::yes);
  CHECK(lists.selector(lists.intern_text({loops(3)}, kCelRequestStepsMax)).unsupported() ==
        "an expression that takes more than 1000 evaluation steps");
}

TEST_CASE("Devices are alike to an expression that sees the same of them") {
  const DeviceFacts plain;
  DeviceFacts one, other;
  one.attributes = {{"model", "sa"}, {"uuid", "s1"}};
  other.attributes = {{"model", "sa"}, {"uuid", "s2"}};
  const auto seen = [](const std::string& expression, const DeviceFacts& device,
                       std::string_view driver = "gpu.example.com") {
    return CelSelector::compile(expression).seen_of(driver, device);
  };
  const std::string device = R"(device.attributes["gpu.example.com"])";
  const std::string model = device + R"(.model == "a")";
  CHECK(seen(model, one) == seen(model, other));
  CHECK(seen(model, one) != seen(model, plain));
  // Elsewhere the name is that of another domain.
  CHECK(seen(model, one) != seen(model, one, "nic.example.com"));
  for (const std::string& uuid :
       {device + R"(.uuid == "1")", device + ".size() == 2", R"("uuid" in )" + device,
        "cel.bind(d, " + device + R"(, d["uuid"] == "1"))",
        "[" + device + "].exists(d, d.uuid == '1')",
        std::string("device.attributes == device.capacity")}) {
    INFO(uuid);
    REQUIRE(understood(uuid));
    CHECK(seen(uuid, one) != seen(uuid, other));
  }
  DeviceFacts large, small;
  large.capacity = std::vector<DeviceCapacity>{{"memory", *Quantity::parse("40Gi"), {}}};
  small.capacity = std::vector<DeviceCapacity>{{"memory", *Quantity::parse("20Gi"), {}}};
  const std::string memory = R"(device.capacity["gpu.example.com"].memory)";
  CHECK(seen(memory + ".isInteger()", large) != seen(memory + ".isInteger()", small));
  CHECK(seen("device.capacity == device.capacity", large) !=
        seen("device.capacity == device.capacity", small));
  DeviceFacts shared;
  shared.extras.emplace().shared = true;
  CHECK(seen(model, shared) != seen(model, plain));
}

TEST_CASE("Work on long texts and lists takes steps") {
  // A thousand comparisons of lists with five hundred items.
  const std::string list = "[" + repeated("1,", 500) + "]";
  const std::string twenty = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]";
  const auto many = [&](const std::string& condition) {
    return twenty + ".all(x," + twenty + ".all(y," + condition + "))";
  };
  CHECK(ask(list + " == " + list) == SelectorVerdict::yes);
  CHECK(ask(many(list + "==" + list)) == SelectorVerdict::unsupported);
  CHECK(ask(many("!(2 in " + list + ")")) == SelectorVerdict::unsupported);
  const DeviceFacts device = with_text(std::string(1 << 16, 'a'));
  CHECK(ask(kText + " == " + kText, device) == SelectorVerdict::yes);
  CHECK(ask(many(kText + " == " + kText), device) == SelectorVerdict::error);
  CHECK(ask(kText + ".size() == 65536", device) == SelectorVerdict::yes);
  CHECK(ask(many(kText + ".size() == 65536"), device) == SelectorVerdict::error);
  CHECK(ask(kText + ".upperAscii() == 'a'", device) == SelectorVerdict::no);
  CHECK(ask(many(kText + ".upperAscii() != 'a'"), device) == SelectorVerdict::error);
  CHECK(ask("'aaaaaaaab' in [" + kText + "]", device) == SelectorVerdict::no);
  CHECK(ask(kText + ".contains('" + std::string(8000, 'a') + "b')", device) ==
        SelectorVerdict::error);
  CHECK(ask(kText + ".contains('ab')", device) == SelectorVerdict::no);
  CHECK(ask(many("device.attributes == device.capacity")) == SelectorVerdict::yes);
}

TEST_CASE("Patterns take the steps that an automaton may need") {
  // The states of this one are new at each byte.
  const std::string hard = "(a|b)*a(a|b){900}x";
  const DeviceFacts device = with_text(repeated("ab", 64));
  CHECK(ask(kText + ".matches('" + hard + "')", device) == SelectorVerdict::no);
  CHECK(ask("[" + repeated("1,", 200) + "].exists(x, " + kText + ".matches('" + hard + "'))",
            device) == SelectorVerdict::error);
  CHECK(ask(kText + ".matches('" + hard + "')", with_text(std::string(1 << 20, 'a'))) ==
        SelectorVerdict::error);
  // Larger than a pattern may be, and than those of an expression may be together.
  CHECK(ask("'a'.matches('" + repeated("a{1000}b{1000}", 4) + "')") == SelectorVerdict::no);
  CHECK(ask("'a'.matches('" + repeated("a{1000}b{1000}", 20) + "')") ==
        SelectorVerdict::unsupported);
  const std::string large = "'a'.matches('a{1000}b{1000}c{1000}d{1000}') || ";
  CHECK(ask(repeated(large, 2) + "false") == SelectorVerdict::no);
  CHECK(ask(repeated(large, 3) + "true") == SelectorVerdict::unsupported);
}

TEST_CASE("A pattern that is no literal is compiled for the device and takes steps") {
  DeviceFacts device;
  device.attributes = {{"p", "s^a{1000}"}, {"text", "sabc"}};
  const std::string matched = kText + R"(.matches(device.attributes["gpu.example.com"].p))";
  CHECK(ask(matched, device) == SelectorVerdict::no);
  CHECK(ask("[" + repeated("1,", 1000) + "].exists(x, " + matched + ")", device) ==
        SelectorVerdict::error);
  // Literals in lists are known before.
  CHECK(ask(R"(["x", "y", "^a"].exists(p, "abc".matches(p)))") == SelectorVerdict::yes);
  CHECK(ask("[" + repeated("1,", 100) + "].exists(x, ['^a{1000}'].exists(p, " + kText +
                ".matches(p)))",
            device) == SelectorVerdict::no);
  CHECK(ask("[" + repeated("1,", 1000) + "].exists(x, ['('].exists(p, " + kText + ".matches(p)))",
            device) == SelectorVerdict::unsupported);
}

TEST_CASE("Hostile text is unsupported and nothing worse") {
  CHECK(ask(std::string("true\0", 5)) == SelectorVerdict::unsupported);
  CHECK(ask(std::string("'a\0b' == 'a\\000b'", 17)) == SelectorVerdict::yes);
  for (const std::string_view bytes :
       {"'\xff'", "'\xc0\x80'", "'\xed\xa0\x80'", "'\xf4\x90\x80\x80'", "'\xe2\x82'", "\x80",
        "true // \xfe"}) {
    CHECK(CelSelector::compile(bytes).unsupported() == "text that is not UTF-8");
  }
  CHECK(ask("\xef\xbb\xbftrue") == SelectorVerdict::unsupported);
  CHECK(ask("tr\xc3\xbc"
            "e") == SelectorVerdict::unsupported);
  // What is named is cut.
  const auto named = CelSelector::compile(std::string(5000, 'x'));
  CHECK(named.unsupported() == "name `" + std::string(64, 'x') + "...`");
  std::string why;
  CHECK(
      CelSelector::compile("has(device.x) || device.attributes['" + std::string(300, 'y') + "'].z")
          .unsupported() == "field `x` of device");
  CHECK(CelSelector::compile("device.attributes['" + std::string(300, 'y') + "'].z")
            .evaluate("d", {}, why) == SelectorVerdict::error);
  CHECK(why == "the device does not publish `" + std::string(64, 'y') + "...`");
}

TEST_CASE("Each part of an expression compiles or is refused, and says so again") {
  const std::string whole =
      R"(cel.bind(d, device.attributes["gpu.example.com"], has(d.m) && d.m in ['a\n', r"b"] ? !(size()"
      R"([1, -2][0:]) == 0x1F) : [[1]].all(l, l.exists(x, x >= 1 || "a".matches("^a"))) // end)";
  for (std::size_t from = 0; from < whole.size(); from += 7)
    for (std::size_t to = from; to <= whole.size(); ++to) {
      const std::string part = whole.substr(from, to - from);
      const auto selector = CelSelector::compile(part);
      const auto verdict = selector.evaluate("gpu.example.com", {});
      REQUIRE(selector.supported() == (verdict != SelectorVerdict::unsupported));
      REQUIRE(selector.evaluate("gpu.example.com", {}) == verdict);
      REQUIRE(CelSelector::compile(part).unsupported() == selector.unsupported());
    }
}

TEST_CASE("A selector outlives the text and the copy that it was made from") {
  auto text = std::make_unique<std::string>(R"(device.driver == "gpu.example.com")");
  auto first = std::make_unique<CelSelector>(CelSelector::compile(*text));
  const CelSelector copy = *first;
  text.reset();
  first.reset();
  CHECK(copy.evaluate("gpu.example.com", {}) == SelectorVerdict::yes);
  CHECK(copy.evaluate("other", {}) == SelectorVerdict::no);
}
