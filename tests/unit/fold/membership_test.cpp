// The membership rule at single moments. Whole stories are scenarios; random ones are compared with
// the independent model in tests/model.
#include "engine/fold/multikueue/membership.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

constexpr LogTime at(std::int64_t second) { return {second * 1'000'000'000}; }

Membership lists(std::vector<std::string> list) {
  Membership in;
  in.now = at(1000);
  in.windows = {seconds(2), seconds(120), hours(1), minutes(10), minutes(10)};
  in.list = std::move(list);
  return in;
}

Candidate selected(std::int64_t since) {
  Candidate one;
  one.selected = true;
  one.since = at(since);
  one.rank = 0;
  return one;
}

Candidate absent(std::int64_t since) {
  Candidate one;
  one.since = at(since);
  one.rank = 0;
  return one;
}

using Names = std::vector<std::string>;

TEST_CASE("the first list waits until one has settled and takes all") {
  Membership in = lists({});
  in.candidates = {{"a", selected(999)}, {"b", selected(999)}};
  CHECK(judge(in).list.empty());
  CHECK(judge(in).next == at(1001));
  in.candidates["a"].since = at(998);
  CHECK(judge(in).list == Names{"a", "b"});
}

TEST_CASE("a leaver stays for the move window, and for what holds it until the drain timeout") {
  Membership in = lists({"a", "b"});
  in.candidates = {{"a", selected(0)}, {"b", absent(881)}};
  CHECK(judge(in).list == Names{"a", "b"});
  CHECK(judge(in).next == at(1001));
  in.candidates["b"].since = at(880);
  CHECK(judge(in).list == Names{"a"});
  in.candidates["b"].held = true;
  CHECK(judge(in).list == Names{"a", "b"});
  CHECK(judge(in).standings.at("b") == Standing::held);
  in.windows.drain_timeout = {};
  CHECK(judge(in).list == Names{"a"});
}

TEST_CASE("beside a leaver a newcomer waits for the move window") {
  Membership in = lists({"a", "b"});
  in.candidates = {{"a", selected(0)}, {"b", absent(990)}, {"c", selected(990)}};
  CHECK(judge(in).list == Names{"a", "b"});
  in.candidates["c"].since = at(880);
  CHECK(judge(in).list == Names{"a", "c", "b"});
}

TEST_CASE("the write that lets the last leaver go takes in all if one has settled") {
  Membership in = lists({"a", "b"});
  in.candidates = {
      {"a", selected(0)}, {"b", absent(880)}, {"c", selected(999)}, {"d", selected(998)}};
  CHECK(judge(in).list == Names{"a", "c", "d"});
  in.candidates["d"].since = at(999);
  CHECK(judge(in).list == Names{"a"});
}

TEST_CASE("a list is not emptied: the exchange waits for a newcomer's move window") {
  Membership in = lists({"a"});
  in.candidates = {{"a", absent(0)}, {"b", selected(881)}, {"c", selected(999)}};
  CHECK(judge(in).list == Names{"a"});
  CHECK(judge(in).standings.at("a") == Standing::kept);
  in.candidates["b"].since = at(880);
  CHECK(judge(in).list == Names{"b", "c"});
}

TEST_CASE("a frozen list goes whole after the grace, held or not") {
  Membership in = lists({"a"});
  in.candidates = {{"a", absent(300)}};
  in.frozen_since = at(401);
  CHECK_FALSE(judge(in).dissolve);
  in.frozen_since = at(400);
  CHECK(judge(in).dissolve);
  in.candidates["a"].held = true;
  CHECK_FALSE(judge(in).dissolve);
  CHECK(judge(in).next == at(4000));
}

TEST_CASE("members keep their place, newcomers come by rank") {
  Membership in = lists({"a", "b"});
  in.workers_max = 3;
  in.candidates = {{"a", selected(0)}, {"b", selected(0)}, {"c", selected(0)}, {"d", selected(0)}};
  in.candidates["d"].rank = 7;
  in.candidates["c"].rank.reset();
  CHECK(judge(in).list == Names{"d", "a", "b"});
  CHECK(judge(in).standings.at("c") == Standing::waits_place);
}

TEST_CASE("an order alone is written when it has held") {
  Membership in = lists({"a", "b"});
  in.candidates = {{"a", selected(0)}, {"b", selected(0)}};
  in.candidates["b"].rank = 5;
  CHECK(judge(in).list == Names{"a", "b"});
  CHECK(judge(in).order == Names{"b", "a"});
  in.order = {"b", "a"};
  in.order_since = at(880);
  CHECK(judge(in).list == Names{"b", "a"});
}

TEST_CASE("what still runs bars a return, and a hand that takes a member out is answered at once") {
  Membership in = lists({"a"});
  in.candidates = {{"a", selected(0)}, {"b", selected(0)}};
  in.candidates["b"].barred = true;
  CHECK(judge(in).list == Names{"a"});
  CHECK(judge(in).standings.at("b") == Standing::waits_copies);
  in.candidates["b"] = selected(1000);
  in.candidates["b"].taken_out = true;
  in.candidates["a"] = absent(990);
  CHECK(judge(in).list == Names{"b", "a"});
}

}  // namespace
}  // namespace fairlead
