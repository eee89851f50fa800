#include "engine/devices/cel/code.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead::cel {

Position Code::emit(Op op, int change, std::size_t a) {
  Instruction instruction;
  instruction.op = op;
  instruction.a = static_cast<std::uint32_t>(a);
  program_.code.push_back(instruction);
  depth_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(depth_) + change);
  program_.depth = std::max(program_.depth, depth_);
  return end() - 1;
}

void Code::emit_call(Function function, std::size_t arguments) {
  const Position position = emit(Op::call, 1 - static_cast<int>(arguments));
  at(position).function = function;
  // find_function() knows no function of more than three arguments.
  at(position).count = static_cast<std::uint8_t>(arguments);
}

std::size_t Code::add_constant(const Value& value) {
  program_.constants.push_back(value);
  return program_.constants.size() - 1;
}

void Code::emit_constant(const Value& value) { emit(Op::constant, 1, add_constant(value)); }

void Code::emit_field(std::string_view name) {
  emit(Op::field, 0, add_constant(named(Kind::text, name)));
}

void Code::emit_path(Op op, std::string_view domain, std::string_view id) {
  std::string& full = program_.texts.emplace_back(domain);
  full.append("/").append(id);
  const std::string_view view = full;
  program_.paths.push_back({view.substr(0, domain.size()), view.substr(domain.size() + 1), view});
  emit(op, 1, program_.paths.size() - 1);
}

const Value* Code::constant(Position start) const {
  if (program_.code.size() != std::size_t{start} + 1) return nullptr;
  const Instruction& only = program_.code.back();
  return only.op == Op::constant ? &program_.constants[only.a] : nullptr;
}

void Code::remove(Position start) {
  program_.code.resize(start);
  --depth_;
}

void Code::replace(Position start, const Value& value) {
  remove(start);
  emit_constant(value);
}

void Code::make_list(Position start, std::size_t count) {
  const auto is_known = [&](const Instruction& one) {
    // A fault cannot be an item: the whole list is that fault then.
    return one.op == Op::constant && program_.constants[one.a].kind != Kind::fault;
  };
  const auto first = program_.code.begin() + start;
  if (program_.code.size() - start != count || !std::all_of(first, program_.code.end(), is_known)) {
    emit(Op::list, 1 - static_cast<int>(count), count);
    return;
  }
  std::vector<Value>& items = program_.lists.emplace_back();
  for (auto one = first; one != program_.code.end(); ++one)
    items.push_back(program_.constants[one->a]);
  program_.code.resize(start);
  depth_ -= count;
  emit_constant(list(items.data(), items.size()));
}

void Code::make_match(Position pattern) {
  const Value* const text = constant(pattern);
  if (text == nullptr || text->kind != Kind::text) {
    matches_any_ = true;
    emit_call(Function::matches, 2);
    return;
  }
  // Beyond the bound the compiler refuses the program, so what `match` names does not matter.
  if (!patterns_too_large()) {
    program_.patterns.emplace_back(text->text);
    instructions_ += program_.patterns.back().instructions();
  }
  remove(pattern);
  emit(Op::match, 0, program_.patterns.size() - 1);
}

void Code::know_pattern(const Value& text) {
  if (text.kind != Kind::text || patterns_too_large() ||
      program_.known_patterns.count(text.text) > 0)
    return;
  const Pattern& pattern = program_.patterns.emplace_back(text.text);
  instructions_ += pattern.instructions();
  program_.known_patterns.emplace(pattern.text(), &pattern);
}

// Patterns beyond the bound are compiled, and paid for, when they are used.
void Code::compile_patterns() {
  if (!matches_any_) return;
  // Names of fields are among the constants. One that is compiled for nothing changes no answer.
  for (const Value& constant : program_.constants) know_pattern(constant);
  for (const std::vector<Value>& items : program_.lists)
    for (const Value& item : items) know_pattern(item);
}

void Code::make_presence_test(Position start) {
  Instruction& last = program_.code.back();
  if (last.op == Op::attribute)
    last.op = Op::has_attribute;
  else if (last.op == Op::capacity)
    last.op = Op::has_capacity;
  else if (last.op == Op::field)
    last.op = Op::has_field;
  else
    replace(start, boolean(true));  // a field of `device`, or a domain: each is there
}

}  // namespace fairlead::cel
