/* SPDX-License-Identifier: Apache-2.0
 *
 * gsh_stack_pool_entry(top, body, argument): see stack_pool.c. The frame pointer holds the caller's stack pointer, by
 * which unwinders find the caller.
 */
#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

    .text
    .globl gsh_stack_pool_entry
    .hidden gsh_stack_pool_entry
    .type gsh_stack_pool_entry, @function
gsh_stack_pool_entry:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq %rdi, %rsp
    movq %rdx, %rdi
    call *%rsi
    movq %rbp, %rsp
    popq %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size gsh_stack_pool_entry, . - gsh_stack_pool_entry

    .section .note.GNU-stack, "", @progbits
