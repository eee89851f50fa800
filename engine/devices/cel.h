// Selectors of devices, written in CEL.
//
// No CEL library in C++ can be relied on to give one answer on every machine for years, and a
// selector decides about quota and placement: this evaluator is a pure function of (text, device).
// It understands a part of CEL. Everything else is unsupported, and an unsupported selector is
// never true. Source of that part: k8s.io/dynamic-resource-allocation/cel and the CEL
// specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "schema/kinds/devices.h"

namespace fairlead {

namespace cel {
struct Program;
}  // namespace cel

/// The most evaluation steps on one device, about 0.1 ms; more are an error. The longest expression
/// without loops takes some 5,000, a usual one 3. An expression that takes more on a device that
/// publishes nothing is unsupported: no device need be asked.
inline constexpr int kCelStepsMax = 10'000;
/// The bound for selectors in requests, about 10 us: a tenant or a user of a queue writes them, and
/// the hub evaluates them on each device.
inline constexpr int kCelRequestStepsMax = 1'000;

/// The verdict of a selector about a device.
enum class SelectorVerdict : std::uint8_t { no, yes, error, unsupported };

/// One compiled expression. Copies share it; may be used from any thread.
class CelSelector {
 public:
  /// Compiles `text`, to be given up on a device after `steps_max` evaluation steps. Never fails:
  /// what is not understood makes the selector unsupported.
  static CelSelector compile(std::string_view text, int steps_max = kCelStepsMax);

  bool supported() const;
  /// Returns what is not understood, for a person: "function foo"; empty if supported.
  const std::string& unsupported() const;

  /// Evaluates the expression on a device of `driver`.
  SelectorVerdict evaluate(std::string_view driver, const DeviceFacts& device) const;
  /// Also sets `why` to the error, for a person, where the verdict is `error`.
  SelectorVerdict evaluate(std::string_view driver, const DeviceFacts& device,
                           std::string& why) const;
  /// Also sets `steps` to the evaluation steps that it took.
  SelectorVerdict evaluate(std::string_view driver, const DeviceFacts& device,
                           std::int64_t& steps) const;
  /// Returns a text that is equal for devices that look alike to the expression, so that its
  /// verdict about them is the same. The expression must be supported.
  std::string seen_of(std::string_view driver, const DeviceFacts& device) const;

 private:
  explicit CelSelector(std::shared_ptr<const cel::Program> program);
  std::shared_ptr<const cel::Program> program_;
};

/// The longest expression that is understood, in bytes. Source: resource.k8s.io/v1
/// CELSelectorExpressionMaxLength.
inline constexpr std::size_t kCelBytesMax = 10 * 1024;
/// The deepest nesting of brackets that is understood.
inline constexpr int kCelBracketsMax = 50;

}  // namespace fairlead
