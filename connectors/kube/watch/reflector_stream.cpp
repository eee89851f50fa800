// Reflector: the events of a watch stream. See reflector.h.
#include <algorithm>
#include <utility>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/failure_text.h"
#include "connectors/kube/watch/lasting_stream.h"
#include "connectors/kube/watch/reflector.h"
#include "engine/base/made.h"
#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

constexpr int kBadLinesMax = 3;  // in a row, before everything is listed again

constexpr std::size_t kFactsUsual = 32;  // from one chunk of a stream

// Reserves memory for the facts of one chunk, with the first of them.
void make_room(decltype(ReflectorOutput::facts)& facts) {
  if (facts.empty()) facts.reserve(kFactsUsual);
}

// Kinds that Fairlead writes to.
bool is_written(Kind kind) { return kind == Kind::local_queue || written_kind(kind); }

}  // namespace

// Resumes from the position of the last stream, if the server's store has reached it. Where that is
// in doubt, asks for the store's position first.
void Reflector::resume(LogTime now) {
  if (!position_doubted_ || !version_number(resource_version_)) return request_watch(now);
  locate(now);
}

void Reflector::locate(LogTime now) {
  phase_ = Phase::locating;
  until_ = now + settings_.request_timeout;
  request(ReflectorRequest::Kind::page, "limit=1");
}

// Handles the store's position. A watch from a version that the store has not reached would be
// silent until then: kube-apiserver leaves out older events.
void Reflector::located(LogTime now, int status, std::string_view body,
                        std::optional<Duration> retry_after) {
  const bool away = status == 0 || status >= 500;
  // While it was away its store may have been restored, and grown past what was lost; a position
  // cannot show that, so kinds that we write are listed. (A server that starts mostly answers 410
  // anyway.)
  const Next next = overflowing_ || (away && is_written(kind_)) ? Next::list : Next::resume;
  if (away || status == 429) return retry_later(now, status, body, next, retry_after);
  position_doubted_ = false;
  JsonFault fault;
  const auto page = parse_json(status == 200 ? body : "{}", fault, kJsonFileBytesMax);
  const JsonView metadata = page ? page->root()["metadata"] : JsonView();
  if (overflowing_) {
    // Some servers report how many objects follow the first one.
    const std::int64_t others = metadata["remainingItemCount"].integer().value_or(0);
    const bool still =
        settings_.nodes_max > 0 && std::cmp_greater_equal(others, settings_.nodes_max);
    return still ? overflow(now, StaleCause::too_many) : start_list(now);
  }
  const std::string_view version = metadata["resourceVersion"].string();
  if (!is_lower_version(version, resource_version_)) return request_watch(now);
  ++counters_.relists;
  start_list(now);
}

ReflectorOutput Reflector::opened(LogTime now) {
  if (phase_ != Phase::watching && phase_ != Phase::streaming_list) return finish(now);
  ++counters_.watches;
  opened_at_ = now;
  alive(now);
  until_ =
      now + (phase_ == Phase::watching ? settings_.watch_silence_max : settings_.list_silence_max);
  return finish(now);
}

ReflectorOutput Reflector::bytes(LogTime now, std::string_view chunk) {
  if (phase_ != Phase::watching && phase_ != Phase::streaming_list) return finish(now);
  alive(now);
  until_ =
      now + (phase_ == Phase::watching ? settings_.watch_silence_max : settings_.list_silence_max);
  drain(now, chunk);
  return finish(now);
}

ReflectorOutput Reflector::ended(LogTime now, int status, std::string_view body,
                                 std::optional<Duration> retry_after) {
  if (phase_ != Phase::watching && phase_ != Phase::streaming_list) return finish(now);
  const bool was_list = phase_ == Phase::streaming_list;
  forget_failures_if_lasting(now);
  if (status == 200)
    alive(now);
  else
    position_doubted_ = true;
  if (status == 200 || status == 0) {
    WatchStep step = decoder_.finish();
    if (step.kind == WatchStep::Kind::malformed) ++counters_.malformed;
    if (step.kind == WatchStep::Kind::known) handle_known(*step.fingerprint);
    if (step.kind == WatchStep::Kind::event) handle(now, *step.event, step.fingerprint);
    if (phase_ != Phase::watching && phase_ != Phase::streaming_list) return finish(now);
    if (phase_ == Phase::watching && stream_useful_ && status == 200) {
      request_watch(now);  // the ordinary end of a watch: resume from the last version
      return finish(now);
    }
    if (status == 0) {
      ++counters_.errors;
      log(status_text(0, body));
    }
    back_off(now, phase_ == Phase::streaming_list ? Next::list : Next::resume, retry_after);
    return finish(now);
  }
  if (status == 410) {
    ++counters_.relists;
    ++counters_.errors;
    back_off(now, Next::list, std::nullopt);
  } else if (was_list && (status == 400 || status == 422 || status == 500)) {
    streaming_lists_ = false;
    start_paged_list(now);
  } else if (status == 401 || status == 403 || status == 404) {
    slow_down(now, status, body);
  } else {
    retry_later(now, status, body, was_list ? Next::list : Next::resume, retry_after);
  }
  return finish(now);
}

void Reflector::drain(LogTime now, std::string_view bytes) {
  // An event can end the stream (ERROR, 410): then lines that are buffered behind it do not count.
  while (phase_ == Phase::watching || phase_ == Phase::streaming_list) {
    WatchStep step = decoder_.next(bytes);
    if (step.kind == WatchStep::Kind::need_more) return;
    if (step.kind == WatchStep::Kind::known) {
      handle_known(*step.fingerprint);
      continue;
    }
    if (step.kind == WatchStep::Kind::event) {
      handle(now, *step.event, step.fingerprint);
      count_changes(now);
      if (too_many()) return overflow(now, StaleCause::too_many);
      if (too_many_changes(now)) return overflow(now, StaleCause::too_many_changes);
      continue;
    }
    ++counters_.malformed;
    out_.cancel = true;
    broken(now, step.fault);
  }
}

// Pods of a member, of which only metadata is kept, are as many as its workloads need.
bool Reflector::too_many() const {
  const bool bounded = kind_ == Kind::node || is_read_at_tenant(kind_);
  if (!bounded || scope_.part == ObjectPart::metadata || settings_.nodes_max == 0) return false;
  return (phase_ == Phase::watching ? known_.size() : known_.listed()) > settings_.nodes_max;
}

bool Reflector::too_many_changes(LogTime now) const {
  return phase_ == Phase::watching && budget_.exceeded(now);
}

// Spends the budget for the facts about objects since the last call.
void Reflector::count_changes(LogTime now) {
  if (kind_ != Kind::node) return;
  std::int64_t changes = 0;
  for (; counted_ < out_.facts.size(); ++counted_) {
    const auto& fact = out_.facts[counted_];
    if (std::holds_alternative<ObjectSeen>(fact) || std::holds_alternative<ObjectMissing>(fact))
      ++changes;
  }
  if (changes > 0) budget_.spend(now, changes);
}

// Stops reading for a while, which doubles each time it happens again, and lasts until the budget
// of changes has room, but never so long that the member would count as lost. What was observed
// remains, as it does when a server is silent. Objects that an unfinished list did not reach are
// dropped, so that the bound holds.
void Reflector::overflow(LogTime now, StaleCause cause) {
  const bool changes = cause == StaleCause::too_many_changes;
  if (phase_ == Phase::paging || phase_ == Phase::streaming_list) report_unlisted();
  const bool again = overflow_wait_.ns > 0 && now < overflow_wait_ends_ + settings_.lost_after;
  overflow_wait_ = !again ? settings_.backoff_first
                          : std::min(Duration{overflow_wait_.ns * 2}, settings_.stale_after);
  const Duration room = std::min(budget_.recovery(now), Duration{settings_.lost_after.ns / 2});
  wait(now, jittered(changes ? std::max(overflow_wait_, room) : overflow_wait_), Next::list);
  overflow_wait_ends_ = until_;
  ++counters_.overflows;
  overflowing_ = stale_ = true;
  lost_ = synced_ = false;
  last_alive_ = now;
  out_.cancel = true;
  out_.facts.emplace_back(StreamStale{kind_, cause});
  log(changes ? "more than " + std::to_string(settings_.changes_per_minute) +
                    " changes a minute (members.changesPerMinute): none are read for a while, "
                    "capacity counts as stale"
              : "more than " + std::to_string(settings_.nodes_max) +
                    (kind_ == Kind::node ? " (members.nodesMax): no more are read, capacity counts "
                                           "as stale"
                                         : " (pool.tenantObjectsMax): no more are read"));
}

void Reflector::forget_failures_if_lasting(LogTime now) {
  if (opened_at_ == kForever || now < opened_at_ + kLastingStream) return;
  stream_useful_ = true;
  backoff_.reset();
}

// The stream cannot be read further. Its position still counts, unless the same place breaks again
// and again: then everything is listed.
void Reflector::broken(LogTime now, const std::string& why) {
  ++counters_.errors;
  ++bad_lines_;
  log("broken stream: " + std::string(printable(why)));
  const bool again = phase_ == Phase::streaming_list || bad_lines_ >= kBadLinesMax;
  if (again) {
    ++counters_.relists;
    bad_lines_ = 0;
  }
  if (phase_ == Phase::streaming_list) streaming_lists_ = false;
  back_off(now, again ? Next::list : Next::resume, std::nullopt);
}

void Reflector::handle(LogTime now, const WatchEvent& event,
                       const std::optional<LineFingerprint>& fingerprint) {
  if (event.type == WatchEventType::error) {
    handle_error(now, event.object());
    return;
  }
  stream_useful_ = true;
  bad_lines_ = 0;
  if (phase_ == Phase::watching) {
    backoff_.reset();
    last_diagnostic_.clear();
  }
  if (event.type == WatchEventType::bookmark)
    handle_bookmark(now, event.object());
  else
    handle_object(event, fingerprint);
}

// Whether the line has the same facts of an object as its last one: the hash of every field that a
// projection may read is equal.
bool Reflector::knows(const LineFingerprint& fingerprint) {
  looked_up_ = false;
  if (phase_ != Phase::watching || fingerprint.type != "MODIFIED" || fingerprint.name.empty() ||
      fingerprint.uid.empty() || fingerprint.resource_version.empty())
    return false;
  found_ = known_.find(fingerprint.name_space, fingerprint.name);
  looked_up_ = true;
  return found_ && found_->uid == fingerprint.uid && found_->rest == fingerprint.rest;
}

Reflector::Newer Reflector::is_newer(const KnownObjects::Object& known,
                                     std::string_view resource_version) {
  if (known.resource_version == resource_version) {
    ++counters_.duplicates;
    return Newer::same;
  }
  if (!is_lower_version(resource_version, known.resource_version)) return Newer::yes;
  ++counters_.older;
  return Newer::older;
}

void Reflector::handle_known(const LineFingerprint& fingerprint) {
  ++counters_.events;
  ++counters_.unchanged;
  stream_useful_ = true;
  bad_lines_ = 0;
  backoff_.reset();
  last_diagnostic_.clear();
  resource_version_ = fingerprint.resource_version;
  KnownObjects::Object& known = *found_;
  if (is_newer(known, fingerprint.resource_version) != Newer::yes) return;
  known.resource_version = fingerprint.resource_version;
  // The next write of an object carries its newest version, so that is reported; for kinds that we
  // never write no fact is needed.
  if (!is_written(kind_)) return;
  make_room(out_.facts);
  out_.facts.emplace_back(
      ObjectUnchanged{{kind_, std::string(fingerprint.name_space), std::string(fingerprint.name)},
                      version_,
                      known.uid,
                      known.resource_version});
}

void Reflector::handle_object(const WatchEvent& event,
                              const std::optional<LineFingerprint>& fingerprint) {
  ++counters_.events;
  const JsonView object = event.object();
  const ObjectIdentity identity = identity_of(object);
  const std::string_view name = identity.name, version = identity.resource_version;
  if (name.empty()) {
    ++counters_.malformed;
    return;
  }
  if (phase_ == Phase::watching && !version.empty()) resource_version_ = version;
  if (!is_read(kind_, name)) return;
  if (event.type == WatchEventType::deleted) {
    handle_missing(object);
    return;
  }
  const LineFingerprint::Hash rest = fingerprint ? fingerprint->rest : LineFingerprint::Hash{};
  if (phase_ == Phase::streaming_list) {
    listed(object, event.line, rest);
    return;
  }
  const std::string_view name_space = info(kind_).namespaced ? identity.name_space : "";
  const bool looked_up = fingerprint && looked_up_ && fingerprint->name == name &&
                         fingerprint->name_space == name_space;
  auto* const at = looked_up ? found_ : known_.find(name_space, name);
  if (at) {
    const KnownObjects::Object& known = *at;
    const bool same = known.uid == identity.uid;
    if (same && !known.resource_version.empty() && is_newer(known, version) != Newer::yes) return;
    if (!known.uid.empty() && !same)  // its DELETED never came
      out_.facts.emplace_back(
          ObjectMissing{{kind_, std::string(name_space), std::string(name)}, known.uid, {}});
  }
  if (!emit_object(object, identity, event.line)) {
    // As if it were gone: so it is after a list, too.
    if (at && at->uid == identity.uid)
      out_.facts.emplace_back(
          ObjectMissing{{kind_, std::string(name_space), std::string(name)}, at->uid, {}});
    known_.erase_sought();
    return;
  }
  KnownObjects::Object& known = at ? *at : known_.add_sought();
  if (known.uid != identity.uid) known.uid = identity.uid;
  known.resource_version = version;
  known.rest = rest;
}

// False if the object is refused.
bool Reflector::emit_object(JsonView object, const ObjectIdentity& identity,
                            std::string_view line) {
  make_room(out_.facts);
  ObjectRefusal refused;
  out_.facts.emplace_back(std::in_place_type<ObjectSeen>, Made([&] {
                            return seen_of(kind_, version_, object, identity, refused);
                          }));
  if (refused) {
    out_.facts.pop_back();
    ++counters_.malformed;
    ++counters_.refused;
    return false;
  }
  std::get<ObjectSeen>(out_.facts.back()).raw = raw_of_line(kind_, line);
  return true;
}

void Reflector::handle_missing(JsonView object) {
  JsonView metadata = object["metadata"];
  const std::string uid(metadata["uid"].string());
  ObjectKey key{kind_, info(kind_).namespaced ? std::string(metadata["namespace"].string()) : "",
                std::string(metadata["name"].string())};
  const auto* const found = known_.find(key.namespace_, key.name);
  const bool other = found && !uid.empty() && found->uid != uid;
  if (!found || other) {
    ++counters_.unknown_deletes;
    return;
  }
  known_.erase_sought();
  out_.facts.emplace_back(
      ObjectMissing{std::move(key), uid, std::string(metadata["resourceVersion"].string())});
}

void Reflector::handle_bookmark(LogTime now, JsonView object) {
  ++counters_.bookmarks;
  JsonView metadata = object["metadata"];
  const std::string version(metadata["resourceVersion"].string());
  if (phase_ == Phase::streaming_list) {
    if (metadata["annotations"]["k8s.io/initial-events-end"].string() != "true") return;
    finish_list(version);
    phase_ = Phase::watching;  // the same stream goes on
    until_ = now + settings_.watch_silence_max;
    return;
  }
  if (!version.empty()) resource_version_ = version;
  out_.facts.emplace_back(StreamAlive{kind_, resource_version_});
}

void Reflector::handle_error(LogTime now, JsonView status) {
  ++counters_.errors;
  out_.cancel = true;
  forget_failures_if_lasting(now);
  const auto code = static_cast<int>(status["code"].integer().value_or(0) % 1000);
  const bool was_list = phase_ == Phase::streaming_list;
  if (code == 410 || status["reason"].string() == "Expired" ||
      status["reason"].string() == "Gone") {
    ++counters_.relists;
    // The first time at once; a server that answers so again and again gets growing pauses.
    if (!backoff_.failing() && !was_list) {
      backoff_.note_failure();
      start_list(now);
    } else {
      back_off(now, Next::list, std::nullopt);
    }
    return;
  }
  const bool is_status = status["kind"].string() == "Status";
  log("error event " +
      failure_text(code, is_status ? status["message"].string() : "its object is no Status"));
  if (was_list && (code == 500 || code == 400 || code == 422)) {
    streaming_lists_ =
        false;  // "required storage feature RequestWatchProgress is disabled" and the like
    start_paged_list(now);
    return;
  }
  back_off(now, was_list ? Next::list : Next::resume, std::nullopt);
}

}  // namespace fairlead
