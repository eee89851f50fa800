#include "engine/devices/cel/seen.h"

#include <algorithm>
#include <cstring>

namespace fairlead::cel {
namespace {

template <class Number>
void add_number(std::string& out, const Number& number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof bytes);
}

void add_text(std::string& out, std::string_view text) {
  add_number(out, text.size());
  out += text;
}

// The value is a scalar or a fault, which has no items.
void add_value(std::string& out, const Value& value) {
  out += static_cast<char>(value.kind);
  out += static_cast<char>(value.fault);
  out += static_cast<char>(value.format);
  add_number(out, value.number);
  add_text(out, value.text);
}

// Whether the program looks at a map, any part of which it may see. Each map comes from a constant,
// which may be an item of a list.
bool sees_maps(const Program& program) {
  const auto has_parts = [](const Value& value) {
    return value.kind == Kind::device || is_map(value);
  };
  return std::any_of(program.code.begin(), program.code.end(),
                     [&](const Instruction& one) {
                       return one.op == Op::constant && has_parts(program.constants[one.a]);
                     }) ||
         std::any_of(program.lists.begin(), program.lists.end(), [&](const auto& items) {
           return std::any_of(items.begin(), items.end(), has_parts);
         });
}

}  // namespace

std::string seen_by(const Program& program, const DeviceView& device) {
  std::string out;
  add_text(out, device.driver);
  out += is_shared(device) ? '\1' : '\0';
  if (!sees_maps(program)) {
    // Whether the path names an attribute or a capacity does not matter: adding both keeps apart at
    // least what the program can tell apart.
    for (const auto& [domain, id, full] : program.paths) {
      add_value(out, attribute(device, domain, id, full));
      add_value(out, capacity(device, domain, id, full));
    }
    return out;
  }
  add_text(out, device.facts.attributes.bytes());
  for (const DeviceCapacity& one : device.facts.capacity) {
    add_text(out, one.name);
    add_value(out, quantity(one.value, {}));
  }
  return out;
}

}  // namespace fairlead::cel
