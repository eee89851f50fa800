// How much memory something takes.
#pragma once

#include <functional>

namespace fairlead::bench {

/// Returns the resident bytes of this process.
double resident_bytes();

/// Returns how many more there are than `before`; 0 where the kernel took back more than that.
double grown_since(double before);

/// Returns by how many bytes `work` raised the resident bytes of this process at its peak. Gives up
/// where the kernel cannot tell.
double peak_bytes_of(const std::function<void()>& work);

/// Returns what `measure` returns in a process of its own, which ends with it: memory that one
/// repetition freed would be reused by the next and not be counted. Gives up if that fails.
double figure_of_a_process(const std::function<double()>& measure);

}  // namespace fairlead::bench
