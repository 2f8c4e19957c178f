/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "observer.h"

const struct gsh_observer *gsh_observer;
