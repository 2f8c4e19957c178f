// SPDX-License-Identifier: Apache-2.0
//
// Rows of at most ROW elements, in shared memory: bitonic sort of pairs of element and place, which is stable because
// no two are equal. A block takes as many rows as there is room for.
FN bool goes_first(Raw a, u32 i, Raw b, u32 j, u32 length)
{
    if (i >= length || j >= length) // places behind the row stay behind it
        return i < j;
    return is_before(a, b) || (!is_before(b, a) && i < j);
}
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ Raw element[ROW];
    __shared__ u16 place[ROW];
    const u32 length = (u32)args.length, padded = (u32)args.padded, room = ROW / padded;
    const i64 first = (i64)blockIdx.x * room, left = args.rows - first;
    const u32 slots = (left < (i64)room ? (u32)left : room) * padded;
    for (u32 s = threadIdx.x; s < slots; s += BLOCK) {
        const u32 i = s % padded;
        place[s] = (u16)i;
        if (i < length)
            element[s] = row_at<const Raw>(args.input, first + s / padded, args.in_step)[i];
    }
    for (u32 size = 2; size <= padded; size *= 2)
        for (u32 apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (u32 pair = threadIdx.x; pair < slots / 2; pair += BLOCK) {
                const u32 low = 2 * apart * (pair / apart) + pair % apart, high = low + apart;
                const bool rises = (low % padded & size) == 0;
                const Raw a = element[low], b = element[high];
                const u16 i = place[low], j = place[high];
                if (goes_first(b, j, a, i, length) == rises) {
                    element[low] = b;
                    element[high] = a;
                    place[low] = j;
                    place[high] = i;
                }
            }
        }
    __syncthreads();
    for (u32 s = threadIdx.x; s < slots; s += BLOCK) {
        const u32 i = s % padded;
        if (i < length && GIVES_ORDER)
            row_at<i64>(args.output, first + s / padded, args.out_step)[i] = place[s];
        else if (i < length)
            row_at<Raw>(args.output, first + s / padded, args.out_step)[i] = element[s];
    }
}
