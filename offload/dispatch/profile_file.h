/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a script's profile: "profiles/<32 hexadecimal digits>" in the cache folder (cache_folder.h), text of one line for
 * each fact, written under a temporary name and renamed. Any fault of a file or a folder counts as "not found". Takes no lock;
 * gsh_profile_file_trim alone allocates. Checked by tests/unit/offload/dispatch/test_profile_file.c.
 */
#pragma once

#include "script_identity.h"

struct gsh_profile {
    uint64_t gain_ns;   /* gains of the last run, made and foregone */
    uint32_t libraries; /* kinds of launch, as bits, whose libraries were opened */
    bool is_shared;     /* others used CUDA's driver (cuda_sharing.h) */
};

enum gsh_profile_found {
    GSH_PROFILE_NONE,
    GSH_PROFILE_STALE, /* damaged, or of the script before it was changed */
    GSH_PROFILE_FOUND
};
/* FOUND: sets *profile. */
enum gsh_profile_found gsh_profile_file_read(const struct gsh_script_identity *script,
                                             struct gsh_profile *profile);
/* Replaces the script's profile. False: it cannot be written, and leaves no file behind. Async-signal-safe. */
bool gsh_profile_file_write(const struct gsh_script_identity *script,
                            const struct gsh_profile *profile);
/* Removes the profile that was not written for longest if there are more than 1000. Allocates memory. */
void gsh_profile_file_trim(void);
/* Async-signal-safe. */
void gsh_profile_file_remove(const struct gsh_script_identity *script);
