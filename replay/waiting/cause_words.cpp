#include "replay/waiting/cause_words.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fairlead {

namespace {

using Pair = std::pair<std::string, std::string>;
using Amounts = std::map<Pair, Amount>;

void add(std::string& text, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text += ", ";
  text += more;
}

Amounts nominal_of(const ClusterQueueFacts& queue) {
  Amounts out;
  for (const ResourceGroup& group : queue.effective ? queue.effective->groups : queue.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        out[{flavor.name, quota.name}] = to_amount(quota.name, quota.nominal);
  return out;
}

Amounts reserved_of(const ClusterQueueFacts& queue) {
  Amounts out;
  for (const FlavorUsage& one : queue.reserved) out[{one.flavor, one.resource}] = one.total;
  return out;
}

// "quota 48 -> 40" of each amount that moved; with its flavor and resource where several may be
// meant.
std::string moved(const char* what, Amounts before, Amounts after, bool named) {
  for (const auto& [pair, amount] : before) after.try_emplace(pair, 0);
  std::string text;
  for (const auto& [pair, amount] : after) {
    const Amount was = before[pair];
    if (was == amount) continue;
    const std::string name = named ? " of " + pair.second + " in " + pair.first : "";
    add(text, what + name + " " + amount_text(pair.second, was) + " -> " +
                  amount_text(pair.second, amount));
  }
  return text;
}

bool is_short(const Pair& pair, const WaitInterval& interval) {
  return std::any_of(interval.shortage.begin(), interval.shortage.end(), [&pair](const auto& one) {
    return one.flavor == pair.first && one.resource == pair.second;
  });
}

// "needs 44": what is asked for of each resource that is short.
std::string needs(const WaitInterval& interval, const Requests& requests) {
  Requests wanted;
  for (const auto& one : requests)
    if (std::any_of(interval.shortage.begin(), interval.shortage.end(),
                    [&one](const Shortage& row) {
                      return row.source == ShortageSource::quota && row.resource == one.first;
                    }))
      wanted.push_back(one);
  std::string text;
  for (const auto& [resource, amount] : wanted)
    add(text, "needs " + amount_text(resource, amount) +
                  (wanted.size() > 1 ? " " + resource : std::string()));
  return text;
}

}  // namespace

std::string CauseWords::of_node(const Event& event) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  if (seen == nullptr)
    return "node " + std::get<ObjectGone>(event.fact).key.name + " left (deleted)";
  const std::string name = "node " + seen->key.name;
  const Event* before = changes_.before(event);
  const auto* was = before ? std::get_if<ObjectObserved>(&before->fact) : nullptr;
  if (was == nullptr) return name + " came";
  const auto& then = std::get<NodeFacts>(was->facts);
  const auto& now = std::get<NodeFacts>(seen->facts);
  if (then.ready != now.ready) return name + (now.ready ? " came (Ready)" : " left (NotReady)");
  if (then.unschedulable != now.unschedulable)
    return name + (now.unschedulable ? " left (cordoned)" : " came (uncordoned)");
  return name + ": " + changes_.differences_of(event);
}

std::string CauseWords::of_queue(const Event& event, const WaitInterval& interval) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  if (seen == nullptr) return changes_.words_of(event);
  const Event* before = changes_.before(event);
  const auto* was = before ? std::get_if<ObjectObserved>(&before->fact) : nullptr;
  if (was == nullptr) return "ClusterQueue " + seen->key.name + " was seen first";
  const auto& then = std::get<ClusterQueueFacts>(was->facts);
  const auto& now = std::get<ClusterQueueFacts>(seen->facts);
  Amounts quota_then = nominal_of(then), quota_now = nominal_of(now);
  // Where the interval is short of pairs, the others did not make it.
  const auto leave_short = [&](Amounts& amounts) {
    std::erase_if(amounts, [&](const auto& one) { return !is_short(one.first, interval); });
  };
  if (std::any_of(quota_then.begin(), quota_then.end(),
                  [&](const auto& one) { return is_short(one.first, interval); })) {
    leave_short(quota_then);
    leave_short(quota_now);
  }
  std::string text = moved("quota", quota_then, quota_now, quota_now.size() > 1);
  if (text.empty())
    text = moved("reserved", reserved_of(then), reserved_of(now), reserved_of(now).size() > 1);
  return text.empty() ? changes_.words_of(event) : text;
}

std::string CauseWords::of_event(const Event& event, const WaitInterval& interval) {
  const auto* seen = std::get_if<ObjectObserved>(&event.fact);
  const auto* gone = std::get_if<ObjectGone>(&event.fact);
  // What it says of itself is the reason; a write says nothing that its causes and its effect do
  // not say.
  if (std::holds_alternative<PatchIntended>(event.fact)) return {};
  if (seen == nullptr && gone == nullptr) return what_happened(event, {}, "");
  const Kind kind = seen ? seen->key.kind : gone->key.kind;
  if (kind == Kind::workload) return {};
  if (kind == Kind::node) return of_node(event);
  return kind == Kind::cluster_queue ? of_queue(event, interval) : changes_.words_of(event);
}

std::string CauseWords::of(const WaitInterval& interval, const Requests& requests) {
  std::string text;
  for (const Seq seq : interval.causes)
    if (const Event* event = lookup_.at(seq)) add(text, of_event(*event, interval));
  if (interval.fit == QuotaFit::no || interval.fit == QuotaFit::quota)
    add(text, needs(interval, requests));
  return text;
}

}  // namespace fairlead
