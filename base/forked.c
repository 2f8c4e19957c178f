/* SPDX-License-Identifier: Apache-2.0
 *
 * See forked.h. The child has one thread, so nothing there races. Handlers are added only while the library starts.
 */
#include "forked.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096
#define HANDLERS_MOST 12

static struct {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} handlers[HANDLERS_MOST];
static unsigned handler_count;

static volatile unsigned char always = 1; /* used until the page exists */
static void (*adopt_process)(void);
static bool is_child;

volatile unsigned char *_Atomic gsh_forked_mark = &always;

/* ---- handlers ---- */

static void run(void (*handler)(void))
{
    if (handler != NULL)
        handler();
}

void gsh_forked_prepare(void)
{
    gsh_forked_check(); /* a child that ran no handlers may fork before its first check */
    for (unsigned k = handler_count; k-- > 0;)
        run(handlers[k].prepare);
}

void gsh_forked_parent(void)
{
    for (unsigned k = 0; k < handler_count; k++)
        run(handlers[k].parent);
}

void gsh_forked_child_after_fork(void)
{
    *atomic_load(&gsh_forked_mark) = 1;
    is_child = true;
    for (unsigned k = 0; k < handler_count; k++)
        if (handlers[k].child != NULL)
            handlers[k].child();
}

void gsh_forked_add(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    if (handler_count == HANDLERS_MOST)
        abort();
    handlers[handler_count].prepare = prepare;
    handlers[handler_count].parent = parent;
    handlers[handler_count].child = child;
    if (handler_count++ == 0)
        pthread_atfork(gsh_forked_prepare, gsh_forked_parent, gsh_forked_child_after_fork);
}

long gsh_forked_around(long (*call)(void *context), void *context)
{
    gsh_forked_prepare();
    long outcome = call(context);
    if (outcome == 0)
        gsh_forked_child_after_fork();
    else
        gsh_forked_parent();
    return outcome;
}

/* ---- children that ran no handlers ---- */

void gsh_forked_detect(void (*adopt)(void))
{
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, PAGE_BYTES, MADV_WIPEONFORK) != 0) {
        munmap(page, PAGE_BYTES);
        return;
    }
    *(unsigned char *)page = 1;
    adopt_process = adopt;
    atomic_store_explicit(&gsh_forked_mark, page, memory_order_release);
}

bool gsh_forked_is_child_sigsafe(void)
{
    return is_child;
}

void gsh_forked_adopt_sigsafe(void)
{
    *atomic_load(&gsh_forked_mark) = 1; /* first: the calls below check the mark too */
    adopt_process();
    gsh_forked_child_after_fork();
}
