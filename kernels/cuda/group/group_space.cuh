// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a group's kernel, and where its elements lie. A step is a pack of VECTOR neighbours along the last
// dimension; NDIM 0 means that every array is dense. Arrays with the same strides share a track: one offset serves
// them all.
struct Args {
    i64 n; // steps; for dense arrays elements
    u64 base[ARRAYS + (ARRAYS == 0)]; // addresses; of an index array its first index
    i64 along[INDICES + (INDICES == 0)]; // an index array's stride along the last dimension
    u64 constants[CONSTANTS + (CONSTANTS == 0)];
    Sink sinks[SINKS + (SINKS == 0)];
    i64 shape[NDIM + (NDIM == 0)];
    u64 magic[NDIM + (NDIM == 0)];
    i64 stride[TRACKS][NDIM + (NDIM == 0)];
};
struct Spot { // of a step
    Index step;
    i64 offset[TRACKS];
};
FN Spot locate(const Args &args, Index step)
{
    Spot spot;
    spot.step = step;
#pragma unroll
    for (int t = 0; t < TRACKS; t++)
        spot.offset[t] = NDIM > 0 ? 0 : (i64)step * (VECTOR * track_size(t));
    advance<SHORT, 0, NDIM>(step, args.shape, args.magic, args.stride, spot.offset);
    return spot;
}
// The offset of the step's element e.
FN i64 offset_of(const Args &args, const Spot &spot, int track, int e)
{
    return spot.offset[track] + e * (NDIM > 0 ? args.stride[track][NDIM - (NDIM > 0)] / VECTOR : track_size(track));
}
