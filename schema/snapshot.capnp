@0xb7d94c1e8f20a365;
# The stored form of one snapshot: an envelope that can be judged without understanding the state inside it.
# snapshots/ turns State into the bytes; schema/codec.h reads and writes the envelope.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("fairlead::stored");

struct Snapshot {
  schemaVersion @0 :UInt16;  # of this envelope and of event.capnp
  foldVersion @1 :UInt32;    # of the program that folded; another fold version folds the log again
  seq @2 :UInt64;            # the last event that is folded into the state
  logTime @3 :Int64;         # of that event
  stateDigest @4 :Data;      # SHA-256 of the canonical bytes of State
  logDigest @5 :Data;        # hash chain of the log after the group commit that ends with seq
  state @6 :Data;            # those bytes as one Zstandard frame
}
