#include "engine/plan/causes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/emit.h"

namespace fairlead {

namespace {

// Collects the events that count since a write.
class Causes {
 public:
  explicit Causes(WrittenAt since) : since_(since) {}

  void add(Seq seq) {
    if (seq > since_.seq) seqs_.push_back(seq);
  }
  void add(const std::vector<Seq>& seqs) {
    for (const Seq seq : seqs) add(seq);
  }
  // Adds the events that led to a value that moved since the write. They may be older than it.
  void add(const CapacityValue& value) {
    // A window ends long after the events that began it, so the time of the value's last move
    // decides, not the seqs.
    if (since_.seq != Seq{} && value.moved <= since_.time) return;
    const std::size_t all = value.causes.size();
    // Where the bound on the list has left pending events only, those are named: a reason has
    // events.
    const std::size_t led = value.pending < all ? all - value.pending : all;
    seqs_.insert(seqs_.end(), value.causes.begin(),
                 value.causes.begin() + static_cast<std::ptrdiff_t>(led));
  }

  bool none() const { return seqs_.empty(); }
  std::vector<Seq> release() { return std::move(seqs_); }

 private:
  WrittenAt since_;
  std::vector<Seq> seqs_;
};

void add_presence(const Cluster& cluster, Causes& causes) {
  causes.add(cluster.presence.changed_seq);
  causes.add(cluster.liveness_at_close_seq);
  causes.add(cluster.claim_seq);
}

// Adds the values of one resource: of `flavor` and of totals without a flavor, or of every flavor
// if it is null.
void add_capacity(const Cluster& cluster, const std::string& resource, const std::string* flavor,
                  Causes& causes) {
  for (const auto& [key, value] : cluster.capacity)
    if (key.resource == resource && (!flavor || key.flavor.empty() || key.flavor == *flavor))
      causes.add(value);
}

// A part of a queue: the contribution of one cluster to one pair.
struct Part {
  const State& state;
  const std::string& queue;
  const std::string& cluster;
  const QuotaKey& pair;
  bool grows = false;
};

// Adds the cluster's claims that name the queue. Where none does, an edit removed the part: then
// the claim in force counts.
void add_claims(const Part& part, Causes& causes) {
  const auto of_queue = part.state.claims.of_queue.find(part.queue);
  const auto of_cluster = part.state.claims.of_cluster.find(part.cluster);
  if (of_cluster == part.state.claims.of_cluster.end()) return;
  const auto names_queue = [&](const std::string& name) {
    return of_queue != part.state.claims.of_queue.end() && of_queue->second.contains(name);
  };
  const bool some = std::any_of(of_cluster->second.begin(), of_cluster->second.end(), names_queue);
  for (const std::string& name : of_cluster->second) {
    if (some && !names_queue(name)) continue;
    const Claim& claim = part.state.claims.by_name.at(name);
    if (!claim.winner && !claim.facts.deleting) continue;
    causes.add(claim.facts.deleting ? claim.seq : claim.terms_seq);
  }
}

void add_workers(const Part& part, Causes& causes) {
  const WorkerQuota* workers = followed(part.state.queues, part.queue);
  if (!workers) return;
  if (const auto left = workers->left.find(part.cluster); left != workers->left.end())
    causes.add(left->second);
  if (const auto share = workers->shares.find(part.cluster); share != workers->shares.end())
    causes.add(share->second.causes);
}

std::vector<Seq> causes_of(const Part& part, WrittenAt since) {
  Causes causes(since);
  add_claims(part, causes);
  add_workers(part, causes);
  const auto at = part.state.clusters.find(part.cluster);
  if (at == part.state.clusters.end()) return causes.release();
  const Cluster& cluster = at->second;
  add_presence(cluster, causes);
  // Growth may have waited for the member to confirm the work.
  if (part.grows && is_settled(cluster, part.queue))
    causes.add(work_with(cluster, part.queue)->seq);
  add_capacity(cluster, part.pair.resource, &part.pair.flavor, causes);
  // The cluster's total bounds every flavor's part.
  if (causes.none()) add_capacity(cluster, part.pair.resource, nullptr, causes);
  return causes.release();
}

std::map<std::string, Amount> parts_of(const std::vector<Contribution>& all, const QuotaKey& pair) {
  std::map<std::string, Amount> parts;
  for (const Contribution& one : all)
    if (one.flavor == pair.flavor && one.resource == pair.resource && one.amount != 0)
      parts[one.cluster] = one.amount;
  return parts;
}

// Adds the events that changed the quota's other inputs: its base, the workers' percentage, the
// overbooking.
void add_terms(const State& state, const std::string& name, const QuotaKey& pair,
               std::vector<Seq>& seqs) {
  const Queue& queue = state.queues.by_name.at(name);
  // What our last write left and what is observed now: if they differ, the queue's own event
  // explains the write.
  const auto written = queue.written.find(pair);
  const auto current = amount_in(queue.facts.groups, state.configuration.resource_aliases, pair);
  if (written == queue.written.end() || current != written->second) {
    seqs.push_back(queue.seq);  // the pair is new, or another writer changed it
    return;
  }
  // If the parts of that write still make the quota that it carried, only parts changed. Else the
  // base, the percentage or the overbooking did.
  Int128 sum = 0;
  for (const auto& [cluster, amount] : parts_of(queue.contributed, pair)) sum += amount;
  if (quota_of_sum(state, name, pair, sum) == written->second) return;
  // Base and percentage are annotations of the queue, the overbooking is configured.
  const bool configured = state.configuration_seq > queue.written_at.seq;
  seqs.push_back(configured ? state.configuration_seq : queue.seq);
}

}  // namespace

std::vector<Seq> seqs_behind(const State& state, const std::string& name,
                             const std::set<QuotaKey>& pairs,
                             const std::vector<Contribution>& parts) {
  const Queue& queue = state.queues.by_name.at(name);
  std::vector<Seq> seqs;
  for (const QuotaKey& pair : pairs) {
    add_terms(state, name, pair, seqs);
    const std::map<std::string, Amount> before = parts_of(queue.contributed, pair);
    std::map<std::string, Amount> after = parts_of(parts, pair);
    // A cluster that contributes no more is a part that fell to 0.
    for (const auto& [cluster, amount] : before) after.try_emplace(cluster, 0);
    for (const auto& [cluster, amount] : after) {
      const auto had = before.find(cluster);
      const Amount was = had == before.end() ? 0 : had->second;
      if (amount == was) continue;
      const Part part{state, name, cluster, pair, amount > was};
      const auto since = queue.contributed_at.find({cluster, pair});
      std::vector<Seq> causes =
          causes_of(part, since == queue.contributed_at.end() ? WrittenAt{} : since->second);
      if (causes.empty()) causes = causes_of(part, {});
      seqs.insert(seqs.end(), causes.begin(), causes.end());
    }
  }
  if (seqs.empty()) seqs.push_back(queue.seq);
  return deciding(std::move(seqs));
}

std::vector<Seq> seqs_of_cluster(const State& state, const std::string& name,
                                 const ObjectKey& object) {
  const auto causes_since = [&](WrittenAt since) {
    Causes causes(since);
    if (const Claim* claim = winning_claim(state.claims, name)) {
      causes.add(claim->terms_seq);
      for (const Grant& grant : claim->grants)
        if (const auto queue = state.queues.by_name.find(grant.row.cluster_queue);
            queue != state.queues.by_name.end())
          causes.add(queue->second.seq);
    }
    const Cluster& cluster = state.clusters.at(name);
    add_presence(cluster, causes);
    for (const auto& [key, value] : cluster.capacity) causes.add(value);
    return causes.release();
  };
  std::vector<Seq> seqs;
  const WriteState* write = write_of(state.writes, object);
  if (write && write->last_write) seqs = causes_since({write->last_write_seq, *write->last_write});
  if (seqs.empty()) seqs = causes_since({});
  return deciding(std::move(seqs));
}

}  // namespace fairlead
