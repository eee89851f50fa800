// Private to the codec: the parts that codec.cpp is composed of.
//
// Bytes that are read may be damaged: Cap'n Proto throws kj::Exception for what it refuses, our
// functions throw Malformed for the rest; codec.cpp catches both, so neither leaves the folder.
#pragma once

#include "schema/capnp_compiler.h"
// The compiler header comes first.
#include <capnp/blob.h>

#include <string>
#include <string_view>

#include "event.capnp.h"
#include "schema/event.h"

namespace fairlead::stored {

/// The generated types and the value types have the same names: `Taint` is stored, `value::Taint`
/// in memory.
namespace value = fairlead;

/// Thrown for stored bytes that no encoder of ours writes.
struct Malformed {
  std::string what;
};

inline capnp::Data::Reader bytes_of(const Digest& digest) {
  return {digest.bytes.data(), digest.bytes.size()};
}
/// An absent digest is all zeros.
Digest digest_of_bytes(capnp::Data::Reader bytes);

/// Stores an event by the lists of its fields (schema/fields/field.h).
void write(const value::Event& event, Event::Builder out);
value::Event read(Event::Reader in);

/// Appends the canonical bytes of `event` to `bytes` if it observes a node; else returns false.
bool append_node(const value::Event& event, std::string& bytes);
/// Decodes a record that append_node() wrote into `event`; the maps of the node view `bytes`.
/// Returns false for any other record, with unspecified contents in `event`.
bool read_node(std::string_view bytes, value::Event& event);

}  // namespace fairlead::stored
