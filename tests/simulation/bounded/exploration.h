// Every order, loss and duplicate of a few steps, through the shipped fold and plan.
//
// A path delivers some of a story's steps in some order, one of them perhaps twice; what it does
// not deliver is lost. Paths are walked depth first, and one that reaches a State, a dirty set and
// a rest of steps that another path reached ends there: from there on both go the same ways.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/state.h"

namespace fairlead {

/// One thing that may happen once, or twice where it is an input.
struct StoryStep {
  enum class Kind : std::uint8_t {
    input,         ///< `source` reports `fact`
    time_passes,   ///< to the next deadline, which is run
    written,       ///< what the plan asks for is logged, accepted and observed
    died_writing,  ///< it is logged, and the process that sent it dies without an answer
  };
  std::string name;
  Kind kind{};
  std::string source;
  Fact fact;
  std::string about;  ///< what an input replaces the former report of
};

struct Story {
  std::string name;
  std::vector<Event> beginning;  ///< on every path, first
  std::vector<StoryStep> steps;
};

/// How far a story is explored.
struct StoryBounds {
  std::size_t steps = 0;       ///< the first ones of the story
  std::size_t duplicates = 0;  ///< on one path
  Duration gap;                ///< between two inputs; 0: all in one moment
};

struct StoryCounts {
  std::size_t states = 0;  ///< distinct ones
  std::size_t merged = 0;  ///< paths that ended at a state that was known
  std::size_t rests = 0;   ///< states from which the plan was carried out until it came to rest
};

/// Explores the story and requires, in each state: the log folds to it again; what was derived step
/// by step is what is derived anew; the dirty set plans what everything would, twice the same; no
/// sum of grants exceeds its bound; writes to a former object count for nothing. From one state to
/// the next, accepted values move only as growWindow and shrinkWindow let them. And of what follows
/// once every write is carried out: it comes to rest with no write unanswered, writes nothing for
/// an hour after that, and grants and quotas are those of every other order of the same last
/// reports.
StoryCounts explore(const Story& story, const StoryBounds& bounds);

}  // namespace fairlead
