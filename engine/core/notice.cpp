#include "engine/core/notice.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace fairlead {

namespace {

constexpr std::size_t kMessageBytesMax = 1024;  // of a core/v1 Event
constexpr std::size_t kNameBytesMax = 200;      // leaves room for what makes the name unique

// The status of each condition that means all is well. CapacityKnown is False before the first
// value, which every new claim passes through: only the loss of a known capacity is a notice.
struct Expectation {
  std::string_view type;
  std::string_view well;
};
constexpr std::array<Expectation, 9> kExpectations{{{"Valid", "True"},
                                                    {"CapacityKnown", "True"},
                                                    {"FullyGranted", "True"},
                                                    {"Damped", "False"},
                                                    {"Propagated", "True"},
                                                    {"OwnershipConflict", "False"},
                                                    {"QuotaOrchestrated", "False"},
                                                    {"Released", "True"},
                                                    {"DevicesKnown", "True"}}};

// Reasons that call for nothing: they pass by themselves, or the administrator caused them.
constexpr std::array<std::string_view, 6> kUnderWay{"WaitingForMember", "WaitingForSpace",
                                                    "CapacityUnknown",  "WaitingForWork",
                                                    "ClaimDeleted",     "PoolUpdating"};

Json conditions_of(const std::string& body) {
  return list_in(member(read_json(body), "status"), "conditions");
}

struct Condition {
  std::string status, reason, message;
  bool bad = false;
};

Condition find_condition(const Json& conditions, const Expectation& expected) {
  for (const Json& each : conditions)
    if (text_in(each, "type") == expected.type) {
      Condition found{text_in(each, "status"), text_in(each, "reason"), text_in(each, "message"),
                      false};
      found.bad = found.status != expected.well &&
                  std::find(kUnderWay.begin(), kUnderWay.end(), found.reason) == kUnderWay.end();
      return found;
    }
  return {};
}

}  // namespace

std::vector<Notice> notices_of(const PatchIntended& status, const std::string& before, Seq seq,
                               LogTime time) {
  std::vector<Notice> notices;
  if (status.target.kind != Kind::claim || status.verb != Verb::apply_status) return notices;
  const Json was_list = conditions_of(before), is_list = conditions_of(status.body);
  for (const Expectation& expected : kExpectations) {
    const Condition was = find_condition(was_list, expected);
    const Condition is = find_condition(is_list, expected);
    // A bad condition is a notice again when its reason changes, but not when only its message
    // does: the numbers in it may change with every write.
    const bool worse = is.bad && (!was.bad || was.reason != is.reason);
    const bool well_again = was.bad && is.status == expected.well;
    if (!worse && !well_again) continue;
    if (expected.type == "CapacityKnown" && worse && was.status != "True") continue;
    notices.push_back({seq, time, std::string(kHub), status.target, status.uid, status.version,
                       worse ? NoticeType::warning : NoticeType::normal, is.reason, is.message});
  }
  return notices;
}

namespace {

// Events about cluster-scoped objects are refused elsewhere.
// Source: ValidateEvent, k8s.io/kubernetes pkg/apis/core/validation.
std::string event_namespace(const Notice& notice) {
  return notice.object.namespace_.empty() ? "default" : notice.object.namespace_;
}

// The first bytes of a text, without a part of a character at the end.
std::string beginning_of(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

// The name of an Event: an RFC 1123 subdomain, so no part of it ends with a dot or a dash.
std::string event_name(const Notice& notice) {
  std::string object = notice.object.name.substr(0, kNameBytesMax);
  object.resize(object.find_last_not_of(".-") + 1);
  return object + "." + std::to_string(notice.seq.value) + "." +
         sha256(notice.reason).hex().substr(0, 8);
}

}  // namespace

std::string kube_event_path(const Notice& notice) {
  return "/api/v1/namespaces/" + event_namespace(notice) + "/events";
}

Json to_kube_event(const Notice& notice, std::string_view identity) {
  const std::string when =
      to_rfc3339(LogTime{notice.time.ns / 1'000'000'000 * 1'000'000'000});  // metav1.Time: seconds
  const ObjectKey& object = notice.object;
  const KindInfo& kind = info(object.kind);
  const std::string group = kind.group.empty() ? "" : std::string(kind.group) + "/";
  Json involved{{"apiVersion", group + notice.version},
                {"kind", std::string(kind.name)},
                {"name", object.name},
                {"uid", notice.uid}};
  if (!object.namespace_.empty()) involved["namespace"] = object.namespace_;
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"name", event_name(notice)}, {"namespace", event_namespace(notice)}}},
          {"involvedObject", std::move(involved)},
          {"type", notice.type == NoticeType::warning ? "Warning" : "Normal"},
          {"reason", notice.reason},
          {"message", beginning_of(notice.message, kMessageBytesMax)},
          {"source", {{"component", "fairlead"}}},
          {"reportingComponent", "fairlead.io/hub"},
          {"reportingInstance", std::string(identity)},
          {"firstTimestamp", when},
          {"lastTimestamp", when},
          {"count", 1}};
}

}  // namespace fairlead
