/* SPDX-License-Identifier: Apache-2.0
 *
 * base/hmac.c against the test cases of RFC 4231, in one part and in many.
 */
#include "hmac.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

static void check_code(const void *key, size_t key_size, const char *message, size_t size,
                       const char *expected)
{
    unsigned char code[GSH_HMAC_BYTES];
    char text[2 * GSH_HMAC_BYTES + 1];
    for (size_t part = 1; part <= size; part = part == 1 ? 7 : part == 7 ? size : size + 1) {
        struct gsh_hmac hmac;
        gsh_hmac_begin(&hmac, key, key_size);
        for (size_t at = 0; at < size; at += part)
            gsh_hmac_add(&hmac, message + at, GSH_MIN(part, size - at));
        gsh_hmac_end(&hmac, code);
        for (unsigned k = 0; k < GSH_HMAC_BYTES; k++)
            snprintf(text + 2 * (size_t)k, 3, "%02x", code[k]);
        CHECK_STR(text, expected);
    }
}

int main(void)
{
    unsigned char key[131];
    char message[200];
    memset(key, 0x0b, 20);
    check_code(key, 20, "Hi There", 8,
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check_code("Jefe", 4, "what do ya want for nothing?", 28,
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(message, 0xdd, 50);
    check_code(key, 20, message, 50,
               "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    check_code(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    strcpy(message,
           "This is a test using a larger than block-size key and a larger than block-size "
           "data. The key needs to be hashed before being used by the HMAC algorithm.");
    check_code(key, 131, message, strlen(message),
               "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
    return check_result();
}
