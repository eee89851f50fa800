#include "engine/devices/cel/compiler.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices/cel.h"
#include "engine/devices/cel/characters.h"
#include "engine/devices/cel/code.h"
#include "engine/devices/cel/tokens.h"

namespace fairlead::cel {
namespace {

/// What was compiled last: where its code begins, and whether it is `x.name`, which has() wants.
struct Operand {
  Position start = 0;
  bool selects = false;
};

/// A name that a macro binds: to a position of the stack, or to a constant.
struct Variable {
  std::string_view name;
  std::size_t slot = 0;
  std::optional<Value> constant;
};

std::optional<Op> relation_of(const Token& token) {
  if (token.is("==")) return Op::equal;
  if (token.is("!=")) return Op::not_equal;
  if (token.is("<")) return Op::less;
  if (token.is("<=")) return Op::less_equal;
  if (token.is(">")) return Op::greater;
  if (token.is(">=")) return Op::greater_equal;
  if (token.is_word("in")) return Op::in;
  return std::nullopt;
}

/// Recursive descent, a function for each rule of the grammar, that writes code as it reads. Only
/// brackets recurse, so their bound bounds the stack. After a refusal only the end of the text is
/// seen, so that every rule returns. Large: a function for each rule.
class Compiler {
 public:
  explicit Compiler(Program& program) : program_(program), code_(program) {}

  void run() {
    tokens_ = tokens_of(program_.source, program_.texts, program_.unsupported);
    if (failed()) return;
    expression();
    if (peek().kind != TokenKind::end) refuse_token();
    if (code_.patterns_too_large()) refuse("patterns that are too large together");
    if (!failed()) code_.compile_patterns();
  }

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
  }
  bool accept(std::string_view sign) {
    const bool found = peek().is(sign);
    if (found) next();
    return found;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) refuse_token();
  }
  void open(std::string_view bracket) {
    expect(bracket);
    if (++brackets_ > kCelBracketsMax)
      refuse("more than " + std::to_string(kCelBracketsMax) + " nested brackets");
  }
  void close(std::string_view bracket) {
    expect(bracket);
    --brackets_;
  }

  bool failed() const { return !program_.unsupported.empty(); }
  void refuse(std::string what) {
    if (!failed()) program_.unsupported = std::move(what);
    at_ = tokens_.size() - 1;
  }
  void refuse_token() {
    const Token& token = peek();
    if (token.kind == TokenKind::end) return refuse("an expression that ends too early");
    const std::string text(token.kind == TokenKind::text ? "a string" : in_quotes(token.text));
    refuse("syntax: " + text + " at byte " + std::to_string(token.at));
  }

  // expr: or ('?' or ':' expr)?
  Operand expression() {
    Operand operand = disjunction();
    std::vector<Position> branches, jumps;
    // What follows a colon is read by the next turn: a chain of thousands of arms does not recurse.
    while (accept("?")) {
      branches.push_back(code_.emit(Op::branch, -1));
      const std::size_t depth = code_.depth();
      disjunction();
      expect(":");
      jumps.push_back(code_.emit(Op::jump, 0));
      // Only one arm runs: the second begins with what the first one began with.
      code_.set_depth(depth);
      code_.go_to_end(branches.back());
      disjunction();
      operand = {operand.start};
    }
    for (const Position branch : branches) code_.at(branch).b = code_.end();
    for (const Position jump : jumps) code_.go_to_end(jump);
    return operand;
  }

  Operand disjunction() {
    Operand operand = conjunction();
    while (accept("||")) {
      const Position skip = code_.emit(Op::or_skip, 0);
      conjunction();
      code_.emit(Op::disjunction, -1);
      code_.go_to_end(skip);
      operand = {operand.start};
    }
    return operand;
  }

  Operand conjunction() {
    Operand operand = relation();
    while (accept("&&")) {
      const Position skip = code_.emit(Op::and_skip, 0);
      relation();
      code_.emit(Op::conjunction, -1);
      code_.go_to_end(skip);
      operand = {operand.start};
    }
    return operand;
  }

  // All relations have one precedence and group to the left.
  Operand relation() {
    Operand operand = unary();
    while (const auto op = relation_of(peek())) {
      next();
      unary();
      code_.emit(*op, -1);
      operand = {operand.start};
    }
    return operand;
  }

  // Two `!` cancel out: then not even the type of the operand matters.
  Operand unary() {
    std::size_t negations = 0;
    while (accept("!")) ++negations;
    Operand operand = member();
    if (negations > 0) operand.selects = false;
    if (negations % 2 == 1) code_.emit(Op::negation, 0);
    for (const std::string_view arithmetic : {"+", "-", "*", "/", "%"})
      if (peek().is(arithmetic)) refuse("operator " + in_quotes(arithmetic));
    return operand;
  }

  Operand member() {
    Operand operand = primary();
    for (;;) {
      if (accept("."))
        selection(operand);
      else if (peek().is("["))
        index(operand);
      else
        return operand;
    }
  }

  void selection(Operand& operand) {
    if (peek().is("?")) return refuse("optional access `.?`");
    const std::string_view name = peek().text;
    const bool keyword = name == "true" || name == "false" || name == "null" || name == "in";
    if (peek().kind != TokenKind::word || keyword) return refuse_token();
    next();
    operand.selects = !peek().is("(");
    if (!operand.selects) return method(operand, name);
    if (!replace_known(operand.start, name)) code_.emit_field(name);
  }

  void index(Operand& operand) {
    const Value* const known = code_.constant(operand.start);
    // Asked now: the code of the index moves the constants.
    const bool of_device = known != nullptr && (known->kind == Kind::device || is_map(*known));
    operand.selects = false;
    open("[");
    if (peek().is("?")) refuse("optional access `[?`");
    const Position start = code_.end();
    expression();
    close("]");
    const Value* const key = code_.constant(start);
    if (!of_device || key == nullptr || key->kind != Kind::text) {
      code_.emit(Op::index, -1);
      return;
    }
    const std::string_view name = key->text;
    code_.remove(start);
    replace_known(operand.start, name);
  }

  /// Where the operand is a constant part of the device, replaces it by its field `name`.
  bool replace_known(Position start, std::string_view name) {
    const Value* const known = code_.constant(start);
    if (known == nullptr) return false;
    const std::string_view domain = known->text;
    switch (known->kind) {
      case Kind::device: device_field(start, name); return true;
      case Kind::attributes: code_.replace(start, named(Kind::attribute_domain, name)); return true;
      case Kind::capacities: code_.replace(start, named(Kind::capacity_domain, name)); return true;
      case Kind::attribute_domain:
        code_.remove(start);
        code_.emit_path(Op::attribute, domain, name);
        return true;
      case Kind::capacity_domain:
        code_.remove(start);
        code_.emit_path(Op::capacity, domain, name);
        return true;
      case Kind::fault:
      case Kind::boolean:
      case Kind::integer:
      case Kind::text:
      case Kind::quantity:
      case Kind::version:
      case Kind::list: break;
    }
    return false;
  }

  // A field that a later Kubernetes adds makes the expression unsupported, not an error.
  void device_field(Position start, std::string_view name) {
    if (name == "attributes") return code_.replace(start, named(Kind::attributes));
    if (name == "capacity") return code_.replace(start, named(Kind::capacities));
    const bool driver = name == "driver";
    if (!driver && name != "allowMultipleAllocations")
      return refuse("field " + in_quotes(name) + " of device");
    code_.remove(start);
    code_.emit(driver ? Op::driver : Op::shared, 1);
  }

  void method(const Operand& receiver, std::string_view name) {
    if (name == "exists" || name == "all") return quantifier(receiver, name);
    call(name, CallForm::method);
  }

  /// Reads the arguments and appends the call. The receiver of a method is in front of them.
  void call(std::string_view name, CallForm form) {
    if (!knows_function(name, form)) return refuse("function " + in_quotes(name));
    open("(");
    const Position start = code_.end();
    std::size_t arguments = form == CallForm::method ? 1 : 0;
    if (!peek().is(")")) do {
        expression();
        ++arguments;
      } while (accept(","));
    close(")");
    const auto function = find_function(name, form, arguments);
    if (!function) return refuse("function " + in_quotes(name) + " with these arguments");
    if (*function == Function::matches) return code_.make_match(start);
    if (!replace_literal(*function, start)) code_.emit_call(*function, arguments);
  }

  /// Replaces quantity() and semver() of a literal by the value, once for all devices.
  bool replace_literal(Function function, Position start) {
    if (function != Function::quantity && function != Function::semver) return false;
    const Value* const argument = code_.constant(start);
    if (argument == nullptr || argument->kind != Kind::text) return false;
    // A literal that cannot be read becomes the fault that the call would give for every device.
    code_.replace(start, function == Function::quantity ? parse_quantity(argument->text)
                                                        : parse_version(argument->text));
    return true;
  }

  /// `list.exists(name, condition)`, `list.all(name, condition)`.
  void quantifier(const Operand& receiver, std::string_view name) {
    const Value* const known = code_.constant(receiver.start);
    if (known != nullptr && is_map(*known)) return refuse(in_quotes(name) + " on a map");
    const bool every = name == "all";
    open("(");
    Variable variable = bound_name(name);
    const Position loop = code_.emit(Op::loop, 2);
    code_.at(loop).b = every ? 1 : 0;
    const Position element = code_.emit(Op::element, 1);
    variable.slot = code_.depth() - 1;
    variables_.push_back(variable);
    expression();
    variables_.pop_back();
    if (peek().is(",")) refuse(in_quotes(name) + " with these arguments");
    close(")");
    code_.emit(every ? Op::every : Op::any, -2, element);
    code_.go_to_end(element);
    code_.emit(Op::loop_end, -2);
    code_.go_to_end(loop);
  }

  /// Reads the name that a macro binds, and the comma behind it.
  Variable bound_name(std::string_view macro) {
    const Token name = next();
    if (name.kind != TokenKind::word || is_reserved(name.text) || !accept(","))
      refuse(in_quotes(macro) + " with these arguments");
    return {name.text, 0, std::nullopt};
  }

  /// `cel.bind(name, value, expression)`, behind `cel.bind`.
  Operand bind() {
    open("(");
    const Position start = code_.end();
    Variable variable = bound_name("cel.bind");
    expression();
    expect(",");
    if (const Value* const known = code_.constant(start)) {
      variable.constant = *known;
      code_.remove(start);
    }
    // A variable that is a constant has no place on the stack, and its slot is not used.
    variable.slot = code_.depth() - 1;
    variables_.push_back(variable);
    expression();
    variables_.pop_back();
    if (!variable.constant) code_.emit(Op::unbind, -1);
    close(")");
    return {start};
  }

  Operand primary() {
    const Position start = code_.end();
    const Token& token = peek();
    switch (token.kind) {
      case TokenKind::integer: integer_literal(Sign::plus); return {start};
      case TokenKind::text: code_.emit_constant(named(Kind::text, next().text)); return {start};
      case TokenKind::word: return word();
      case TokenKind::end: refuse_token(); return {start};
      case TokenKind::sign: break;
    }
    if (token.is("(")) {
      open("(");
      const Operand inner = expression();
      close(")");
      // CEL's tree has no brackets: has((a.b)) is has(a.b).
      return inner;
    }
    if (token.is("["))
      list_literal();
    else if (token.is("{"))
      refuse("map literal");
    else if (token.is(".") && peek(1).kind == TokenKind::word)
      refuse("`.` in front of a name");
    else if (accept("-"))
      integer_literal(Sign::minus);
    else
      refuse_token();
    return {start};
  }

  void integer_literal(Sign sign) {
    if (peek().kind != TokenKind::integer) return refuse("`-` before what is no int literal");
    const std::string_view digits = next().text;
    const auto number = integer_of(digits, sign);
    if (!number) return refuse("int literal " + in_quotes(digits) + " of more than 64 bits");
    code_.emit_constant(integer(*number));
  }

  void list_literal() {
    const Position start = code_.end();
    std::size_t count = 0;
    open("[");
    while (!failed() && !peek().is("]")) {
      if (peek().is("?")) refuse("optional element");
      expression();
      ++count;
      // CEL allows a comma behind the last item.
      if (!accept(",")) break;
    }
    close("]");
    code_.make_list(start, count);
  }

  Operand word() {
    const Position start = code_.end();
    const std::string_view name = next().text;
    if (name == "true" || name == "false")
      code_.emit_constant(boolean(name == "true"));
    else if (name == "null")
      refuse("`null`");
    else if (is_reserved(name))
      refuse("reserved word " + in_quotes(name));
    else if (name == "cel" && peek().is(".") && peek(1).is_word("bind") && peek(2).is("("))
      return next(), next(), bind();
    else if (name == "has" && peek().is("("))
      presence();
    else if (peek().is("("))
      call(name, CallForm::global);
    else
      identifier(name);
    return {start};
  }

  void presence() {
    open("(");
    const Operand operand = expression();
    close(")");
    if (!operand.selects) refuse("`has` of what is no field");
    // After a refusal there may be no code to turn into a test.
    if (!failed()) code_.make_presence_test(operand.start);
  }

  void identifier(std::string_view name) {
    for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
      if (variable->name != name) continue;
      if (variable->constant) return code_.emit_constant(*variable->constant);
      code_.emit(Op::variable, 1, variable->slot);
      return;
    }
    if (name != "device") return refuse("name " + in_quotes(name));
    code_.emit_constant(named(Kind::device));
  }

  Program& program_;
  Code code_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int brackets_ = 0;
  std::vector<Variable> variables_;
};

}  // namespace

std::shared_ptr<const Program> compile(std::string_view text, int steps_max) {
  auto program = std::make_shared<Program>();
  program->steps_max = steps_max;
  program->steps_text = std::to_string(steps_max);
  if (text.size() > kCelBytesMax) {
    program->unsupported = "an expression of more than " + std::to_string(kCelBytesMax) + " bytes";
    return program;
  }
  program->source = text;
  Compiler(*program).run();
  return program;
}

}  // namespace fairlead::cel
