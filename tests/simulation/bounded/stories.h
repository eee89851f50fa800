// Stories about two clusters, two ClusterQueues and three nodes, eight steps each.
#pragma once

#include "tests/simulation/bounded/exploration.h"

namespace fairlead {

/// Nodes fail, come back and go; a member falls silent.
Story story_of_nodes();
/// Claims are edited, doubled and deleted; a flavor goes.
Story story_of_claims();
/// Writes are carried out, or die with their process, while another writer edits a queue.
Story story_of_writes();
/// A queue is deleted and made anew, or edited, before and after it is written.
Story story_of_queues();
/// A hub that records only is allowed to write, and keeps more back.
Story story_of_configuration();

}  // namespace fairlead
