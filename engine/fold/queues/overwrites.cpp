#include "engine/fold/queues/overwrites.h"

#include <algorithm>

#include "engine/base/resource_version.h"
#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

const WriteState* write_of_queue(const WriteTables& writes, const std::string& queue) {
  return find_write(writes, WriteKeyView{kHub, Kind::cluster_queue, "", queue, false});
}

// Whether an observation of the queue at `version` is the first that has our last accepted write or
// what came after it.
bool follows_write(const WriteTables& writes, const std::string& queue,
                   const std::string& version) {
  const WriteState* write = write_of_queue(writes, queue);
  return write && includes_version(version, write->awaited_version);
}

// Returns the list that the unanswered write of the queue makes; null if there is none.
const std::vector<ResourceGroup>* unanswered_list(const WriteTables& writes,
                                                  const std::string& queue) {
  const WriteState* write = write_of_queue(writes, queue);
  const auto* expected = write && write->outstanding && write->outstanding->intent.expected
                             ? std::get_if<ClusterQueueFacts>(&*write->outstanding->intent.expected)
                             : nullptr;
  return expected ? &expected->groups : nullptr;
}

std::optional<Amount> observed(const Configuration& configuration, const Queue& queue,
                               const QuotaKey& pair) {
  return amount_in(queue.facts.groups, configuration.resource_aliases, pair);
}

// Whether `amount` is what we would write of the pair now.
bool is_wanted(QueueReader state, const std::string& name, const QuotaKey& pair,
               const std::optional<Amount>& amount) {
  const HubQuota ours = hub_quota(state, name, pair, Parts::summed);
  return !ours.unknown && amount == ours.nominal;
}

// One of our pairs had the value that we wrote and now has another, which is not what we want nor
// what an unanswered write makes of it.
bool overwritten(QueueReader state, const std::string& name, const Queue& queue,
                 const std::vector<ResourceGroup>& before) {
  const ResourceAliases& aliases = state.configuration.resource_aliases;
  const auto* unanswered = unanswered_list(state.writes, name);
  return std::any_of(queue.written.begin(), queue.written.end(), [&](const auto& entry) {
    const auto was = amount_in(before, aliases, entry.first);
    const auto is = observed(state.configuration, queue, entry.first);
    if (was != entry.second || is == entry.second) return false;
    if (unanswered && is == amount_in(*unanswered, aliases, entry.first)) return false;
    return !is_wanted(state, name, entry.first, is);
  });
}

void contest_foreign_pairs(QueueReader state, const std::string& name, Queue& queue) {
  for (const auto& [pair, written] : queue.written) {
    const auto is = observed(state.configuration, queue, pair);
    if (is != written && !is_wanted(state, name, pair, is)) queue.contested.insert(pair);
  }
}

}  // namespace

bool has_own_list(const WriteTables& writes, const std::string& name, const Queue& queue) {
  if (queue.written_groups == queue.facts.groups) return true;
  const auto* unanswered = unanswered_list(writes, name);
  return unanswered && *unanswered == queue.facts.groups;
}

void remember_lending(const Configuration& configuration, Queue& queue) {
  queue.lending.clear();
  for (const ResourceGroup& group : queue.facts.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        if (quota.lending_limit)
          queue.lending[{flavor.name, canonical_resource(configuration.resource_aliases,
                                                         quota.name)}] = *quota.lending_limit;
}

void count_overwrite(QueueRoom state, const std::string& name, Queue& queue,
                     const std::vector<ResourceGroup>& before, Seq seq) {
  remember_lending(state.configuration, queue);
  // Under an orchestrator the list has its weights: an edit of it takes nothing from us.
  if (orchestration_of(state.queues, queue) || !overwritten(state, name, queue, before)) return;
  queue.overwrite_seq = seq;
  std::erase_if(queue.overwrites, [&](LogTime at) { return at + kOverwriteWindow < state.now; });
  queue.overwrites.push_back(state.now);
  if (queue.overwrites.size() <= kOverwritesAnswered) return;
  contest_foreign_pairs(state, name, queue);
  // The next overwrite in the window is one too many again, and the list stays bounded.
  queue.overwrites.erase(queue.overwrites.begin());
}

void note_foreign_list(QueueRoom state, const std::string& name, Queue& queue,
                       const std::vector<ResourceGroup>& before, const std::string& version,
                       Seq seq) {
  if (queue.written_groups && follows_write(state.writes, name, version))
    count_overwrite(state, name, queue, *queue.written_groups, seq);
  else if (before != queue.facts.groups)
    count_overwrite(state, name, queue, before, seq);
}

bool end_contests(QueueReader state, const std::string& name, Queue& queue) {
  return std::erase_if(queue.contested, [&](const QuotaKey& pair) {
           const auto written = queue.written.find(pair);
           if (written == queue.written.end()) return true;
           const auto is = observed(state.configuration, queue, pair);
           return is == written->second || is_wanted(state, name, pair, is);
         }) > 0;
}

}  // namespace fairlead
