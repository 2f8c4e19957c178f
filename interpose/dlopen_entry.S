/* SPDX-License-Identifier: Apache-2.0
 *
 * dlopen(path, flags): see dlopen_hook.h. Written in assembler because the function must end in a
 * jump, which C cannot guarantee: glibc identifies the caller by the return address.
 */
#ifndef __x86_64__
#error "only the x86-64 calling convention is written here"
#endif

    .text
    .globl dlopen
    .type dlopen, @function
dlopen:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    leaq 16(%rsp), %rdi /* the address of the path argument, which may be replaced */
    movq 24(%rsp), %rdx /* the caller */
    call gsh_dlopen_hook_enter
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size dlopen, . - dlopen

    .section .note.GNU-stack, "", @progbits
