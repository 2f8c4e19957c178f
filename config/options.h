/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUSHIM_* environment, parsed once, at load, by the table options.def. No other file calls getenv for a
 * GPUSHIM_ name. A bad value keeps the default. Nothing is printed before gsh_options_announce, so that processes
 * without NumPy stay silent. Allocates nothing, no locks.
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
enum gsh_device_choice {
    GSH_DEVICE_AUTO,
    GSH_DEVICE_CUDA,
    GSH_DEVICE_HOST,
    GSH_DEVICE_NONE,
    GSH_DEVICE_CPU
};
enum gsh_fallback { GSH_FALLBACK_IGNORE, GSH_FALLBACK_WARN, GSH_FALLBACK_RAISE };
enum gsh_fperr { GSH_FPERR_DEFERRED, GSH_FPERR_STRICT, GSH_FPERR_OFF, GSH_FPERR_LATE };
enum gsh_mode { GSH_MODE_AUTO, GSH_MODE_FORCE, GSH_MODE_OFF };

/* Parses the environment; later calls do nothing. Before the first call every option has its default. In a process
 * that the kernel started in secure-execution mode (AT_SECURE: set-user-ID, capabilities) it acts as
 * gsh_options_init_secure. */
void gsh_options_init(void);
/* Called instead of gsh_options_init: ignores the environment, prints nothing about it, and sets the mode to off,
 * so that the library stays dormant. */
void gsh_options_init_secure(void);
/* Called when the library has found NumPy. Prints on stderr one line for each bad value and each unknown GPUSHIM_
 * name, and the table where GPUSHIM_HELP=1. Later calls do nothing. */
void gsh_options_announce(void);
/* The value of a BOOL, INT, SIZE or CHOICE option. */
int64_t gsh_option_number(enum gsh_option option);
/* The value of a TEXT option; never NULL; lives as long as the process. */
const char *gsh_option_text(enum gsh_option option);
/* One line per option that differs from its default ("none differs" otherwise), for the doctor. */
void gsh_options_describe(struct gsh_fmt *fmt);
/* The whole table as Markdown (docs/user/options.md) or plain text (GPUSHIM_HELP). */
void gsh_options_help(struct gsh_fmt *fmt, bool markdown);
