#include "engine/core/first_lists.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

State with_nodes() {
  State state;
  for (const char* name : {"a", "b", "c"}) state.clusters["c1"].reports.nodes[name] = {};
  return state;
}

WatchFact listed_node(const std::string& name) {
  ObjectSeen object;
  object.key = {Kind::node, "", name};
  return {"c1", std::move(object)};
}

std::string names_of(const std::vector<WatchFact>& facts) {
  std::string text;
  for (const WatchFact& fact : facts) text += std::get<ObjectMissing>(fact.said).key.name + " ";
  return text;
}

TEST_CASE("what the first list does not name is gone, later lists take nothing") {
  FirstLists lists;
  lists.note(listed_node("b"));
  CHECK(names_of(lists.completed(with_nodes(), "c1", Kind::node)) == "a c ");
  CHECK(lists.completed(with_nodes(), "c1", Kind::node).empty());
}

TEST_CASE("an empty list takes everything, one of another source nothing") {
  FirstLists lists;
  CHECK(lists.completed(with_nodes(), "c2", Kind::node).empty());
  CHECK(names_of(lists.completed(with_nodes(), "c1", Kind::node)) == "a b c ");
}

TEST_CASE("a source that is connected anew is listed anew") {
  FirstLists lists;
  lists.completed(with_nodes(), "c1", Kind::node);
  lists.note(listed_node("a"));  // of a later list: not noted
  lists.reconnected("c2");
  CHECK(lists.completed(with_nodes(), "c1", Kind::node).empty());
  lists.reconnected("c1");
  lists.note(listed_node("c"));
  CHECK(names_of(lists.completed(with_nodes(), "c1", Kind::node)) == "a b ");
}

TEST_CASE("what a list named that ended with its connection may be gone") {
  FirstLists lists;
  lists.note(listed_node("a"));
  lists.reconnected("c1");
  lists.note(listed_node("b"));
  CHECK(names_of(lists.completed(with_nodes(), "c1", Kind::node)) == "a c ");
}

}  // namespace
}  // namespace fairlead
