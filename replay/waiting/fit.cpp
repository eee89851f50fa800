#include "replay/waiting/fit.h"

#include <algorithm>
#include <optional>

#include "replay/waiting/quota_amount.h"

namespace fairlead {

namespace {

Requests asked_of(const QueueShape::Group& group, const Requests& requests) {
  Requests out;
  for (const auto& one : requests)
    if (std::find(group.resources.begin(), group.resources.end(), one.first) !=
        group.resources.end())
      out.push_back(one);
  return out;
}

QuotaFit fit_of_flavor(const Requests& asked, const QueueShape::Flavor& flavor,
                       const QueueRooms& queue) {
  QuotaFit fit = QuotaFit::now;
  for (const auto& [resource, amount] : asked) {
    const auto slot = flavor.slot_of(resource);
    if (!slot || amount > queue.rooms[*slot].potential) return QuotaFit::no;
    if (amount > queue.rooms[*slot].available) fit = QuotaFit::quota;
  }
  return fit;
}

QuotaFit fit_of_group(const Requests& asked, const QueueShape::Group& group,
                      const QueueRooms& queue) {
  QuotaFit best = QuotaFit::no;
  for (const QueueShape::Flavor& flavor : group.flavors)
    best = std::max(best, fit_of_flavor(asked, flavor, queue));
  return best;
}

// Reads up to `end`, and goes behind it; nullopt if it does not occur.
std::optional<std::string_view> read_to(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view read = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return read;
}

std::optional<std::string> canonical(std::string_view text) {
  const auto quantity = Quantity::parse(text);
  if (!quantity) return std::nullopt;
  return quantity->text();
}

// "R in flavor F, N more needed", behind "insufficient unused quota for ".
std::optional<Shortage> unused_quota(std::string_view text) {
  const auto resource = read_to(text, " in flavor ");
  const auto flavor = resource ? read_to(text, ", ") : std::nullopt;
  const auto needed = flavor ? read_to(text, " more needed") : std::nullopt;
  const auto amount = needed ? canonical(*needed) : std::nullopt;
  if (!amount) return std::nullopt;
  return Shortage{ShortageSource::message, std::string(*flavor), std::string(*resource), *amount};
}

// "R in flavor F, previously considered podsets requests (A) + current podset request (B) > maximum
// capacity (C)", behind "insufficient quota for ".
std::optional<Shortage> whole_quota(std::string_view text) {
  const auto resource = read_to(text, " in flavor ");
  const auto flavor =
      resource ? read_to(text, ", previously considered podsets requests (") : std::nullopt;
  const auto before = flavor ? read_to(text, ") + current podset request (") : std::nullopt;
  const auto asked = before ? read_to(text, ") > maximum capacity (") : std::nullopt;
  const auto capacity = asked ? read_to(text, ")") : std::nullopt;
  if (!capacity) return std::nullopt;
  Int128 short_of = 0;
  for (const auto& [sign, part] : {std::pair{1, *before}, {1, *asked}, {-1, *capacity}}) {
    const auto quantity = Quantity::parse(part);
    if (!quantity) return std::nullopt;
    short_of += sign * Int128{to_amount(*resource, *quantity)};
  }
  return Shortage{ShortageSource::message, std::string(*flavor), std::string(*resource),
                  amount_text(*resource, short_of)};
}

}  // namespace

Requests requests_of(const ResourceAmounts& amounts) {
  Requests out;
  for (const auto& [resource, amount] : amounts)
    if (amount != 0) out.emplace_back(resource, amount);
  return out;
}

QuotaFit fit_of(const Requests& requests, const QueueRooms& queue) {
  if (!queue.shape) return QuotaFit::unknown;
  QuotaFit worst = QuotaFit::now;
  std::size_t covered = 0;
  for (const QueueShape::Group& group : queue.shape->groups) {
    const Requests asked = asked_of(group, requests);
    if (asked.empty()) continue;
    covered += asked.size();
    worst = std::min(worst, fit_of_group(asked, group, queue));
  }
  return covered < requests.size() ? QuotaFit::no : worst;
}

std::vector<Shortage> shortage_of(const Requests& requests, const QueueRooms& queue) {
  std::vector<Shortage> out;
  if (!queue.shape) return out;
  for (const QueueShape::Group& group : queue.shape->groups) {
    const Requests asked = asked_of(group, requests);
    if (asked.empty() || fit_of_group(asked, group, queue) == QuotaFit::now) continue;
    for (const QueueShape::Flavor& flavor : group.flavors)
      for (const auto& [resource, amount] : asked) {
        const auto slot = flavor.slot_of(resource);
        if (!slot || amount <= queue.rooms[*slot].available) continue;
        out.push_back({ShortageSource::quota, flavor.name, resource,
                       amount_text(resource, Int128{amount} - queue.rooms[*slot].available)});
      }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Shortage> shortage_in(std::string_view message) {
  std::vector<Shortage> out;
  const auto read_all = [&](std::string_view head, auto read) {
    for (std::string_view rest = message; read_to(rest, head);)
      if (auto found = read(rest)) out.push_back(*std::move(found));
  };
  read_all("insufficient unused quota for ", unused_quota);
  read_all("insufficient quota for ", whole_quota);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace fairlead
