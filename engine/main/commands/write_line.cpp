#include "engine/main/commands/write_line.h"

#include <algorithm>
#include <sstream>

#include "engine/base/json.h"
#include "engine/plan/emit.h"

namespace fairlead {

std::string write_line(Seq seq, LogTime time, const PatchIntended& intent) {
  const auto text = [](const std::string& value) { return to_text(Json(value)); };
  std::ostringstream out;
  out << "{\"seq\":" << seq.value << ",\"time\":" << text(to_rfc3339(time))
      << ",\"cluster\":" << text(intent.cluster)
      << ",\"verb\":" << text(std::string(text_of(intent.verb)))
      << ",\"apiVersion\":" << text(api_version(intent.target.kind, intent.version))
      << ",\"kind\":" << text(std::string(info(intent.target.kind).name))
      << ",\"namespace\":" << text(intent.target.namespace_)
      << ",\"name\":" << text(intent.target.name);
  // A forged log may hold a body that is not JSON: it must not break the line.
  const bool is_line = std::none_of(intent.body.begin(), intent.body.end(),
                                    [](unsigned char c) { return c < 0x20; });
  if (!intent.body.empty()) out << ",\"body\":" << (is_line ? intent.body : text(intent.body));
  if (intent.force) out << ",\"force\":true";
  Json because = Json::array();
  for (const Seq reason : intent.reason.because) because.push_back(reason.value);
  out << ",\"reason\":{\"rule\":" << text(intent.reason.rule) << ",\"because\":" << to_text(because)
      << ",\"text\":" << text(intent.reason.text) << "}}";
  return out.str();
}

}  // namespace fairlead
