// Any text as selector: it is unsupported, or it has one verdict on a device, twice; never a crash,
// never a hang. The first line of the input is a value that the device publishes, the rest is the
// expression.
#include <algorithm>
#include <string>

#include "engine/devices/cel.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

DeviceFacts device_with(std::string_view text) {
  DeviceFacts device;
  device.attributes = {{"a", "bfalse"},
                       {"text", kStringAttribute + std::string(text)},
                       {"version", kVersionAttribute + std::string(text)},
                       {"other.example.com/n", "i-7"}};
  device.capacity = {{"memory", Quantity::parse(text).value_or(Quantity()), {}},
                     {"other.example.com/slots", Quantity(), {}}};
  device.extras.emplace().shared = true;
  return device;
}

void check_verdict(const CelSelector& selector, const DeviceFacts& device) {
  std::string why, again;
  const SelectorVerdict verdict = selector.evaluate("gpu.example.com", device, why);
  check(selector.evaluate("gpu.example.com", device, again) == verdict && why == again,
        "a verdict is the same twice");
  check(selector.evaluate("gpu.example.com", device) == verdict, "a reason changes no verdict");
  check(selector.supported() == (verdict != SelectorVerdict::unsupported),
        "what is not supported has no other verdict");
  check(why.empty() == (verdict != SelectorVerdict::error), "an error has a reason");
  check(why.size() < 200, "a reason is bounded");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = as_text(data, size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view expression = input.substr(std::min(line + 1, input.size()));
  const CelSelector selector = CelSelector::compile(expression);
  check(selector.supported() == selector.unsupported().empty(), "what is not supported is named");
  check(selector.unsupported().size() < 200, "a name is bounded");
  check(selector.supported() <= (expression.size() <= kCelBytesMax), "an expression is bounded");
  check_verdict(selector, device_with(input.substr(0, line)));
  check_verdict(selector, {});
  if (!selector.supported()) return 0;
  const std::string_view driver = "gpu.example.com";
  const DeviceFacts device = device_with(input.substr(0, line)), other = device_with("1.2.3");
  check(selector.seen_of(driver, device) != selector.seen_of(driver, other) ||
            selector.evaluate(driver, device) == selector.evaluate(driver, other),
        "devices that look the same have the same verdict");
  return 0;
}
