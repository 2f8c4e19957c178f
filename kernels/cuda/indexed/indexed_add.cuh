// SPDX-License-Identifier: Apache-2.0
//
// PUT with a wrapping addition or subtraction of integers of 4 or 8 bytes, by an atomic instruction.
FN void combine(const Args &, char *place, A x)
{
    atomicAdd((Cell *)place, ADDS ? (Cell)x : (Cell)0 - (Cell)x);
}
