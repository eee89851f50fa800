#include "replay/waiting/wait_intervals.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fairlead {

namespace {

using Intervals = std::vector<WaitInterval>;

// Pieces that wait for quota and for preempted Workloads in turn are told as one if each is at most
// this long, and there are at least so many.
constexpr Duration kSwing = minutes(2);
constexpr std::size_t kSwingsMin = 3;

WaitInterval interval_of(const WaitStretch& stretch, LogTime from, LogTime to) {
  WaitInterval out;
  out.from = from;
  out.to = to;
  out.reason = stretch.reason;
  out.checks = stretch.checks;
  out.workers = stretch.workers;
  return out;
}

// The pieces of a stretch by how its requests fitted. Before it was seen they fitted as then.
void add_pieces(const WaitStretch& stretch, LogTime end, Intervals& out) {
  const LogTime to = std::min(stretch.to, end);
  WaitInterval piece = interval_of(stretch, stretch.from, to);
  piece.causes = stretch.causes;
  if (stretch.fit) {
    const std::vector<FitStep>& steps = stretch.fit->steps;
    auto step = std::upper_bound(steps.begin(), steps.end(), stretch.seen,
                                 [](LogTime time, const FitStep& one) { return time < one.from; });
    if (step != steps.begin()) --step;
    for (auto next = step + 1; next != steps.end() && next->from < to; step = next++) {
      piece.to = next->from;
      piece.fit = step->fit;
      piece.shortage = step->at_end;
      out.push_back(std::move(piece));
      piece = interval_of(stretch, next->from, to);
      piece.causes = next->causes;
    }
    piece.fit = step->fit;
    piece.shortage = stretch.shortage;
  }
  out.push_back(std::move(piece));
}

// Replaces what lies in a silence.
Intervals with_silences(const Intervals& pieces, const std::vector<Silence>& silences) {
  Intervals out;
  for (const WaitInterval& piece : pieces) {
    WaitInterval rest = piece;
    auto silence = std::partition_point(silences.begin(), silences.end(),
                                        [&](const Silence& one) { return one.to <= piece.from; });
    for (; silence != silences.end() && silence->from < piece.to; ++silence) {
      if (rest.from < silence->from) {
        WaitInterval before = rest;
        before.to = silence->from;
        out.push_back(std::move(before));
      }
      WaitInterval silent;
      silent.from = std::max(rest.from, silence->from);
      silent.to = std::min(rest.to, silence->to);
      silent.causes = {silence->begun};
      rest.from = silent.to;
      rest.causes = {silence->ended};
      out.push_back(std::move(silent));
    }
    if (rest.from < rest.to) out.push_back(std::move(rest));
  }
  return out;
}

bool alike(const WaitInterval& a, const WaitInterval& b) {
  return a.to == b.from && a.reason.of == b.reason.of && a.reason.reason == b.reason.reason &&
         a.fit == b.fit;
}

// `last` goes on as `more`.
void extend(WaitInterval& last, WaitInterval more) {
  last.to = more.to;
  last.reason.message = std::move(more.reason.message);
  last.shortage = std::move(more.shortage);
  last.checks = std::move(more.checks);
}

bool swings(const WaitInterval& one) {
  return one.reason.reason == kWaitingForQuota || one.reason.reason == kWaitingForPreempted;
}

// Returns the end of the piece that begins at `at`: intervals with the same reason.
Intervals::iterator piece_end(Intervals& all, Intervals::iterator at) {
  return std::find_if(at + 1, all.end(), [&](const WaitInterval& one) {
    return one.reason.reason != at->reason.reason || one.from != (&one - 1)->to;
  });
}

// Makes one interval of each run of short pieces with these two reasons in turn.
Intervals with_swings(Intervals all) {
  Intervals out;
  for (auto at = all.begin(); at != all.end();) {
    auto end = at;
    std::size_t pieces = 0;
    while (end != all.end() && swings(*end) && (end == at || end->from == (end - 1)->to)) {
      const auto next = piece_end(all, end);
      if ((next - 1)->to - end->from > kSwing) break;
      end = next;
      ++pieces;
    }
    if (pieces < kSwingsMin) {
      const auto next = pieces == 0 ? at + 1 : piece_end(all, at);
      std::move(at, next, std::back_inserter(out));
      at = next;
      continue;
    }
    WaitInterval one = *at;
    extend(one, *(end - 1));
    one.reason.of = WaitClass::preemption;
    one.reason.reason = kWaitingForPreempted;
    one.fit = QuotaFit::unknown;
    one.shortage.clear();
    one.changes = pieces - 1;
    out.push_back(std::move(one));
    at = end;
  }
  return out;
}

// What Kueue says is short is read from the last message.
void add_shortage_in_message(WaitInterval& interval) {
  std::vector<Shortage> all = shortage_in(interval.reason.message);
  all.insert(all.end(), interval.shortage.begin(), interval.shortage.end());
  std::sort(all.begin(), all.end());
  interval.shortage = std::move(all);
}

Intervals finished(const Intervals& pieces) {
  Intervals joined;
  for (const WaitInterval& piece : pieces) {
    if (piece.from >= piece.to) continue;
    if (!joined.empty() && alike(joined.back(), piece))
      extend(joined.back(), piece);
    else
      joined.push_back(piece);
  }
  joined = with_swings(std::move(joined));
  for (WaitInterval& one : joined) add_shortage_in_message(one);
  return joined;
}

Intervals pieces_of(const Wait& wait, LogTime end) {
  Intervals pieces;
  for (const WaitStretch& stretch : wait.stretches) add_pieces(stretch, end, pieces);
  return pieces;
}

// When a worker was named: intervals in which the hub waited for it.
Intervals named(const std::vector<Wait>& waits, const std::string& worker,
                const std::vector<Silence>& silences, LogTime end) {
  Intervals out;
  for (const Wait& wait : waits)
    for (WaitInterval& one : with_silences(pieces_of(wait, end), silences))
      if (std::find(one.workers.begin(), one.workers.end(), worker) != one.workers.end() &&
          one.from < one.to)
        out.push_back(std::move(one));
  return out;
}

// What a worker's API server has of the copy, over all times: nothing where it runs or is finished,
// and class queue where there is none.
Intervals of_copies(const std::vector<WaitHistory>* copies, LogTime end) {
  Intervals out;
  LogTime from;
  const auto add_absence = [&out](LogTime begin, LogTime until, std::vector<Seq> causes) {
    WaitInterval absent;
    absent.from = begin;
    absent.to = until;
    absent.reason.of = WaitClass::queue;
    absent.causes = std::move(causes);
    if (begin < until) out.push_back(std::move(absent));
  };
  std::vector<Seq> causes;
  if (copies != nullptr)
    for (const WaitHistory& copy : *copies) {
      if (!copy.is_copy) continue;
      add_absence(from, copy.appeared, causes);
      for (const Wait& wait : copy.waits)
        for (WaitInterval& piece : pieces_of(wait, end)) {
          piece.from = std::max(piece.from, from);
          if (piece.from < piece.to) out.push_back(std::move(piece));
        }
      from = std::min(copy.gone, end);
      causes = {copy.gone_seq};
      if (copy.gone == kForever) return out;
    }
  add_absence(from, end, causes);
  return out;
}

Intervals of_member(const WaitRecorder& record, const std::string& cluster,
                    const NamespacedName& id, LogTime end) {
  const auto server = record.servers().find(cluster);
  const bool read = server != record.servers().end() && server->second.heard &&
                    !record.workers().reads_no_copies();
  WaitInterval unseen;
  unseen.to = read ? *server->second.heard : end;
  if (!read) return {unseen};
  const auto copies = server->second.workloads.find(id);
  Intervals all = with_silences(
      of_copies(copies == server->second.workloads.end() ? nullptr : &copies->second, end),
      server->second.silences);
  // A silence is unknown also where a copy ran before it.
  for (const Silence& silence : server->second.silences) {
    std::erase_if(all, [&](const WaitInterval& one) {
      return silence.from <= one.from && one.to <= silence.to;
    });
    WaitInterval silent;
    silent.from = silence.from;
    silent.to = std::min(silence.to, end);
    silent.causes = {silence.begun};
    all.push_back(std::move(silent));
  }
  std::sort(all.begin(), all.end(), [](const WaitInterval& a, const WaitInterval& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  cut(all, unseen.to, end);
  all.insert(all.begin(), unseen);
  return all;
}

}  // namespace

std::vector<WaitInterval> intervals_of(const Wait& wait, const std::vector<Silence>& silences,
                                       LogTime end) {
  return finished(with_silences(pieces_of(wait, end), silences));
}

WaitInterval last_interval(const Wait& wait, LogTime end) {
  WaitInterval last = pieces_of(wait, end).back();
  add_shortage_in_message(last);
  return last;
}

void cut(std::vector<WaitInterval>& intervals, LogTime from, LogTime to) {
  std::erase_if(intervals, [from, to](WaitInterval& one) {
    one.from = std::max(one.from, from);
    one.to = std::min(one.to, to);
    return one.from >= one.to;
  });
}

std::vector<WorkerIntervals> worker_intervals(const WaitRecorder& record, const NamespacedName& id,
                                              const std::vector<Wait>& waits, LogTime end) {
  std::vector<std::string> workers;
  for (const Wait& wait : waits)
    for (const WaitStretch& stretch : wait.stretches)
      for (const std::string& worker : stretch.workers)
        if (std::find(workers.begin(), workers.end(), worker) == workers.end())
          workers.push_back(worker);
  const auto hub = record.servers().find(SourceName(kHub));
  std::vector<WorkerIntervals> out;
  for (const std::string& worker : workers) {
    WorkerIntervals of{record.workers().cluster_of(worker), {}};
    const Intervals all = of_member(record, of.cluster, id, end);
    const Intervals spans = named(waits, worker, hub->second.silences, end);
    if (spans.empty()) continue;  // it was named and replaced at once
    Intervals pieces;
    for (const WaitInterval& span : spans) {
      Intervals within = all;
      cut(within, span.from, span.to);
      // It began to be told with the nomination.
      if (!within.empty() && within.front().from == span.from) within.front().causes = span.causes;
      pieces.insert(pieces.end(), within.begin(), within.end());
    }
    of.intervals = finished(pieces);
    out.push_back(std::move(of));
  }
  return out;
}

}  // namespace fairlead
