// SPDX-License-Identifier: Apache-2.0
//
// Where the elements are before and after each pass that runs. Values move to and fro between a buffer and the output,
// so that the last pass ends in the output; where that is also the input, the first pass must not write to it. Indices
// move between two buffers with their elements; the last pass writes only them, to the output.
struct Run { // one pass among those that run
    u32 number, all;
    FN Run(u32 wanted, u32 pass) : number(__popc(wanted & ((1u << pass) - 1))), all(__popc(wanted)) {}
    FN bool is_last() const { return number + 1 == all; }
};
FN bool is_in_place(const Args &args) { return args.input == args.output; }
FN Raw *row_of(u64 buffer, const Args &args, i64 row) { return (Raw *)buffer + row * args.length; }
FN Raw *values_after(const Args &args, u32 number, u32 all, i64 row)
{
    const u32 to_go = all - 1 - number;
    const bool in_output = is_in_place(args) ? number % 2 == 1 : to_go % 2 == 0;
    return in_output ? row_at<Raw>(args.output, row, args.out_step) : row_of(args.keys[0], args, row);
}
FN Raw *target_of(const Args &args, const Run &run, i64 row)
{
    return GIVES_ORDER ? row_of(args.keys[run.number % 2], args, row) : values_after(args, run.number, run.all, row);
}
FN const Raw *source_of(const Args &args, const Run &run, i64 row)
{
    if (run.number == 0)
        return row_at<const Raw>(args.input, row, args.in_step);
    return GIVES_ORDER ? row_of(args.keys[(run.number - 1) % 2], args, row)
                       : values_after(args, run.number - 1, run.all, row);
}
