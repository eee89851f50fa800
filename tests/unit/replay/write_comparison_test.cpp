#include "replay/whatif/write_comparison.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

// A content and the second at which it is written.
struct Note {
  std::int64_t second;
  int content;
};

std::vector<PlannedWrite> writes(const std::vector<Note>& notes, const std::string& queue = "q") {
  std::vector<PlannedWrite> all;
  for (const Note& note : notes) {
    PatchIntended intent;
    intent.cluster = kHub;
    intent.target = {Kind::cluster_queue, "", queue};
    intent.verb = Verb::apply;
    intent.body = R"({"metadata":{"uid":"u","resourceVersion":")" + std::to_string(note.second) +
                  R"("},"spec":)" + std::to_string(note.content) + "}";
    intent.reason.text = std::to_string(note.content);
    all.push_back({Seq{static_cast<std::uint64_t>(note.second) + 1},
                   LogTime{seconds(note.second).ns}, std::move(intent)});
  }
  return all;
}

std::string side(const std::optional<PlannedWrite>& write) {
  if (!write) return "-";
  return write->intent.reason.text + "@" + std::to_string(write->time.ns / seconds(1).ns);
}

// "same 1; time 40@5 40@30" and so on, in order of time.
std::string text_of(const WriteComparison& compared) {
  std::string text = "same " + std::to_string(compared.same);
  for (const WriteDifference& difference : compared.differences) {
    const char* kind = difference.kind() == WriteDiffers::value  ? "value "
                       : difference.kind() == WriteDiffers::time ? "time "
                                                                 : "only ";
    text += std::string("; ") + kind + side(difference.baseline) + " " +
            side(difference.counterfactual);
  }
  return text;
}

std::string compared(const std::vector<Note>& baseline, const std::vector<Note>& counterfactual) {
  return text_of(compare_writes(writes(baseline), writes(counterfactual), {}));
}

TEST_CASE("the same content at the same moment is the same write, whatever versions it carries") {
  CHECK(compared({{1, 40}, {9, 48}}, {{1, 40}, {9, 48}}) == "same 2");
  CHECK(compared({{1, 40}}, {{2, 40}}) == "same 0; time 40@1 40@2");
  CHECK(compared({{1, 40}}, {{1, 41}}) == "same 0; value 40@1 41@1");
  CHECK(compared({{1, 40}}, {}) == "same 0; only 40@1 -");
  CHECK(compared({}, {{1, 40}}) == "same 0; only - 40@1");
}

// Of a work whose agent is to apply it again; the label's value is a seq of that world's log.
std::vector<PlannedWrite> touch(std::int64_t second, int mark) {
  std::vector<PlannedWrite> all = writes({{second, mark}}, "work");
  all.front().intent.reason = {"members/touch", {}, "touch"};
  return all;
}

TEST_CASE("a touch is the same as another of that moment, whatever its label's value") {
  CHECK(text_of(compare_writes(touch(5, 76), touch(5, 80), touch(5, 91))) == "same 1");
  const WriteComparison later = compare_writes(touch(5, 76), touch(6, 80), touch(7, 91));
  CHECK(text_of(later) == "same 0; time touch@5 touch@6");
  REQUIRE(later.differences.front().made);
  CHECK(later.differences.front().made->time == LogTime{seconds(7).ns});
}

TEST_CASE("a write that one world has more does not shift the pairs behind it") {
  CHECK(compared({{0, 40}, {10, 48}, {20, 40}, {30, 48}}, {{20, 40}, {30, 48}}) ==
        "same 2; only 40@0 -; only 48@10 -");
  CHECK(compared({{20, 40}, {30, 48}}, {{0, 40}, {10, 48}, {20, 40}, {30, 48}}) ==
        "same 2; only - 40@0; only - 48@10");
  // Of the pairs that can be made, the nearest.
  CHECK(compared({{0, 40}, {10, 48}, {20, 40}, {30, 48}}, {{22, 40}, {33, 48}}) ==
        "same 0; only 40@0 -; only 48@10 -; time 40@20 40@22; time 48@30 48@33");
}

TEST_CASE("writes are paired in order, and not over a moment that both worlds have") {
  CHECK(compared({{0, 40}, {10, 48}}, {{3, 48}, {12, 40}}) ==
        "same 0; only 40@0 -; time 48@10 48@3; only - 40@12");
  CHECK(compared({{0, 40}, {10, 48}}, {{10, 48}, {12, 40}}) == "same 1; only 40@0 -; only - 40@12");
  CHECK(compared({{0, 40}, {10, 48}}, {{10, 44}, {12, 40}}) ==
        "same 0; only 40@0 -; value 48@10 44@10; only - 40@12");
}

TEST_CASE("several writes of one moment are paired by their content first") {
  CHECK(compared({{5, 1}, {5, 2}}, {{5, 2}}) == "same 1; only 1@5 -");
  CHECK(compared({{5, 1}, {5, 2}}, {{5, 3}, {5, 2}}) == "same 1; value 1@5 3@5");
  CHECK(compared({{5, 1}}, {{5, 3}, {5, 2}}) == "same 0; value 1@5 3@5; only - 2@5");
}

TEST_CASE("objects are compared one by one, and statuses are left out") {
  auto status = writes({{4, 7}});
  status[0].intent.verb = Verb::apply_status;
  CHECK(text_of(compare_writes(status, {}, {})) == "same 0");
  auto other = writes({{1, 40}}, "r");
  CHECK(text_of(compare_writes(writes({{1, 40}}), other, {})) ==
        "same 0; only 40@1 -; only - 40@1");
}

TEST_CASE("a write of the control names the write that history made of it, if it made one") {
  const WriteComparison late =
      compare_writes(writes({{0, 40}, {10, 48}, {20, 40}}), {}, writes({{15, 48}, {21, 40}}));
  REQUIRE(late.differences.size() == 3);
  CHECK_FALSE(late.differences[0].made);
  REQUIRE(late.differences[1].made);
  CHECK(late.differences[1].made->seq == Seq{16});
  CHECK(late.differences[1].made->time == LogTime{seconds(15).ns});
  CHECK(late.differences[2].made->seq == Seq{22});
}

TEST_CASE("more writes than are weighed at once are still paired") {
  std::vector<Note> baseline, counterfactual;
  for (int i = 0; i < 5000; ++i) {
    baseline.push_back({i * 10, i % 2});
    counterfactual.push_back({i * 10 + 3, i % 2});
  }
  const WriteComparison result = compare_writes(writes(baseline), writes(counterfactual), {});
  CHECK(result.same == 0);
  std::size_t pairs = 0;
  for (const WriteDifference& difference : result.differences)
    if (difference.kind() == WriteDiffers::time) {
      ++pairs;
      CHECK(difference.counterfactual->time - difference.baseline->time == seconds(3));
    }
  CHECK(pairs >= 4999);
}

}  // namespace
}  // namespace fairlead
