#include "engine/fold/pool/rounds.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/fold/pool/annotations.h"
#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/division_of_slices.h"
#include "engine/fold/pool/membership.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"
#include "engine/fold/pool/wishes.h"
#include "schema/write_rule.h"

namespace fairlead {

namespace {

// Decisions that never come to rest must not keep the fold from its events: the next moment goes
// on.
constexpr int kPoolRoundsMax = 100;

// A namespace in a decision, with what it asks for.
struct PoolSubject {
  const PoolNamespaceKey& key;
  PoolTenant& tenant;
  PoolNamespace& of;
  NamespaceQuota quota;
  SliceDemand demand;  ///< in slices of the wanted size
  bool new_slice;      ///< the wanted size differs from the size in force
};

std::optional<PoolSubject> subject_of(PoolRoom state, const PoolNamespaceKey& key) {
  const auto tenant = state.pool.tenants.find(key.first);
  if (tenant == state.pool.tenants.end()) return std::nullopt;
  const auto at = tenant->second.namespaces.find(key.second);
  if (at == tenant->second.namespaces.end()) return std::nullopt;
  PoolNamespace& of = at->second;
  if (!takes_part(tenant->second, of) || !of.taken_up) return std::nullopt;
  const PoolSettings& settings = state.configuration.pool;
  PoolSubject subject{key, tenant->second, of, quota_of(of, settings.quotas), {}, false};
  // It has no slices of the former size, so the new size needs no decision. `slice` has a value
  // once the namespace is taken up (take_up).
  if (of.slices == 0 && of.unit != *of.slice) set_unit(state, key, *of.slice);
  subject.demand = demand_of(subject.quota, *of.slice, of.slices, settings.slices_max);
  subject.new_slice = *of.slice != of.unit && !subject.demand.fixed;
  return subject;
}

std::int64_t converted(std::int64_t slices, const CpuMemory& from, const CpuMemory& to) {
  const auto count = [&](Amount old_unit, Amount new_unit) {
    // Rounded up: what is there may not fill less in the new size. No unit is 0 (read_slice).
    return (Int128{old_unit} * slices + new_unit - 1) / new_unit;
  };
  return saturate(std::max(count(from.cpu, to.cpu), count(from.memory, to.memory)));
}

using Ids = std::vector<const std::string*>;

// The rows of `ids`, which are sorted here, in slices of `unit`.
SliceRows rows_at(PoolReader state, const PoolNamespace& of, const CpuMemory& unit, Ids ids) {
  std::sort(ids.begin(), ids.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const auto same = [](const auto* a, const auto* b) { return *a == *b; };
  ids.erase(std::unique(ids.begin(), ids.end(), same), ids.end());
  SliceRows rows;
  rows.reserve(ids.size());
  PoolNamespace in_unit;  // for needed_slices, which counts in the unit in force
  in_unit.unit = unit;
  for (const std::string* each : ids) {
    const std::string& id = *each;
    SliceRow row{id, standing_of(state, id)};
    if (row.standing == ClusterStanding::open) row.room = room_at(state, of, id, unit);
    if (of.edited == PlacementEdit::cleared && row.standing == ClusterStanding::away)
      row.standing = ClusterStanding::gone;
    if (const auto at = of.shares.find(id); at != of.shares.end() && at->second.listed) {
      row.had = unit == of.unit ? at->second.slices : converted(at->second.slices, of.unit, unit);
      row.needed = needed_slices(in_unit, at->second);
    }
    if (const auto at = of.edit.find(id);
        of.edited == PlacementEdit::changed && at != of.edit.end())
      row.asked = at->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

// The rows of a decision in slices of `unit`: clusters that are open, or where the namespace has
// something, or asks for something.
SliceRows rows_of(PoolReader state, const PoolNamespace& of, const CpuMemory& unit) {
  Ids ids;
  for (const auto& [id, standing] : state.pool.standings)
    if (standing == ClusterStanding::open) ids.push_back(&id);
  for (const auto& [id, share] : of.shares) ids.push_back(&id);
  for (const auto& [id, slices] : of.edit) ids.push_back(&id);
  return rows_at(state, of, unit, std::move(ids));
}

void keep_all(SliceRows& rows) {
  for (SliceRow& row : rows) row.kept = row.had;
}

// Rows for moving what is there: all of it is kept so far.
SliceRows kept_rows(PoolReader state, const PoolNamespace& of) {
  SliceRows rows = rows_of(state, of, of.unit);
  keep_all(rows);
  return rows;
}

// The rows where the namespace has something, which are enough to take slices away.
SliceRows own_rows(PoolReader state, const PoolNamespace& of) {
  Ids ids;
  for (const auto& [id, share] : of.shares) ids.push_back(&id);
  SliceRows rows = rows_at(state, of, of.unit, std::move(ids));
  keep_all(rows);
  return rows;
}

void note_decision(PoolNamespace& of, const char* rule, std::vector<Seq> causes) {
  of.rule = rule;
  if (of.seen) causes.push_back(of.seen->seq);
  for (const auto& [name, quota] : of.quotas) causes.push_back(quota.seq);
  std::sort(causes.begin(), causes.end());
  causes.erase(std::unique(causes.begin(), causes.end()), causes.end());
  if (causes.size() > kCausesKeptMax)
    causes.erase(causes.begin(), causes.end() - static_cast<std::ptrdiff_t>(kCausesKeptMax));
  of.causes = std::move(causes);
}

// Writes the outcome of a decision into the shares. Returns whether anything changed.
bool apply(PoolRoom state, const PoolNamespaceKey& key, const SliceRows& rows, const char* rule) {
  PoolNamespace& of = *find_namespace(state.pool, key);
  const SliceMap before = placements_of(of);
  std::vector<Seq> causes;
  for (const SliceRow& row : rows) {
    const std::int64_t slices = row.has();
    const auto at = of.shares.find(row.id);
    const bool drains =
        at != of.shares.end() && at->second.listed && at->second.pod_count > 0 && slices == 0;
    const auto cluster = state.pool.clusters.find(row.id);
    if (slices != row.had && cluster != state.pool.clusters.end())
      causes.push_back(cluster->second.seq);
    if (slices > 0 || at != of.shares.end())
      set_share(state, key, row.id, slices > 0 || drains ? std::optional(slices) : std::nullopt);
  }
  if (placements_of(of) == before) return false;
  note_decision(of, rule, std::move(causes));
  state.pool.dirty_lists.insert(key);
  return true;
}

bool on_gone_cluster(PoolReader state, const PoolNamespace& of) {
  return std::any_of(of.shares.begin(), of.shares.end(), [&](const auto& entry) {
    return entry.second.slices > 0 && standing_of(state, entry.first) == ClusterStanding::gone;
  });
}

class Rounds {
 public:
  explicit Rounds(PoolRoom state) : state_(state), pool_(state.pool) {}

  void run() {
    for (int round = 0; round < kPoolRoundsMax; ++round) {
      mark_limited_dirty(pool_);
      const std::set<PoolNamespaceKey> marked = std::exchange(pool_.dirty_namespaces, {});
      visited_.insert(marked.begin(), marked.end());
      for (const PoolNamespaceKey& key : marked) free_surplus(key);
      bool grew = std::exchange(pool_.room_grew, false);
      if (std::exchange(pool_.overflow_changed, false) || grew) end_overflow();
      grew = std::exchange(pool_.room_grew, false) || grew;
      mark_limited_dirty(pool_);
      decide_wanting(marked, grew);
      mark_limited_dirty(pool_);
      if (pool_.dirty_namespaces.empty() && !pool_.room_grew && !pool_.overflow_changed) break;
    }
    pool_.room_grew = false;
    pool_.dirty_namespaces.insert(visited_.begin(), visited_.end());
  }

 private:
  // Step 1: what is no longer asked for goes, and so does a 0 without pods.
  void free_surplus(const PoolNamespaceKey& key) {
    auto subject = subject_of(state_, key);
    // `wants_since` stays: the namespaces of a tenant that is away for a while keep their turns.
    // What their quotas became meanwhile is judged when it is back.
    if (!subject) return forget_wish(pool_, key);
    PoolNamespace& of = subject->of;
    SliceRows rows = own_rows(state_, of);
    if (subject->demand.slices == 0) {
      const bool edited = std::exchange(of.edited, PlacementEdit::none) != PlacementEdit::none;
      of.edit.clear();
      for (SliceRow& row : rows) row.kept = 0;
      const bool released = apply(state_, key, rows, rule::kPoolRelease);
      // An edit of a namespace that holds nothing is undone by the same rule.
      if (edited && !released) note_decision(of, rule::kPoolRelease, {});
      changed(key, released);
      leave_pool(*subject);
    } else if (of.slices > subject->demand.slices && of.edited == PlacementEdit::none &&
               !subject->new_slice) {
      reduce(rows, of.slices - subject->demand.slices);
      changed(key, apply(state_, key, rows, rule::kPoolReduce));
    } else {
      changed(key, apply(state_, key, rows, rule::kPoolDrained));  // drops zeros
    }
    judge_wish(key);
  }

  // A namespace without a quota is left alone once it has no placement of ours.
  void leave_pool(const PoolSubject& subject) {
    PoolNamespace& of = subject.of;
    if (subject.quota.any() || !placements_of(of).empty() || !of.observed ||
        !of.observed->empty() || of.seen->facts.reason)
      return;
    of.taken_up = false;
    of.last_value.clear();
    of.written.reset();
    of.wants_since.reset();  // taken up again, it waits anew
    forget_wish(pool_, subject.key);
    recount_said(state_, subject.key);
  }

  // Step 2: newcomers yield unused slices where more is held than there is.
  void end_overflow() {
    // A copy: yield() changes the set.
    for (const std::string& id : std::set<std::string>(pool_.overflowing)) {
      const auto cluster = pool_.clusters.find(id);
      if (cluster == pool_.clusters.end() || !cluster->second.known || cluster->second.draining ||
          cluster->second.liveness == Liveness::lost)
        continue;
      std::vector<std::pair<LogTime, PoolNamespaceKey>> order;
      for (const PoolNamespaceKey& key : pool_.totals.at(id).namespaces)
        if (const PoolNamespace& of = *find_namespace(pool_, key); of.shares.at(id).slices > 0)
          order.emplace_back(of.shares.at(id).grown, key);
      std::sort(order.rbegin(), order.rend());
      for (const auto& [grown, key] : order) {
        if (!pool_.overflowing.contains(id)) break;
        yield(key, id);
      }
    }
  }

  // Moves as few unused slices away from `id` as end its overflow, or as many as can.
  void yield(const PoolNamespaceKey& key, const std::string& id) {
    const auto subject = subject_of(state_, key);
    if (!subject) return;
    const PoolNamespace& of = subject->of;
    const PoolShare& share = of.shares.at(id);
    const std::int64_t may_go =
        std::min(share.slices - needed_slices(of, share), slices_too_many(of, share, id));
    if (may_go <= 0) return;  // the usual case while pods fill what is too much
    SliceRows rows = kept_rows(state_, of);
    // There is one: rows_of() has a row for each share.
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const SliceRow& each) { return each.id == id; });
    row->standing = ClusterStanding::closed;  // nothing comes back here
    const std::int64_t moves = std::min(may_go, total_free(rows));
    if (moves <= 0) return;
    row->kept -= moves;
    place(rows, moves, policy_for(of));
    changed(key, apply(state_, key, rows, rule::kPoolOverflow));
  }

  // The smallest number of slices without which the overflow ends.
  std::int64_t slices_too_many(const PoolNamespace& of, const PoolShare& share,
                               const std::string& id) const {
    const PoolTotals& totals = pool_.totals.at(id);
    const CpuMemory accepted = accepted_of(pool_.clusters.at(id));
    const auto too_many = [&](Int128 accepted_here, Int128 held, Int128 own, Amount unit) {
      const Int128 left = accepted_here - (held - own);  // for this namespace
      if (held <= accepted_here) return Int128{0};
      return share.slices - std::max(Int128{0}, left) / unit;
    };
    const Int128 most =
        std::max(too_many(accepted.cpu, totals.held.cpu + totals.strangers.cpu, share.counted.cpu,
                          of.unit.cpu),
                 too_many(accepted.memory, totals.held.memory + totals.strangers.memory,
                          share.counted.memory, of.unit.memory));
    return saturate(std::max(Int128{0}, most));
  }

  // Namespaces with slices on a gone cluster come first, then those that have waited longest.
  using Turn = std::tuple<int, LogTime, PoolNamespaceKey>;
  Turn turn_of(const PoolNamespaceKey& key) const {
    const PoolNamespace& of = *find_namespace(pool_, key);
    // Every namespace in `wanting` has `wants_since` (note_wish): what resets it also erases the
    // key there.
    return {on_gone_cluster(state_, of) ? 0 : 1, *of.wants_since, key};
  }

  // Step 3. Where no room grew, a namespace that is not marked would be decided as before, so only
  // marked ones are looked at. Where room grew, the namespaces for which it may be enough are, too.
  void decide_wanting(const std::set<PoolNamespaceKey>& marked, bool grew) {
    std::set<Turn> turns;
    for (const auto* keys : {&marked, &std::as_const(pool_.dirty_namespaces)})
      for (const PoolNamespaceKey& key : *keys)
        if (pool_.wanting.contains(key)) turns.insert(turn_of(key));
    WorthDeciding worth(state_);
    if (grew)
      for (const PoolNamespaceKey& key : worth.all()) turns.insert(turn_of(key));
    while (!turns.empty()) {
      const Turn turn = turns.extract(turns.begin()).value();
      const auto& key = std::get<PoolNamespaceKey>(turn);
      const bool is_marked = marked.contains(key) || pool_.dirty_namespaces.contains(key);
      // Decisions since may have left too little for it.
      if (!is_marked && !worth.contains(key)) continue;
      const bool grew_before = std::exchange(pool_.room_grew, false);
      if (decide(key)) worth.note_change();
      // What the decision gave up goes to whoever comes next.
      if (grew && pool_.room_grew)
        for (const PoolNamespaceKey& next : worth.all())
          if (Turn later = turn_of(next); later > turn) turns.insert(std::move(later));
      pool_.room_grew = pool_.room_grew || grew_before;
    }
  }

  // Returns whether its shares changed.
  bool decide(const PoolNamespaceKey& key) {
    auto subject = subject_of(state_, key);
    if (!subject || subject->demand.slices == 0) return false;
    PoolNamespace& of = subject->of;
    const bool edited = of.edited != PlacementEdit::none;
    bool moved = subject->new_slice && decide_new_slice(*subject);
    if (!moved) {
      std::int64_t wanted = subject->demand.slices;
      if (subject->new_slice)
        wanted = demand_of(subject->quota, of.unit, of.slices, state_.configuration.pool.slices_max)
                     .slices;
      moved = decide_same_slice(*subject, wanted);
    }
    // The shares did not change, but the write that replaces the edit needs a rule: the edit
    // itself.
    if (edited && !moved) note_decision(of, rule::kPoolEdit, {});
    of.edited = PlacementEdit::none;
    of.edit.clear();
    visited_.insert(key);
    changed(key, moved || edited);
    judge_wish(key);
    return moved;
  }

  bool decide_new_slice(const PoolSubject& subject) {
    PoolNamespace& of = subject.of;
    const CpuMemory unit = *of.slice;
    const std::int64_t wanted = subject.demand.slices;
    if (wanted > allowed_slices(subject.tenant, of, unit)) return false;
    SliceRows rows = rows_of(state_, of, unit);
    if (!divide_slices(rows, wanted, 0, {policy_for(of), Fit::all, SliceSize::changed}))
      return false;
    set_unit(state_, subject.key, unit);
    apply(state_, subject.key, rows, rule::kPoolSlice);
    for (auto& [id, share] : of.shares)
      if (share.slices > 0) share.grown = state_.now;
    return true;
  }

  bool decide_same_slice(const PoolSubject& subject, std::int64_t wanted) {
    PoolNamespace& of = subject.of;
    const PoolSettings& settings = state_.configuration.pool;
    const std::int64_t allowed = allowed_slices(subject.tenant, of, of.unit);
    if (wanted > of.slices && wanted > allowed)
      wanted = settings.partial ? std::max(of.slices, allowed) : of.slices;
    const char* rule = of.edited != PlacementEdit::none ? rule::kPoolEdit
                       : on_gone_cluster(state_, of)    ? rule::kPoolMove
                                                        : rule::kPoolPlace;
    SliceRows rows = rows_of(state_, of, of.unit);
    const Fit fit = settings.partial ? Fit::partial : Fit::all;
    if (!divide_slices(rows, wanted, of.slices, {policy_for(of), fit, SliceSize::same}))
      return false;
    return apply(state_, subject.key, rows, rule);
  }

  // Finds out whether the namespace wants a decision, and since when.
  void judge_wish(const PoolNamespaceKey& key) {
    const auto subject = subject_of(state_, key);
    if (!subject) return;
    PoolNamespace& of = subject->of;
    const bool wants = subject->demand.slices > 0 &&
                       (of.edited != PlacementEdit::none || subject->new_slice ||
                        of.slices < subject->demand.slices || on_gone_cluster(state_, of));
    if (wants) return note_wish(state_, key);
    of.wants_since.reset();
    forget_wish(pool_, key);
  }

  PoolPolicy policy_for(const PoolNamespace& of) const {
    return policy_of(state_.configuration.pool, of.seen->facts);
  }

  void changed(const PoolNamespaceKey& key, bool has_changed) {
    if (has_changed) pool_.dirty_namespaces.insert(key);
  }

  PoolRoom state_;
  Pool& pool_;
  std::set<PoolNamespaceKey> visited_;
};

}  // namespace

void run_pool_rounds(PoolRoom state) { Rounds(state).run(); }

void adopt_placements(PoolRoom state, const PoolNamespaceKey& key, const SliceMap& slices) {
  PoolNamespace& of = *find_namespace(state.pool, key);
  std::int64_t sum = 0;
  for (const auto& [id, count] : slices) sum += count;
  const std::int64_t allowed = allowed_slices(state.pool.tenants.at(key.first), of, of.unit);
  for (const auto& [id, count] : slices) set_share(state, key, id, count);
  if (sum > allowed) {
    SliceRows rows = own_rows(state, of);
    reduce(rows, sum - allowed);
    for (const SliceRow& row : rows)
      if (row.had > 0) set_share(state, key, row.id, row.kept);
  }
  note_decision(of, rule::kPoolFirstSight, {});
}

}  // namespace fairlead
