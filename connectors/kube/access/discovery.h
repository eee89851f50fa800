// Which version of each kind an API server offers. Does no I/O.
//
// Versions are tried best first (v1beta2 before v1beta1), by asking for the resource lists of each
// group version. A kind whose CRD is absent has no version: it is waited for.
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

  /// Returns the paths to GET, each once: /api/v1, /apis/GROUP/VERSION.
  std::vector<std::string> paths() const;
  /// Notes the answer to one of paths(): 200 with an APIResourceList, 404 for a version of a group
  /// that is not served. Any other status (0: no answer) leaves what is known of that path. So do a
  /// 200 with another body and a 404 for the core API (the server is no API server), for which it
  /// fails with `bad_input`: the message says why and quotes nothing.
  [[nodiscard]] Result<void> answer(const std::string& path, int status, std::string_view body);

  /// Returns the best version in which the kind is served; nullopt if there is none.
  std::optional<std::string> version(Kind kind) const;
  /// Whether every path that could decide the kind's version was answered at least once.
  bool decided(Kind kind) const;

 private:
  std::vector<Kind> kinds_;
  std::map<std::string, std::set<std::string>> resources_;  // path -> plural names
};

}  // namespace fairlead
