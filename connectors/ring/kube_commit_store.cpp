#include "connectors/ring/kube_commit_store.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"
#include "connectors/ring/line_stream.h"
#include "connectors/ring/ring_json.h"
#include "connectors/ring/ring_listing.h"
#include "connectors/ring/ring_times.h"
#include "connectors/ring/store_timer.h"
#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

constexpr const char* kApi = "fairlead.io/v1alpha1";
// The answer to a write is the object; without this it would have the pack in it.
constexpr const char* kMetadataOnly =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr int kListRestartsMax = 3;
constexpr std::int64_t kWatchSeconds = 300;

// What a server said to a write; only `stored` and `conflict` decide.
StoreResult kube_result(int status) {
  switch (status) {
    case 200:
    case 201: return StoreResult::stored;
    case 409: return StoreResult::conflict;
    case 404: return StoreResult::missing;
    case 403:
    case 410:
    case 413:
    case 422: return StoreResult::refused;
    default: return StoreResult::unknown;
  }
}

StoreVersion version_of(JsonView object) {
  return version_number(object["metadata"]["resourceVersion"].string()).value_or(0);
}

}  // namespace

// Answers hold it weakly: they may come after the store's end.
struct KubeCommitStore::Impl : std::enable_shared_from_this<Impl> {
  Impl(Transport& transport_given, KubeRingPlace place_given)
      : transport(transport_given),
        place(std::move(place_given)),
        collection("/apis/" + std::string(kApi) + "/namespaces/" + url_encode(place.namespace_) +
                   "/logcommits") {}

  std::string name(std::uint32_t slot) const { return place.name + "-" + std::to_string(slot); }
  std::string path(std::uint32_t slot) const { return collection + "/" + url_encode(name(slot)); }
  // Of an object in messages.
  std::string title(const std::string& object) const {
    return "logcommits " + place.namespace_ + "/" + object;
  }

  // Returns the slot that an object of this ring is; nullopt for any other.
  std::optional<std::uint32_t> slot_of(std::string_view object) const {
    const std::string prefix = place.name + "-";
    if (!object.starts_with(prefix)) return std::nullopt;
    return read_slot_number(object.substr(prefix.size()));
  }

  Result<RingSlot> read_object(JsonView object, std::uint32_t slot) const {
    const std::string where = title(name(slot));
    RingSlot read;
    read.version = version_of(object);
    if (read.version == 0)
      return Error{ErrorCode::corrupt, where + ": metadata.resourceVersion: expected a number"};
    auto commit = read_ring_json(object["spec"], slot, where + ": spec");
    if (!commit) return commit.error();
    read.commit = std::move(*commit);
    return read;
  }

  std::string body_of(const RingCommit& commit, StoreVersion expected) const {
    Json metadata{{"name", name(commit.slot())}, {"namespace", place.namespace_}};
    if (expected != 0) metadata["resourceVersion"] = std::to_string(expected);
    return std::string(R"({"apiVersion":")") + kApi + R"(","kind":"LogCommit","metadata":)" +
           to_text(metadata) + R"(,"spec":)" + ring_json(commit) + "}";
  }

  void write(HttpRequest request, std::uint32_t slot, Answered done) {
    request.accept = kMetadataOnly;
    request.content_type = "application/json";
    request.timeout = kRingTimeout;
    const bool versioned = request.method != "DELETE";
    const std::string what = request.method + " " + title(name(slot));
    const std::string target = request.target;
    const std::string too_long = too_long_status(request.body_bytes_max);
    transport.send(std::move(request), [weak = weak_from_this(), versioned, what, target, too_long,
                                        done = std::move(done)](const Result<HttpResponse>& got) {
      if (weak.expired()) return;
      StoreAnswer said = answer(got, target, too_long);
      if (said.result == StoreResult::stored && versioned && said.version == 0)
        said = {StoreResult::unknown, 0, "the answer names no version"};
      if (!said.why.empty()) said.why = what + ": " + said.why;
      done(std::move(said));
    });
  }

  static StoreAnswer answer(const Result<HttpResponse>& got, const std::string& target,
                            const std::string& too_long) {
    StoreAnswer said;
    if (!got) {
      // Without credentials nothing was sent.
      if (got.error().code == ErrorCode::denied) said.result = StoreResult::refused;
      said.why = got.error().message;
      return said;
    }
    said.retry_after = got->retry_after;
    // A 413 of our own: it is the answer that is too long, and the request may have been stored.
    if (got->body != too_long) said.result = kube_result(got->status);
    if (said.result != StoreResult::stored) {
      said.why = "HTTP " + std::to_string(got->status) + " " +
                 failure_message(got->status, target, got->body);
      return said;
    }
    JsonFault fault;
    if (const auto document = parse_json(got->body, fault))
      said.version = version_of(document->root());
    return said;
  }

  static bool is_status(const std::string& body) {
    JsonFault fault;
    const auto document = parse_json(body, fault);
    return document && document->root()["kind"].string() == "Status";
  }

  Error failure(const std::string& what, const HttpResponse& got, const std::string& target) const {
    return {ErrorCode::unavailable, what + ": HTTP " + std::to_string(got.status) + " " +
                                        failure_message(got.status, target, got.body)};
  }

  Result<std::optional<RingSlot>> read_answer(const Result<HttpResponse>& got,
                                              std::uint32_t slot) const {
    const std::string what = "GET " + title(name(slot));
    if (!got) return Error{ErrorCode::unavailable, what + ": " + got.error().message};
    // Another 404 says that the kind is not served, which says nothing about the slot.
    if (got->status == 404 && is_status(got->body)) return std::optional<RingSlot>();
    if (got->status != 200) return failure(what, *got, path(slot));
    JsonFault fault;
    const auto document = parse_json(got->body, fault);
    if (!document)
      return Error{ErrorCode::unavailable, what + ": the answer is not JSON: " + fault.what};
    auto read = read_object(document->root(), slot);
    if (!read) return read.error();
    return std::optional(std::move(*read));
  }

  // A list in pages, under way.
  struct Listing {
    RingListing to;
    StoreVersion version = 0;
    std::string next;  // `continue`
    int limit = kRingPage;
    int restarts = 0;
  };

  void list(RingListing to) {
    auto listing = std::make_shared<Listing>();
    listing->to = std::move(to);
    list_page(listing);
  }

  void list_page(const std::shared_ptr<Listing>& listing) {
    HttpRequest request;
    request.target = collection + "?limit=" + std::to_string(listing->limit);
    if (!listing->next.empty()) request.target += "&continue=" + url_encode(listing->next);
    request.timeout = kRingPageTimeout;
    transport.send(std::move(request),
                   [weak = weak_from_this(), listing](const Result<HttpResponse>& got) {
                     if (const auto self = weak.lock()) self->listed_page(listing, got);
                   });
  }

  void listed_page(const std::shared_ptr<Listing>& listing, const Result<HttpResponse>& got) {
    const std::string what = "list " + title(place.name + "-*");
    if (!got)
      return listing->to.done(Error{ErrorCode::unavailable, what + ": " + got.error().message});
    // The page is longer than we read: one of packs of single, large records.
    if (got->status == 413 && listing->limit > 1) {
      listing->limit = std::max(1, listing->limit / 10);
      return list_page(listing);
    }
    // What the next page is of was compacted.
    if (got->status == 410 && listing->restarts < kListRestartsMax) {
      ++listing->restarts;
      listing->version = 0;
      listing->to.anew();
      listing->next.clear();
      return list_page(listing);
    }
    if (got->status != 200) return listing->to.done(failure(what, *got, collection));
    JsonFault fault;
    const auto document = parse_json(got->body, fault);
    const JsonView page = document ? document->root() : JsonView{};
    listing->version = version_of(page);
    if (listing->version == 0)
      return listing->to.done(Error{ErrorCode::unavailable, what + ": the answer is no list"});
    for (const JsonView object : page["items"])
      if (const auto slot = slot_of(object["metadata"]["name"].string()))
        if (auto read = read_object(object, *slot)) listing->to.each(std::move(*read));
    listing->next = page["metadata"]["continue"].string();
    if (!listing->next.empty()) return list_page(listing);
    listing->to.done(listing->version);
  }

  std::unique_ptr<Following> follow(StoreVersion from, FollowHandler handler) {
    HttpRequest request;
    request.target = collection + "?watch=true&allowWatchBookmarks=true&resourceVersion=" +
                     std::to_string(from) + "&timeoutSeconds=" + std::to_string(kWatchSeconds);
    request.timeout = kRingPageTimeout;
    const std::string what = "watch " + title(place.name + "-*");
    auto shared = std::make_shared<FollowHandler>(std::move(handler));
    LineStream::Handler lines;
    lines.line = [weak = weak_from_this(), shared, what](JsonView line) {
      const auto self = weak.lock();
      return self ? self->read_line(line, *shared, what) : std::nullopt;
    };
    lines.refused = [what, target = collection](const HttpResponse& got) {
      const ErrorCode code = got.status == 410 ? ErrorCode::gone : ErrorCode::unavailable;
      return Error{code, what + ": HTTP " + std::to_string(got.status) + " " +
                             failure_message(got.status, target, got.body)};
    };
    lines.ended = [shared](Error why) { shared->ended(std::move(why)); };
    return std::make_unique<LineStream>(transport, std::move(request), what, std::move(lines));
  }

  void read(std::uint32_t slot, HttpRequest request, Read done) {
    request.target = path(slot);
    request.timeout = kRingTimeout;
    transport.send(std::move(request), [weak = weak_from_this(), slot,
                                        done = std::move(done)](const Result<HttpResponse>& got) {
      if (const auto self = weak.lock()) done(self->read_answer(got, slot));
    });
  }

  // An object that is no RingCommit is reported as removed. A reader of the slot gets the error.
  std::optional<Error> read_line(JsonView line, const FollowHandler& handler,
                                 const std::string& what) const {
    const std::string_view type = line["type"].string();
    const JsonView object = line["object"];
    if (type == "BOOKMARK") return std::nullopt;
    if (type == "ERROR" || !object.given()) {
      const std::string_view reason = object["reason"].string();
      const bool gone = object["code"].integer() == 410 || reason == "Expired" || reason == "Gone";
      return Error{gone ? ErrorCode::gone : ErrorCode::unavailable,
                   what + ": " + std::string(object["message"].string())};
    }
    const auto slot = slot_of(object["metadata"]["name"].string());
    if (!slot) return std::nullopt;
    auto read = read_object(object, *slot);
    if (type == "DELETED" || !read)
      handler.removed(*slot);
    else
      handler.changed(std::move(*read));
    return std::nullopt;
  }

  Transport& transport;
  const KubeRingPlace place;
  const std::string collection;
};

KubeCommitStore::KubeCommitStore(Transport& transport, KubeRingPlace place)
    : impl_(std::make_shared<Impl>(transport, std::move(place))) {}

KubeCommitStore::~KubeCommitStore() = default;

void KubeCommitStore::replace(const RingCommit& commit, StoreVersion expected, Answered done) {
  HttpRequest request;
  request.method = "PUT";
  request.target = impl_->path(commit.slot());
  // Nothing has version 0, and an update without a version is not sent on any account: 422 is what
  // this server says to it, another one might carry it out.
  request.body = impl_->body_of(commit, std::max<StoreVersion>(expected, 1));
  impl_->write(std::move(request), commit.slot(), std::move(done));
}

void KubeCommitStore::create(const RingCommit& commit, Answered done) {
  HttpRequest request;
  request.method = "POST";
  request.target = impl_->collection;
  request.body = impl_->body_of(commit, 0);
  impl_->write(std::move(request), commit.slot(), std::move(done));
}

void KubeCommitStore::remove(std::uint32_t slot, Answered done) {
  HttpRequest request;
  request.method = "DELETE";
  request.target = impl_->path(slot);
  impl_->write(std::move(request), slot, [done = std::move(done)](StoreAnswer said) {
    if (said.result == StoreResult::missing) said = {StoreResult::stored};
    said.version = 0;  // of what was deleted, if anything
    done(std::move(said));
  });
}

void KubeCommitStore::read(std::uint32_t slot, Read done) {
  impl_->read(slot, {}, std::move(done));
}

void KubeCommitStore::read_again(std::uint32_t slot, Read done) {
  HttpRequest request;
  request.new_connection = true;
  impl_->read(slot, std::move(request), std::move(done));
}

void KubeCommitStore::list(std::function<void(Result<Listed>)> done) {
  impl_->list(whole_ring(std::move(done)));
}

void KubeCommitStore::list_each(std::function<void(RingSlot)> each,
                                std::function<void(Result<StoreVersion>)> done) {
  impl_->list({std::move(each), [] {}, std::move(done)});
}

std::unique_ptr<CommitStore::Following> KubeCommitStore::follow(StoreVersion from,
                                                                FollowHandler handler) {
  return impl_->follow(from, std::move(handler));
}

std::unique_ptr<CommitStore::Timer> KubeCommitStore::after(Duration span,
                                                           std::function<void()> work) {
  return std::make_unique<StoreTimer>(impl_->transport.after(span, std::move(work)));
}

LogTime KubeCommitStore::now() const { return impl_->transport.now(); }

}  // namespace fairlead
