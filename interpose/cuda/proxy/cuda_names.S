/* SPDX-License-Identifier: Apache-2.0
 *
 * libgpushim_cuda.so: returned if a program opens libcuda.so.1. It exports the names of
 * cuda_calls.def, each as a jump through a table that libgpushim.so fills first. It depends on the
 * real library, where dlsym finds all other names.
 */
#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

    .set place, 0

    .macro name text
    .globl \text
    .type \text, @function
\text:
    endbr64
    jmp *(table + place)(%rip)
    .size \text, . - \text
    .set place, place + 8
    .endm

    .text
#define X(base, suffix, ...) name base##suffix;
#define P(base, suffix, form, ...) name base##suffix; name base##suffix##_##form;
#define L P
#define A X
#define AP P
#define C X
#include "cuda_calls.def"

    .bss
    .balign 8
    .globl gpushim_cuda_table
    .type gpushim_cuda_table, @object
gpushim_cuda_table:
table:
    .skip place
    .size gpushim_cuda_table, place

    .section .rodata
    .balign 8
    .globl gpushim_cuda_names
    .type gpushim_cuda_names, @object
gpushim_cuda_names: /* the number of names */
    .quad place / 8
    .size gpushim_cuda_names, 8

    .section .note.GNU-stack, "", @progbits
