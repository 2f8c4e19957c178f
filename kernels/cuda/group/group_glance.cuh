// SPDX-License-Identifier: Apache-2.0
//
// A group's steps have two forms. A Glance evaluates all elements by quick arithmetic, which leaves a NaN as the GPU
// makes it. One flag for all steps tells whether an odd value was met: a NaN (it also stands for arguments that the
// quick functions of cuda/math/real_math.cuh do not handle), or a possible error. Only then, rarely, a Witness
// evaluates the same elements again, with NaNs as x86-64 makes them, and reports errors.
// The namespace continues with cuda/math/arithmetic.cuh and ends behind it.
struct Witness {
    const Sink *sinks;
    FN const Sink &at(int sink) const { return sinks[sink]; }
    FN const Sink &passing(int sink) const { return sinks[sink]; }
};
namespace quick {
struct Glance {
    mutable bool is_odd;
    FN const Glance &at(int) const { return *this; }
    FN Glance passing(int) const { return {false}; } // a later step shows the odd value too: no flag
    template <class V> FN void note(V x) const
    {
#if ERRORS
        is_odd |= !gsh_isfinite(x);
#else
        is_odd |= gsh_isnan(x);
#endif
    }
};
