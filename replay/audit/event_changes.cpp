#include "replay/audit/event_changes.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "schema/event_json.h"

namespace fairlead {

namespace {

constexpr std::size_t kDifferencesMax = 4;
constexpr std::size_t kValueBytesMax = 60;

// Fields whose numbers are amounts by resource.
constexpr std::array<std::string_view, 5> kAmountFields{"allocatable", "requests", "hard",
                                                        "capacity", "limits"};
// What names an element of a list of objects.
constexpr std::array<std::string_view, 5> kNamingFields{"name", "flavor", "key", "type",
                                                        "clusterQueue"};

// The flavors in it have names of their own.
constexpr std::string_view kUnnamedList = "resourceGroups";

// How a flag reads where it is set, and where it is not.
struct FlagWords {
  std::string_view field, set, unset;
};
constexpr std::array<FlagWords, 3> kFlagWords{{{"ready", "Ready", "NotReady"},
                                               {"unschedulable", "cordoned", "schedulable"},
                                               {"deleting", "being deleted", "not being deleted"}}};

std::string shortened(std::string text) {
  if (text.size() <= kValueBytesMax) return text;
  std::size_t end = kValueBytesMax;
  // Not within a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string value_words(const Json& value) {
  if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()))
    return "none";
  return shortened(value.is_string() ? value.get<std::string>() : to_text(value));
}

std::string joined(const std::string& path, const std::string& part) {
  return path.empty() ? part : path + " " + part;
}

// Whether each element of a list is an object with this field, no two with the same text there.
bool tells_apart(const Json& list, std::string_view field) {
  std::set<std::string> names;
  return std::all_of(list.begin(), list.end(), [&](const Json& one) {
    return one.is_object() && one.contains(field) && one[field].is_string() &&
           names.insert(one[field].get<std::string>()).second;
  });
}

// Returns the field that identifies the elements of both lists, such as `name`; empty if none does.
std::string_view naming_field(const Json& before, const Json& after) {
  for (const std::string_view field : kNamingFields)
    if (tells_apart(before, field) && tells_apart(after, field)) return field;
  return {};
}

bool is_plain(const Json& list) {
  return std::none_of(list.begin(), list.end(),
                      [](const Json& one) { return one.is_structured(); });
}

class Differences {
 public:
  void compare(const std::string& path, const Json& before, const Json& after) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) return compare_fields(path, before, after);
    if (before.is_array() && after.is_array()) return compare_lists(path, before, after);
    add(joined(path, value_words(before) + " -> " + value_words(after)));
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < std::min(found_.size(), kDifferencesMax); ++i)
      all += (all.empty() ? "" : ", ") + found_[i];
    if (found_.size() > kDifferencesMax)
      all += " and " + std::to_string(found_.size() - kDifferencesMax) + " more";
    return all;
  }

 private:
  void add(std::string words) { found_.push_back(std::move(words)); }

  void compare_fields(const std::string& path, const Json& before, const Json& after) {
    std::set<std::string> names;
    for (const Json* one : {&before, &after})
      for (const auto& [name, value] : one->items()) names.insert(name);
    for (const std::string& name : names)
      compare_field(path, name, before.value(name, Json()), after.value(name, Json()));
  }

  void compare_field(const std::string& path, const std::string& name, const Json& before,
                     const Json& after) {
    if (before == after) return;
    // Of a status that Fairlead alone writes the log has only the digest.
    if (name == "statusDigest") return add(joined(path, "status changed"));
    for (const FlagWords& flag : kFlagWords)
      if (name == flag.field && before.is_boolean() && after.is_boolean()) {
        const auto words = [&](const Json& value) {
          return std::string(value.get<bool>() ? flag.set : flag.unset);
        };
        return add(joined(path, words(before) + " -> " + words(after)));
      }
    if (std::find(kAmountFields.begin(), kAmountFields.end(), name) != kAmountFields.end() &&
        after.is_object() && (before.is_object() || before.is_null()))
      return compare_amounts(path, before.is_null() ? Json::object() : before, after);
    compare(joined(path, name), before, after);
  }

  void compare_amounts(const std::string& path, const Json& before, const Json& after) {
    std::set<std::string> resources;
    for (const Json* one : {&before, &after})
      for (const auto& [resource, amount] : one->items()) resources.insert(resource);
    for (const std::string& resource : resources) {
      const auto words = [&](const Json& amounts) {
        const Json amount = amounts.value(resource, Json());
        return amount.is_number_integer() ? Json(amount_text(resource, amount.get<std::int64_t>()))
                                          : amount;
      };
      compare(joined(path, resource), words(before), words(after));
    }
  }

  // Elements are matched by name, else by place where none came or went.
  void compare_lists(const std::string& path, const Json& before, const Json& after) {
    if (!is_plain(before) || !is_plain(after)) {
      if (const std::string_view field = naming_field(before, after); !field.empty())
        return compare_named(path, field, before, after);
      if (before.size() != after.size()) return add(joined(path, "changed"));
      for (std::size_t i = 0; i < before.size(); ++i)
        compare(path == kUnnamedList ? "" : path, before[i], after[i]);
      return;
    }
    for (const Json& one : after)
      if (std::find(before.begin(), before.end(), one) == before.end())
        add(joined(path, "+" + value_words(one)));
    for (const Json& one : before)
      if (std::find(after.begin(), after.end(), one) == after.end())
        add(joined(path, "-" + value_words(one)));
    if (before.size() == after.size() &&
        std::is_permutation(before.begin(), before.end(), after.begin(), after.end()))
      add(joined(path, "in another order"));
  }

  void compare_named(const std::string& path, std::string_view field, const Json& before,
                     const Json& after) {
    const auto named = [&](const Json& list, const std::string& name) -> const Json* {
      const auto at = std::find_if(list.begin(), list.end(), [&](const Json& one) {
        return one.contains(field) && one[field] == name;
      });
      return at == list.end() ? nullptr : &*at;
    };
    // Where an element came or went, the list's own name says more than the element's; where
    // something in an element changed, the element's name does.
    const std::string around = path.substr(0, path.find_last_of(' ') + 1);
    const std::string list_name = path.substr(around.size());
    for (const Json& one : after) {
      const std::string name = one[field];
      const Json* const was = named(before, name);
      if (was == nullptr)
        add(around + list_name + " +" + shortened(name));
      else
        compare(around + name, *was, one);
    }
    for (const Json& one : before)
      if (const std::string name = one.value(field, std::string()); named(after, name) == nullptr)
        add(around + list_name + " -" + shortened(name));
  }

  std::vector<std::string> found_;
};

const ObjectKey* observed_key(const Event& event) {
  if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) return &seen->key;
  if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) return &gone->key;
  return nullptr;
}

bool is_configuration(const Event& event) {
  return std::holds_alternative<ConfigChanged>(event.fact);
}

// Names what the event is about, within the log; empty: the configuration.
std::string name_in_log(const Event& event) {
  const ObjectKey* const key = observed_key(event);
  if (key == nullptr) return "";
  return event.source + "\n" + std::string(info(key->kind).name) + "\n" + key->namespace_ + "\n" +
         key->name;
}

// What differs from the record before it; null: there is none.
std::string differences_between(const Event* last, const Event& event) {
  if (std::holds_alternative<ObjectGone>(event.fact)) return "gone";
  if (last == nullptr) return "new";
  Differences differences;
  if (const auto* now = std::get_if<ConfigChanged>(&event.fact)) {
    differences.compare("", to_json(std::get<ConfigChanged>(last->fact).configuration),
                        to_json(now->configuration));
  } else {
    const auto* was = std::get_if<ObjectObserved>(&last->fact);
    if (was == nullptr) return "new";
    differences.compare("", to_json(was->facts),
                        to_json(std::get<ObjectObserved>(event.fact).facts));
  }
  const std::string text = differences.text();
  return text.empty() ? "nothing that is read changed" : text;
}

}  // namespace

// The newest events that may be the record before: the object's, or the hub's signs, which are few.
Result<std::vector<Seq>> EventChanges::seqs_before(const Event& event, std::size_t most) {
  if (const ObjectKey* const key = observed_key(event))
    return lookup_.log().history_before(event.source, *key, event.seq, most);
  auto signs = lookup_.log().signs(kSelf);
  if (signs) std::erase_if(*signs, [&](Seq seq) { return seq >= event.seq; });
  return signs;
}

// Most often the record before is among the last events of the object; between the two may be
// intents.
const Event* EventChanges::before(const Event& event) {
  constexpr std::size_t kFirst = 2;
  for (std::size_t most = kFirst;; most *= 4) {
    const auto seqs = seqs_before(event, most);
    if (!seqs) return nullptr;
    for (auto seq = seqs->rbegin(); seq != seqs->rend(); ++seq) {
      const Event* const found = lookup_.at(*seq);
      if (found == nullptr) return nullptr;
      if (is_configuration(event) ? is_configuration(*found) : observed_key(*found) != nullptr)
        return found;
    }
    if (seqs->size() < most || is_configuration(event)) return nullptr;
  }
}

std::string EventChanges::differences_of(const Event& event) {
  if (observed_key(event) == nullptr && !is_configuration(event)) return "";
  const bool gone = std::holds_alternative<ObjectGone>(event.fact);
  const Event* const last = gone ? nullptr : before(event);
  // The oldest record that is kept may not be the first one.
  if (!gone && last == nullptr && lookup_.log().first_seq() > Seq{1}) return "";
  return differences_between(last, event);
}

std::string EventChanges::words_of(const Event& event) {
  const std::string differences = differences_of(event);
  if (differences.empty()) return "";
  const ObjectKey* const key = observed_key(event);
  return (key != nullptr ? key->name : "configuration") + ": " + differences;
}

Json EventChanges::json_of(const Event* event) {
  const std::string words = event != nullptr ? words_of(*event) : "";
  return words.empty() ? Json() : Json(words);
}

std::string ChangesInOrder::differences_of(const Event& event) {
  if (observed_key(event) == nullptr && !is_configuration(event)) return "";
  std::string differences;
  const std::string name = name_in_log(event);
  if (const auto last = last_.find(name); last != last_.end()) {
    differences = differences_between(&last->second, event);
  } else {
    EventLookup lookup(log_);
    differences = EventChanges(lookup).differences_of(event);
  }
  // Records of nodes are some hundred bytes, and each is read again where it is forgotten.
  constexpr std::size_t kRecordsMax = 4096;
  if (last_.size() >= kRecordsMax) last_.clear();
  last_.insert_or_assign(name, event);
  return differences;
}

void ChangesInOrder::passed(const Event& event) {
  if (!last_.empty() && (observed_key(event) != nullptr || is_configuration(event)))
    last_.erase(name_in_log(event));
}

}  // namespace fairlead
