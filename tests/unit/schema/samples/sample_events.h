// Events with every field set, one of each fact and one of each kind: the contents of the golden
// records.
//
// The golden bytes of a released version never change, so neither do these values: a new field gets
// new samples.
#pragma once

#include <string>
#include <vector>

#include "schema/event.h"

namespace fairlead::samples {

/// A sample and the name of its golden record.
struct Sample {
  std::string name;
  Event event;
};

/// Every fact and every kind, in the order of Fact and Kind, then what later versions added; seqs
/// from 1, dense.
std::vector<Sample> all();

/// Facts of that kind with every field set that its first version had.
Facts facts(Kind kind);

/// A draft about one node, small and different for each number.
EventDraft node_draft(int number);

}  // namespace fairlead::samples
