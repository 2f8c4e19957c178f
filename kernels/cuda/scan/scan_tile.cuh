// SPDX-License-Identifier: Apache-2.0
//
// RANGE_CHECKED: joins a tile to the value before it. All lanes join at once. From the first lane that spoils the join,
// one lane continues alone until all lanes may try again. Meanwhile `staged` holds finished outputs and remaining
// inputs.
constexpr u32 ALONE = 16; // fewest lanes' elements that one lane joins alone, unless the value becomes absorbing

// All threads. The first lane of the group that spoils the join; `lanes` where none does.
FN u32 first_that_spoils(const Scan &scan, bool spoils)
{
    u32 &mark = scan.shared.mark[scan.group];
    if (scan.lane == 0)
        mark = 0;
    __syncthreads();
    if (spoils)
        atomicMax(&mark, scan.lanes - scan.lane);
    __syncthreads();
    return scan.lanes - mark;
}
// All threads. Whether this lane spoils the join.
FN bool join_behind(const Scan &scan, Lane &mine, A carry, bool has_carry)
{
    const Mode mode = mode_behind(carry, has_carry);
    bool spoils = false;
    if (mode != PRODUCTS) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (i < mine.count)
                mine.x[i] = counted(mine.x[i], carry, mode, spoils);
    }
    scan.join_lanes(mine);
    if (has_carry)
        mine.put_before(carry);
    return mine.count > 0 && (mode == PRODUCTS ? !mine.range.is_safe() : spoils);
}
// One lane. Joins elements from `lane` on, in place; leaves the lane at which to continue, and the value before it.
FN void walk(const Scan &scan, u32 lane, int length, A run, bool has_run)
{
    const u32 first = lane;
    bool goes_on = true;
    for (; goes_on && (int)lane * ITEMS < length; lane++) {
        A *const at = scan.staged_of(lane);
        const int count = length - (int)lane * ITEMS;
        const A before = run;
        A x[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            x[i] = at[i];
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (i < count) {
                run = has_run || i > 0 ? gsh_join(run, x[i]) : x[i];
                at[i] = run;
            }
        const bool may_stop = is_in_range(size_of(run)) || (has_run && is_same(run, before));
        goes_on = !is_absorbing(run) && (lane - first < ALONE || !may_stop);
        has_run = true;
    }
    scan.shared.mark[scan.group] = (int)lane * ITEMS < length ? lane : scan.lanes;
    scan.shared.tile_total[scan.group] = run;
}
// All threads. Replaces `mine`, the inputs of a tile of `length` elements, by its outputs.
FN void take_tile(const Scan &scan, Lane &mine, int length, A carry, bool has_carry)
{
    const int count = mine.count;
    A *const own = scan.staged_of(scan.lane);
    A run = carry;
    bool has_run = has_carry;
    u32 from = 0;
#pragma unroll 1
    for (;;) {
        const bool spoils = join_behind(scan, mine, run, has_run);
        if (!__syncthreads_or(spoils))
            break;
        const u32 stop = first_that_spoils(scan, spoils);
        if (scan.lane >= from && scan.lane < stop)
            scan.stage(mine);
        __syncthreads();
        if (scan.lane == 0)
            walk(scan, stop, length, stop > from ? scan.staged_of(stop - 1)[ITEMS - 1] : run, has_carry || stop > 0);
        __syncthreads();
        from = scan.shared.mark[scan.group];
        run = scan.shared.tile_total[scan.group];
        has_run = true;
        mine.count = scan.lane < from ? 0 : count;
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            mine.x[i] = mine.count > 0 ? own[i] : sign_of(A());
    }
    mine.count = count;
    if (scan.lane >= from)
        return;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        mine.x[i] = own[i];
    mine.has_before = has_carry || scan.lane > 0;
    mine.before = scan.lane > 0 ? scan.staged_of(scan.lane - 1)[ITEMS - 1] : carry;
}
