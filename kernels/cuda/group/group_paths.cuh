// SPDX-License-Identifier: Apache-2.0
//
// A group's steps have two forms. The fast path evaluates all elements by fast arithmetic, which leaves a NaN as the
// GPU makes it. One flag for all steps tells whether a special value was met: a NaN (it also stands for arguments that
// the fast functions of cuda/math/real_math.cuh do not handle), or a possible error. Only then, rarely, the slow
// path evaluates the same elements again, with NaNs as x86-64 makes them, and reports errors.
// The namespace continues with cuda/math/arithmetic.cuh and ends behind it.
struct SlowPath {
    const Sink *sinks;
    FN const Sink &at(int sink) const { return sinks[sink]; }
    FN const Sink &passing(int sink) const { return sinks[sink]; }
};
namespace fast {
struct FastPath {
    mutable bool is_special;
    FN const FastPath &at(int) const { return *this; }
    FN FastPath passing(int) const { return {false}; } // a later step shows the special value too: no flag
    template <class V> FN void note(V x) const
    {
#if ERRORS
        is_special |= !gsh_isfinite(x);
#else
        is_special |= gsh_isnan(x);
#endif
    }
};
