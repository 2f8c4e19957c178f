/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4) and the message authentication code HMAC-SHA-256 (RFC 2104): only a holder of the key can
 * compute the code of a message. Allocates nothing, takes no lock.
 */
#pragma once

#include "base.h"

#define GSH_HMAC_BYTES 32

/* The state of a message that is added in parts. */
struct gsh_hmac {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64], outer_key[64];
};

void gsh_hmac_begin(struct gsh_hmac *hmac, const void *key, size_t key_size);
void gsh_hmac_add(struct gsh_hmac *hmac, const void *bytes, size_t size);
void gsh_hmac_end(struct gsh_hmac *hmac, unsigned char code[GSH_HMAC_BYTES]);
