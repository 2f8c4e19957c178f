// SPDX-License-Identifier: Apache-2.0
//
// Stable sort of rows. Elements are moved as they are (Raw, their bytes); their order is that of their codes, unsigned
// numbers in which all NaNs are equal and last, and -0.0 equals 0.0.
//
// Rows that fit in shared memory are sorted there (sort_rows.cuh). Longer ones by radix sort, from the lowest byte of
// the code on: all bytes are counted in one reading (sort_count.cuh), the counts become each digit's first place
// (sort_offsets.cuh), and each pass moves all elements by one byte (sort_pass.cuh). A byte that is the same in all
// elements of each row needs no pass. So the device decides which passes run, and each kernel finds from that where the
// elements are. Where they are not in the output in the end, sort_finish.cuh copies them. The method is that of
// Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs (2022).
//
// Scratch memory: `state` (the passes that run, a bit each; then the number of tiles that each pass has begun), counts
// [row][pass][digit], statuses [row][tile][digit], and buffers of elements and of indices, each of rows of `length`.
struct Args {
    i64 pass; // counts the launches of the pass
    u64 input, output, state, counts, statuses, keys[2], indices[2];
    i64 rows, length, in_step, out_step; // steps between rows in bytes
    i64 tiles, parts, chunk;             // of a row; parts of `chunk` elements are counted by one block
    i64 padded;                          // the length's next power of two
    i64 words;                           // of 8 bytes: state, counts and statuses
};
constexpr u32 RADIX = 256;
// A row of an operand. The address becomes a pointer before the offset is added: so the compiler sees that the row lies in
// global memory.
template <class T> FN T *row_at(u64 first, i64 row, i64 step) { return (T *)((char *)first + row * step); }
