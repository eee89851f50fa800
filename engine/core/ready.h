// What a driver of the core must do next, as data. core.h shows the loop.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/apply/patch_sink.h"
#include "engine/base/durability.h"
#include "engine/core/notice.h"
#include "engine/core/sources.h"
#include "schema/event.h"

namespace fairlead {

/// Whether more input of the present moment follows what was offered. While it does, the moment
/// stays open: a burst is planned once, at its end. `paced`: facts and timers wait for a later
/// call, and outcomes for the answers that are still to come; what is stored is planned, and what
/// follows from it is appended, so that facts which come without end keep nothing from being
/// decided. What follows from outcomes alone is planned in a later call. `held`: nothing is
/// appended and no moment closes before a later call; what is stored already takes effect.
enum class Input : std::uint8_t { complete, more_pending, paced, held };

/// What the drafts of an append are.
enum class Origin : std::uint8_t { proposal, facts, outcomes, timer, intents };

/// One commit for the log.
struct Append {
  std::vector<EventDraft> drafts;  ///< in this order, with consecutive seqs
  LogTime time;                    ///< of all of them; never before that of the last event
  Origin origin{};
  /// durable: call Core::appended() only when the events are stored. pending: it may be called as
  /// soon as their seqs are known, so that the next drafts are made while the disk works.
  Durability durability{};
  /// Drafts that are too large for one commit may go back, by Core::refused(); it offers them again
  /// in halves. Where this is false, the log's refusal is an error like any other.
  bool divisible = false;
};

/// A write that was planned but neither logged nor sent, in WriteMode::recommend.
struct Recommendation {
  Seq seq;  ///< the last event that it follows from
  LogTime time;
  PatchIntended intent;
};

/// Exactly one of these holds: `append` has drafts; `closed`; `flush` is not 0; idle(). Effects
/// come with the last two only: while there is something to append or a moment to close, those that
/// wait go on waiting.
struct Ready {
  /// Append it, then call appended(), refused() or failed(). Until then there is no other.
  Append append;

  /// A moment closed and is planned next. state() and dirty() are of its end: a driver that
  /// measures moments does it now. Then call ready() again.
  bool closed = false;

  /// 0: nothing to wait for. Else effects wait, or the input is complete, and events up to this seq
  /// are not known to be stored. Wait for them, then call durable(). A driver that cannot wait goes
  /// on, and calls it when it learns so.
  Seq flush;

  /// Kinds that cannot be read on the hub, and that planning does not wait for: say so of each.
  std::vector<Kind> refused;

  /// Not null: the streams that should exist changed. Open those that are missing and close all
  /// others, before anything is sent. Valid until the next call. Only if idle().
  const Watch* watch = nullptr;

  // The effects, with a flush or at the end. All that they follow from is stored.
  /// Send each, once and in this order, and call answer() once for each.
  std::vector<WriteRequest> send;
  std::vector<Recommendation> recommendations;  ///< print each
  std::vector<Notice> notices;                  ///< publish each once; a failure may be ignored

  /// When ready() has something to do although nothing is offered; kForever: never. A time in the
  /// past means at once. Set if idle().
  LogTime next_deadline = kForever;

  /// Nothing is left to do now but the effects.
  bool idle() const { return append.drafts.empty() && !closed && flush == Seq{}; }
};

}  // namespace fairlead
