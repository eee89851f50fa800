// Which version of each kind an API server offers. Does no I/O.
//
// A round begins with the server's documents of all groups (aggregated discovery, Kubernetes 1.26
// and later; asked by ETag, so that one which did not change is a short answer). What a document
// does not have is asked for once by its own list: a server that starts answers 503 there, while
// its document is merely short. A server without such documents is asked for every list, in every
// round. Versions are tried best first (v1beta2 before v1beta1). A kind whose CRD is absent has no
// version: it is waited for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/document/json_document.h"
#include "engine/base/result.h"
#include "schema/kind.h"

namespace fairlead {

/// A GET of a round.
struct DiscoveryRequest {
  std::string path;
  std::string_view accept;  ///< the value of that header; a constant
  std::string etag;         ///< the value of If-None-Match; empty: without

  friend bool operator==(const DiscoveryRequest&, const DiscoveryRequest&) = default;
};

class Discovery {
 public:
  explicit Discovery(std::vector<Kind> kinds);

  /// Returns the requests that begin a round: the documents that have kinds of ours. /api is not
  /// asked for again once the core API is known.
  std::vector<DiscoveryRequest> documents() const;
  /// Returns the requests that end the round: the lists of the group versions that are undecided
  /// (/api/v1, /apis/GROUP/VERSION).
  std::vector<DiscoveryRequest> lists() const;
  /// The server may be another one: its documents are read again. What is known stays until then.
  void forget_documents();

  /// Notes the answer to one of documents(): a document, 304 for one that did not change; any other
  /// answer of a server that works says that there is none. `unavailable` statuses (is_failure)
  /// change nothing. Fails with `bad_input` for a 200 that does not come from an API server.
  [[nodiscard]] Result<void> answer_document(const DiscoveryRequest& asked, int status,
                                             std::string_view body, std::string etag);
  /// Notes the answer to one of lists(): 200 with an APIResourceList, 404 for a version of a group
  /// that is not served. Any other status (0: no answer) leaves what is known of that path. So do a
  /// 200 with another body and a 404 for the core API (the server is not an API server), for which
  /// it fails with `bad_input`: the message says why and quotes nothing.
  [[nodiscard]] Result<void> answer(const std::string& path, int status, std::string_view body);

  /// Returns the best version in which the kind is served; nullopt if there is none.
  std::optional<std::string> version(Kind kind) const;
  /// Whether every path that could decide the kind's version was answered at least once.
  bool decided(Kind kind) const;
  /// Returns a sentence for each kind that the documents have only in versions that are not read,
  /// once, until it is served in one that is. A server without documents is not asked for them.
  std::vector<std::string> newly_unread();

 private:
  std::vector<std::string> paths() const;
  bool is_open_below(std::string_view root) const;
  void open_below(std::string_view root);
  Result<void> read_document(const std::string& root, JsonView document);

  std::vector<Kind> kinds_;
  std::map<std::string, std::set<std::string>> resources_;   // path -> plural names
  std::map<Kind, std::vector<std::string>> other_versions_;  // that serve the kind, not read
  std::set<Kind> reported_unread_;
  std::map<std::string, std::string> etags_;  // of the documents, by path
  std::set<std::string> open_;                // paths whose lists are to be asked for
};

/// Whether a status of a document says that the server does not answer at present.
bool is_failure(int status);

}  // namespace fairlead
