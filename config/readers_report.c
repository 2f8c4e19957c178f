/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows whose code is in one library are added up, since an address alone says nothing to the reader of a report.
 */
#include "readers_report.h"

#include "mapped_files.h"
#include "readers.h"

#include <string.h>

enum { TEXT_READERS = 5, NAME_BYTES = 48 };

static const char *const kinds[] = {"function", "library", "gpushim"};
enum kind { FUNCTION, LIBRARY, GPUSHIM };

static struct reader {
    enum kind kind;
    char name[NAME_BYTES];
    uint64_t bytes, transfers;
} readers[GSH_READERS_MAX];

static struct files { /* of a row's addresses; "": not found */
    char instruction[NAME_BYTES], caller[NAME_BYTES];
} files[GSH_READERS_MAX];

static void set_name(char *name, const char *text, size_t length)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, name, NAME_BYTES);
    gsh_fmt_printf(&fmt, "%.*s", (int)length, text);
}

/* "_multiarray_umath" of ".../_multiarray_umath.cpython-313-x86_64-linux-gnu.so", "libz.so.1.3" of ".../libz.so.1.3" */
static void set_file_name(char *name, const char *path)
{
    const char *base = strrchr(path, '/') + 1;
    const char *end = strstr(base, ".cpython-");
    if (end == NULL)
        end = strstr(base, ".abi3.so");
    set_name(name, base, end != NULL ? (size_t)(end - base) : strlen(base));
}

static bool note_file(void *context, const struct gsh_mapped_file *file)
{
    (void)context;
    struct gsh_readers_row row;
    for (unsigned i = 0; i < GSH_READERS_MAX; i++) {
        if (!gsh_readers_get(i, &row) || row.reader.instruction == 0)
            continue;
        if (row.reader.instruction >= file->begin && row.reader.instruction < file->end)
            set_file_name(files[i].instruction, file->path);
        if (row.reader.caller >= file->begin && row.reader.caller < file->end)
            set_file_name(files[i].caller, file->path);
    }
    return true;
}

/* memcpy and its kin read for their caller. */
static const char *library_of(const struct files *found)
{
    bool is_libc = strncmp(found->instruction, "libc.so", 7) == 0 ||
                   strncmp(found->instruction, "libc-", 5) == 0;
    return is_libc && found->caller[0] != '\0' ? found->caller : found->instruction;
}

static enum kind name_row(unsigned index, const struct gsh_readers_row *row, char *name)
{
    const char *library = library_of(&files[index]);
    if (row->reader.name != NULL) {
        set_name(name, row->reader.name, strlen(row->reader.name));
        return FUNCTION;
    }
    enum kind kind = library[0] != '\0' ? LIBRARY : GPUSHIM;
    set_name(name, kind == LIBRARY ? library : kinds[GPUSHIM], NAME_BYTES);
    return kind;
}

static struct reader *find(unsigned *count, enum kind kind, const char *name)
{
    for (unsigned i = 0; i < *count; i++)
        if (readers[i].kind == kind && strcmp(readers[i].name, name) == 0)
            return &readers[i];
    struct reader *added = &readers[(*count)++];
    *added = (struct reader){.kind = kind};
    set_name(added->name, name, strlen(name));
    return added;
}

/* Inserts each before those with fewer bytes. */
static void sort(unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        struct reader moved = readers[i];
        unsigned place = i;
        for (; place > 0 && moved.bytes > readers[place - 1].bytes; place--)
            readers[place] = readers[place - 1];
        readers[place] = moved;
    }
}

static unsigned collect(void)
{
    unsigned count = 0;
    memset(files, 0, sizeof files);
    gsh_mapped_files_walk_sigsafe(note_file, NULL);
    for (unsigned i = 0; i < GSH_READERS_MAX; i++) {
        struct gsh_readers_row row;
        char name[NAME_BYTES];
        if (!gsh_readers_get(i, &row))
            continue;
        struct reader *reader = find(&count, name_row(i, &row, name), name);
        reader->bytes += row.bytes;
        reader->transfers += row.transfers;
    }
    sort(count);
    return count;
}

static void append_name(struct gsh_fmt *fmt, const struct reader *reader)
{
    gsh_fmt_printf(fmt, "%s%s", reader->kind == LIBRARY ? "code of " : "", reader->name);
}

bool gsh_readers_report_name(unsigned index, struct gsh_fmt *fmt)
{
    struct gsh_readers_row row;
    struct reader reader;
    if (index == 0 || !gsh_readers_get(index, &row))
        return false;
    reader.kind = name_row(index, &row, reader.name);
    append_name(fmt, &reader);
    return true;
}

static void append_amount(struct gsh_fmt *fmt, uint64_t bytes, uint64_t transfers)
{
    gsh_fmt_text(fmt, " ");
    gsh_fmt_bytes(fmt, (double)bytes, "B");
    gsh_fmt_printf(fmt, " in %llu", (unsigned long long)transfers);
}

void gsh_readers_report_text(struct gsh_fmt *fmt)
{
    unsigned count = collect(), shown = GSH_MIN(count, (unsigned)TEXT_READERS);
    uint64_t bytes = 0, transfers = 0;
    for (unsigned i = 0; i < shown; i++) {
        gsh_fmt_text(fmt, i == 0 ? " brought back by " : ", ");
        append_name(fmt, &readers[i]);
        append_amount(fmt, readers[i].bytes, readers[i].transfers);
    }
    for (unsigned i = shown; i < count; i++) {
        bytes += readers[i].bytes;
        transfers += readers[i].transfers;
    }
    if (count > shown) {
        gsh_fmt_printf(fmt, ", %u others", count - shown);
        append_amount(fmt, bytes, transfers);
    }
    if (count > 0)
        gsh_fmt_text(fmt, "\n");
}

void gsh_readers_report_json(struct gsh_fmt *fmt)
{
    unsigned count = collect();
    gsh_fmt_text(fmt, "[");
    for (unsigned i = 0; i < count; i++) {
        gsh_fmt_text(fmt, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ");
        gsh_fmt_json_string(fmt, readers[i].name);
        gsh_fmt_printf(fmt, ", \"kind\": \"%s\", \"bytes\": %llu, \"transfers\": %llu}",
                       kinds[readers[i].kind], (unsigned long long)readers[i].bytes,
                       (unsigned long long)readers[i].transfers);
    }
    gsh_fmt_text(fmt, "\n ]");
}
