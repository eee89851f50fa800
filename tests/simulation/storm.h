// A storm: all that a run depends on, as data. The same storm gives the same run.
//
// A seed makes one; a file has one in text: a line `name value` for each field that is not as the
// default, `#` begins a comment.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "tests/simulation/fault_kinds.h"

namespace fairlead::simulation {

/// Actions of people are counted per hour.
struct Storm {
  std::int64_t seed = 1;
  std::int64_t minutes = 240;  ///< until faults heal
  std::int64_t settle_minutes = 240;
  std::int64_t members = 3;
  std::int64_t nodes = 20;    ///< of each member at the beginning
  std::int64_t replicas = 1;  ///< of the hub

  // Actors.
  std::int64_t node_changes = 12;   ///< a node is cordoned, stops, joins, vanishes, or comes back
  std::int64_t drains = 1;          ///< half of a member's nodes, one after the other
  std::int64_t flaps = 1;           ///< a node stops and answers again, ten times
  std::int64_t claim_edits = 2;     ///< the administrator changes what a claim assigns
  std::int64_t queue_edits = 1;     ///< or a queue that is not about quota
  std::int64_t foreign_quotas = 1;  ///< a second human writes a quota field of ours

  // Parts of the world beside machines, claims and queues. 0: without.
  std::int64_t works = 0;    ///< 1: members get their quota by ManifestWorks, and admit up to it
  std::int64_t jobs = 0;     ///< Workloads of users, on the hub and on members
  std::int64_t limits = 0;   ///< the administrator sets a limit of a queue; Kueue refuses some
  std::int64_t workers = 0;  ///< 1: OCM's Placements choose MultiKueue's workers
  std::int64_t decision_shifts = 4;     ///< of them: a score or a label changes
  std::int64_t credential_changes = 1;  ///< the credential of a worker comes, goes or is rotated
  std::int64_t training_jobs = 4;       ///< Workloads that run on workers
  std::int64_t devices = 0;             ///< that a driver publishes of each node; 0: no driver
  std::int64_t device_changes = 4;      ///< a device breaks or is repaired, or a driver is upgraded

  std::int64_t watch_lists = 1;  ///< whether servers send lists as watches; 0: only in pages
  std::int64_t clock_rate = 0;   ///< by how many millionths the clocks of the replicas differ

  /// Of a thousand requests to the servers of a replicated log, and answers of theirs, for each
  /// kind of fault that tests/support/memory_commit_store.h has.
  std::int64_t ring_faults = 0;
  std::array<std::int64_t, kFaultKinds> faults{};      ///< of a thousand
  std::array<std::int64_t, kEpisodeKinds> episodes{};  ///< per ten hours

  std::int64_t ring_slots = 4096;     ///< a replica that misses as many commits is behind
  std::int64_t snapshot_every = 300;  ///< events, as log.snapshotEvery; 0: no snapshots

  /// One fault at one place instead, for a run of all of them: the kind's number, from 1 which of
  /// its occasions, and which of the two ways it goes (Faults::first_way). 0: none.
  std::int64_t once_kind = 0, once_at = 0, once_way = 0;

  friend bool operator==(const Storm&, const Storm&) = default;
};

/// A number of a storm, by its name in a file.
struct StormField {
  std::string_view name;
  std::int64_t* value;
  std::int64_t least, most;
  /// Whether a smaller number is a smaller storm.
  bool shrinks = true;
};
/// All numbers of `storm`, which outlives them, in the order of a file.
std::vector<StormField> fields_of(Storm& storm);

/// Returns `storm` with the same workload and nothing that goes wrong, for one process.
Storm undisturbed(Storm storm);
/// Returns the storm of a seed: a random part of what can happen is turned on.
Storm storm_of(std::uint64_t seed);
/// Reads a file's text. Errors are `bad_input`: "FILE:LINE: ...".
Result<Storm> read_storm(std::string_view text, std::string_view file_name);
std::string storm_text(const Storm& storm);

}  // namespace fairlead::simulation
