// Any bytes as what is stored or brought here: an event, a pack, a snapshot, a page of a bundle.
#include "engine/log/pack.h"
#include "replay/bundle/bundle_page.h"
#include "schema/codec.h"
#include "schema/event_json.h"
#include "snapshots/snapshot_store.h"
#include "snapshots/state_codec.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = as_text(data, size);
  if (const auto event = decode(bytes)) (void)to_text(to_json(*event));
  if (const auto header = read_pack_header(bytes)) (void)unpack(bytes, *header);
  (void)read_snapshot_info(bytes);
  (void)read_snapshot(bytes);
  (void)decode_state(bytes);
  (void)read_bundle_page(bytes);
  return 0;
}
