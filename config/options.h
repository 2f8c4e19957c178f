/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUSHIM_* environment, parsed once, at load, from the one table options.def. No other file
 * calls getenv for a GPUSHIM_ name. A bad value keeps the default; nothing is printed before
 * gsh_options_announce, so that processes without NumPy stay silent. Allocates nothing, no locks.
 */
#pragma once

#include "base.h"
#include "fmt.h"

enum gsh_option {
#define X(name, type, default_value, min, max, help) GSH_OPTION_##name,
#include "options.def"
#undef X
    GSH_OPTION_COUNT
};

/* In the order of the words in options.def. */
enum gsh_device_choice { GSH_DEVICE_AUTO, GSH_DEVICE_CUDA, GSH_DEVICE_HOST, GSH_DEVICE_NONE };
enum gsh_fperr { GSH_FPERR_DEFERRED, GSH_FPERR_STRICT, GSH_FPERR_OFF, GSH_FPERR_LATE };
enum gsh_mode { GSH_MODE_AUTO, GSH_MODE_FORCE, GSH_MODE_OFF };

/* Parses the environment; later calls do nothing. Until then every option has its default. In a process that the kernel
 * started in secure-execution mode (AT_SECURE: set-user-ID, capabilities) it does as gsh_options_init_secure. */
void gsh_options_init(void);
/* Nothing of the environment counts or is spoken of, and the mode is off: the library stays dormant. Instead of the other. */
void gsh_options_init_secure(void);
/* Once, when the library has found NumPy: one line on stderr for each bad value and each unknown
 * GPUSHIM_ name, and the table where GPUSHIM_HELP=1. Later calls do nothing. */
void gsh_options_announce(void);
/* The value of a BOOL, INT, SIZE or CHOICE option. */
int64_t gsh_option_number(enum gsh_option option);
/* The value of a TEXT option; never NULL; lives as long as the process. */
const char *gsh_option_text(enum gsh_option option);
/* One line per option that differs from its default ("none differs" otherwise), for the doctor. */
void gsh_options_describe(struct gsh_fmt *fmt);
/* The whole table as Markdown (docs/user/options.md) or plain text (GPUSHIM_HELP). */
void gsh_options_help(struct gsh_fmt *fmt, bool markdown);
