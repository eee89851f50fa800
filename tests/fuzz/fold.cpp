// Any decoded events in any order: they fold without an abort, twice to the same state, and from a
// snapshot in their midst to the same state again; a plan of everything is the same twice, and its
// intents are stored as they are.
//
// The input is records, each behind three bytes: its size in words (two bytes, the low one first),
// and the time since the one before. Seq and log time are the log's to give.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "engine/fold/evolve.h"
#include "engine/plan/plan.h"
#include "schema/codec.h"
#include "snapshots/state_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

using namespace fairlead;

namespace {

constexpr std::size_t kHeadBytes = 3, kWordBytes = 8, kEventsMax = 64;

std::vector<std::string> records_of(std::string_view input) {
  std::vector<std::string> out;
  while (input.size() >= kHeadBytes) {
    const std::size_t words =
        static_cast<std::uint8_t>(input[0]) + 256U * static_cast<std::uint8_t>(input[1]);
    out.emplace_back(input.substr(0, kHeadBytes + words * kWordBytes));
    input.remove_prefix(out.back().size());
  }
  return out;
}

std::vector<Event> events_of(std::string_view input) {
  std::vector<Event> out;
  LogTime now;
  for (const std::string& record : records_of(input)) {
    auto event = decode(std::string_view(record).substr(kHeadBytes));
    if (!event || out.size() == kEventsMax) continue;
    const std::int64_t step = static_cast<std::uint8_t>(record[2]);
    now = now + milliseconds(step * step * step);  // up to four and a half hours
    event->seq = {out.size() + 1};
    event->log_time = now;
    out.push_back(*std::move(event));
  }
  return out;
}

void fold(State& state, const std::vector<Event>& events, std::size_t from, std::size_t to) {
  DirtySet dirty;
  for (std::size_t i = from; i < to; ++i) evolve(state, events[i], dirty);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto events = events_of(as_text(data, size));
  if (events.empty()) return 0;
  for (const Event& event : events) {
    const auto again = decode(encode(event));
    check(again.has_value() && *again == event, "an event is stored as it is");
  }
  const std::size_t middle = events.size() / 2;
  State whole;
  fold(whole, events, 0, middle);
  auto restored = decode_state(encode_state(whole));
  check(restored.has_value(), "a state is stored as it is");
  fold(whole, events, middle, events.size());
  fold(*restored, events, middle, events.size());
  check(state_digest(whole) == state_digest(*restored), "a snapshot and the rest fold to the same");
  State again;
  fold(again, events, 0, events.size());
  check(whole == again, "the same events fold to the same");

  DirtySet dirty;
  run_until(whole, whole.now, dirty);
  DirtySet everything;
  everything.everything = true;
  DirtySet and_again = everything;
  const auto intents = plan(whole, everything);
  check(plan(whole, and_again) == intents, "a plan is the same twice");
  for (const PatchIntended& intent : intents) {
    const Event event{{1}, {}, {}, std::string(kSelf), {}, intent};
    const auto stored = decode(encode(event));
    check(stored.has_value() && *stored == event, "an intent is stored as it is");
  }
  return 0;
}

// Events are put elsewhere, doubled and left out; else bytes of the whole change.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  std::minstd_rand random(seed);
  auto records = records_of(as_text(data, size));
  if (records.empty() || random() % 4 == 0) return LLVMFuzzerMutate(data, size, max);
  const std::size_t from = random() % records.size(), to = random() % records.size();
  switch (random() % 4) {
    case 0: std::swap(records[from], records[to]); break;
    case 1:
      records.insert(records.begin() + static_cast<std::ptrdiff_t>(to), std::string(records[from]));
      break;
    case 2: records.erase(records.begin() + static_cast<std::ptrdiff_t>(from)); break;
    default:
      if (records[from].size() >= kHeadBytes) records[from][2] = static_cast<char>(random());
  }
  std::size_t written = 0;
  for (const std::string& record : records) {
    if (written + record.size() > max) break;
    std::memcpy(data + written, record.data(), record.size());
    written += record.size();
  }
  return written;
}
