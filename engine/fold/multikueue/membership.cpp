#include "engine/fold/multikueue/membership.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace fairlead {

namespace {

using Names = std::vector<std::string>;

class Rule {
 public:
  explicit Rule(const Membership& membership) : in_(membership) { out_.list = in_.list; }

  Verdict judge() {
    if (in_.list.empty())
      first_list();
    else if (in_.frozen_since)
      freeze(*in_.frozen_since);
    else
      move();
    return std::move(out_);
  }

 private:
  const Candidate& of(const std::string& name) const { return in_.candidates.at(name); }
  // Whether the window since then is over; else lowers the next moment to its end.
  bool lasted(LogTime since, Duration window) {
    if (since + window <= in_.now) return true;
    out_.next = std::min(out_.next, since + window);
    return false;
  }

  // Orders selected names before leavers, then by rank (the highest first, unknown last), then
  // name.
  void sort(Names& names) const {
    const auto place = [&](const std::string& name) {
      const Candidate& one = of(name);
      return std::tuple(!one.selected, !one.rank, -one.rank.value_or(0), std::cref(name));
    };
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      const auto [leaving_a, unknown_a, rank_a, name_a] = place(a);
      const auto [leaving_b, unknown_b, rank_b, name_b] = place(b);
      return std::tie(leaving_a, unknown_a, rank_a, name_a.get()) <
             std::tie(leaving_b, unknown_b, rank_b, name_b.get());
    });
  }

  // Returns the selected names that may enter once their window is over. Sets the standing of the
  // barred ones.
  Names newcomers() {
    Names names;
    for (const auto& [name, one] : in_.candidates) {
      if (!one.selected || listed(name)) continue;
      if (one.barred)
        out_.standings[name] = Standing::waits_copies;
      else
        names.push_back(name);
    }
    sort(names);
    return names;
  }
  bool listed(const std::string& name) const {
    return std::find(in_.list.begin(), in_.list.end(), name) != in_.list.end();
  }

  bool any_has(const Names& names, Duration window) {
    bool some = false;
    for (const std::string& name : names) some = lasted(of(name).since, window) || some;
    return some;
  }
  Names those_with(const Names& names, Duration window) {
    Names some;
    for (const std::string& name : names)
      if (lasted(of(name).since, window)) some.push_back(name);
    return some;
  }

  // No list yet: one settled newcomer brings all with it, since nothing can be evicted.
  void first_list() {
    const Names waiting = newcomers();
    if (in_.placement_gone) return;
    if (any_has(waiting, in_.windows.settle))
      write({}, waiting);
    else
      for (const std::string& name : waiting) out_.standings[name] = Standing::waits_settle;
  }

  // Nothing is selected or the Placement is gone, perhaps for a moment: the list stays for
  // empty_grace, and while a Workload runs on one of its workers for drain_timeout.
  void freeze(LogTime since) {
    for (const std::string& name : in_.list) out_.standings[name] = Standing::frozen;
    for (const std::string& name : newcomers()) out_.standings[name] = Standing::waits_move;
    if (!lasted(since, in_.windows.empty_grace)) return;
    const bool held = std::any_of(in_.list.begin(), in_.list.end(),
                                  [&](const std::string& name) { return of(name).held; });
    out_.dissolve = !held || lasted(since, in_.windows.drain_timeout);
    if (out_.dissolve) out_.list.clear();
  }

  bool may_go(const std::string& leaver) {
    const Candidate& one = of(leaver);
    if (!lasted(one.since, in_.windows.move_window)) return false;
    return !one.held || lasted(one.since, in_.windows.drain_timeout);
  }

  void move() {
    Names staying, going, waiting, back;
    bool leaver_stays = false, leavers = false;
    for (const std::string& name : in_.list) {
      if (of(name).selected) {
        staying.push_back(name);
        continue;
      }
      leavers = true;
      if (may_go(name)) {
        going.push_back(name);
      } else {
        leaver_stays = true;
        staying.push_back(name);
        const bool drains = of(name).since + in_.windows.move_window <= in_.now;
        out_.standings[name] = drains ? Standing::held : Standing::leaving;
      }
    }
    for (const std::string& name : newcomers())
      (of(name).taken_out ? back : waiting).push_back(name);

    Names coming;
    const bool emptied = staying.empty() && back.empty();
    if (leaver_stays || emptied) {
      coming = those_with(waiting, in_.windows.move_window);
      if (emptied && coming.empty()) return keep(going, waiting);
      if (emptied) coming = waiting;  // an exchange is one write: all newcomers enter with it
    } else if (any_has(waiting, in_.windows.settle)) {
      coming = waiting;
    } else if (leavers) {
      coming = those_with(waiting, in_.windows.move_window);
    }
    for (const std::string& name : going) out_.standings[name] = Standing::left;
    for (const std::string& name : waiting)
      if (std::find(coming.begin(), coming.end(), name) == coming.end())
        out_.standings[name] = leaver_stays ? Standing::waits_move : Standing::waits_settle;
    back.insert(back.end(), coming.begin(), coming.end());
    write(std::move(staying), back);
  }

  // Every member may leave and no newcomer may enter: the list is not emptied.
  void keep(const Names& leavers, const Names& waiting) {
    for (const std::string& name : leavers) out_.standings[name] = Standing::kept;
    for (const std::string& name : waiting) out_.standings[name] = Standing::waits_move;
    order(in_.list);
  }

  // Writes the list of the staying names and, as long as there are places, the coming ones.
  void write(Names list, const Names& coming) {
    for (const std::string& name : list) out_.standings.emplace(name, Standing::member);
    for (const std::string& name : coming) {
      const bool place = list.size() < in_.workers_max;
      out_.standings[name] = place ? Standing::entering : Standing::waits_place;
      if (place) list.push_back(name);
    }
    // Without a change of the members the order alone must not be written at once.
    if (std::set(list.begin(), list.end()) == std::set(in_.list.begin(), in_.list.end()))
      return order(std::move(list));
    sort(list);
    out_.list = std::move(list);
  }

  // The members stay the same: a better order is written once it has lasted for the move window.
  void order(Names list) {
    sort(list);
    if (list == in_.list) return;
    // The window of a better order begins anew with each other one, so that scores that keep
    // changing write nothing.
    out_.order_since = list == in_.order ? in_.order_since : in_.now;
    out_.order = list;
    if (lasted(out_.order_since, in_.windows.move_window)) out_.list = std::move(list);
  }

  const Membership& in_;
  Verdict out_;
};

}  // namespace

Verdict judge(const Membership& membership) { return Rule(membership).judge(); }

}  // namespace fairlead
