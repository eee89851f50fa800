#include "replay/audit/readable_amount.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/quantity.h"

namespace fairlead {

namespace {

constexpr Int128 kNanoOfUnit = 1'000'000'000;
constexpr Int128 kNanoOfMilli = 1'000'000;
constexpr std::array<std::string_view, 6> kBinarySuffixes{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

bool counts_bytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

std::string digits_of(Int128 natural) { return std::to_string(static_cast<std::int64_t>(natural)); }

// Of at least 1 Ki.
std::string readable_bytes(Int128 bytes) {
  Int128 unit = 1024;
  std::size_t suffix = 0;
  for (; suffix + 1 < kBinarySuffixes.size() && bytes >= unit * 1024; ++suffix) unit *= 1024;
  const Int128 tenths = (bytes * 10 + unit / 2) / unit;
  std::string text;
  if (tenths >= 1000 || tenths % 10 == 0)
    text = digits_of((tenths + 5) / 10);
  else
    text = digits_of(tenths / 10) + "." + digits_of(tenths % 10);
  return text.append(kBinarySuffixes.at(suffix));
}

std::string with_decimals(Int128 milli) {
  std::string text = digits_of(milli / 1000);
  if (milli % 1000 == 0) return text;
  std::string decimals = digits_of(1000 + milli % 1000).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + "." + decimals;
}

}  // namespace

std::string readable_amount(std::string_view resource, const std::string& text) {
  const auto quantity = Quantity::parse(text);
  if (!quantity || quantity->nano() == 0) return text;
  if (quantity->negative()) return "-" + readable_amount(resource, text.substr(1));
  const Int128 nano = quantity->nano();
  constexpr Int128 kBytesMax = INT64_MAX;  // what Kueue counts
  if (counts_bytes(resource) && nano >= 1024 * kNanoOfUnit && nano <= kBytesMax * kNanoOfUnit)
    return readable_bytes(nano / kNanoOfUnit);
  constexpr Int128 kPlainMax = 1'000'000;
  if (nano % kNanoOfMilli != 0 || nano >= kPlainMax * kNanoOfUnit) return text;
  return with_decimals(nano / kNanoOfMilli);
}

namespace {

constexpr auto kAmountKeys = std::to_array<std::string_view>(
    {"accepted",       "afterFlavor", "amount",       "assigned",  "base",
     "borrowingLimit", "confirmed",   "contributes",  "desired",   "flavorBound",
     "granted",        "growing",     "lendingLimit", "minimum",   "new",
     "nominal",        "offered",     "old",          "oldUnless", "reserve",
     "reserved",       "totalBound",  "undamped",     "usable",    "wanted"});

bool is_amount(std::string_view key, std::string_view around) {
  const bool end_of_move = around == "moved" && (key == "from" || key == "to");
  return end_of_move || std::find(kAmountKeys.begin(), kAmountKeys.end(), key) != kAmountKeys.end();
}

// Two amounts that differ stay exact where they would read the same.
void keep_apart(const Json& was_before, const Json& was_after, Json& before, Json& after) {
  if (before.is_object() && after.is_object()) {
    for (auto& [key, value] : before.items())
      if (after.contains(key)) keep_apart(was_before[key], was_after[key], value, after[key]);
  } else if (before == after && was_before != was_after) {
    before = was_before;
    after = was_after;
  }
}

// `part` is the value of `around`; it is about `resource` unless it names another one.
void make_part_readable(Json& part, std::string_view around, std::string resource) {
  const Json exact = part;
  if (const std::string own = text_in(part, "resource"); !own.empty()) resource = own;
  const auto read = [&](Json& value, std::string_view key) {
    if (value.is_structured())
      make_part_readable(value, key, resource);
    else if (value.is_string() && is_amount(key, around))
      value = readable_amount(resource, value.get<std::string>());
  };
  if (part.is_array()) {
    for (Json& value : part) read(value, around);
    return;
  }
  for (auto& [key, value] : part.items()) read(value, key);
  for (const auto& [before, after] : {std::pair("old", "new"), std::pair("from", "to")})
    if (part.contains(before) && part.contains(after))
      keep_apart(exact[before], exact[after], part[before], part[after]);
}

}  // namespace

void make_amounts_readable(Json& document) {
  if (document.is_structured()) make_part_readable(document, "", "");
}

}  // namespace fairlead
