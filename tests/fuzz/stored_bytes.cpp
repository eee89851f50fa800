// Any bytes as what is stored or brought here: an event, a pack, a snapshot, a page of a bundle.
// What is read and stored again is read as the same.
#include "engine/log/pack.h"
#include "replay/bundle/bundle_page.h"
#include "schema/codec.h"
#include "schema/event_json.h"
#include "snapshots/snapshot_store.h"
#include "snapshots/state_codec.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

void check_event(std::string_view bytes) {
  const auto event = decode(bytes);
  if (!event) return;
  (void)to_text(to_json(*event));
  const std::string stored = encode(*event);
  const auto again = decode(stored);
  check(again.has_value() && *again == *event, "an event is read as it is stored");
  std::string as_message;
  encode_as_message(*event, as_message);
  check(as_message == stored, "both encoders write the same");
}

void check_pack(std::string_view bytes) {
  const auto header = read_pack_header(bytes);
  if (!header) return;
  const auto records = unpack(bytes, *header);
  if (!records) return;
  check(records->records.size() == header->count, "a pack has as many records as it says");
  for (const std::string_view record : records->records) check_event(record);
}

void check_state(std::string_view bytes) {
  const auto state = decode_state(bytes);
  if (!state) return;
  const std::string stored = encode_state(*state);
  const auto again = decode_state(stored);
  check(again.has_value() && encode_state(*again) == stored, "a state is read as it is stored");
}

void check_page(std::string_view bytes) {
  const auto page = read_bundle_page(bytes);
  if (!page) return;
  const auto again = read_bundle_page(to_bytes(*page));
  check(again.has_value() && to_bytes(*again) == to_bytes(*page), "a page is read as it is sent");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = as_text(data, size);
  check_event(bytes);
  check_pack(bytes);
  (void)read_snapshot_info(bytes);
  if (const auto snapshot = read_snapshot(bytes)) (void)encode_state(snapshot->state);
  check_state(bytes);
  check_page(bytes);
  if (const auto cursor = parse_bundle_cursor(bytes))
    check(to_text(*cursor) == bytes, "a cursor has one text");
  return 0;
}
