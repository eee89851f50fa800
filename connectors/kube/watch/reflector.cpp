#include "connectors/kube/watch/reflector.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/watch/failure_text.h"
#include "engine/base/resource_version.h"

namespace fairlead {

namespace {

// Whether a list that says to be a `name` is one of this kind. One may say nothing.
bool is_list_of(Kind kind, std::string_view name) {
  return name.empty() || name == std::string(info(kind).name) + "List" || name == "List" ||
         name == "PartialObjectMetadataList";
}

}  // namespace

Reflector::Reflector(Kind kind, ReflectorSettings settings, ServerLoad& load,
                     std::function<std::uint64_t()> random)
    : settings_(settings),
      collection_(kind),
      cycle_(collection_, settings_, std::move(random)),
      objects_(collection_, out_.facts, counters_),
      reader_(collection_, objects_, counters_),
      silence_(kind),
      bounds_(collection_, settings_, load),
      log_(kind, out_.diagnostics) {}

// Ends every input: what is due by now, and when to be called again.
ReflectorOutput Reflector::finish(LogTime now) {
  silence_.judge(now, settings_, out_.facts, log_);
  for (const std::string& refusal : objects_.consume_refusals()) log_.note(refusal);
  out_.wake = std::min(cycle_.deadline(), silence_.next(settings_));
  bounds_.count(now, objects_.known(), objects_.consume_changes());
  // Emptied in place: the parts refer to its facts and diagnostics.
  return std::exchange(out_, ReflectorOutput{});
}

// The server sent something of this kind.
void Reflector::heard(LogTime now) {
  silence_.hear(now);
  // Beyond a bound the kind stays stale, whatever the server sends.
  if (bounds_.exceeded() || !silence_.end()) return;
  log_.recovered("heard again");
  // A list that is under way ends with a fact of its own (ListCompleted).
  if (cycle_.phase() == Phase::watching)
    out_.facts.emplace_back(StreamAlive{kind(), reader_.position()});
}

ReflectorOutput Reflector::expected(LogTime now) {
  silence_.expect(now);
  if (!wanted()) silence_.ignore();
  return finish(now);
}

ReflectorOutput Reflector::moved(LogTime now) {
  out_.cancel = true;
  cycle_.stop();
  cycle_.succeeded();
  synced_ = false;
  bounds_.end();
  collection_.widen();
  reader_.stop();
  return finish(now);
}

ReflectorOutput Reflector::disconnected(LogTime now) {
  if (wanted() && silence_.make_lost()) out_.facts.emplace_back(StreamLost{kind()});
  return moved(now);
}

ReflectorOutput Reflector::confine(LogTime now, WatchScope scope) {
  if (scope == collection_.scope()) return finish(now);
  const bool was_wanted = wanted();
  collection_.confine(std::move(scope));
  if (!wanted()) {
    // What is known stays: a later list reports what has vanished by then.
    silence_.ignore();
    silence_.end();
    return moved(now);
  }
  out_.rediscover = !was_wanted;
  if (cycle_.phase() == Phase::unserved) return finish(now);
  out_.cancel = true;
  cycle_.succeeded();
  start_list(now);
  return finish(now);
}

ReflectorOutput Reflector::hurry(LogTime now) {
  if (cycle_.phase() != Phase::waiting) return finish(now);
  cycle_.end_pause(now);
  return timer(now);
}

ReflectorOutput Reflector::served(LogTime now, std::optional<std::string> version) {
  if (!wanted()) return finish(now);
  const Phase phase = cycle_.phase();
  if (!version) {
    // A kind that was never served is absent, not silent.
    if (collection_.version().empty()) silence_.ignore();
    // An outstanding request gets its own 404; a complete picture is kept until then.
    if (phase == Phase::unserved || phase == Phase::waiting) cycle_.stop();
    return finish(now);
  }
  if (*version == collection_.version() && phase != Phase::unserved) return finish(now);
  if (phase != Phase::unserved) out_.cancel = true;
  // Another version has other fields: every object is reported again.
  if (*version != collection_.version()) objects_.forget_versions();
  collection_.set_version(*version);
  if (!silence_.expected()) silence_.expect(now);
  cycle_.succeeded();
  start_list(now);
  return finish(now);
}

void Reflector::adjust(LogTime now, const ReflectorSettings& settings) {
  const bool other_bounds = settings.limits != settings_.limits;
  // A time in the past: the caller's timer() reads on under the new bounds.
  if (bounds_.exceeded() && cycle_.phase() == Phase::waiting && other_bounds) cycle_.end_pause({});
  const bool sooner = settings.stale_after < settings_.stale_after ||
                      settings.lost_after < settings_.lost_after ||
                      settings.watch_silence_max < settings_.watch_silence_max;
  settings_ = settings;
  if (other_bounds) bounds_.bounds_changed();
  if (!sooner) return;
  // Until now the server was only asked as often as the longer span wants.
  silence_.restart(now);
  cycle_.ask_sooner(now);
}

void Reflector::start_list(LogTime now) {
  if (!bounds_.may_list(now)) return overflow(now, StaleCause::too_many_changes);
  objects_.begin_list();
  reader_.begin_list();
  out_.request = cycle_.list(now);
}

void Reflector::start_pages(LogTime now) {
  objects_.begin_list();
  out_.request = cycle_.first_page(now);
}

void Reflector::start_watch(LogTime now) {
  reader_.begin_watch();
  out_.request = cycle_.watch(now, reader_.position());
}

// Resumes from the position of the last stream, if the server's store has reached it. Where that is
// in doubt, asks for the store's position first.
void Reflector::resume(LogTime now) {
  // An opaque position cannot be compared with the store's.
  if (!position_doubted_ || !version_number(reader_.position())) return start_watch(now);
  out_.request = cycle_.locate(now);
}

// Handles the store's position. A watch from a version that the store has not reached would be
// silent until then: kube-apiserver leaves out older events.
void Reflector::located(LogTime now, int status, std::string_view body,
                        std::optional<Duration> retry_after) {
  const bool away = status == 0 || status >= 500;
  // While it was away its store may have been restored, and grown past what was lost; a position
  // cannot show that, so kinds that we write are listed. (A server that starts mostly answers 410
  // anyway.)
  const bool list = bounds_.exceeded() || (away && is_written(kind()));
  if (away || status == 429)
    return failed(now, status, body, list ? Next::list : Next::resume, retry_after);
  position_doubted_ = false;
  JsonFault fault;
  const auto page = parse_json(status == 200 ? body : "{}", fault, kJsonFileBytesMax);
  const JsonView metadata = page ? page->root()["metadata"] : JsonView();
  if (bounds_.exceeded()) {
    // Some servers report how many objects follow the first one.
    const std::int64_t others = metadata["remainingItemCount"].integer().value_or(0);
    return bounds_.still_too_many(others) ? overflow(now, StaleCause::too_many) : start_list(now);
  }
  const std::string_view version = metadata["resourceVersion"].string();
  if (!is_lower_version(version, reader_.position())) return start_watch(now);
  ++counters_.relists;
  start_list(now);
}

ReflectorOutput Reflector::page(LogTime now, int status, std::string_view body,
                                std::optional<Duration> retry_after) {
  if (cycle_.phase() == Phase::locating)
    located(now, status, body, retry_after);
  else if (cycle_.phase() == Phase::paging)
    read_page(now, status, body, retry_after);
  return finish(now);
}

void Reflector::read_page(LogTime now, int status, std::string_view body,
                          std::optional<Duration> retry_after) {
  if (status == 410) {  // the continue token is too old: from the start, but not in a tight circle
    ++counters_.errors;
    ++counters_.relists;
    return cycle_.back_off(now, Next::list, std::nullopt);
  }
  // 413 is our own client's status for an answer that is too long.
  if (status == 413 && cycle_.smaller_pages()) return start_pages(now);
  if (status != 200) return failed(now, status, body, Next::list, retry_after);
  JsonFault fault;
  auto document = parse_json(body, fault, kJsonFileBytesMax);
  if (!document || !document->root().is(JsonKind::object)) {
    ++counters_.malformed;
    const std::string what(log_.printable(fault.what));
    return failed(now, 0, "a page that is no JSON: " + what, Next::list, std::nullopt);
  }
  if (const std::string_view list = document->root()["kind"].string(); !is_list_of(kind(), list)) {
    ++counters_.malformed;
    return failed(now, 0, "a list of another kind than asked for", Next::list, std::nullopt);
  }
  ++counters_.pages;
  heard(now);
  for (JsonView item : document->root()["items"]) {
    objects_.list(item, {}, {});
    if (bounds_.too_many(objects_.listed())) return overflow(now, StaleCause::too_many);
  }
  JsonView metadata = document->root()["metadata"];
  if (const std::string_view more = metadata["continue"].string(); !more.empty()) {
    out_.request = cycle_.next_page(now, std::string(more));
    return;
  }
  finish_list(std::string(metadata["resourceVersion"].string()));
  bounds_.count(now, objects_.known(), objects_.consume_changes());
  if (bounds_.too_many_changes(now)) return overflow(now, StaleCause::too_many_changes);
  cycle_.list_paged();
  start_watch(now);
}

void Reflector::finish_list(const std::string& resource_version) {
  objects_.report_unlisted();
  // The ListCompleted below says that the observations are current again.
  if (bounds_.end()) silence_.end();
  const std::string& position = reader_.position();
  const bool went_back =
      objects_.consume_went_back() || is_lower_version(resource_version, position);
  if (went_back)
    log_.add("the server's store went back (restored?): the list of " + resource_version +
             " counts, not what was shown up to " + position);
  reader_.set_position(resource_version);
  position_doubted_ = false;
  out_.facts.emplace_back(ListCompleted{kind(), resource_version, went_back});
  ++counters_.lists;
  synced_ = true;
  bounds_.list_completed();
  if (log_.failing()) log_.recovered("listed");
}

ReflectorOutput Reflector::opened(LogTime now) {
  if (!cycle_.streaming()) return finish(now);
  ++counters_.watches;
  heard(now);
  cycle_.stream_opened(now);
  return finish(now);
}

ReflectorOutput Reflector::bytes(LogTime now, std::string_view chunk) {
  if (!cycle_.streaming()) return finish(now);
  heard(now);
  cycle_.stream_heard(now);
  while (cycle_.streaming()) {
    const WatchReader::Step step = reader_.next(chunk);
    if (step == WatchReader::Step::need_more) break;
    act_on(now, step);
    // An ERROR event ends the stream: the lines behind it are not those of the list that may
    // follow.
    if (step == WatchReader::Step::failed) break;
    if (step == WatchReader::Step::unchanged || !cycle_.streaming()) continue;
    bounds_.count(now, objects_.known(), objects_.consume_changes());
    const bool watching = cycle_.phase() == Phase::watching;
    if (bounds_.too_many(watching ? objects_.known() : objects_.listed()))
      overflow(now, StaleCause::too_many);
    else if (watching && bounds_.too_many_changes(now))
      overflow(now, StaleCause::too_many_changes);
  }
  return finish(now);
}

ReflectorOutput Reflector::ended(LogTime now, int status, std::string_view body,
                                 std::optional<Duration> retry_after) {
  if (!cycle_.streaming()) return finish(now);
  const bool was_list = cycle_.phase() == Phase::streaming_list;
  const bool lasted = cycle_.stream_over(now);
  if (status == 200)
    heard(now);
  else
    position_doubted_ = true;
  if (status == 200 || status == 0) {
    const WatchReader::Step last = reader_.finish();
    act_on(now, last);
    // After an ERROR event what follows is decided.
    if (last == WatchReader::Step::failed) return finish(now);
    const bool watching = cycle_.phase() == Phase::watching;
    // A stream that ended at once and brought nothing is followed by a pause: a server that ends
    // all streams so would be asked in a tight circle.
    if (watching && status == 200 && (lasted || reader_.useful())) {
      start_watch(now);  // the ordinary end of a watch: resume from the last version
      return finish(now);
    }
    if (status == 0) {
      ++counters_.errors;
      log_.add(status_text(0, body));
    }
    cycle_.back_off(now, watching ? Next::resume : Next::list, retry_after);
  } else if (status == 410) {
    ++counters_.relists;
    ++counters_.errors;
    cycle_.back_off(now, Next::list, std::nullopt);
  } else if (was_list && (status == 400 || status == 422 || status == 500)) {
    // Where the feature WatchList is off, sendInitialEvents is invalid: kube-apiserver answers 422.
    // 400 and 500 are taken for the same, since a list in pages works in any case.
    cycle_.without_streaming_lists();
    start_pages(now);
  } else {
    failed(now, status, body, was_list ? Next::list : Next::resume, retry_after);
  }
  return finish(now);
}

void Reflector::act_on(LogTime now, WatchReader::Step step) {
  using Step = WatchReader::Step;
  switch (step) {
    case Step::need_more:
    case Step::listed: break;
    case Step::unchanged:
    case Step::changed:
    case Step::bookmark:
      cycle_.succeeded();
      log_.forget();
      if (step == Step::bookmark) out_.facts.emplace_back(StreamAlive{kind(), reader_.position()});
      break;
    case Step::list_ended:
      finish_list(reader_.list_version());
      cycle_.list_streamed(now);
      break;
    case Step::failed: act_on_failure_event(now); break;
    case Step::broken: stream_broken(now, Next::resume); break;
    case Step::broken_for_good: stream_broken(now, Next::list); break;
  }
}

void Reflector::act_on_failure_event(LogTime now) {
  const WatchReader::Failure& failure = reader_.failure();
  ++counters_.errors;
  out_.cancel = true;
  cycle_.stream_over(now);
  const bool was_list = cycle_.phase() == Phase::streaming_list;
  if (failure.gone) {
    ++counters_.relists;
    // The first time at once; a server that answers so again and again gets growing pauses.
    if (!was_list && cycle_.first_failure()) return start_list(now);
    return cycle_.back_off(now, Next::list, std::nullopt);
  }
  log_.add("error event " + failure_text(failure.code, failure.text));
  if (was_list && (failure.code == 500 || failure.code == 400 || failure.code == 422)) {
    // "required storage feature RequestWatchProgress is disabled" and the like
    cycle_.without_streaming_lists();
    return start_pages(now);
  }
  cycle_.back_off(now, was_list ? Next::list : Next::resume, std::nullopt);
}

// The stream cannot be read further. Its position still counts, unless the same place breaks again
// and again: then everything is listed.
void Reflector::stream_broken(LogTime now, Next next) {
  out_.cancel = true;
  ++counters_.errors;
  log_.add("broken stream: " + std::string(log_.printable(reader_.fault())));
  if (next == Next::list) ++counters_.relists;
  if (cycle_.phase() == Phase::streaming_list) cycle_.without_streaming_lists();
  cycle_.back_off(now, next, std::nullopt);
}

// More was reported than may be read: stops reading for a while (reading_bounds.h). What was
// observed remains; objects that an unfinished list did not reach are dropped, so that the bound
// holds.
void Reflector::overflow(LogTime now, StaleCause cause) {
  const bool listing = cycle_.phase() == Phase::paging || cycle_.phase() == Phase::streaming_list;
  if (listing && cause == StaleCause::too_many) objects_.report_unlisted();
  cycle_.pause(now, cycle_.jittered(bounds_.exceed(now, cause)), Next::list);
  bounds_.pause_ends(cycle_.deadline());
  ++counters_.overflows;
  silence_.make_stale(now);
  synced_ = false;
  out_.cancel = true;
  out_.facts.emplace_back(StreamStale{kind(), cause});
  log_.add(bounds_.describe(cause));
}

// A request failed. Reports that, and the pause, to the millisecond, if the server asks for one.
void Reflector::failed(LogTime now, int status, std::string_view body, Next next,
                       std::optional<Duration> retry_after) {
  if (status == 401 || status == 403 || status == 404) return refused(now, status, body);
  ++counters_.errors;
  cycle_.back_off(now, next, retry_after);
  std::string line = status_text(status, body);
  if (retry_after) {
    Duration span = cycle_.deadline() - now;
    span.ns -= span.ns % 1'000'000;
    line += retry_after_text(retry_after) + "; asked again in " + to_go_duration(span);
  }
  log_.add(line);
}

// The server does not let us read the kind, or no longer has it.
void Reflector::refused(LogTime now, int status, std::string_view body) {
  ++counters_.errors;
  synced_ = false;
  if (status == 403 && collection_.narrow()) return start_list(now);
  log_.add(failure_text(status, failure_message(status, collection_.path(), body)));
  // Of a kind that may stay unread it is reported, once, so that planning does not wait for it.
  if (status == 403 && may_stay_unread(kind()) && silence_.make_lost())
    out_.facts.emplace_back(StreamLost{kind()});
  // With growing pauses: a server that is starting refuses for a moment, too.
  cycle_.back_off(now, Next::list, std::nullopt);
  out_.rediscover = status == 404;
}

ReflectorOutput Reflector::timer(LogTime now) {
  if (cycle_.phase() == Phase::watching && bounds_.too_many(objects_.known())) {
    overflow(now, StaleCause::too_many);
    return finish(now);
  }
  if (now < cycle_.deadline()) return finish(now);
  const std::string no_page = "no page within " + to_go_duration(settings_.request_timeout);
  switch (cycle_.phase()) {
    // Not reached: this phase has no deadline.
    case Phase::unserved: cycle_.stop(); break;
    case Phase::waiting:
      if (bounds_.exceeded())
        out_.request = cycle_.locate(now);
      else if (cycle_.next() == Next::list)
        start_list(now);
      else
        resume(now);
      break;
    case Phase::locating:
      out_.cancel = true;
      located(now, 0, no_page, std::nullopt);
      break;
    case Phase::paging:
      out_.cancel = true;
      failed(now, 0, no_page, Next::list, std::nullopt);
      break;
    case Phase::streaming_list:
      ++counters_.silences;
      out_.cancel = true;
      cycle_.without_streaming_lists();
      log_.add("a streaming list that never ended: listing in pages");
      start_pages(now);
      break;
    case Phase::watching:
      ++counters_.silences;
      out_.cancel = true;
      // Silence proves nothing by itself (bookmarks may never come): watch again from the same
      // version, if the store still has it.
      position_doubted_ = true;
      resume(now);
      break;
  }
  return finish(now);
}

}  // namespace fairlead
