#include "replay/waiting/quota_tree.h"

#include <algorithm>

#include "replay/waiting/quota_amount.h"

namespace fairlead {

namespace {

using Pair = std::pair<std::string, std::string>;  // (flavor, resource)

struct Quota {
  Amount nominal = 0;
  std::optional<Amount> borrowing;
  std::optional<Amount> lending;
};

// What one node has of one pair. Of the computed values each is named as in Kueue.
struct Cell {
  Quota quota;
  Amount reserved = 0;  // of a queue, by its status
  Amount subtree = 0;
  Amount usage = 0;
  Amount available = 0;  // may be negative
  Amount potential = 0;

  // What lending limits keep from the parent.
  Amount local() const {
    if (!quota.lending) return 0;
    return std::max<Amount>(0, quota_difference(subtree, *quota.lending));
  }
};

struct Node {
  std::string name;
  std::size_t parent = 0;                   // of the first node, the root: itself
  std::shared_ptr<const QueueShape> shape;  // null: a Cohort
  std::vector<std::size_t> column_of_slot;
};

// A root with all that is below it: parents before their children. One with a cycle has no order of
// its Cohorts, and no quota: its queues alone are its nodes.
struct Tree {
  bool cyclic = false;
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> queues;  // their nodes
  std::set<std::string> cohorts;
  std::map<Pair, std::size_t> columns;
  std::vector<Cell> cells;  // by node, then column

  Cell& cell(std::size_t node, std::size_t column) { return cells[node * columns.size() + column]; }
  const Cell& cell(std::size_t node, std::size_t column) const {
    return cells[node * columns.size() + column];
  }
  void compute(std::size_t column);
};

void Tree::compute(std::size_t column) {
  if (cyclic) return;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Cell& of = cell(node, column);
    of.subtree = of.quota.nominal;
    of.usage = of.reserved;
  }
  for (std::size_t node = nodes.size(); node-- > 1;) {
    const Cell& child = cell(node, column);
    Cell& parent = cell(nodes[node].parent, column);
    const Amount local = child.local();
    parent.subtree = quota_sum(parent.subtree, quota_difference(child.subtree, local));
    parent.usage =
        quota_sum(parent.usage, std::max<Amount>(0, quota_difference(child.usage, local)));
  }
  Cell& root = cell(0, column);
  root.available = quota_difference(root.subtree, root.usage);
  root.potential = root.subtree;
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    Cell& of = cell(node, column);
    const Cell& parent = cell(nodes[node].parent, column);
    const Amount local = of.local();
    Amount lent = parent.available;
    of.potential = quota_sum(local, parent.potential);
    if (of.quota.borrowing) {
      const Amount stored = quota_difference(of.subtree, local);
      const Amount used = std::max<Amount>(0, quota_difference(of.usage, local));
      lent = std::min(lent, quota_sum(quota_difference(stored, used), *of.quota.borrowing));
      of.potential = std::min(of.potential, quota_sum(of.subtree, *of.quota.borrowing));
    }
    of.available = quota_sum(std::max<Amount>(0, quota_difference(local, of.usage)), lent);
  }
}

QueueShape shape_of(const std::vector<ResourceGroup>& groups) {
  QueueShape shape;
  for (const ResourceGroup& group : groups) {
    QueueShape::Group& out = shape.groups.emplace_back();
    out.resources = group.covered_resources;
    for (const FlavorQuotas& flavor : group.flavors) {
      QueueShape::Flavor& one = out.flavors.emplace_back();
      one.name = flavor.name;
      one.first_slot = shape.slots;
      for (const ResourceQuota& quota : flavor.resources) one.resources.push_back(quota.name);
      shape.slots += flavor.resources.size();
    }
  }
  return shape;
}

struct QueueRecord {
  std::vector<ResourceGroup> groups;  // in force
  std::string cohort;
  std::vector<FlavorUsage> reserved;
};

struct CohortRecord {
  std::vector<ResourceGroup> groups;
  std::string parent;
};

void add_to(std::set<Seq>& out, const std::vector<Seq>& seqs) {
  out.insert(seqs.begin(), seqs.end());
}

}  // namespace

std::optional<std::size_t> QueueShape::Flavor::slot_of(std::string_view resource) const {
  const auto at = std::find(resources.begin(), resources.end(), resource);
  if (at == resources.end()) return std::nullopt;
  return first_slot + static_cast<std::size_t>(at - resources.begin());
}

struct QuotaTree::Tables {
  std::map<std::string, QueueRecord> queues;
  std::map<std::string, CohortRecord> cohorts;
  std::map<std::string, std::set<std::string>> queues_of;   // by Cohort
  std::map<std::string, std::set<std::string>> cohorts_of;  // by parent

  std::map<std::string, std::shared_ptr<Tree>> tree_of_queue;
  std::map<std::string, std::shared_ptr<Tree>> tree_of_cohort;

  // Since the last settle():
  std::set<std::string> changed_queues, changed_cohorts;         // their trees are made anew
  std::map<std::string, std::set<std::size_t>> changed_columns;  // by queue
  std::map<std::string, std::set<Seq>> causes_of_queue, causes_of_cohort;

  std::string parent_of(const std::string& cohort) const {
    const auto at = cohorts.find(cohort);
    return at == cohorts.end() ? std::string() : at->second.parent;
  }
  // The root above a Cohort or, where there is none, a Cohort of the cycle.
  std::pair<std::string, bool> top_of(std::string cohort) const {
    std::set<std::string> passed;
    for (std::string parent; !(parent = parent_of(cohort)).empty(); cohort = parent)
      if (!passed.insert(cohort).second) return {cohort, true};
    return {cohort, false};
  }
  bool take_reserved(const std::string& name, QueueRecord& record,
                     const std::vector<FlavorUsage>& reserved);
  std::shared_ptr<Tree> grow(const std::string& cohort, bool cyclic) const;
  std::shared_ptr<Tree> alone(const std::string& queue) const;
  void plant(Tree& tree, const std::string& cohort, std::size_t parent) const;
  void add_queue(Tree& tree, const std::string& name, std::size_t parent) const;
  void fill(Tree& tree) const;
  std::vector<std::shared_ptr<Tree>> regrow();
  std::vector<std::shared_ptr<Tree>> recompute();
};

void QuotaTree::Tables::add_queue(Tree& tree, const std::string& name, std::size_t parent) const {
  const QueueRecord& record = queues.at(name);
  auto shape = std::make_shared<const QueueShape>(shape_of(record.groups));
  // Who waits compares shapes: an equal one stays the same.
  if (const auto before = tree_of_queue.find(name); before != tree_of_queue.end()) {
    const Tree& old = *before->second;
    if (const auto& known = old.nodes[old.queues.at(name)].shape; *known == *shape) shape = known;
  }
  tree.queues[name] = tree.nodes.size();
  tree.nodes.push_back({name, parent, std::move(shape), {}});
}

void QuotaTree::Tables::plant(Tree& tree, const std::string& cohort, std::size_t parent) const {
  const std::size_t node = tree.nodes.size();
  tree.nodes.push_back({cohort, parent, nullptr, {}});
  tree.cohorts.insert(cohort);
  if (const auto at = queues_of.find(cohort); at != queues_of.end())
    for (const std::string& queue : at->second) add_queue(tree, queue, node);
  if (const auto at = cohorts_of.find(cohort); at != cohorts_of.end())
    for (const std::string& child : at->second) plant(tree, child, node);
}

// Gives each node its quotas and each queue its reservations.
void QuotaTree::Tables::fill(Tree& tree) const {
  std::vector<std::vector<std::pair<Pair, Quota>>> quotas(tree.nodes.size());
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
    const Node& of = tree.nodes[node];
    const std::vector<ResourceGroup>* groups = nullptr;
    if (of.shape)
      groups = &queues.at(of.name).groups;
    else if (const auto at = cohorts.find(of.name); at != cohorts.end())
      groups = &at->second.groups;
    if (groups == nullptr) continue;
    for (const ResourceGroup& group : *groups)
      for (const FlavorQuotas& flavor : group.flavors)
        for (const ResourceQuota& quota : flavor.resources) {
          Quota one;
          one.nominal = quota_amount(quota.name, quota.nominal);
          if (quota.borrowing_limit)
            one.borrowing = quota_amount(quota.name, *quota.borrowing_limit);
          if (quota.lending_limit) one.lending = quota_amount(quota.name, *quota.lending_limit);
          quotas[node].push_back({{flavor.name, quota.name}, one});
          tree.columns.emplace(quotas[node].back().first, tree.columns.size());
        }
  }
  for (const auto& [name, node] : tree.queues)
    for (const FlavorUsage& one : queues.at(name).reserved)
      tree.columns.emplace(Pair{one.flavor, one.resource}, tree.columns.size());
  tree.cells.resize(tree.nodes.size() * tree.columns.size());
  for (std::size_t node = 0; node < tree.nodes.size(); ++node)
    for (const auto& [pair, quota] : quotas[node]) {
      tree.cell(node, tree.columns.at(pair)).quota = quota;
      if (tree.nodes[node].shape) tree.nodes[node].column_of_slot.push_back(tree.columns.at(pair));
    }
  for (const auto& [name, node] : tree.queues)
    for (const FlavorUsage& one : queues.at(name).reserved)
      tree.cell(node, tree.columns.at({one.flavor, one.resource})).reserved = one.total;
  for (std::size_t column = 0; column < tree.columns.size(); ++column) tree.compute(column);
}

std::shared_ptr<Tree> QuotaTree::Tables::grow(const std::string& cohort, bool cyclic) const {
  auto tree = std::make_shared<Tree>();
  tree->cyclic = cyclic;
  if (!cyclic) {
    plant(*tree, cohort, 0);
  } else {
    std::vector<std::string> next{cohort};
    while (!next.empty()) {
      const std::string at = std::move(next.back());
      next.pop_back();
      if (!tree->cohorts.insert(at).second) continue;
      if (const auto own = queues_of.find(at); own != queues_of.end())
        for (const std::string& queue : own->second) add_queue(*tree, queue, 0);
      if (const auto below = cohorts_of.find(at); below != cohorts_of.end())
        next.insert(next.end(), below->second.begin(), below->second.end());
    }
  }
  fill(*tree);
  return tree;
}

std::shared_ptr<Tree> QuotaTree::Tables::alone(const std::string& queue) const {
  auto tree = std::make_shared<Tree>();
  add_queue(*tree, queue, 0);
  fill(*tree);
  return tree;
}

// Returns whether the tree of the queue stays as it is, but for amounts of known pairs.
bool QuotaTree::Tables::take_reserved(const std::string& name, QueueRecord& record,
                                      const std::vector<FlavorUsage>& reserved) {
  const auto at = tree_of_queue.find(name);
  if (at == tree_of_queue.end() || changed_queues.contains(name)) {
    record.reserved = reserved;
    return false;
  }
  Tree& tree = *at->second;
  const std::size_t node = tree.queues.at(name);
  bool known = true;
  const auto put = [&](const FlavorUsage& one, Amount total) {
    const auto column = tree.columns.find({one.flavor, one.resource});
    if (column == tree.columns.end()) {
      known = false;
      return;
    }
    Amount& of = tree.cell(node, column->second).reserved;
    if (of != total) changed_columns[name].insert(column->second);
    of = total;
  };
  for (const FlavorUsage& one : record.reserved)
    if (std::none_of(reserved.begin(), reserved.end(), [&one](const FlavorUsage& other) {
          return other.flavor == one.flavor && other.resource == one.resource;
        }))
      put(one, 0);
  for (const FlavorUsage& one : reserved) put(one, one.total);
  record.reserved = reserved;
  return known;
}

QuotaTree::QuotaTree() : tables_(std::make_unique<Tables>()) {}
QuotaTree::~QuotaTree() = default;
QuotaTree::QuotaTree(QuotaTree&&) noexcept = default;
QuotaTree& QuotaTree::operator=(QuotaTree&&) noexcept = default;

void QuotaTree::set_queue(const std::string& name, const ClusterQueueFacts* facts,
                          const std::vector<Seq>& causes) {
  Tables& tables = *tables_;
  const auto known = tables.queues.find(name);
  if (facts == nullptr) {
    if (known == tables.queues.end()) return;
    tables.queues_of[known->second.cohort].erase(name);
    tables.queues.erase(known);
    tables.changed_queues.insert(name);
    return add_to(tables.causes_of_queue[name], causes);
  }
  const std::vector<ResourceGroup>& groups =
      facts->effective ? facts->effective->groups : facts->groups;
  const bool is_new = known == tables.queues.end();
  QueueRecord& record = tables.queues[name];
  const bool same_place = !is_new && record.groups == groups && record.cohort == facts->cohort;
  if (same_place && record.reserved == facts->reserved) return;
  add_to(tables.causes_of_queue[name], causes);
  if (same_place) {
    if (!tables.take_reserved(name, record, facts->reserved)) tables.changed_queues.insert(name);
    return;
  }
  if (!is_new) tables.queues_of[record.cohort].erase(name);
  record = {groups, facts->cohort, facts->reserved};
  if (!record.cohort.empty()) tables.queues_of[record.cohort].insert(name);
  tables.changed_queues.insert(name);
}

void QuotaTree::set_cohort(const std::string& name, const CohortFacts* facts,
                           const std::vector<Seq>& causes) {
  Tables& tables = *tables_;
  CohortRecord record;
  if (facts != nullptr) {
    record.parent = facts->parent;
    if (facts->effective)
      record.groups = facts->effective->groups;
    else if (facts->terms)
      record.groups = facts->terms->groups;
  }
  const auto known = tables.cohorts.find(name);
  const CohortRecord before = known == tables.cohorts.end() ? CohortRecord() : known->second;
  if (before.parent == record.parent && before.groups == record.groups) return;
  tables.cohorts_of[before.parent].erase(name);
  if (!record.parent.empty()) tables.cohorts_of[record.parent].insert(name);
  if (facts == nullptr)
    tables.cohorts.erase(name);
  else
    tables.cohorts[name] = std::move(record);
  tables.changed_cohorts.insert(name);
  add_to(tables.causes_of_cohort[name], causes);
}

// Makes the trees anew of which a node came, went or moved, and returns them.
std::vector<std::shared_ptr<Tree>> QuotaTree::Tables::regrow() {
  std::set<std::string> of_queues = changed_queues, of_cohorts = changed_cohorts;
  const auto add_all_of = [&](const std::shared_ptr<Tree>& tree) {
    for (const auto& [queue, node] : tree->queues) of_queues.insert(queue);
    of_cohorts.insert(tree->cohorts.begin(), tree->cohorts.end());
  };
  for (const std::string& queue : changed_queues)
    if (const auto at = tree_of_queue.find(queue); at != tree_of_queue.end())
      add_all_of(at->second);
  for (const std::string& cohort : changed_cohorts)
    if (const auto at = tree_of_cohort.find(cohort); at != tree_of_cohort.end())
      add_all_of(at->second);
  std::vector<std::shared_ptr<Tree>> grown;
  std::set<std::string> planted;
  for (const std::string& queue : of_queues) {
    const auto at = queues.find(queue);
    if (at == queues.end()) continue;
    if (at->second.cohort.empty())
      grown.push_back(alone(queue));
    else
      of_cohorts.insert(at->second.cohort);
  }
  for (const std::string& cohort : of_cohorts) {
    if (planted.contains(cohort)) continue;
    const auto [top, cyclic] = top_of(cohort);
    grown.push_back(grow(top, cyclic));
    planted.insert(grown.back()->cohorts.begin(), grown.back()->cohorts.end());
  }
  // What another tree of before has meanwhile become part of these trees: it is in them, too.
  for (const std::string& queue : of_queues) tree_of_queue.erase(queue);
  for (const std::string& cohort : of_cohorts) tree_of_cohort.erase(cohort);
  for (const auto& tree : grown) {
    for (const auto& [queue, node] : tree->queues) tree_of_queue[queue] = tree;
    for (const std::string& cohort : tree->cohorts) tree_of_cohort[cohort] = tree;
  }
  return grown;
}

// Computes the amounts that changed of trees that stay, and returns these.
std::vector<std::shared_ptr<Tree>> QuotaTree::Tables::recompute() {
  std::vector<std::pair<std::shared_ptr<Tree>, std::set<std::size_t>>> columns;
  for (const auto& [queue, changed] : changed_columns) {
    const auto at = tree_of_queue.find(queue);
    if (at == tree_of_queue.end()) continue;
    auto known = std::find_if(columns.begin(), columns.end(),
                              [&](const auto& one) { return one.first == at->second; });
    if (known == columns.end()) known = columns.insert(known, {at->second, {}});
    known->second.insert(changed.begin(), changed.end());
  }
  std::vector<std::shared_ptr<Tree>> out;
  for (const auto& [tree, changed] : columns) {
    for (const std::size_t column : changed) tree->compute(column);
    out.push_back(tree);
  }
  return out;
}

std::vector<QuotaTree::Change> QuotaTree::settle() {
  Tables& tables = *tables_;
  // The trees that changed nodes were in, of those that another tree has now.
  std::vector<std::pair<std::shared_ptr<Tree>, std::set<Seq>>> left;
  for (const auto& [queue, causes] : tables.causes_of_queue)
    if (const auto at = tables.tree_of_queue.find(queue);
        at != tables.tree_of_queue.end() && tables.changed_queues.contains(queue))
      left.emplace_back(at->second, causes);
  for (const auto& [cohort, causes] : tables.causes_of_cohort)
    if (const auto at = tables.tree_of_cohort.find(cohort); at != tables.tree_of_cohort.end())
      left.emplace_back(at->second, causes);
  std::vector<std::shared_ptr<Tree>> trees = tables.recompute();
  const std::vector<std::shared_ptr<Tree>> grown = tables.regrow();
  std::erase_if(trees, [&tables](const std::shared_ptr<Tree>& tree) {
    const auto at = tables.tree_of_queue.find(tree->queues.begin()->first);
    return at == tables.tree_of_queue.end() || at->second != tree;
  });
  trees.insert(trees.end(), grown.begin(), grown.end());
  std::vector<Change> changes;
  for (const auto& tree : trees) {
    std::set<Seq> causes;
    for (const auto& [queue, seqs] : tables.causes_of_queue)
      if (tree->queues.contains(queue)) causes.insert(seqs.begin(), seqs.end());
    for (const auto& [cohort, seqs] : tables.causes_of_cohort)
      if (tree->cohorts.contains(cohort)) causes.insert(seqs.begin(), seqs.end());
    for (const auto& [before, seqs] : left)
      if (std::any_of(before->queues.begin(), before->queues.end(),
                      [&](const auto& one) { return tree->queues.contains(one.first); }))
        causes.insert(seqs.begin(), seqs.end());
    Change& change = changes.emplace_back();
    for (const auto& [queue, node] : tree->queues) change.queues.push_back(queue);
    change.causes.assign(causes.begin(), causes.end());
  }
  for (const std::string& queue : tables.changed_queues)
    if (!tables.tree_of_queue.contains(queue)) {
      const std::set<Seq>& seqs = tables.causes_of_queue[queue];
      changes.push_back({{queue}, {seqs.begin(), seqs.end()}});
    }
  tables.changed_queues.clear();
  tables.changed_cohorts.clear();
  tables.changed_columns.clear();
  tables.causes_of_queue.clear();
  tables.causes_of_cohort.clear();
  return changes;
}

void QuotaTree::read(const std::string& queue, QueueRooms& out) const {
  const auto at = tables_->tree_of_queue.find(queue);
  if (at == tables_->tree_of_queue.end()) {
    out = {};
    return;
  }
  const Tree& tree = *at->second;
  const std::size_t number = tree.queues.at(queue);
  const Node& node = tree.nodes[number];
  if (out.shape != node.shape) out.shape = node.shape;
  out.rooms.resize(node.column_of_slot.size());
  for (std::size_t slot = 0; slot < out.rooms.size(); ++slot) {
    const Cell& cell = tree.cell(number, node.column_of_slot[slot]);
    out.rooms[slot] = {std::max<Amount>(0, cell.available), std::max<Amount>(0, cell.potential)};
  }
}

}  // namespace fairlead
