// Any JSON: the tree agrees with nlohmann's, canonical text is a fixed point, and every projection
// takes it.
#include "connectors/kube/projection/projection.h"

#include "tests/fuzz/fuzz.h"

using namespace fairlead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  auto document = parse_json(text);
  // (nlohmann has no depth limit, refuses numbers beyond a double and takes a NUL for the end.)
  if (document.has_error()) {
    const bool deep = document.error().message.find("nested deeper") != std::string::npos;
    const bool nul = text.find('\0') != std::string_view::npos;
    check(deep || nul || !Json::accept(text), "what is refused is no JSON");
    return 0;
  }
  const std::string canonical = canonical_text(document->root());
  auto again = parse_json(canonical);
  check(again.has_value() && canonical_text(again->root()) == canonical,
        "canonical text is a fixed point");
  const Json other = Json::parse(text, nullptr, false);
  if (!other.is_discarded()) to_json(document->root());
  raw_text(document->root());
  (void)project(document->root());
  for (const KindInfo& kind : kKinds)
    for (const char* version : {"v1", "v1beta1"})
      (void)project_as(kind.kind, version, document->root());
  return 0;
}
