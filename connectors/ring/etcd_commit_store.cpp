#include "connectors/ring/etcd_commit_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "connectors/ring/line_stream.h"
#include "connectors/ring/ring_json.h"
#include "connectors/ring/ring_listing.h"
#include "connectors/ring/ring_times.h"
#include "connectors/ring/store_timer.h"
#include "engine/base/base64.h"
#include "engine/base/check.h"
#include "engine/base/printable.h"
#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

constexpr int kInvalidArgument = 3;  // of gRPC's codes: the request is too large
constexpr int kOutOfRange = 11;      // the revision was compacted, or is of the future
constexpr int kEtcdRestartsMax = 3;

using Numbers = std::array<int, 3>;

// "3.5.13", and "3.6.0-rc.1" as 3.6.0; nullopt if it is no version.
std::optional<Numbers> read_version(std::string_view text) {
  Numbers numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [behind, fault] =
        std::from_chars(text.data(), text.data() + text.size(), numbers.at(i));
    if (fault != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
    if (i + 1 < numbers.size()) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return numbers;
}

// The gateway writes 64-bit numbers as texts, and leaves out what is 0.
std::uint64_t natural(JsonView number) { return version_number(number.text()).value_or(0); }

std::string base64_text(const std::string& bytes) { return '"' + encode_base64(bytes) + '"'; }

// The first key behind all that begin with `prefix`, which does not end with the byte 255.
std::string range_end(std::string prefix) {
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

// An error of the gateway: {"error":"...","code":14,"message":"..."}. 3.5 has both texts, 3.6 one.
struct EtcdFault {
  int code = 0;
  std::string text;
};
EtcdFault fault_in(JsonView body, std::size_t bytes) {
  EtcdFault fault;
  fault.code = static_cast<int>(body["code"].integer().value_or(0) % 1000);
  const std::string_view message = body["message"].string();
  fault.text = printable(message.empty() ? body["error"].string() : message);
  // What a member says to its own gateway.
  if (fault.text.find("server preface: remote error: tls") != std::string::npos)
    fault.text += " (the member's certificate must serve as a client's, too: clientAuth)";
  if (fault.text.empty()) fault.text = "an answer of " + std::to_string(bytes) + " bytes";
  return fault;
}

}  // namespace

// Answers hold it weakly: they may come after the store's end.
struct EtcdCommitStore::Impl : std::enable_shared_from_this<Impl> {
  struct Member {
    EtcdMember of;
    bool checked = false;  // its version, since a connection broke last
  };

  Impl(std::vector<EtcdMember> given, std::string folder_given) : folder(std::move(folder_given)) {
    check(!given.empty() && !folder.empty(), "an etcd has members, and a ring a folder there");
    for (EtcdMember& member : given) members.push_back({std::move(member)});
  }

  // -- requests
  // ------------------------------------------------------------------------------------

  // An answer with status 200 is parsed. Another one, and none, is an error or a fault.
  struct Answer {
    std::string where;  // the endpoint
    std::optional<Error> none;
    int status = 0;
    std::optional<Duration> retry_after;
    JsonDocument body;
    std::size_t bytes = 0;

    bool ok() const { return !none && status == 200; }
    EtcdFault fault() const { return fault_in(body.root(), bytes); }
    std::string why(const std::string& what) const {
      return what + " at " + where + ": " +
             (none ? none->message : "HTTP " + std::to_string(status) + " " + fault().text);
    }
  };
  using Given = std::function<void(const Answer&)>;

  static HttpRequest post(std::string target, std::string body, Duration timeout) {
    HttpRequest request;
    request.method = "POST";
    request.target = std::move(target);
    request.content_type = "application/json";
    request.body = std::move(body);
    request.timeout = timeout;
    return request;
  }

  // Sends it to the present member.
  void send(HttpRequest request, Given given) {
    send_checked(present, std::move(request), std::move(given));
  }

  // Sends it to a member, whose version is asked first.
  void send_checked(std::size_t at, HttpRequest request, Given given) {
    if (members[at].checked) return send_to(at, std::move(request), std::move(given));
    HttpRequest ask;
    ask.target = "/version";
    ask.timeout = kRingTimeout;
    send_to(at, std::move(ask),
            [this, at, request = std::move(request), given = std::move(given)](Answer answer) {
              if (answer.ok()) check_version(at, answer);
              if (answer.none || answer.status != 200) return given(answer);
              send_to(at, request, given);
            });
  }

  void send_to(std::size_t at, HttpRequest request, Given given) {
    members[at].of.transport->send(
        std::move(request),
        [weak = weak_from_this(), at, given = std::move(given)](const Result<HttpResponse>& got) {
          if (const auto self = weak.lock()) given(self->answered(at, got));
        });
  }

  Answer answered(std::size_t at, const Result<HttpResponse>& got) {
    Answer answer;
    answer.where = members[at].of.endpoint;
    if (!got) {
      answer.none = got.error();
    } else {
      answer.status = got->status;
      answer.retry_after = got->retry_after;
      answer.bytes = got->body.size();
      JsonFault fault;
      if (auto document = parse_json(got->body, fault))
        answer.body = std::move(*document);
      else if (got->status == 200)
        answer.none = Error{ErrorCode::unavailable, "the answer is not JSON: " + fault.what};
    }
    // A member without a leader says 503, one that is cut off nothing: another may do better.
    if (answer.none || answer.status >= 500) leave(at);
    return answer;
  }

  void leave(std::size_t at) {
    members[at].checked = false;
    if (at == present) present = (at + 1) % members.size();
  }

  void check_version(std::size_t at, Answer& answer) {
    said_version = answer.body.root()["etcdserver"].string();
    const auto numbers = read_version(said_version);
    members[at].checked = numbers && *numbers >= *read_version(kEtcdVersionLeast);
    if (members[at].checked) return;
    leave(at);
    answer.none = Error{ErrorCode::incompatible, "its version is " +
                                                     (numbers ? said_version + ", " : "unknown, ") +
                                                     kEtcdVersionLeast + " or later is needed"};
  }

  // -- writes
  // --------------------------------------------------------------------------------------

  std::string key(std::uint32_t slot) const { return folder + std::to_string(slot); }

  void write(const char* path, std::string body, const std::string& what,
             std::function<StoreResult(JsonView)> read_result, Answered done) {
    send(post(path, std::move(body), kRingTimeout), [what, read_result = std::move(read_result),
                                                     done = std::move(done)](const Answer& answer) {
      StoreAnswer said;
      said.retry_after = answer.retry_after;
      said.result = answer.ok() ? read_result(answer.body.root()) : result_of(answer);
      const StoreVersion version = natural(answer.body.root()["header"]["revision"]);
      if (said.result == StoreResult::stored && version == 0) said.result = StoreResult::unknown;
      if (said.result == StoreResult::stored)
        said.version = version;
      else
        said.why = answer.ok() ? what + ": " + why_not(said.result) : answer.why(what);
      done(std::move(said));
    });
  }

  static const char* why_not(StoreResult result) {
    switch (result) {
      case StoreResult::conflict: return "the key has another version";
      case StoreResult::missing: return "there is no such key";
      case StoreResult::stored:
      case StoreResult::refused:
      case StoreResult::unknown: break;
    }
    return "the answer names no revision";
  }

  static StoreResult result_of(const Answer& answer) {
    if (answer.none) {
      // Nothing was sent.
      const bool unsent =
          answer.none->code == ErrorCode::denied || answer.none->code == ErrorCode::incompatible;
      return unsent ? StoreResult::refused : StoreResult::unknown;
    }
    const bool too_large = answer.status == 400 && answer.fault().code == kInvalidArgument;
    return answer.status == 403 || too_large ? StoreResult::refused : StoreResult::unknown;
  }

  // Sends a transaction: if `condition` holds, it puts the commit under its key; if not, it reads
  // whether the key exists.
  void put_if(const std::string& condition, const RingCommit& commit, const std::string& what,
              Answered done) {
    const std::string name = base64_text(key(commit.slot()));
    write(
        "/v3/kv/txn",
        R"({"compare":[{"key":)" + name + R"(,"result":"EQUAL",)" + condition +
            R"(}],"success":[{"request_put":{"key":)" + name + R"(,"value":)" +
            base64_text(ring_json(commit)) + R"(}}],"failure":[{"request_range":{"key":)" + name +
            R"(,"count_only":true}}]})",
        what + " " + key(commit.slot()),
        [](JsonView said) {
          if (said["succeeded"].is_true()) return StoreResult::stored;
          for (const JsonView response : said["responses"])
            if (response["response_range"].given())
              return natural(response["response_range"]["count"]) == 0 ? StoreResult::missing
                                                                       : StoreResult::conflict;
          return StoreResult::unknown;
        },
        std::move(done));
  }

  // -- reads
  // ---------------------------------------------------------------------------------------

  Result<RingSlot> read_key(JsonView kv, std::uint32_t slot) const {
    RingSlot read;
    read.version = natural(kv["mod_revision"]);
    const auto value = decode_base64(kv["value"].string());
    JsonFault fault;
    const auto document = value ? parse_json(*value, fault) : std::nullopt;
    if (!document || read.version == 0)
      return Error{ErrorCode::corrupt, key(slot) + ": the value is not JSON"};
    auto commit = read_ring_json(document->root(), slot, key(slot));
    if (!commit) return commit.error();
    read.commit = std::move(*commit);
    return read;
  }

  // Returns the slot that a key of the folder is; nullopt for any other.
  std::optional<std::uint32_t> slot_of(JsonView kv) const {
    const auto name = decode_base64(kv["key"].string());
    if (!name || !name->starts_with(folder)) return std::nullopt;
    return read_slot_number(std::string_view(*name).substr(folder.size()));
  }

  static Error failure(const Answer& answer, const std::string& what) {
    return {ErrorCode::unavailable, answer.why(what)};
  }

  void read(std::uint32_t slot, std::size_t at, Read done) {
    read_by[slot] = at;
    send_checked(at,
                 post("/v3/kv/range", R"({"key":)" + base64_text(key(slot)) + "}", kRingTimeout),
                 [this, slot, done = std::move(done)](const Answer& answer) {
                   done(read_answer(slot, answer));
                 });
  }

  Result<std::optional<RingSlot>> read_answer(std::uint32_t slot, const Answer& answer) const {
    if (!answer.ok()) return failure(answer, "read " + key(slot));
    const JsonView found = answer.body.root();
    if (!found["header"].given())
      return Error{ErrorCode::unavailable,
                   "read " + key(slot) + ": the answer is of something else"};
    if (found["kvs"].size() == 0) return std::optional<RingSlot>();
    auto kv = read_key(*found["kvs"].begin(), slot);
    if (!kv) return kv.error();
    return std::optional(std::move(*kv));
  }

  // A list in pages of one revision, under way.
  struct Listing {
    RingListing to;
    StoreVersion version = 0;
    std::string from;  // the first key of the next page
    int limit = kRingPage;
    int restarts = 0;
  };

  void list(RingListing to) {
    auto listing = std::make_shared<Listing>();
    listing->to = std::move(to);
    listing->from = folder;
    list_page(listing);
  }

  void list_page(const std::shared_ptr<Listing>& listing) {
    std::string body = R"({"key":)" + base64_text(listing->from) + R"(,"range_end":)" +
                       base64_text(range_end(folder)) + R"(,"limit":)" +
                       std::to_string(listing->limit);
    if (listing->version != 0) body += R"(,"revision":")" + std::to_string(listing->version) + '"';
    send(post("/v3/kv/range", body + "}", kRingPageTimeout),
         [this, listing](const Answer& answer) { listed_page(listing, answer); });
  }

  void listed_page(const std::shared_ptr<Listing>& listing, const Answer& answer) {
    // The page is longer than we read, or than gRPC carries.
    const bool long_page = !answer.none && (answer.status == 413 || answer.status == 429);
    if (long_page && listing->limit > 1) {
      listing->limit = std::max(1, listing->limit / 10);
      return list_page(listing);
    }
    const bool compacted = !answer.none && answer.fault().code == kOutOfRange;
    if (compacted && listing->restarts < kEtcdRestartsMax) {
      ++listing->restarts;
      listing->version = 0;
      listing->to.anew();
      listing->from = folder;
      return list_page(listing);
    }
    if (!answer.ok()) return listing->to.done(failure(answer, "list " + folder));
    const JsonView page = answer.body.root();
    if (listing->version == 0) listing->version = natural(page["header"]["revision"]);
    if (listing->version == 0)
      return listing->to.done(
          Error{ErrorCode::unavailable, "list " + folder + ": the answer is of something else"});
    std::string last;
    for (const JsonView kv : page["kvs"]) {
      last = kv["key"].string();
      if (const auto slot = slot_of(kv))
        if (auto read = read_key(kv, *slot)) listing->to.each(std::move(*read));
    }
    const auto last_key = decode_base64(last);
    if (page["more"].is_true() && last_key) {
      listing->from = *last_key + '\0';
      return list_page(listing);
    }
    listing->to.done(listing->version);
  }

  // -- changes
  // -------------------------------------------------------------------------------------

  std::unique_ptr<Following> follow(StoreVersion from, FollowHandler handler) {
    Member& member = members[present];
    const std::string what = "watch " + folder + " at " + member.of.endpoint;
    HttpRequest request =
        post("/v3/watch",
             R"({"create_request":{"key":)" + base64_text(folder) + R"(,"range_end":)" +
                 base64_text(range_end(folder)) + R"(,"start_revision":")" +
                 std::to_string(from + 1) + R"(","fragment":true}})",
             kRingPageTimeout);
    auto shared = std::make_shared<FollowHandler>(std::move(handler));
    LineStream::Handler lines;
    lines.line = [weak = weak_from_this(), shared, what](JsonView line) {
      const auto self = weak.lock();
      return self ? self->read_line(line, *shared, what) : std::nullopt;
    };
    lines.refused = [what](const HttpResponse& got) {
      JsonFault fault;
      const auto document = parse_json(got.body, fault);
      return Error{ErrorCode::unavailable,
                   what + ": HTTP " + std::to_string(got.status) + " " +
                       fault_in(document ? document->root() : JsonView{}, got.body.size()).text};
    };
    lines.ended = [shared](Error why) { shared->ended(std::move(why)); };
    return std::make_unique<LineStream>(*member.of.transport, std::move(request), what,
                                        std::move(lines));
  }

  std::optional<Error> read_line(JsonView line, const FollowHandler& handler,
                                 const std::string& what) const {
    const JsonView result = line["result"];
    if (!result.given())
      return Error{ErrorCode::unavailable, what + ": " + fault_in(line["error"], 0).text};
    if (result["canceled"].is_true()) {
      const bool gone = natural(result["compact_revision"]) != 0;
      return Error{gone ? ErrorCode::gone : ErrorCode::unavailable,
                   what + ": canceled: " + printable(result["cancel_reason"].string())};
    }
    for (const JsonView event : result["events"]) {
      const auto slot = slot_of(event["kv"]);
      if (!slot) continue;
      auto read = read_key(event["kv"], *slot);
      // A value that is no RingCommit is reported as removed. A reader of the slot gets the error.
      if (event["type"].string() == "DELETE" || !read)
        handler.removed(*slot);
      else
        handler.changed(std::move(*read));
    }
    return std::nullopt;
  }

  const std::string folder;
  std::vector<Member> members;
  std::size_t present = 0;
  std::string said_version;                      // of the member that was asked for it last
  std::map<std::uint32_t, std::size_t> read_by;  // the member that was asked for a slot last
};

EtcdCommitStore::EtcdCommitStore(std::vector<EtcdMember> members, std::string folder)
    : impl_(std::make_shared<Impl>(std::move(members), std::move(folder))) {}

EtcdCommitStore::~EtcdCommitStore() = default;

void EtcdCommitStore::replace(const RingCommit& commit, StoreVersion expected, Answered done) {
  // A mod_revision of 0 would be that of a key that is not there.
  impl_->put_if(R"("target":"MOD","mod_revision":")" +
                    std::to_string(std::max<StoreVersion>(expected, 1)) + '"',
                commit, "replace", std::move(done));
}

void EtcdCommitStore::create(const RingCommit& commit, Answered done) {
  impl_->put_if(R"("target":"CREATE","create_revision":"0")", commit, "create", std::move(done));
}

void EtcdCommitStore::remove(std::uint32_t slot, Answered done) {
  const std::string key = impl_->key(slot);
  impl_->write(
      "/v3/kv/deleterange", R"({"key":)" + base64_text(key) + "}", "delete " + key,
      [](JsonView) { return StoreResult::stored; },
      [done = std::move(done)](StoreAnswer said) {
        said.version = 0;
        done(std::move(said));
      });
}

void EtcdCommitStore::read(std::uint32_t slot, Read done) {
  impl_->read(slot, impl_->present, std::move(done));
}

void EtcdCommitStore::read_again(std::uint32_t slot, Read done) {
  impl_->read(slot, (impl_->read_by[slot] + 1) % impl_->members.size(), std::move(done));
}

void EtcdCommitStore::list(std::function<void(Result<Listed>)> done) {
  impl_->list(whole_ring(std::move(done)));
}

void EtcdCommitStore::list_each(std::function<void(RingSlot)> each,
                                std::function<void(Result<StoreVersion>)> done) {
  impl_->list({std::move(each), [] {}, std::move(done)});
}

std::unique_ptr<CommitStore::Following> EtcdCommitStore::follow(StoreVersion from,
                                                                FollowHandler handler) {
  return impl_->follow(from, std::move(handler));
}

std::unique_ptr<CommitStore::Timer> EtcdCommitStore::after(Duration span,
                                                           std::function<void()> work) {
  return std::make_unique<StoreTimer>(
      impl_->members.front().of.transport->after(span, std::move(work)));
}

const std::string& EtcdCommitStore::version() const { return impl_->said_version; }

LogTime EtcdCommitStore::now() const { return impl_->members.front().of.transport->now(); }

}  // namespace fairlead
