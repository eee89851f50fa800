// `audit why-not`: the guards that keep a pair from being written, or from the value that capacity
// would allow.
#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/evolve.h"
#include "engine/fold/members/works.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/propagation.h"
#include "engine/plan/members/manifest_work.h"
#include "engine/plan/plan.h"
#include "engine/plan/queues/cluster_queue.h"
#include "replay/audit/audit_moment.h"
#include "replay/audit/effective.h"
#include "replay/audit/explain.h"
#include "replay/audit/unseen.h"

namespace fairlead {

namespace {

// Returns the value of the pair if capacity counted undamped, no cluster had been lost, and every
// member were ready.
// By value: the changes of this question must not reach the state that is asked about.
Amount undamped(State state, const KnownPair& pair) {
  if (const auto queue = state.queues.by_name.find(pair.queue); queue != state.queues.by_name.end())
    for (auto& [cluster, share] : queue->second.workers.shares) {
      share.known = true;
      for (auto& [key, value] : share.values) value.accepted = value.usable;
      if (const auto at = state.clusters.find(cluster); at != state.clusters.end())
        at->second.counted_again_at.reset();
    }
  for (const GrantOfPair& grant : grants_of_pair(state, pair)) {
    const auto at = state.clusters.find(grant.claim->terms->cluster);
    if (at == state.clusters.end() || at->second.presence.detached || !at->second.valued) continue;
    Cluster& cluster = at->second;
    cluster.counted_again_at.reset();
    cluster.hold.reset();
    cluster.known = true;
    cluster.totals_accepted = cluster.source == CapacitySource::managed_cluster;
    for (auto& [key, value] : cluster.capacity) value.damped.accepted = value.damped.usable;
    mark_cluster_claims_dirty(state.claims, at->first);
  }
  DirtySet dirty;
  close_moment(state, dirty);
  // `full` counts grants whose members have not confirmed them yet.
  return hub_quota(state, pair.queue, pair.key).full;
}

class Guards {
 public:
  // `damped`: the pair would have another value if nothing were damped.
  Guards(const State& state, const KnownPair& pair, bool damped)
      : state_(state), pair_(pair), damped_(damped) {}

  // From the write up to the capacity.
  Json all() {
    QueueWishes wishes(state_);
    const QueueWish& wish = wishes.of(pair_.queue);
    const bool here_differs = differs();
    queue_guards();
    pair_guards(wish);
    if (here_differs && queue_bar(state_, pair_.queue) == QueueBar::none &&
        !wish.kept.contains(pair_.key) && wish.differs)
      write_guards(wish);
    // What is found from here on bounds the value, and keeps no write back.
    bars_write_ = !found_.empty();
    const std::vector<GrantOfPair> grants = grants_of_pair(state_, pair_);
    // The fault of an edit comes last if damping explains the value: an edit that is not in force
    // does not hold back what capacity is about to move.
    for (const GrantOfPair& grant : grants) {
      if (!damped_) fault_guard(grant);
      claim_guards(grant);
      cluster_guards(grant);
    }
    if (const WorkerQuota* workers = followed(state_.queues, pair_.queue))
      for (const auto& [cluster, share] : workers->shares) worker_guards(cluster, share);
    if (damped_)
      for (const GrantOfPair& grant : grants) fault_guard(grant);
    return std::move(found_);
  }
  /// Whether a guard keeps the write back; the others only keep the quota from being larger.
  bool bars_write() const { return bars_write_; }
  bool differs() const {
    const HubQuota quota = hub_quota(state_, pair_.queue, pair_.key);
    return !quota.unknown && owned_pairs(state_, pair_.queue).contains(pair_.key) &&
           current_nominal(state_, pair_).value_or(0) != quota.nominal;
  }

 private:
  Json& add(const char* guard, const std::string& text) {
    found_.push_back({{"guard", guard},
                      {"text", text},
                      {"since", nullptr},
                      {"until", nullptr},
                      {"seq", nullptr},
                      {"cluster", nullptr}});
    return found_.back();
  }

  void queue_guards() {
    const std::string queue = "ClusterQueue " + pair_.queue;
    const auto at = state_.queues.by_name.find(pair_.queue);
    const auto seq = [&](Json& guard) { guard["seq"] = at->second.seq.value; };
    switch (queue_bar(state_, pair_.queue)) {
      case QueueBar::none: break;
      case QueueBar::absent: add("QueueAbsent", queue + " does not exist"); break;
      case QueueBar::deleting: seq(add("QueueDeleting", queue + " is being deleted")); break;
      case QueueBar::orchestrated: {
        const Orchestration found = *orchestration_of(state_.queues, at->second);
        add("QuotaOrchestrated", text_of(found) + " sets the quota of " + queue +
                                     ": status.effectiveQuotas is in force, not the spec")["seq"] =
            found.seq.value;
        break;
      }
      case QueueBar::automated:
        seq(add("QuotaManagementAutomated", "Kueue itself writes the quota of " + queue));
        break;
    }
    if (at != state_.queues.by_name.end() && at->second.workers.asked &&
        !at->second.workers.follows)
      seq(add("FollowsNobody", "no AdmissionCheck of " + queue +
                                   " names a Placement whose workers it could follow"));
    else if (!owned_pairs(state_, pair_.queue).contains(pair_.key))
      add("NotOurs", "no claim names this pair: it is left as it is");
  }

  void add_conflict() {
    const Queue& queue = state_.queues.by_name.at(pair_.queue);
    Json& guard =
        add("OwnershipConflict", "another writer changed ClusterQueue " + pair_.queue +
                                     " more than " + std::to_string(kOverwritesAnswered) +
                                     " times in " + to_go_duration(kOverwriteWindow) +
                                     ": the pair is left as that writer sets it until it equals "
                                     "ours or the claim is edited");
    guard["seq"] = queue.seq.value;
    if (!queue.overwrites.empty()) guard["since"] = to_rfc3339(queue.overwrites.back());
  }

  void pair_guards(const QueueWish& wish) {
    const auto kept = wish.kept.find(pair_.key);
    if (kept == wish.kept.end()) return;
    switch (kept->second) {
      case PairBar::unknown_capacity:
        add("CapacityUnknown",
            followed(state_.queues, pair_.queue)
                ? "a worker that the quota follows has no first values yet"
                : "every claim that names the pair waits for its cluster's first value");
        break;
      case PairBar::withheld:
        add("Withheld", "the queue has no place for the pair: " +
                            std::string(text_of(wish.withheld.at(pair_.key))));
        break;
      case PairBar::no_place:
        add("NoPlace",
            "the quota is 0, no claim in force assigns it, and the queue has no place for it");
        break;
      case PairBar::contested: add_conflict(); break;
    }
  }

  void write_guards(const QueueWish& wish) {
    const PatchIntended intent = queue_intent(state_, pair_.queue, wish);
    const WriteKey key = write_key(intent);
    const auto at = state_.writes.by_key.find(key);
    switch (write_bar(state_, intent)) {
      case WriteBar::none: break;
      case WriteBar::unanswered: {
        const Outstanding& sent = *at->second.outstanding;
        const auto& refusal = at->second.refusal;
        Json& guard =
            add("UnansweredWrite",
                "write " + std::to_string(sent.seq.value) + " has no answer yet" +
                    (refusal ? "; the one before was refused with " + answer_text(*refusal)
                             : std::string()));
        guard["seq"] = sent.seq.value;
        guard["until"] = time_json(sent.doubted_until);
        break;
      }
      case WriteBar::not_seen_yet:
        add("WriteNotSeenYet", at->second.awaits_end
                                   ? "the watch has not shown that our last write ended the object"
                                   : "the watch has not shown our last write (resourceVersion " +
                                         at->second.awaited_version + ")");
        break;
      case WriteBar::refused: {
        const Refusal& refusal = *at->second.refusal;
        Json& guard = add("Refused", "refused with " + answer_text(refusal));
        guard["seq"] = refusal.seq.value;
        guard["until"] = to_rfc3339(refusal.retry_at);
        break;
      }
      case WriteBar::write_interval: {
        const Duration interval = write_interval(state_, view_of(key));
        Json& guard = add("WriteInterval", "one write in writeInterval " +
                                               to_go_duration(interval) + " since write " +
                                               std::to_string(at->second.last_write_seq.value));
        guard["seq"] = at->second.last_write_seq.value;
        guard["since"] = to_rfc3339(*at->second.last_write);
        guard["until"] = to_rfc3339(*at->second.last_write + interval);
        break;
      }
    }
    if (intent.rank == Rank::grow &&
        member_is_on_its_way(state_, pair_.queue, members_written(works())))
      add("MemberIsWritten", "a member that feeds the queue is being written: the hub grows after");
  }

  std::vector<PatchIntended> works() const {
    std::vector<PatchIntended> all;
    HubQuotas quotas(state_);
    for (const GrantOfPair& grant : grants_of_pair(state_, pair_))
      for (PatchIntended& work : emit_works(state_, grant.claim->terms->cluster, quotas))
        all.push_back(std::move(work));
    return all;
  }

  void fault_guard(const GrantOfPair& grant) {
    const Claim& claim = *grant.claim;
    if (!claim.fault) return;
    Json& guard =
        add("ClaimInvalid", "claim " + grant.claim_name + ": " +
                                std::string(text_of(claim.fault->reason)) + ", " +
                                claim.fault->message + ": the spec of seq " +
                                std::to_string(claim.terms_seq.value) + " stays in force");
    guard["cluster"] = claim.terms->cluster;
    guard["seq"] = claim.edited_seq.value;
  }

  void claim_guards(const GrantOfPair& grant) {
    const Claim& claim = *grant.claim;
    const std::string who = "claim " + grant.claim_name;
    const auto place = [&](Json& guard, Seq seq) {
      guard["cluster"] = claim.terms->cluster;
      guard["seq"] = seq.value;
    };
    if (claim.facts.deleting)
      place(add("ClaimDeleted", who + " is being deleted"), claim.seq);
    else if (!claim.winner)
      place(add("ClusterAlreadyClaimed",
                who + " does not count: an older one claims " + claim.terms->cluster),
            claim_seq_of(claim.terms->cluster));
  }

  Seq claim_seq_of(const std::string& cluster) const {
    const auto at = state_.clusters.find(cluster);
    return at == state_.clusters.end() ? Seq{} : at->second.claim_seq;
  }

  void cluster_guards(const GrantOfPair& grant) {
    const std::string& name = grant.claim->terms->cluster;
    const auto at = state_.clusters.find(name);
    if (!grant.claim->winner) return;
    const AssignmentRow& row = grant.grant->row;
    if (at == state_.clusters.end() || (!at->second.source && !at->second.presence.detached)) {
      add("NoCapacitySource", "no source knows the capacity of " + name)["cluster"] = name;
      return;
    }
    const Cluster& cluster = at->second;
    if (cluster.counted_again_at) {
      Json& guard =
          add("HubClosed", cluster.lost() ? name + " is lost and counts 0 on the hub"
                                          : name + " was lost: it counts again after growWindow");
      guard["cluster"] = name;
      guard["until"] = time_json(cluster.counted_again_at);
      guard["seq"] = cluster.liveness_at_close_seq.value;
    }
    if (grant.contributes < grant.grant->granted && !cluster.counted_again_at) {
      const Work* work = work_with(cluster, row.cluster_queue);
      Json& guard = add("MemberNotReady",
                        name + " has confirmed " + amount_text(row.resource, grant.contributes) +
                            " of " + amount_text(row.resource, grant.grant->granted));
      guard["cluster"] = name;
      if (work) guard["seq"] = work->seq.value;
    }
    const Amount wanted = capacity_guards(grant, cluster);
    if (grant.grant->granted < wanted) {
      Json& guard =
          add("Capacity", name + ": " + amount_text(row.resource, grant.grant->granted) + " of " +
                              amount_text(row.resource, wanted) +
                              " is granted: " + std::string(text_of(grant.grant->reason)));
      guard["cluster"] = name;
    }
  }

  // Adds the layers that hold the flavor's own value, and the layers of other flavors where these
  // count through the total: it cuts the grant, or no other guard explains why the pair is damped.
  // Returns what the row would be granted if capacity sufficed.
  Amount capacity_guards(const GrantOfPair& grant, const Cluster& cluster) {
    const AssignmentRow& row = grant.grant->row;
    const std::string& name = grant.claim->terms->cluster;
    const auto add_layers = [&](bool own) {
      bool held = false;
      for (const auto& [key, value] : cluster.capacity) {
        if (key.resource != row.resource || (key.flavor == row.flavor || key.flavor.empty()) != own)
          continue;
        const Layer layer = layer_of(state_, name, cluster, key, value);
        const bool of_cluster = layer.name == LayerName::lost || layer.name == LayerName::frozen ||
                                layer.name == LayerName::detached;
        const Seq presence = layer.name == LayerName::detached ? cluster.presence.changed_seq
                                                               : cluster.liveness_at_close_seq;
        layer_guard(name, key, layer, of_cluster ? presence : began(value.causes, &cluster));
        held = held || layer.name != LayerName::none;
      }
      return held;
    };
    const bool own_held = add_layers(true);
    if (!cluster.known || cluster.presence.detached) return row.assigned;
    const GrantSteps step = grant_steps(state_, cluster, *grant.claim).at(grant.row);
    if (grant.grant->granted < step.after_flavor || (damped_ && !own_held)) add_layers(false);
    return step.wanted;
  }

  void worker_guards(const std::string& cluster, const WorkerShare& share) {
    const auto at = state_.clusters.find(cluster);
    layer_guard(cluster, pair_.key, layer_of_share(state_, cluster, share, pair_.key),
                began(share.causes, at == state_.clusters.end() ? nullptr : &at->second));
  }

  // Returns the event that a window counts from: the newest event about the value, or the return of
  // its cluster, because growth waits for a whole window after that.
  static Seq began(const std::vector<Seq>& because, const Cluster* cluster) {
    return std::max(because.empty() ? Seq{} : because.back(),
                    cluster ? cluster->liveness_at_close_seq : Seq{});
  }

  void layer_guard(const std::string& name, const CapacityKey& key, const Layer& layer, Seq seq) {
    if (layer.name == LayerName::none) return;
    std::string guard_name = text_of(layer.name);
    guard_name[0] = static_cast<char>(guard_name[0] - 'a' + 'A');
    Json& guard =
        add(guard_name.c_str(), name + " " + key.flavor + " " + key.resource + ": " + layer.text);
    guard["cluster"] = name;
    guard["since"] = time_json(layer.since);
    guard["until"] = time_json(layer.until);
    if (seq != Seq{}) guard["seq"] = seq.value;
  }

  const State& state_;
  const KnownPair& pair_;
  const bool damped_;
  Json found_ = Json::array();
  bool bars_write_ = false;
};

}  // namespace

Result<AuditAnswer> audit_why_not(const AuditSource& source, const AuditPair& asked,
                                  const AuditPosition& as_of) {
  const auto at = pair_at(source, asked, as_of);
  if (!at) return at.error();
  const Amount free = at->ours ? undamped(at->state(), at->pair) : at->quota.full;
  Guards guards(at->state(), at->pair, free != at->quota.full);
  const bool differs = guards.differs();
  Json found = guards.all();
  Json answer = at->answer("QuotaWhyNot");
  answer["nominal"] = at->text(at->current);
  answer["effective"] = effective_json(at->state(), at->pair);
  answer["desired"] = at->desired();
  answer["undamped"] = at->ours ? at->text(free) : Json();
  if (differs && !guards.bars_write())
    answer["answer"] = "DueNow";
  else
    answer["answer"] = found.empty() ? Json("NothingDiffers") : found[0]["guard"];
  answer["guards"] = std::move(found);
  if (auto added = add_unseen(source, *at, answer); !added) return added.error();
  return AuditAnswer{std::move(answer)};
}

}  // namespace fairlead
