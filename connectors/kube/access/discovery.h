// Which version of each kind an API server offers. Does no I/O.
//
// Versions are tried best first (v1beta2 before v1beta1), by asking for the resource lists of each
// group version. A kind whose CRD is absent has no version: it is waited for. Of such a kind the
// other versions of its group are looked at, too: a server that serves the kind in one that is not
// read is not a server without the kind.
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

class Discovery {
 public:
  explicit Discovery(std::vector<Kind> kinds);

  /// Returns the paths to GET, each once: /api/v1, /apis/GROUP/VERSION. Answers may add others, of
  /// which decided() does not depend (see is_asked_beside).
  std::vector<std::string> paths() const;
  /// Returns those of paths() that have not been answered.
  std::vector<std::string> unanswered() const;
  /// Whether the path is only asked for the versions that are not read. Any failure means that
  /// there are none.
  bool is_asked_beside(const std::string& path) const;
  /// Notes the answer to one of paths(): 200 with an APIResourceList, 404 for a version of a group
  /// that is not served. Any other status (0: no answer) leaves what is known of that path. So do a
  /// 200 with another body and a 404 for the core API (the server is no API server), for which it
  /// fails with `bad_input`: the message says why and quotes nothing.
  [[nodiscard]] Result<void> answer(const std::string& path, int status, std::string_view body);

  /// Returns the best version in which the kind is served; nullopt if there is none.
  std::optional<std::string> version(Kind kind) const;
  /// Whether every path that could decide the kind's version was answered at least once.
  bool decided(Kind kind) const;
  /// Returns the versions in which a kind without version() is served although they are not read.
  std::vector<std::string> unread_versions(Kind kind) const;

 private:
  std::vector<std::string> read_paths() const;
  std::vector<std::string> other_versions(Kind kind) const;
  Result<void> read_resources(const std::string& path, std::string_view body);

  std::vector<Kind> kinds_;
  std::map<std::string, std::set<std::string>> resources_;    // path -> plural names
  std::map<std::string, std::vector<std::string>> versions_;  // path of a group -> its versions
};

}  // namespace fairlead
