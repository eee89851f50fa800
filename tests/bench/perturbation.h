// A self-test of the benches: the measured code is made worse or better on purpose, and the ratios
// must change accordingly.
//
// The program is linked so that the log's calls of Zstandard and OpenSSL come here first. The bound
// is never perturbed: what it needs does not depend on how the log does its work.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::bench {

enum class Perturbation : std::uint8_t {
  none,
  worse_codec,   ///< compression at a slow level, decompression twice
  doubled_hash,  ///< everything that is hashed is hashed twice
  better_codec,  ///< frames of half the bytes for nothing, decompression for a copy
};

/// Returns the perturbation of a name such as "worse-codec"; nullopt if there is none.
std::optional<Perturbation> perturbation_named(std::string_view name);

/// While it lives, the libraries are perturbed in all threads. At most one may exist at a time.
class Perturbed {
 public:
  explicit Perturbed(Perturbation perturbation);
  ~Perturbed();
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;
};

}  // namespace fairlead::bench
