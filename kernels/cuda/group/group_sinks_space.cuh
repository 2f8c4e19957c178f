// SPDX-License-Identifier: Apache-2.0
//
// The arguments of the kernel of a group with sinks, and where its elements lie. KEPT dimensions, whose elements are
// the outputs, come first; the reduced dimensions follow.
struct End { // of a sink
    u64 output; // its array, or the scratch of a first stage
    i64 segment_stride;
    u64 initial[2];
    Sink sink;
};
struct Args {
    u64 base[ARRAYS + (ARRAYS == 0)]; // addresses; of an index array its first index
    i64 along[INDICES + (INDICES == 0)]; // an index array's stride along the last dimension
    u64 constants[CONSTANTS + (CONSTANTS == 0)];
    Sink sinks[SINKS + (SINKS == 0)];
    i64 outputs, elements, units; // elements, units: of an output, reduced; a unit is a pack of elements
    i64 segment, tiles, lanes;
    i64 shape[NDIM];
    u64 magic[NDIM];
    i64 stride[TRACKS][NDIM];
    End ends[ENDS];
    i64 output_stride[ENDS][KEPT + (KEPT == 0)];
};
struct Spot {
    i64 offset[TRACKS];
};
FN i64 offset_of(const Args &, const Spot &spot, int track, int) { return spot.offset[track]; }
