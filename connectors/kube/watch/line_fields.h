// The fields of a watch line that a fingerprint treats apart, as a tree of their names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

/// A node of the tree. Leaves are left out of the hash; some are returned as views.
struct LineField {
  enum class Reported : std::uint8_t { no, type, namespace_, name, uid, resource_version };
  std::string name;
  std::vector<LineField> below;
  bool left_out = false;  // of the hash, and of what is read of a line
  bool read = false;      // left out of the hash alone
  Reported reported = Reported::no;

  // Of the fields below, by how many characters their names have: the place of the last one in
  // `below`, from 1. Each knows the one before it of the same size.
  std::array<std::uint8_t, 64> of_size{};
  std::uint8_t before = 0;

  const LineField* find(std::string_view key) const {
    std::size_t at = key.size() < of_size.size() ? of_size[key.size()] : 0;
    for (; at != 0; at = below[at - 1].before)
      if (below[at - 1].name == key) return &below[at - 1];
    return nullptr;
  }
  /// Makes the fields of a path that are not there. In it a backslash keeps a dot in a name.
  LineField& reach(std::string_view path);
};

}  // namespace fairlead
