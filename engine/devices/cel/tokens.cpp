#include "engine/devices/cel/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "engine/devices/cel/characters.h"

namespace fairlead::cel {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
constexpr std::string_view kBlanks = " \t\r\n\f";
constexpr std::array<std::string_view, 7> kTwoCharacters{"==", "!=", "<=", ">=", "&&", "||", "//"};
constexpr std::string_view kOneCharacter = "<>!?:.,()[]{}+-*/%";
constexpr auto kReserved = std::to_array<std::string_view>(
    {"as",       "break",   "const",  "continue", "else", "false", "for",
     "function", "if",      "import", "in",       "let",  "loop",  "namespace",
     "null",     "package", "return", "true",     "var",  "void",  "while"});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Splits one expression.
class Lexer {
 public:
  Lexer(std::string_view source, std::deque<std::string>& texts, std::string& unsupported)
      : source_(source), texts_(texts), unsupported_(unsupported) {}

  std::vector<Token> run() {
    if (!is_utf8(source_)) refuse("text that is not UTF-8");
    for (skip_blanks(); unsupported_.empty() && at_ < source_.size(); skip_blanks()) next();
    tokens_.push_back({TokenKind::end, "", source_.size()});
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }
  char peek(std::size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  void refuse(std::string what) {
    if (unsupported_.empty()) unsupported_ = std::move(what);
  }
  std::size_t count_of(std::string_view characters, std::size_t from) const {
    return std::min(source_.find_first_not_of(characters, from), source_.size()) - from;
  }
  void push(TokenKind kind, std::size_t bytes) {
    tokens_.push_back({kind, source_.substr(at_, bytes), at_});
    at_ += bytes;
  }

  void skip_blanks() {
    for (;;) {
      at_ += count_of(kBlanks, at_);
      if (!rest().starts_with("//")) return;
      at_ = std::min(source_.find('\n', at_), source_.size());
    }
  }

  void next() {
    const char first = peek(0);
    if (is_letter(first)) return word();
    if (is_digit(first) || (first == '.' && is_digit(peek(1)))) return number();
    if (first == '"' || first == '\'') return text(0);
    for (const std::string_view sign : kTwoCharacters)
      if (rest().starts_with(sign)) return push(TokenKind::sign, sign.size());
    if (kOneCharacter.find(first) != std::string_view::npos) return push(TokenKind::sign, 1);
    refuse("character " + in_quotes(rest().substr(0, rest().find_first_of(kBlanks))));
  }

  void word() {
    std::size_t size = 1;
    while (is_letter(peek(size)) || is_digit(peek(size))) ++size;
    const std::string_view found = rest().substr(0, size);
    if (peek(size) == '"' || peek(size) == '\'') {
      if (found == "r" || found == "R") return text(1);
      if (found == "b" || found == "B") return refuse("bytes literal");
    }
    push(TokenKind::word, size);
  }

  void number() {
    const bool hexadecimal = rest().starts_with("0x") && count_of(kHexDigits, at_ + 2) > 0;
    std::size_t size =
        hexadecimal ? 2 + count_of(kHexDigits, at_ + 2) : count_of(kDecimalDigits, at_);
    if (peek(size) == 'u' || peek(size) == 'U')
      return refuse("uint literal " + in_quotes(rest().substr(0, size + 1)));
    const bool point = !hexadecimal && peek(size) == '.' && is_digit(peek(size + 1));
    const bool exponent =
        !hexadecimal && (peek(size) == 'e' || peek(size) == 'E') &&
        (is_digit(peek(size + 1)) ||
         ((peek(size + 1) == '+' || peek(size + 1) == '-') && is_digit(peek(size + 2))));
    if (point || exponent) return refuse("double literal " + in_quotes(rest().substr(0, size + 2)));
    push(TokenKind::integer, size);
  }

  /// Reads a string literal, whose prefix `r` has `prefix` bytes.
  void text(std::size_t prefix) {
    const std::size_t start = at_;
    const char quote = peek(prefix);
    if (peek(prefix + 1) == quote && peek(prefix + 2) == quote)
      return refuse("string in triple quotes");
    at_ += prefix + 1;
    const std::size_t content = at_;
    bool escaped = false;
    for (; at_ < source_.size() && peek(0) != quote; ++at_) {
      if (peek(0) == '\n' || peek(0) == '\r') break;
      if (peek(0) != '\\' || prefix > 0) continue;
      escaped = true;
      ++at_;
    }
    // A backslash at the end of the text has moved at_ past its end.
    if (peek(0) != quote || at_ >= source_.size())
      return refuse("string that is not closed at byte " + std::to_string(start));
    std::string_view found = source_.substr(content, at_ - content);
    ++at_;
    if (escaped) {
      texts_.emplace_back();
      if (!unescape(found, texts_.back())) return;
      found = texts_.back();
    }
    tokens_.push_back({TokenKind::text, found, start});
  }

  bool unescape(std::string_view from, std::string& to) {
    while (!from.empty()) {
      if (from.front() != '\\') {
        to += from.front();
        from.remove_prefix(1);
        continue;
      }
      const std::size_t used = unescape_one(from.substr(1), to);
      if (used == 0) {
        refuse("escape " + in_quotes(from.substr(0, offset_of(from, 2))));
        return false;
      }
      from.remove_prefix(1 + used);
    }
    return true;
  }

  /// Appends the character that the escape behind a backslash means; returns its bytes, 0 if it is
  /// none.
  static std::size_t unescape_one(std::string_view escape, std::string& to) {
    constexpr std::string_view kLetters = "abfnrtv\\'\"`?", kMeant = "\a\b\f\n\r\t\v\\'\"`?";
    if (escape.empty()) return 0;
    const char first = escape.front();
    if (const auto at = kLetters.find(first); at != std::string_view::npos) {
      to += kMeant[at];
      return 1;
    }
    const bool octal = first >= '0' && first <= '3';
    const std::size_t digits = octal                          ? 3
                               : first == 'x' || first == 'X' ? 2
                               : first == 'u'                 ? 4
                               : first == 'U'                 ? 8
                                                              : 0;
    const std::string_view number = escape.substr(octal ? 0 : 1, digits);
    std::uint32_t character = 0;
    const auto [stop, error] =
        std::from_chars(number.data(), number.data() + number.size(), character, octal ? 8 : 16);
    const bool read = digits > 0 && number.size() == digits && error == std::errc() &&
                      stop == number.data() + number.size();
    if (!read || !append_character(to, character)) return 0;
    return digits + (octal ? 0 : 1);
  }

  std::string_view source_;
  std::deque<std::string>& texts_;
  std::string& unsupported_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, std::deque<std::string>& texts,
                             std::string& unsupported) {
  return Lexer(source, texts, unsupported).run();
}

bool is_reserved(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

std::optional<std::int64_t> integer_of(std::string_view digits, Sign sign) {
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::string text(sign == Sign::minus ? "-" : "");
  text += digits;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace fairlead::cel
