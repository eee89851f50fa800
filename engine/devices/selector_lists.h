// Selectors by number: each text is compiled once, and a list of texts has one number, so that what
// is known of a device and a list is found by index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/devices/cel.h"
#include "schema/kinds/devices.h"

namespace fairlead {

/// A list of selectors that must all be true, in order: the class's, then the request's.
using SelectorListId = std::uint32_t;

/// The table of texts and lists of one cluster.
class SelectorLists {
 public:
  /// Returns the number of the list. Never true is a selector of a kind that is not understood, or
  /// a request's selector that takes more than kCelRequestStepsMax steps.
  SelectorListId intern(const std::vector<DeviceSelector>& of_class,
                        const std::vector<DeviceSelector>& of_request = {});

  /// Returns the index of one selector's text, for selector(). The same text with another bound has
  /// an index of its own.
  std::uint32_t intern_text(const DeviceSelector& selector, int steps_max);
  /// The texts of a list, as indexes for selector().
  const std::vector<std::uint32_t>& texts(SelectorListId list) const { return lists_[list]; }
  const CelSelector& selector(std::uint32_t text) const { return texts_[text].selector; }
  /// Returns the verdict of the text about a device. A text that takes many steps is evaluated once
  /// for all devices that look alike to it.
  SelectorVerdict ask(std::uint32_t text, std::string_view driver, const DeviceFacts& device);
  std::size_t text_count() const { return texts_.size(); }
  void clear();

 private:
  struct Text {
    CelSelector selector;
    bool dear = false;  ///< it took many steps on some device
    /// If it is dear: its verdict, by the digest of what it sees.
    std::map<std::array<std::uint8_t, 32>, SelectorVerdict> alike{};
  };

  std::map<std::pair<std::string, int>, std::uint32_t> text_ids_;
  std::vector<Text> texts_;
  std::map<std::vector<std::uint32_t>, SelectorListId> list_ids_;
  std::vector<std::vector<std::uint32_t>> lists_;
};

}  // namespace fairlead
