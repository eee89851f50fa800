#include "schema/event_json.h"

#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "engine/base/time.h"
#include "schema/fields/events.h"
#include "schema/fields/types.h"

namespace fairlead {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<AnyFact>> kFactNames{
    "EpochStarted",   "ConfigChanged", "SourceSynced", "SourceStale",     "SourceLost",
    "ObjectObserved", "ObjectGone",    "TimerFired",   "PatchIntended",   "PatchAccepted",
    "PatchRejected",  "PatchUnknown",  "Checkpoint",   "AdmissionDecided"};

std::string_view text_of(Kind kind) { return info(kind).name; }
std::string_view text_of(AdmissionRule rule) { return info(rule).name; }
std::string_view text_of(AllocationMode mode) {
  switch (mode) {
    case AllocationMode::exact: return "ExactCount";
    case AllocationMode::all: return "All";
    case AllocationMode::unknown: return "Unknown";
  }
  return "";
}
std::string_view text_of(RejectionCause cause) {
  switch (cause) {
    case RejectionCause::content: return "";
    case RejectionCause::outage: return "outage";
    case RejectionCause::rights: return "rights";
  }
  return "";
}

// {"int": 3}: the type of the attribute and its value.
Json attribute_json(std::string_view value) {
  if (value.empty()) return nullptr;
  const std::string text(value.substr(1));
  switch (value.front()) {
    case kIntAttribute: {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return {{"int", number}};
    }
    case kBoolAttribute: return {{"bool", text == "true"}};
    case kVersionAttribute: return {{"version", text}};
    case kStringAttribute: return {{"string", text}};
  }
  return nullptr;
}

Json document_json(const std::string& text) {
  Json parsed = read_json(text);
  return parsed.is_discarded() ? Json(text) : parsed;
}

// The stored seconds may be any number: the product is bounded instead of overflowing.
LogTime time_of_seconds(std::int64_t number) { return {saturate(Int128{number} * seconds(1).ns)}; }

/// The visitor that prints the fields of a struct as members of an object.
class StructPrinter {
 public:
  explicit StructPrinter(Json& json, const FieldStyle& style = kUsual)
      : json_(json), brief_(style.brief) {}

  template <class T>
  void field(FieldName name, const T& value, const FieldStyle& style = kUsual) {
    if (style.hidden || (style.sparse && is_default(value)) || is_left_out(value)) return;
    if constexpr (IsOptional<T>) {
      if (value) return field(name, *value, style);
      if (style.or_null) json_[key_of(name, style)] = nullptr;
    } else {
      if constexpr (requires { fields(*this, value); })
        if (style.spread) return add_members(json_, value, style);
      json_[key_of(name, style)] = print(value, style);
    }
  }
  template <class T>
  void unprinted(FieldName, const T&) {}
  template <class T>
  void flagged(FieldName, FieldName name, const T& value, const FieldStyle& style = kUsual) {
    field(name, value, style);
  }
  template <class T, class List>
  void given(FieldName, const T& value, const FieldStyle& style, const List& list) {
    if (!value) return;
    const auto of_value = [&](StructPrinter& inner) { list(inner, *value); };
    group(style.key, of_value, EmptyGroup::printed);
  }
  void derived(FieldName, bool) {}
  void presence(FieldName) {}
  template <class List>
  void group(const char* key, const List& list, EmptyGroup empty = EmptyGroup::left_out) {
    Json members = Json::object();
    StructPrinter inner(members);
    list(inner);
    if (!members.empty() || empty == EmptyGroup::printed) json_[key] = std::move(members);
  }
  void printed(const char* key, bool holds) {
    if (holds) json_[key] = true;
  }
  void printed(const char* key, const char* text) { json_[key] = text; }
  template <class T>
  void formerly(FieldName, const T&) {}
  void source(const std::optional<Kind>& kind, const std::string& cluster) {
    if (kind)
      json_["kind"] = text_of(*kind);
    else
      json_["cluster"] = cluster;
  }

  template <class T>
  static Json print(const T& value, const FieldStyle& style = kUsual) {
    if constexpr (std::is_enum_v<T>)
      return text_of(value);
    else if constexpr (std::is_same_v<T, std::string>)
      return style.document ? document_json(value) : Json(value);
    else if constexpr (std::is_same_v<T, LogTime>)
      return to_rfc3339(value);
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return style.seconds ? Json(to_rfc3339(time_of_seconds(value))) : Json(value);
    else if constexpr (std::is_arithmetic_v<T>)
      return value;
    else if constexpr (std::is_same_v<T, Seq>)
      return value.value;
    else if constexpr (std::is_same_v<T, Digest>)
      return value.hex();
    else if constexpr (std::is_same_v<T, Quantity>)
      return value.text();
    else if constexpr (std::is_same_v<T, SpelledQuantity>)
      return value.as_written();
    else if constexpr (IsPacked<T>)
      return value.to_map();
    else
      return print_whole(value, style);
  }
  template <class T>
  static void add_members(Json& json, const T& value, const FieldStyle& style = kUsual) {
    StructPrinter printer(json, style);
    fields(printer, value);
  }
  // An object is named as Kubernetes names it.
  static void add_members(Json& json, const ObjectKey& key, const FieldStyle& = kUsual) {
    json["group"] = info(key.kind).group;
    json["kind"] = info(key.kind).name;
    json["namespace"] = key.namespace_;
    json["name"] = key.name;
  }
  static void add_members(Json& json, const FieldWriter& writer, const FieldStyle& = kUsual) {
    StructPrinter printer(json);
    fields(printer, writer);
    if (writer.fields == 0) return;
    for (std::size_t field = 0; field < kSpecFieldCount; ++field)
      if (writer.owns(static_cast<SpecField>(field)))
        json["fields"].push_back(kSpecFieldNames.at(field));
  }
  static void add_members(Json& json, const DeviceFacts& device, const FieldStyle& = kUsual) {
    json["name"] = device.name;
    for (const auto& [name, value] : device.attributes)
      json["attributes"][std::string(name)] = attribute_json(value);
    for (const DeviceCapacity& capacity : device.capacity)
      json["capacity"][capacity.name] = print(capacity);
    if (device.extras) add_members(json, *device.extras);
  }
  static void add_members(Json& json, const ConfigChanged& fact, const FieldStyle& = kUsual) {
    json["configuration"] = to_json(fact.configuration);
  }
  static void add_members(Json& json, const TimerFired& fact, const FieldStyle& = kUsual) {
    json["deadline"] = to_rfc3339(fact.deadline);
  }

 private:
  Json& json_;
  bool brief_;

  static const char* key_of(FieldName name, const FieldStyle& style) {
    return style.key ? style.key : name.text;
  }
  template <class T>
  static bool is_default(const T& value) {
    if constexpr (requires { value.empty(); })
      return value.empty();
    else
      return value == T{};
  }
  template <class T>
  bool is_left_out(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>) return brief_ && value.empty();
    return false;
  }

  template <class Items>
  static Json print_list(const Items& items, const FieldStyle& style) {
    Json list = Json::array();
    for (const auto& item : items) list.push_back(print(item, style));
    return list;
  }
  template <class T>
  static Json print_whole(const std::vector<T>& items, const FieldStyle& style) {
    return style.first && !items.empty() ? print(items.front()) : print_list(items, style);
  }
  template <class T>
  static Json print_whole(const std::map<std::string, T>& map, const FieldStyle&) {
    Json object = Json::object();
    for (const auto& [key, value] : map) object[key] = print(value);
    return object;
  }
  // Of a FleetScheduling: a list, as in its status.
  static Json print_whole(const std::map<std::string, std::vector<std::string>>& unsuitable,
                          const FieldStyle&) {
    Json list = Json::array();
    for (const auto& [entry, clusters] : unsuitable)
      list.push_back({{"name", entry}, {"unsuitableClusters", clusters}});
    return list;
  }
  static Json print_whole(const ConditionFacts& condition, const FieldStyle& style) {
    return condition.status == ConditionStatus::absent ? Json() : print_struct(condition, style);
  }
  static Json print_whole(const Facts& facts, const FieldStyle&) { return to_json(facts); }
  template <class T>
  static Json print_whole(const T& value, const FieldStyle& style) {
    return print_struct(value, style);
  }
  template <class T>
  static Json print_struct(const T& value, const FieldStyle& style) {
    Json json = Json::object();
    add_members(json, value, style);
    return json;
  }
};

}  // namespace

std::string_view fact_name(const Fact& fact) { return kFactNames[fact.index()]; }

std::span<const std::string_view> fact_names() { return kFactNames; }

const ObjectKey* object_of(const Fact& fact) {
  if (const auto* observed = std::get_if<ObjectObserved>(&fact)) return &observed->key;
  if (const auto* gone = std::get_if<ObjectGone>(&fact)) return &gone->key;
  if (const auto* intended = std::get_if<PatchIntended>(&fact)) return &intended->target;
  if (const auto* decided = std::get_if<AdmissionDecided>(&fact)) return &decided->object;
  return nullptr;
}

Json to_json(const Facts& facts) {
  return std::visit([](const auto& of_kind) { return StructPrinter::print(of_kind); },
                    static_cast<const AnyFacts&>(facts));
}

Json to_json(const OrchestratorRef& orchestrator) { return StructPrinter::print(orchestrator); }
Json to_json(const PodDeviceFacts& pod) { return StructPrinter::print(pod); }

Json to_json(const Event& event) {
  Json json{{"seq", event.seq.value},     {"logTime", to_rfc3339(event.log_time)},
            {"epoch", event.epoch.value}, {"source", event.source},
            {"cause", event.cause.value}, {"fact", fact_name(event.fact)}};
  std::visit([&json](const auto& fact) { StructPrinter::add_members(json, fact); },
             static_cast<const AnyFact&>(event.fact));
  return json;
}

}  // namespace fairlead
