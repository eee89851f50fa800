#include "engine/plan/claims/claim_status_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/json.h"
#include "engine/base/object_text.h"
#include "engine/plan/claims/claim_restore.h"
#include "schema/claim_status.h"

namespace fairlead {

namespace {

// Appends rows of texts as a list of objects with these fields.
template <std::size_t count>
void append_rows(std::string& out, const std::vector<std::array<std::string, count>>& rows,
                 const std::array<std::string_view, count>& names) {
  append_list(out, rows, [&](const std::array<std::string, count>& row) {
    ObjectText object(out);
    for (std::size_t i = 0; i < count; ++i) object.text(names[i], row[i]);
    object.close();
  });
}

void append_condition(std::string& out, const ClaimCondition& condition, std::int64_t generation) {
  ObjectText(out)
      .text("lastTransitionTime", condition.since)
      .text("message", condition.message)
      .number("observedGeneration", generation)
      .text("reason", condition.reason)
      .text("status", condition.status)
      .text("type", condition.type)
      .close();
}

// Where the parts of a status are in its text: a field by name, or a condition by type.
class StatusParts {
 public:
  explicit StatusParts(const std::string& text) : text_(text) {}

  /// Adds a part, which `append` appends to the text.
  template <class Append>
  void add(std::string_view name, const Append& append) {
    const std::size_t begin = text_.size();
    append();
    parts_.push_back({name, begin, text_.size() - begin});
  }
  /// Returns the text of the part; empty if it is missing or an empty list.
  std::string_view operator()(std::string_view name) const {
    for (const Part& part : parts_) {
      if (part.name != name) continue;
      const std::string_view found = std::string_view(text_).substr(part.begin, part.size);
      return found == "[]" ? std::string_view() : found;
    }
    return {};
  }

 private:
  struct Part {
    std::string_view name;
    std::size_t begin, size;
  };
  const std::string& text_;
  std::vector<Part> parts_;
};

}  // namespace

ClaimStatusText text_of(const ClaimStatus& status) {
  const StatusContent& content = status.content;
  ClaimStatusText made;
  std::string& out = made.text;
  StatusParts fields(out), conditions(out);
  ObjectText whole(out);
  const auto rows = [&]<std::size_t count>(
                        std::string_view name,
                        const std::vector<std::array<std::string, count>>& values,
                        const std::array<std::string_view, count>& names) {
    whole.value(name);
    fields.add(name, [&] { append_rows<count>(out, values, names); });
  };
  const auto number = [&](std::string_view name, auto value) {
    whole.value(name);
    fields.add(name, [&] { out += std::to_string(value); });
  };
  rows.operator()<6>("capacity", status.capacity,
                     {"accepted", "flavor", "observed", "resource", "state", "usable"});
  append_list(whole.value("conditions"), status.conditions, [&](const ClaimCondition& condition) {
    conditions.add(condition.type,
                   [&] { append_condition(out, condition, content.observed_generation); });
  });
  rows.operator()<6>("grants", content.grants,
                     {"assigned", "clusterQueueName", "flavor", "granted", "reason", "resource"});
  number("observedGeneration", content.observed_generation);
  rows.operator()<5>("overcommitted", content.overcommitted,
                     {"clusterQueueName", "flavor", "granted", "resource", "usage"});
  number("seq", status.seq);
  // Never sent as {}: where it had keys that we own, the server turns {} into null and rejects it
  // (422).
  if (!status.unassigned.empty()) {
    whole.value("unassigned");
    fields.add("unassigned", [&] {
      ObjectText left(out);
      for (const auto& [resource, amount] : status.unassigned) left.text(resource, amount);
      left.close();
    });
  }
  whole.close();
  made.digest = claim_status_digest(fields, conditions);
#ifndef NDEBUG  // every test that plans compares it with a tree of the same values
  const Json tree = read_own_json(made.text);
  check(to_text(tree) == made.text, "the text of a status is canonical");
  check(digest_of_claim_status(tree) == made.digest, "the digest of a status is that of its text");
#endif
  return made;
}

std::vector<ClaimGrant> stored_grants(const StatusContent& content) {
  std::vector<ClaimGrant> stored;
  for (const auto& [assigned, queue, flavor, granted, reason, resource] : content.grants)
    stored.push_back({queue, flavor, resource, granted});
  std::sort(stored.begin(), stored.end());
  return stored;
}

WrittenStatus as_read(const ClaimStatus& status) {
  WrittenStatus written{status.seq, status.content, {}, {}};
  for (const auto& [accepted, flavor, observed, resource, state, usable] : status.capacity)
    written.capacity.push_back({{flavor, resource}, Quantity::parse(accepted)});
  for (const ClaimCondition& condition : status.conditions)
    written.turns.push_back(
        {std::string(condition.type), std::string(condition.status), condition.since});
  return written;
}

}  // namespace fairlead
