#include "engine/devices/cel/machine.h"

#include <algorithm>
#include <optional>

#include "engine/devices/cel/equality.h"

namespace fairlead::cel {
namespace {

bool is_fault(const Value& value) { return value.kind == Kind::fault; }

/// The fault of an operator with these operands: a fault of the left one comes first.
Value refusal(const Value& left, const Value& right, std::string_view op) {
  if (is_fault(left)) return left;
  return is_fault(right) && left.kind == Kind::boolean ? right
                                                       : fault(Fault::no_such_operation, op);
}

// One side can decide, whatever the other one is, so a fault is absorbed on either side.
Value both(const Value& left, const Value& right) {
  if (is_false(left) || is_false(right)) return boolean(false);
  if (is_true(left) && is_true(right)) return boolean(true);
  return refusal(left, right, "&&");
}
Value either(const Value& left, const Value& right) {
  if (is_true(left) || is_true(right)) return boolean(true);
  if (is_false(left) && is_false(right)) return boolean(false);
  return refusal(left, right, "||");
}

Value opposite(const Value& value) {
  if (value.kind == Kind::boolean) return boolean(is_false(value));
  return is_fault(value) ? value : fault(Fault::no_such_operation, "!");
}

Value ordered(Op op, const Value& left, const Value& right) {
  const auto order = order_of(left, right);
  const bool less = op == Op::less, less_equal = op == Op::less_equal;
  if (less || op == Op::greater_equal) {
    if (!order) return fault(Fault::no_such_operation, less ? "<" : ">=");
    return boolean((*order < 0) == less);
  }
  if (!order) return fault(Fault::no_such_operation, less_equal ? "<=" : ">");
  return boolean((*order <= 0) == less_equal);
}

}  // namespace

// The discipline of the stack is the compiler's, and is not checked here. Code counts how many
// values there are at each position, and where two ways meet both leave the same number: each
// construct, by whichever of its jumps it ends, leaves one value more than it found. Program::depth
// is the largest number, so push() never leaves the memory that is allocated below, and `variable`
// may name a value by its place from the bottom. A program that is not understood has no code and
// gets no machine.
//
// A fault is a value like any other: an instruction that cannot be done leaves one where its result
// would be, so a fault changes no depth. Only any() and every() jump back, and every instruction is
// a step, so a program ends.
Machine::Machine(const Program& program, const DeviceView& device)
    : program_(program),
      memory_(buffer_.data(), buffer_.size(), std::pmr::new_delete_resource()),
      evaluation_{device, memory_, program.known_patterns, program.steps_max},
      stack_(static_cast<Value*>(memory_.allocate(program.depth * sizeof(Value), alignof(Value)))) {
}

Value Machine::run() {
  const Value exhausted = fault(Fault::too_many_steps, program_.steps_text);
  while (at_ < program_.code.size()) {
    if (--evaluation_.steps_left < 0) return exhausted;
    step(program_.code[at_++]);
  }
  // The last instruction may have run out of steps in the middle of its work: its value does not
  // count.
  return evaluation_.steps_left < 0 ? exhausted : top();
}

void Machine::step(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::constant: push(program_.constants[instruction.a]); return;
    case Op::variable: push(stack_[instruction.a]); return;
    case Op::driver:
    case Op::shared:
    case Op::attribute:
    case Op::has_attribute:
    case Op::capacity:
    case Op::has_capacity: push_part(instruction); return;
    case Op::field:
    case Op::has_field: replace_field(instruction); return;
    case Op::index:
      below(1) = at_index(below(1), top());
      --size_;
      return;
    case Op::list: make_list(instruction.a); return;
    case Op::negation: top() = opposite(top()); return;
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::in: compare(instruction.op); return;
    case Op::and_skip:
    case Op::or_skip:
    case Op::conjunction:
    case Op::disjunction: skip_or_join(instruction); return;
    case Op::branch: branch(instruction); return;
    case Op::jump: at_ = instruction.a; return;
    case Op::call: call_function(instruction); return;
    case Op::match: match(program_.patterns[instruction.a]); return;
    case Op::loop: begin_loop(instruction); return;
    case Op::element: next_element(instruction); return;
    case Op::any:
    case Op::every: test_element(instruction); return;
    case Op::loop_end: end_loop(); return;
    case Op::unbind: remove_below(1); return;
  }
}

void Machine::remove_below(std::size_t count) {
  below(count) = top();
  size_ -= count;
}

void Machine::push_part(const Instruction& instruction) {
  const DeviceView& device = evaluation_.device;
  if (instruction.op == Op::driver) return push(named(Kind::text, device.driver));
  if (instruction.op == Op::shared) return push(boolean(is_shared(device)));
  const auto& [domain, id, full] = program_.paths[instruction.a];
  if (instruction.op == Op::attribute) return push(attribute(device, domain, id, full));
  if (instruction.op == Op::capacity) return push(capacity(device, domain, id, full));
  push(boolean(instruction.op == Op::has_attribute ? has_attribute(device, domain, id)
                                                   : has_capacity(device, domain, id)));
}

void Machine::replace_field(const Instruction& instruction) {
  if (is_fault(top())) return;
  const std::string_view name = program_.constants[instruction.a].text;
  top() = instruction.op == Op::field ? field_of(top(), name) : has_field(top(), name);
}

Value Machine::field_of(const Value& value, std::string_view name) const {
  const DeviceView& device = evaluation_.device;
  switch (value.kind) {
    case Kind::attribute_domain: return attribute(device, value.text, name, name);
    case Kind::capacity_domain: return capacity(device, value.text, name, name);
    case Kind::attributes: return named(Kind::attribute_domain, name);
    case Kind::capacities: return named(Kind::capacity_domain, name);
    case Kind::device:
      if (name == "driver") return named(Kind::text, device.driver);
      if (name == "allowMultipleAllocations") return boolean(is_shared(device));
      if (name == "attributes") return named(Kind::attributes);
      if (name == "capacity") return named(Kind::capacities);
      break;
    case Kind::fault:
    case Kind::boolean:
    case Kind::integer:
    case Kind::text:
    case Kind::quantity:
    case Kind::version:
    case Kind::list: break;
  }
  return fault(Fault::no_such_field, name);
}

// Every domain is a map, even if an empty one, so every domain is there. A value without fields
// does not have this one.
Value Machine::has_field(const Value& value, std::string_view name) const {
  if (value.kind == Kind::attribute_domain || value.kind == Kind::capacity_domain)
    return boolean(has_key(evaluation_.device, value, name));
  return boolean(!is_fault(field_of(value, name)));
}

Value Machine::at_index(const Value& value, const Value& index) const {
  if (is_fault(value)) return value;
  if (is_fault(index)) return index;
  if (value.kind == Kind::list && index.kind == Kind::integer) {
    if (index.number < 0 || index.number >= value.number)
      return fault(Fault::out_of_range, "index");
    return value.items[static_cast<std::size_t>(index.number)];
  }
  if ((value.kind == Kind::device || is_map(value)) && index.kind == Kind::text)
    return field_of(value, index.text);
  return fault(Fault::no_such_operation, "[]");
}

void Machine::make_list(std::size_t count) {
  const Value* const first = stack_ + size_ - count;
  const Value* const found = std::find_if(first, first + count, is_fault);
  Value made;
  if (found != first + count) {
    made = *found;
  } else {
    auto* const items =
        static_cast<Value*>(memory_.allocate(count * sizeof(Value), alignof(Value)));
    std::copy(first, first + count, items);
    made = list(items, count);
  }
  size_ -= count;
  push(made);
}

void Machine::compare(Op op) {
  const Value right = top();
  --size_;
  Value& left = top();
  if (is_fault(left)) return;
  if (is_fault(right))
    left = right;
  else if (op == Op::equal)
    left = boolean(equals(left, right));
  else if (op == Op::not_equal)
    left = boolean(!equals(left, right));
  else if (op == Op::in)
    left = contains(left, right);
  else
    left = ordered(op, left, right);
}

// Lists nest as deep as brackets do.
bool Machine::equals(const Value& a, const Value& b) {
  if (a.kind == Kind::list && b.kind == Kind::list) {
    if (a.number != b.number) return false;
    const auto count = static_cast<std::size_t>(a.number);
    for (std::size_t i = 0; i < count && evaluation_.steps_left >= 0; ++i) {
      --evaluation_.steps_left;
      if (!equals(a.items[i], b.items[i])) return false;
    }
    return true;
  }
  evaluation_.pay_for(a.text.size());
  if (!is_map(a) || !is_map(b)) return equal_scalars(a, b);
  evaluation_.steps_left -= static_cast<std::int64_t>(evaluation_.device.facts.attributes.size() +
                                                      evaluation_.device.facts.capacity.size());
  return equal_maps(evaluation_.device, a, b);
}

Value Machine::contains(const Value& item, const Value& container) {
  if (is_map(container))
    return boolean(item.kind == Kind::text && has_key(evaluation_.device, container, item.text));
  if (container.kind != Kind::list) return fault(Fault::no_such_operation, "in");
  const auto count = static_cast<std::size_t>(container.number);
  for (std::size_t i = 0; i < count && evaluation_.steps_left >= 0; ++i) {
    --evaluation_.steps_left;
    if (equals(item, container.items[i])) return boolean(true);
  }
  return boolean(false);
}

void Machine::skip_or_join(const Instruction& instruction) {
  const Op op = instruction.op;
  if (op == Op::and_skip || op == Op::or_skip) {
    if (op == Op::and_skip ? is_false(top()) : is_true(top())) at_ = instruction.a;
    return;
  }
  below(1) = op == Op::conjunction ? both(below(1), top()) : either(below(1), top());
  --size_;
}

// The condition is removed before an arm begins. A condition that is not a bool stays as a fault,
// which is the result in place of what the arm would have pushed.
void Machine::branch(const Instruction& instruction) {
  if (top().kind != Kind::boolean) {
    if (!is_fault(top())) top() = fault(Fault::no_such_operation, "?:");
    at_ = instruction.b;
    return;
  }
  if (is_false(top())) at_ = instruction.a;
  --size_;
}

void Machine::call_function(const Instruction& instruction) {
  const std::size_t count = instruction.count;
  const Value result = call(instruction.function, {stack_ + size_ - count, count}, evaluation_);
  size_ -= count;
  push(result);
}

void Machine::match(const Pattern& pattern) {
  Value& subject = top();
  if (is_fault(subject)) return;
  if (subject.kind != Kind::text) {
    subject = fault(Fault::no_such_operation, "matches");
  } else if (!pattern.valid()) {
    subject = fault(Fault::invalid_pattern, pattern.text());
  } else {
    evaluation_.steps_left -= pattern.match_steps(subject.text);
    if (evaluation_.steps_left >= 0) subject = boolean(pattern.matches(subject.text));
  }
}

// In a loop the stack has, from below: the list, what is known so far, the index, and for an
// element that is being judged the element, which is the loop's variable, and the condition. A
// value that is not a list becomes a fault, which is the result, and the loop is skipped with its
// end.
void Machine::begin_loop(const Instruction& instruction) {
  if (top().kind != Kind::list) {
    if (!is_fault(top())) top() = fault(Fault::no_such_operation, instruction.b ? "all" : "exists");
    at_ = instruction.a;
    return;
  }
  push(boolean(instruction.b != 0));
  push(integer(0));
}

void Machine::next_element(const Instruction& instruction) {
  const Value& items = below(2);
  const Int128 index = top().number;
  if (index == items.number)
    at_ = instruction.a;
  else
    push(items.items[static_cast<std::size_t>(index)]);
}

// Removes condition and element. Goes on to loop_end as soon as the result cannot change: as for &&
// and || in CEL, a fault of an earlier element does not keep a later one from deciding.
void Machine::test_element(const Instruction& instruction) {
  const Value condition = top();
  size_ -= 2;
  Value& known = below(1);
  known = instruction.op == Op::any ? either(known, condition) : both(known, condition);
  if (instruction.op == Op::any ? is_true(known) : is_false(known)) return;
  ++top().number;
  at_ = instruction.a;
}

void Machine::end_loop() {
  below(2) = below(1);
  size_ -= 2;
}

}  // namespace fairlead::cel
