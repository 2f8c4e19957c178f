// SPDX-License-Identifier: Apache-2.0
//
// Copies the upper triangle of each of `batch` matrices, n x n, to the lower one. Defined before it: E, an element.
typedef long long i64;
typedef unsigned long long u64;
struct Args {
    u64 address;
    i64 batch, n, row, column, step; // strides in elements, also between matrices
};

extern "C" __global__ void gsh_kernel(const Args args)
{
    const i64 index = (i64)blockIdx.x * blockDim.x + threadIdx.x, within = index % (args.n * args.n);
    const i64 i = within / args.n, j = within % args.n;
    if (index >= args.batch * args.n * args.n || i <= j)
        return;
    E *matrix = (E *)args.address + index / (args.n * args.n) * args.step;
    matrix[i * args.row + j * args.column] = matrix[j * args.row + i * args.column];
}
