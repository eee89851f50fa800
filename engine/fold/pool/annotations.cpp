#include "engine/fold/pool/annotations.h"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/json.h"

namespace fairlead {

namespace {

constexpr CpuMemory kDefaultSlice{2000, Amount{4} << 30};

// Parses an object without a key that comes twice, which readers understand differently. Returns a
// discarded value otherwise.
Json parse_object(const std::string& text) {
  // Our parser ends at a NUL and passes over a byte order mark; the syncers' parser refuses both.
  const bool odd = text.find('\0') != std::string::npos || text.starts_with("\xef\xbb\xbf");
  if (text.size() > kAnnotationMax || odd) return Json(Json::value_t::discarded);
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  bool twice = false;
  const auto note = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key)
      twice |= !keys.back().insert(value.get<std::string>()).second;
    return true;
  };
  Json json = Json::parse(text, note, false);
  return json.is_object() && !twice ? json : Json(Json::value_t::discarded);
}

std::optional<Amount> read_amount(const std::string& resource, const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto quantity = Quantity::parse(value.get_ref<const std::string&>());
  if (!quantity || quantity->negative()) return std::nullopt;
  return to_amount(resource, *quantity);
}

}  // namespace

bool is_super_cluster_id(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), allowed);
}

std::optional<CpuMemory> read_slice(const std::optional<std::string>& text) {
  if (!text) return kDefaultSlice;
  const Json json = parse_object(*text);
  if (json.is_discarded() || json.size() != 2 || !json.contains("cpu") || !json.contains("memory"))
    return std::nullopt;
  const auto cpu = read_amount("cpu", json["cpu"]), memory = read_amount("memory", json["memory"]);
  if (cpu.value_or(0) <= 0 || memory.value_or(0) <= 0) return std::nullopt;
  return CpuMemory{*cpu, *memory};
}

std::optional<SliceMap> read_placements(const std::optional<std::string>& text,
                                        std::int64_t slices_max) {
  SliceMap slices;
  if (!text) return slices;
  const Json json = parse_object(*text);
  if (json.is_discarded()) return std::nullopt;
  std::int64_t left = slices_max;
  for (const auto& [id, value] : json.items()) {
    if (!is_super_cluster_id(id) || !value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    const auto count = value.get<std::int64_t>();
    // Compared with what is left, so that the sum of all counts cannot overflow.
    if (count < 0 || count > left) return std::nullopt;
    left -= count;
    slices[id] = count;
  }
  return slices;
}

std::string placements_text(const SliceMap& slices) {
  Json json = Json::object();
  for (const auto& [id, count] : slices) json[id] = count;
  return to_text(json);
}

std::optional<PoolPolicy> own_policy_of(const NamespaceFacts& of) {
  return of.policy ? parse_word<PoolPolicy>(*of.policy) : std::nullopt;
}

PoolPolicy policy_of(const PoolSettings& settings, const NamespaceFacts& of) {
  return own_policy_of(of).value_or(settings.policy);
}

std::optional<std::map<std::string, Amount>> read_limit(const std::string& text) {
  const Json json = parse_object(text);
  if (json.is_discarded()) return std::nullopt;
  std::map<std::string, Amount> limit;
  for (const auto& [resource, value] : json.items()) {
    const auto amount = read_amount(resource, value);
    if ((resource != "cpu" && resource != "memory") || !amount) return std::nullopt;
    limit[resource] = *amount;
  }
  return limit;
}

}  // namespace fairlead
