#include "engine/fold/writes/record.h"

#include "engine/base/json.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

WriteKey write_key(const PatchIntended& intent) {
  return {intent.cluster, intent.target, intent.verb == Verb::apply_status};
}

const WriteState* find_write(const WriteTables& writes, const WriteKeyView& key) {
  const auto at = writes.by_key.find(key);
  return at == writes.by_key.end() ? nullptr : &at->second;
}

const WriteState* write_of(const WriteTables& writes, const ObjectKey& object) {
  return find_write(writes, of_object(kHub, object));
}

const WriteState* status_write_of(const WriteTables& writes, const ObjectKey& object) {
  return find_write(writes, of_status(kHub, object));
}

bool write_pending(const WriteTables& writes, const WriteKeyView& key) {
  const WriteState* write = find_write(writes, key);
  return write && (write->outstanding || write->awaits());
}

const Refusal* refusal_of(const WriteTables& writes, const ObjectKey& object) {
  const WriteState* write = write_of(writes, object);
  return write && write->refusal && !is_conflict(*write->refusal) ? &*write->refusal : nullptr;
}

bool awaits_observation(const WriteTables& writes, const std::string& source,
                        const ObjectKey& key) {
  for (const WriteKeyView& view : {of_object(source, key), of_status(source, key)}) {
    const WriteState* write = find_write(writes, view);
    if (write && (write->awaits() || (write->outstanding && write->outstanding->doubted_until) ||
                  (write->refusal && is_conflict(*write->refusal))))
      return true;
  }
  return false;
}

const std::map<std::string, std::string>* nominal_in(const PatchIntended& intent) {
  const auto* claim = intent.expected ? std::get_if<ClaimFacts>(&*intent.expected) : nullptr;
  return claim ? &claim->spec.nominal_resources : nullptr;
}

const std::map<std::string, std::string>* nominal_of_ours(StateView<const WriteTables> state,
                                                          const std::string& claim) {
  const WriteState* write = write_of(state.writes, {Kind::claim, "", claim});
  if (!write) return nullptr;
  if (write->outstanding && (write->nominal || write->outstanding->intent.verb == Verb::create))
    return nominal_in(write->outstanding->intent);
  return write->nominal ? &*write->nominal : nullptr;
}

Digest wish_of(const PatchIntended& intent) {
  Json body = read_json(intent.body);
  if (member(body, "metadata").is_object()) {
    // They change although the wish does not, and a refusal must hold back the wish.
    body["metadata"].erase("uid");
    body["metadata"].erase("resourceVersion");
  }
  const std::string text = std::to_string(static_cast<int>(intent.verb)) + to_text(body);
  return sha256(text);
}

}  // namespace fairlead
