#include "replay/whatif/write_comparison.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/quantity.h"
#include "engine/fold/writes/record.h"
#include "schema/write_rule.h"

namespace fairlead {

namespace {

// At most so many pairs of one object are weighed at once (a byte each). A longer stretch is cut in
// two, and equal writes on both sides of the cut are reported as two writes.
constexpr std::size_t kWeighedMax = std::size_t{1} << 24;

bool is_of_workload(const PatchIntended& intent) {
  return intent.verb == Verb::apply_status && intent.target.kind == Kind::workload;
}

// The content of a write. The label's value of a touch is a seq of its own log, so all touches have
// the same content. What else the status of a Workload holds is Kueue's, and differs with time.
Digest content_of(const PatchIntended& intent) {
  if (is_of_workload(intent)) return sha256(text_of_write(intent));
  return intent.reason.rule == rule::kMembersTouch ? sha256(rule::kMembersTouch) : wish_of(intent);
}

// A write with its content as a number: equal contents have equal numbers.
struct Numbered {
  const PlannedWrite* write;
  std::size_t content;

  LogTime time() const { return write->time; }
};
using Writes = std::span<const Numbered>;
using WritePair = std::pair<const Numbered*, const Numbered*>;

// The writes of one object in every world.
struct ObjectWrites {
  std::vector<Numbered> baseline, counterfactual, made;
  std::map<decltype(Digest::bytes), std::size_t> contents;  // by content_of

  void add(std::vector<Numbered>& side, const PlannedWrite& write) {
    const std::size_t fresh = contents.size();
    side.push_back(
        {&write, contents.try_emplace(content_of(write.intent).bytes, fresh).first->second});
  }
};

Int128 apart(const Numbered& a, const Numbered& b) {
  const Int128 span = Int128{a.time().ns} - b.time().ns;
  return span < 0 ? -span : span;
}

// How good a pairing is: many pairs, near to each other.
struct Worth {
  std::size_t pairs = 0;
  Int128 apart = 0;

  bool better_than(const Worth& other) const {
    return pairs != other.pairs ? pairs > other.pairs : apart < other.apart;
  }
};

enum class Step : std::uint8_t { pair, skip_a, skip_b };

// The best pairing of equal contents in which no two pairs cross.
void weigh_pairs(Writes a, Writes b, std::vector<WritePair>& pairs) {
  std::vector<Step> steps(a.size() * b.size());
  std::vector<Worth> after(b.size() + 1), now(b.size() + 1);  // of what is left from here on
  for (std::size_t i = a.size(); i-- > 0; std::swap(after, now)) {
    now[b.size()] = {};
    for (std::size_t j = b.size(); j-- > 0;) {
      Step& step = steps[i * b.size() + j] = Step::skip_a;
      now[j] = after[j];
      if (now[j + 1].better_than(now[j])) {
        step = Step::skip_b;
        now[j] = now[j + 1];
      }
      if (a[i].content != b[j].content) continue;
      const Worth paired{after[j + 1].pairs + 1, after[j + 1].apart + apart(a[i], b[j])};
      // Of equal worth the pair wins, so that the earliest writes are paired.
      if (now[j].better_than(paired)) continue;
      step = Step::pair;
      now[j] = paired;
    }
  }
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Step step = steps[i * b.size() + j];
    if (step == Step::pair) pairs.emplace_back(&a[i], &b[j]);
    if (step != Step::skip_b) ++i;
    if (step != Step::skip_a) ++j;
  }
}

std::size_t first_at(Writes writes, LogTime time) {
  return static_cast<std::size_t>(
      std::lower_bound(writes.begin(), writes.end(), time,
                       [](const Numbered& write, LogTime at) { return write.time() < at; }) -
      writes.begin());
}

// Pairs equal contents in order.
void pair_equal(Writes a, Writes b, std::vector<WritePair>& pairs) {
  if (a.empty() || b.empty()) return;
  // Divided, because the product may overflow.
  if (a.size() <= kWeighedMax / b.size()) return weigh_pairs(a, b, pairs);
  // Each cut halves the longer side, so this ends.
  const bool longer = a.size() >= b.size();
  const std::size_t half = (longer ? a : b).size() / 2;
  const LogTime middle = (longer ? a : b)[half].time();
  const std::size_t of_a = longer ? half : first_at(a, middle);
  const std::size_t of_b = longer ? first_at(b, middle) : half;
  pair_equal(a.first(of_a), b.first(of_b), pairs);
  pair_equal(a.subspan(of_a), b.subspan(of_b), pairs);
}

// Compares the writes of one object in both worlds.
class ObjectComparison {
 public:
  ObjectComparison(const ObjectWrites& object, WriteComparison& result)
      : object_(object), result_(result) {}

  void compare() {
    Writes a = object_.baseline, b = object_.counterfactual;
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (a[i].time() < b[j].time()) {
        ++i;
      } else if (b[j].time() < a[i].time()) {
        ++j;
      } else {
        stretch(a.first(i), b.first(j));
        a = a.subspan(i);
        b = b.subspan(j);
        const std::size_t of_a = of_moment(a), of_b = of_moment(b);
        moment(a.first(of_a), b.first(of_b));
        a = a.subspan(of_a);
        b = b.subspan(of_b);
        i = j = 0;
      }
    }
    stretch(a, b);
  }

 private:
  static std::size_t of_moment(Writes writes) {
    return first_at(writes, writes.front().time() + Duration{1});
  }

  // Both worlds write at this moment: writes that are not equal differ in value.
  void moment(Writes a, Writes b) {
    std::vector<WritePair> equal;
    pair_equal(a, b, equal);
    result_.same += equal.size();
    const auto [only_a, only_b] = unpaired(a, b, equal);
    for (std::size_t k = 0; k < std::max(only_a.size(), only_b.size()); ++k)
      differ(k < only_a.size() ? only_a[k] : nullptr, k < only_b.size() ? only_b[k] : nullptr);
  }

  // A stretch in which the worlds never write at the same moment.
  void stretch(Writes a, Writes b) {
    std::vector<WritePair> equal;
    pair_equal(a, b, equal);
    for (const auto& [baseline, counterfactual] : equal) differ(baseline, counterfactual);
    const auto [only_a, only_b] = unpaired(a, b, equal);
    for (const Numbered* baseline : only_a) differ(baseline, nullptr);
    for (const Numbered* counterfactual : only_b) differ(nullptr, counterfactual);
  }

  using Unpaired = std::pair<std::vector<const Numbered*>, std::vector<const Numbered*>>;
  static Unpaired unpaired(Writes a, Writes b, const std::vector<WritePair>& pairs) {
    Unpaired left;
    // Pairs never cross and come in order, so one walk over each side finds the rest.
    auto pair = pairs.begin();
    for (const Numbered& write : a)
      if (pair != pairs.end() && pair->first == &write)
        ++pair;
      else
        left.first.push_back(&write);
    pair = pairs.begin();
    for (const Numbered& write : b)
      if (pair != pairs.end() && pair->second == &write)
        ++pair;
      else
        left.second.push_back(&write);
    return left;
  }

  void differ(const Numbered* baseline, const Numbered* counterfactual) {
    WriteDifference difference;
    if (baseline) {
      difference.baseline = *baseline->write;
      difference.made = made(*baseline);
    }
    if (counterfactual) difference.counterfactual = *counterfactual->write;
    result_.differences.push_back(std::move(difference));
  }

  // Computed on demand, because only objects that differ somewhere need it.
  std::optional<WriteDifference::Made> made(const Numbered& baseline) {
    if (!made_known_) {
      std::vector<WritePair> pairs;
      pair_equal(object_.baseline, object_.made, pairs);
      made_.resize(object_.baseline.size());
      for (const auto& [write, made_write] : pairs) made_[place_of(*write)] = made_write;
      made_known_ = true;
    }
    const Numbered* found = made_[place_of(baseline)];
    if (!found) return std::nullopt;
    return WriteDifference::Made{found->write->seq, found->time()};
  }

  std::size_t place_of(const Numbered& baseline) const {
    return static_cast<std::size_t>(&baseline - object_.baseline.data());
  }

  const ObjectWrites& object_;
  WriteComparison& result_;
  bool made_known_ = false;
  std::vector<const Numbered*> made_;  // of each write of the baseline
};

}  // namespace

bool is_compared(const PatchIntended& intent) {
  return intent.verb != Verb::apply_status || is_of_workload(intent);
}

std::string text_of_write(const PatchIntended& intent) {
  if (!is_of_workload(intent)) return intent.reason.text;
  const Json body = read_own_json(intent.body);
  const Json& status = member(body, "status");
  std::string names;
  for (const Json& name : list_in(status, "nominatedClusterNames"))
    if (name.is_string()) names += (names.empty() ? "" : ", ") + name.get<std::string>();
  if (!names.empty()) return "nominated " + names;
  const Json& conditions = list_in(status, "conditions");
  if (conditions.empty()) return "nominated nowhere";
  const Json& ours = conditions.front();
  return "nominated nowhere: " + text_in(ours, "reason") + " (" + text_in(ours, "message") + ")";
}

WriteDiffers WriteDifference::kind() const {
  if (!counterfactual) return WriteDiffers::only_history;
  if (!baseline) return WriteDiffers::only_what_if;
  return baseline->time == counterfactual->time ? WriteDiffers::value : WriteDiffers::time;
}

WriteComparison compare_writes(const std::vector<PlannedWrite>& baseline,
                               const std::vector<PlannedWrite>& counterfactual,
                               const std::vector<PlannedWrite>& made) {
  std::map<WriteKey, ObjectWrites> objects;
  const auto sort = [&](const std::vector<PlannedWrite>& writes,
                        std::vector<Numbered> ObjectWrites::* side) {
    for (const PlannedWrite& write : writes) {
      if (!is_compared(write.intent)) continue;
      ObjectWrites& object = objects[write_key(write.intent)];
      object.add(object.*side, write);
    }
  };
  sort(baseline, &ObjectWrites::baseline);
  sort(counterfactual, &ObjectWrites::counterfactual);
  sort(made, &ObjectWrites::made);
  WriteComparison result;
  for (const auto& [key, object] : objects) ObjectComparison(object, result).compare();
  std::multimap<LogTime, WriteDifference> by_time;  // keeps the order of equal times
  for (WriteDifference& difference : result.differences) {
    const LogTime time = difference.time();
    by_time.emplace(time, std::move(difference));
  }
  result.differences.clear();
  for (auto& [time, difference] : by_time) result.differences.push_back(std::move(difference));
  return result;
}

}  // namespace fairlead
