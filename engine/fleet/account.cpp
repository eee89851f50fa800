#include "engine/fleet/account.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <variant>

#include "engine/base/json.h"
#include "schema/event_json.h"
#include "schema/kind.h"
#include "schema/write_rule.h"

namespace fairlead {
namespace {

// How many causes are remembered; a write follows from a recent one.
constexpr std::size_t kCausesMax = 10'000;

// A tenant's objects are named with it: `Pod acme/web/web-1`.
std::string named(const ObjectKey& key, const SourceName& source) {
  const std::string tenant = is_tenant(source) ? std::string(tenant_of(source)) + "/" : "";
  const std::string place = key.namespace_.empty() ? "" : key.namespace_ + "/";
  return std::string(info(key.kind).name) + " " + tenant + place + key.name;
}

// The rules of worker lists and of placements in words, so that a reader who does not know them
// sees why something moves, and why with a delay.
struct RuleInWords {
  std::string_view rule;
  std::string_view words;
};
constexpr RuleInWords kRules[] = {
    {"multikueue/growth", "no cluster leaves, so new clusters need only to have settled"},
    {"multikueue/move", "selected for moveWindow; one that leaves stays while jobs run there"},
    {"multikueue/leave", "away for moveWindow, and nothing runs there"},
    {"multikueue/ready", "its own check never holds a job up"},
    {"pool/place", "new slices go where there is room"},
    {"pool/edit", "a hand changed the placements, and is followed as far as it fits"},
    {"pool/move", "the slices of a cluster that is lost or drained move"},
    {"pool/overflow", "the cluster has less than was placed there: unused slices leave"},
    {"pool/reduce", "the quota is smaller: unused slices go first"},
    {"pool/drained", "its last pod there has ended: its syncer may remove the namespace"},
    {"pool/restore", "another value was written: ours replaces it"},
    {"pool/pod", "a cluster of its namespace that has room for it"},
};

std::string in_words(const std::string& rule) {
  for (const RuleInWords& known : kRules)
    if (known.rule == rule) return rule + ": " + std::string(known.words);
  return rule;
}

// The conditions of a claim that report a deviation from what its administrator asked for.
std::string conditions_to_note(const Json& status) {
  std::string text;
  for (const Json& condition : status.value("conditions", Json::array())) {
    const std::string type = condition.value("type", ""), value = condition.value("status", "");
    const bool bad_if_true =
        type == "Damped" || type == "OwnershipConflict" || type == "QuotaOrchestrated";
    if (value == (bad_if_true ? "True" : "False"))
      text += (text.empty() ? "" : ", ") + type + "=" + value;
  }
  return text.empty() ? "all is granted" : text;
}

std::string status_in_words(const PatchIntended& intent) {
  if (intent.target.kind != Kind::claim) return intent.reason.text;
  const Json body = read_json(intent.body);
  if (!body.is_object() || !body.contains("status")) return intent.reason.text;
  return conditions_to_note(body["status"]);
}

// What changes in a tenant's object: the text of the reason has only the values.
std::string subject_of(const PatchIntended& intent) {
  if (!is_tenant(intent.cluster)) return "";
  if (intent.reason.rule == rule::kPoolReason) return "reason ";
  return intent.target.kind == Kind::pod ? "cluster " : "slices ";
}

}  // namespace

std::string to_elapsed(Duration span) {
  const std::int64_t whole = span.ns / seconds(1).ns;
  std::ostringstream out;
  out << whole / 3600 << ':' << std::setfill('0') << std::setw(2) << whole / 60 % 60 << ':'
      << std::setw(2) << whole % 60;
  return out.str();
}

std::string describe_write(const PatchIntended& intent) {
  const std::string object = named(intent.target, intent.cluster);
  switch (intent.verb) {
    case Verb::create: return "creates " + object + ": " + intent.reason.text;
    case Verb::remove: return "deletes " + object + ": " + intent.reason.text;
    case Verb::patch: return "releases " + object + ": " + intent.reason.text;
    case Verb::apply_status: return "status of " + object + ": " + status_in_words(intent);
    case Verb::apply: break;
  }
  return object + ": " + subject_of(intent) + intent.reason.text;
}

void Account::line(LogTime at, std::string_view who, std::string_view what) {
  const Duration since = std::max(at - start_, Duration{0});
  out_ << std::setw(8) << to_elapsed(since) << "  " << std::left << std::setw(8) << who
       << std::right << "  " << what << '\n'
       << std::flush;
}

void Account::log_fault(LogTime at, std::string_view who, std::string_view what) {
  ++counts_.faults;
  line(at, who, what);
}

// Remembers objects of other writers as causes. The hub's own writes are effects.
void Account::remember(const Event& event) {
  const ObjectKey* key = object_of(event.fact);
  if (key == nullptr || std::holds_alternative<PatchIntended>(event.fact)) return;
  if (key->kind == Kind::cluster_queue || key->kind == Kind::multikueue_config) return;
  std::string text = named(*key, event.source);
  if (event.source != kHub && !is_tenant(event.source)) text += " of " + event.source;
  if (std::holds_alternative<ObjectGone>(event.fact)) text += " gone";
  causes_.emplace_back(event.seq, std::move(text));
  if (causes_.size() > kCausesMax) causes_.pop_front();
}

std::string Account::cause_of(const PatchIntended& intent) const {
  for (auto seq = intent.reason.because.rbegin(); seq != intent.reason.because.rend(); ++seq) {
    // Causes are in order, because events come by seq.
    const auto at = std::lower_bound(
        causes_.begin(), causes_.end(), *seq,
        [](const std::pair<Seq, std::string>& cause, Seq wanted) { return cause.first < wanted; });
    if (at != causes_.end() && at->first == *seq) return at->second;
  }
  return "";
}

void Account::consume(const Event& event) {
  ++counts_.events;
  remember(event);
  if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
    ++counts_.writes;
    const std::string cause = cause_of(*intent);
    const std::string why =
        in_words(intent->reason.rule) + (cause.empty() ? "" : ", from " + cause);
    line(event.log_time, "fairlead", describe_write(*intent) + "  (" + why + ")");
  } else if (std::holds_alternative<PatchAccepted>(event.fact)) {
    ++counts_.accepted;
  } else if (const auto* rejected = std::get_if<PatchRejected>(&event.fact)) {
    ++counts_.refused;
    const std::string write = std::to_string(rejected->intent.value);
    line(event.log_time, "fairlead",
         rejected->http_code == 409
             ? "write " + write + " came too late, its object had changed: decides again"
             : "write " + write + " was refused: " + rejected->reason);
  } else if (const auto* unknown = std::get_if<PatchUnknown>(&event.fact)) {
    ++counts_.refused;
    line(
        event.log_time, "fairlead",
        "has no answer to write " + std::to_string(unknown->intent.value) + ": " + unknown->reason);
  }
}

}  // namespace fairlead
