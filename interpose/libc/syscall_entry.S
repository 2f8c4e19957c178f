/* SPDX-License-Identifier: Apache-2.0
 *
 * syscall(number, ...): jumps to the function that gsh_libc_io_choose returns, with unchanged
 * registers and stack. A C function would write to the seventh argument's stack slot. If there is
 * no seventh argument, that slot is a variable of the caller, which another thread may be changing.
 */
#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

    .text
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq 56(%rsp)
    .cfi_adjust_cfa_offset 8
    call gsh_libc_io_choose
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size syscall, . - syscall

    .section .note.GNU-stack, "", @progbits
