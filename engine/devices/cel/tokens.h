// The words of an expression.
//
// Source of the lexical rules: the grammar of github.com/google/cel-go (parser/gen/CEL.g4), which
// Kubernetes 1.36 parses selectors with. A literal that is not supported (double, uint,
// bytes, a string of many lines) is known by its first characters, so the lexer refuses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::cel {

enum class TokenKind : std::uint8_t {
  end,      ///<
  word,     ///< an identifier or keyword
  integer,  ///< without a sign
  text,     ///< a string literal, its quotes removed and its escapes replaced
  sign,     ///< an operator or bracket
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::size_t at = 0;  ///< offset in the expression

  bool is(std::string_view sign) const { return kind == TokenKind::sign && text == sign; }
  bool is_word(std::string_view word) const { return kind == TokenKind::word && text == word; }
};

/// Splits `source`, which must outlive the tokens, and ends them with one of kind `end`. Texts with
/// escapes are put into `texts`. Sets `unsupported` to the first thing that is not understood.
std::vector<Token> tokens_of(std::string_view source, std::deque<std::string>& texts,
                             std::string& unsupported);

/// Whether a word is reserved: no variable has that name.
bool is_reserved(std::string_view word);

/// Returns the value of an integer token, negated if `minus`; nullopt if it has more than 64 bits.
enum class Sign : std::uint8_t { plus, minus };
std::optional<std::int64_t> integer_of(std::string_view digits, Sign sign);

}  // namespace fairlead::cel
