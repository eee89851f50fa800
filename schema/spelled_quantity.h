// A Quantity with the text in which another writer left it.
#pragma once

#include <string>
#include <utility>

#include "engine/base/boxed.h"
#include "engine/base/quantity.h"

namespace fairlead {

/// A Quantity that is written back as it was read: `12000m` stays `12000m`. Compares by value, as
/// every Quantity does; an assigned Quantity drops the text. The text is kept only where it is not
/// canonical, which it mostly is.
class SpelledQuantity : public Quantity {
 public:
  /// What a snapshot stores of it.
  struct Contents {
    Quantity value;
    Boxed<std::string> spelling;
  };

  SpelledQuantity() = default;
  // A plain Quantity is one with canonical text, so the conversion is implicit.
  SpelledQuantity(Quantity value) : Quantity(value) {}
  SpelledQuantity(Quantity value, std::string spelling) : Quantity(value) {
    if (!spelling.empty() && spelling != text()) spelling_ = std::move(spelling);
  }

  /// Returns the text that was read; the canonical one where the value was computed.
  std::string as_written() const { return spelling_ ? *spelling_ : text(); }
  /// Returns the text that was read if it is not canonical, else the empty text.
  std::string spelling() const { return spelling_ ? *spelling_ : std::string(); }

  Contents contents() const { return {*this, spelling_}; }
  void adopt(Contents contents) {
    *this = SpelledQuantity(contents.value);
    spelling_ = std::move(contents.spelling);
  }

 private:
  Boxed<std::string> spelling_;
};

}  // namespace fairlead
