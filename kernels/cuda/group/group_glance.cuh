// SPDX-License-Identifier: Apache-2.0
//
// A group's steps are evaluated twice over. A Glance takes the quick way: arithmetic that leaves a NaN
// as the GPU makes it, and one note for all steps that something odd was met: a NaN (which may stand
// for what the quick functions of cuda/math/real_math.cuh leave out), or what may be an error. Then, rarely,
// a Witness goes over the same elements with NaNs as x86-64 makes them, and reports.
// The namespace goes on with cuda/math/arithmetic.cuh and ends behind it.
struct Witness {
    const Sink *sinks;
    FN const Sink &at(int sink) const { return sinks[sink]; }
    FN const Sink &passing(int sink) const { return sinks[sink]; }
};
namespace quick {
struct Glance {
    mutable bool is_odd;
    FN const Glance &at(int) const { return *this; }
    FN Glance passing(int) const { return {false}; } // of what a later step shows nothing is kept
    template <class V> FN void note(V x) const
    {
#if ERRORS
        is_odd |= !gsh_isfinite(x);
#else
        is_odd |= gsh_isnan(x);
#endif
    }
};
