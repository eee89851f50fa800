#include "engine/base/yaml_tree.h"

#include <catch2/catch.hpp>
#include <string>

using namespace fairlead;

namespace {

std::optional<YamlFault> fault_in(std::string_view text) {
  return read_yaml(text, [](const YamlNode&) { return std::optional<YamlFault>(); });
}

// `levels` maps, each of which names the one before it ten times as `list_of` writes it.
std::string bomb(int levels, const std::string& key) {
  std::string text = "m0: &m0 {k: v}\n";
  for (int level = 1; level <= levels; ++level) {
    const std::string alias = "*m" + std::to_string(level - 1);
    text += "m" + std::to_string(level) + ": &m" + std::to_string(level) + " {" + key + ": [";
    for (int i = 0; i < 10; ++i) text += (i == 0 ? "" : ", ") + alias;
    text += "]}\n";
  }
  return text;
}

}  // namespace

// Of a map of ten values of 10^n each, 10^(n+1) are read; the texts take minutes where nothing
// bounds that.
TEST_CASE("aliases are bounded by what they stand for, with the line of the one too many") {
  for (const char* key : {"<<", "x"}) {
    CAPTURE(key);
    CHECK_FALSE(fault_in(bomb(4, key)));
    const auto fault = fault_in(bomb(12, key));
    REQUIRE(fault);
    CHECK(fault->line == 7);  // m6
    CHECK(fault->what == "aliases that stand for more than 500000 values");
  }
}

TEST_CASE("aliases of a long text are bounded by its bytes") {
  std::string text = "long: &long " + std::string(1 << 20, 'x') + "\nlist:\n";
  for (int i = 0; i < 16; ++i) text += "- *long\n";
  CHECK_FALSE(fault_in(text));
  text += "- *long\n";
  const auto fault = fault_in(text);
  REQUIRE(fault);
  CHECK(fault->line == 19);
  CHECK(fault->what == "aliases that stand for more than 16777216 bytes");
}

TEST_CASE("the documents of a text have one bound for their aliases") {
  std::string text;
  for (int i = 0; i < 20; ++i) text += bomb(4, "<<") + "---\n";
  const auto fault = fault_in(text);
  REQUIRE(fault);
  CHECK(fault->line > 6);
}

TEST_CASE("what is written is read as the same, with nothing where there was nothing") {
  const Json value{{"a", nullptr}, {"b", {1, "x: y", true, Json::array(), Json::object()}}};
  const std::string text = write_yaml(value);
  CHECK_FALSE(read_yaml(text, [&](const YamlNode& root) {
    CHECK(root.entries().at(0).second.is_null());
    const auto items = root.entries().at(1).second.items();
    CHECK(items.at(1).text == "x: y");
    CHECK(items.at(3).is_list());
    CHECK(items.at(4).is_map());
    return std::optional<YamlFault>();
  }));
}
