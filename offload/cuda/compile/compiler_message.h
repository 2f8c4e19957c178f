/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library and the program gpushim_compiler say to each other over a socket. Both are of one build, on one machine.
 */
#pragma once

#include "base.h"

/* The program: gpushim_compiler NVRTC_FILE CACHE_FOLDER CACHE_LIMIT. Its socket is this file. */
#define GSH_COMPILER_SOCKET 3

struct gsh_compiler_request {
    int arch;    /* as struct gsh_cuda_target */
    bool is_ptx; /* as struct gsh_cuda_target */
    size_t size; /* of the text that follows, with its NUL */
};

enum gsh_compiler_outcome { GSH_COMPILER_FAILED, GSH_COMPILER_COMPILED, GSH_COMPILER_FOUND };

struct gsh_compiler_reply {
    enum gsh_compiler_outcome outcome;
    size_t size; /* of the image that follows; 0 where it failed */
};

/* Send or receive all of it. False: the other side has ended. Never raise SIGPIPE. */
bool gsh_compiler_message_send(int socket, const void *bytes, size_t size);
bool gsh_compiler_message_receive(int socket, void *bytes, size_t size);
