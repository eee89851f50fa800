#include "engine/devices/cel.h"

#include <utility>

#include "engine/devices/cel/compiler.h"
#include "engine/devices/cel/machine.h"
#include "engine/devices/cel/seen.h"

namespace fairlead {
namespace {

SelectorVerdict verdict_of(const cel::Value& value) {
  if (value.kind != cel::Kind::boolean) return SelectorVerdict::error;
  return cel::is_true(value) ? SelectorVerdict::yes : SelectorVerdict::no;
}

}  // namespace

CelSelector CelSelector::compile(std::string_view text, int steps_max) {
  const auto program = cel::compile(text, steps_max);
  if (!program->unsupported.empty()) return CelSelector(program);
  // A run on a device that publishes nothing finds the expression that is too long by itself, so
  // that no device has to be asked to learn it.
  const DeviceFacts nothing;
  cel::Machine machine(*program, {"", nothing});
  machine.run();
  if (!machine.exhausted()) return CelSelector(program);
  auto refused = std::make_shared<cel::Program>();
  refused->unsupported =
      "an expression that takes more than " + program->steps_text + " evaluation steps";
  return CelSelector(std::move(refused));
}

CelSelector::CelSelector(std::shared_ptr<const cel::Program> program)
    : program_(std::move(program)) {}

bool CelSelector::supported() const { return program_->unsupported.empty(); }

const std::string& CelSelector::unsupported() const { return program_->unsupported; }

SelectorVerdict CelSelector::evaluate(std::string_view driver, const DeviceFacts& device) const {
  if (!supported()) return SelectorVerdict::unsupported;
  return verdict_of(cel::Machine(*program_, {driver, device}).run());
}

SelectorVerdict CelSelector::evaluate(std::string_view driver, const DeviceFacts& device,
                                      std::string& why) const {
  if (!supported()) return SelectorVerdict::unsupported;
  cel::Machine machine(*program_, {driver, device});
  const cel::Value value = machine.run();
  if (value.kind == cel::Kind::fault)
    why = cel::describe(value);
  else if (value.kind != cel::Kind::boolean)
    why = "the result is no bool";
  return verdict_of(value);
}

SelectorVerdict CelSelector::evaluate(std::string_view driver, const DeviceFacts& device,
                                      std::int64_t& steps) const {
  steps = 0;
  if (!supported()) return SelectorVerdict::unsupported;
  cel::Machine machine(*program_, {driver, device});
  const SelectorVerdict verdict = verdict_of(machine.run());
  steps = machine.steps();
  return verdict;
}

std::string CelSelector::seen_of(std::string_view driver, const DeviceFacts& device) const {
  return cel::seen_by(*program_, {driver, device});
}

}  // namespace fairlead
