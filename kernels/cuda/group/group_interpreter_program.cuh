// SPDX-License-Identifier: Apache-2.0
//
// A group as the arguments of the interpreter: a list of steps on slots. A slot holds one value for each of the thread's
// ELEMENTS elements. A value is a word: a float as its bits, a bool as its byte, an integer extended to 64 bits by its
// sign or by zeros. kernels/codegen/source_interpreter.c makes the list; its struct step is Step.
constexpr int ELEMENTS = 4, DIMS = 4, ARRAYS = 24, CONSTANTS = 32, SINKS = 32, STEPS = 124;
constexpr u32 FIRST_CONSTANT = 64, NOWHERE = 255; // operands: slots, constants, none
constexpr u32 LOAD = 0, STORE = 1, LOCATE = 2;    // codes; those of operations and casts follow
constexpr u32 OF_CAST = 128;                      // in may(): a cast, and the kind of error that it may meet
struct Step { // bytes of two words, each of which is loaded at once
    u64 first, second;
    template <int AT> FN u32 byte() const { return (u32)((AT < 8 ? first : second) >> (8 * (AT % 8))) & 0xff; }
    FN u32 code() const { return (u32)first & 0xffff; }
    // Operands; of LOAD, STORE and LOCATE in1 is the array.
    FN u32 out() const { return byte<2>(); }
    FN u32 in0() const { return byte<3>(); }
    FN u32 in1() const { return byte<4>(); }
    FN u32 in2() const { return byte<5>(); }
    FN u32 mask() const { return byte<6>(); }
    FN u32 old() const { return byte<7>(); }
    FN u32 sink() const { return byte<8>(); }    // what reports errors, counted from 1; 0: nothing
    FN u32 may() const { return byte<9>(); }     // the errors that are possible
    FN u32 dtype() const { return byte<10>(); }  // of memory: its code in load_word; of checks: whether of doubles
    FN u32 count() const { return byte<11>(); }  // of inputs
    FN bool is_pack() const { return byte<12>() != 0; } // ELEMENTS neighbours are moved at once
};
struct Args {
    u32 n, steps; // elements; of the program
    u32 is_packed, ndim;
    i64 shape[DIMS];
    u64 magic[DIMS];
    u64 base[ARRAYS]; // addresses; of an index array its first index
    i64 stride[ARRAYS][DIMS];
    u64 constants[CONSTANTS];
    Sink sinks[SINKS];
    Step step[STEPS];
};
FN u64 to_word(Bool x) { return x.byte; }
FN u64 to_word(float x) { return bits_of(x); }
FN u64 to_word(double x) { return bits_of(x); }
template <class I> FN u64 to_word(I x) { return is_signed<I> ? (u64)(i64)x : (u64)x; }
template <class S> struct Word_as { static FN S of(u64 word) { return (S)word; } };
template <> struct Word_as<Bool> { static FN Bool of(u64 word) { return Bool{(u8)word}; } };
template <> struct Word_as<float> { static FN float of(u64 word) { return of_bits((u32)word); } };
template <> struct Word_as<double> { static FN double of(u64 word) { return of_bits(word); } };
// Whether the cast of x to y meets an error (check_cast).
template <class To, class From> FN bool cast_fails(From x, To y)
{
    if constexpr (Kind<From>::integer == 0 && Kind<To>::integer != 0)
        return is_beyond<To>(value(x));
    else
        return gsh_isfinite(value(x)) && !gsh_isfinite(value(y));
}
template <class To, class From> FN u64 cast_word(u64 word, int v, u32 &special)
{
    const From x = Word_as<From>::of(word);
    const To y = Convert<To, From>::of(x);
    special |= (u32)cast_fails<To>(x, y) << v;
    return to_word(y);
}
#define EACH _Pragma("unroll") for (int v = 0; v < ELEMENTS; v++)
