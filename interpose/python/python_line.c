/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that were found are kept by code object and instruction, for threads with the GIL. A kept code object has a reference, so
 * that its address stays its own.
 */
#include "python_line.h"

#include "line_profile.h"
#include "log.h"
#include "python_error.h"
#include "python_place.h"
#include "python_text.h"
#include "stats.h"

#include <limits.h>
#include <string.h>

#define KEPT 4096      /* a power of 2 */
#define MOST_FRAMES 64 /* of libraries, that are passed */
#define CODE_WORDS 40  /* words of a code object that are searched */
#define AT_LENGTH 16   /* PyASCIIObject.length */
#define LIBRARY (~0U)  /* in place of a row: frames that are passed */
#define PRINTER (~1U)  /* the same, of a function that prints an array */
#define IMPORTER (~2U) /* of an import: the search ends */
#define NAMELESS "<a file whose name is no UTF-8>"
#define INSTRUCTION_STEP 0x9e3779b97f4a7c15U

struct kept {
    PyObject *code; /* a reference; NULL: free */
    int instruction;
    unsigned row;
};

static struct kept kept[KEPT];
static unsigned at_file; /* of co_filename, in a code object */
static size_t at_text;   /* of the bytes, in a str of ASCII characters */
static char
    packages[PATH_MAX]; /* the folder of NumPy's and SciPy's folders, with a slash; "": unknown */
static size_t packages_length;

/* ---- names of files ---- */

/* The text of a str of ASCII characters; NULL: it has others. */
static const char *ascii_sigsafe(PyObject *name)
{
    Py_ssize_t length = *(const Py_ssize_t *)((const char *)name + AT_LENGTH);
    const char *text = (const char *)name + at_text;
    for (Py_ssize_t i = 0; i < length; i++)
        if ((signed char)text[i] <= 0)
            return NULL;
    return length > 0 && length < PATH_MAX && text[length] == '\0' ? text : NULL;
}

static PyObject *name_of_sigsafe(PyObject *code)
{
    return *(PyObject *const *)((const char *)code + at_file);
}

static bool begins_sigsafe(const char *text, const char *with)
{
    while (*with != '\0' && *text == *with)
        text++, with++;
    return *with == '\0';
}

static bool ends_sigsafe(const char *text, const char *with)
{
    const char *end = text, *with_end = with;
    while (*end != '\0')
        end++;
    while (*with_end != '\0')
        with_end++;
    while (end > text && with_end > with && end[-1] == with_end[-1])
        end--, with_end--;
    return with_end == with;
}

/* Python's own library, but for what is installed beside it. */
static bool is_standard_sigsafe(const char *file)
{
    bool is_standard = false;
    for (; *file != '\0'; file++) {
        if (begins_sigsafe(file, "-packages/"))
            return false;
        is_standard |= begins_sigsafe(file, "/lib/python3");
    }
    return is_standard;
}

/* Frames of Python's own library, of NumPy's and SciPy's folders, and of decorators between these. */
static bool is_library_sigsafe(const char *file)
{
    static const char *const names[] = {"<frozen ", "<shim>", "<__array_function__"};
    for (size_t i = 0; i < GSH_COUNT(names); i++)
        if (begins_sigsafe(file, names[i]))
            return true;
    if (is_standard_sigsafe(file))
        return true;
    return packages_length != 0 && begins_sigsafe(file, packages) &&
           (begins_sigsafe(file + packages_length, "numpy/") ||
            begins_sigsafe(file + packages_length, "scipy/"));
}

static unsigned row_sigsafe(const struct gsh_python_place_frame *frame, const char *file)
{
    if (file == NULL)
        return 0;
    if (begins_sigsafe(file, "<frozen importlib"))
        return IMPORTER;
    if (is_library_sigsafe(file))
        return ends_sigsafe(file, "/arrayprint.py") ? PRINTER : LIBRARY;
    return gsh_line_profile_row_sigsafe(file, (unsigned)gsh_python_place_line_sigsafe(*frame));
}

/* ---- rows of frames ---- */

static struct kept *slot_of_sigsafe(const struct gsh_python_place_frame *frame)
{
    uint64_t hash =
        (uintptr_t)frame->code >> 4 ^ (uint64_t)frame->instruction * INSTRUCTION_STEP >> 40;
    return &kept[hash & (KEPT - 1)];
}

static bool is_kept_sigsafe(const struct kept *slot, const struct gsh_python_place_frame *frame)
{
    return slot->code == frame->code && slot->instruction == frame->instruction;
}

static void keep(struct kept *slot, const struct gsh_python_place_frame *frame, unsigned row)
{
    PyObject *before = slot->code;
    gsh_py.Py_IncRef(frame->code);
    *slot = (struct kept){frame->code, frame->instruction, row};
    if (before != NULL)
        gsh_py.Py_DecRef(before);
}

static unsigned row_of_frame_sigsafe(const struct gsh_python_place_frame *frame, bool has_gil)
{
    const struct kept *slot = slot_of_sigsafe(frame);
    if (has_gil && is_kept_sigsafe(slot, frame))
        return slot->row;
    return row_sigsafe(frame, ascii_sigsafe(name_of_sigsafe(frame->code)));
}

static unsigned row_of_frame(const struct gsh_python_place_frame *frame)
{
    struct kept *slot = slot_of_sigsafe(frame);
    if (GSH_LIKELY(is_kept_sigsafe(slot, frame)))
        return slot->row;
    const char *file = gsh_python_text_utf8(name_of_sigsafe(frame->code));
    unsigned row = row_sigsafe(frame, file != NULL ? file : NAMELESS);
    keep(slot, frame, row);
    return row;
}

/* The first frame outside the libraries. */
struct outside {
    unsigned row;   /* 0: there is none */
    unsigned depth; /* frames of libraries before it */
    bool prints;    /* one of these prints an array */
    bool imports;   /* they are of a module that is imported */
};

/* Most often it is the innermost one. */
static struct outside
find_outside_sigsafe(unsigned (*row_of)(const struct gsh_python_place_frame *))
{
    struct gsh_python_place_frame frames[MOST_FRAMES];
    struct outside outside = {0};
    const void *thread = gsh_python_place_own_thread_sigsafe();
    unsigned count = thread != NULL ? gsh_python_place_walk_sigsafe(thread, frames, 1) : 0;
    for (; outside.depth < count; outside.depth++) {
        unsigned row = row_of(&frames[outside.depth]);
        outside.prints |= row == PRINTER;
        outside.imports = row == IMPORTER;
        outside.row = row < IMPORTER ? row : 0;
        if (row <= IMPORTER)
            return outside;
        if (count == 1)
            count = gsh_python_place_walk_sigsafe(thread, frames, MOST_FRAMES);
    }
    return outside;
}

static unsigned row_with_gil_sigsafe(const struct gsh_python_place_frame *frame)
{
    return row_of_frame_sigsafe(frame, true);
}

static unsigned row_without_gil_sigsafe(const struct gsh_python_place_frame *frame)
{
    return row_of_frame_sigsafe(frame, false);
}

static unsigned find_sigsafe(void)
{
    bool has_gil = gsh_py.PyGILState_Check() != 0;
    return find_outside_sigsafe(has_gil ? row_with_gil_sigsafe : row_without_gil_sigsafe).row;
}

static struct outside find_here(void)
{
    bool has_gil = gsh_py.PyGILState_Check() != 0;
    return find_outside_sigsafe(has_gil ? row_of_frame : row_without_gil_sigsafe);
}

static unsigned find(void)
{
    return find_here().row;
}

unsigned gsh_python_line_row(const struct gsh_python_place_frame *frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned row = row_of_frame(&frames[i]);
        if (row <= IMPORTER)
            return row < IMPORTER ? row : 0;
    }
    return 0;
}

unsigned gsh_python_line_depth(void)
{
    return find_outside_sigsafe(row_of_frame).depth;
}

/* ---- rows of calls that are not the program's ---- */

static bool is_ended; /* no Python code runs any more */

static unsigned find_folding(void)
{
    static unsigned imports, prints;
    const struct outside outside = is_ended ? (struct outside){0} : find_here();
    if (!outside.imports && !outside.prints)
        return 0;
    if (imports == 0) {
        prints = gsh_stats_row("(print)", "");
        imports = gsh_stats_row("(import)", "");
    }
    return outside.imports ? imports : prints;
}

/* ---- start ---- */

static void find_packages(void)
{
    PyObject *numpy = gsh_py.PyDict_GetItemString(gsh_py.PyImport_GetModuleDict(), "numpy");
    PyObject *file = numpy != NULL ? gsh_py.PyObject_GetAttrString(numpy, "__file__") : NULL;
    const char *text = file != NULL ? gsh_python_text_utf8(file) : NULL;
    const char *end = text != NULL ? strstr(text, "numpy/__init__.py") : NULL;
    if (end != NULL && (size_t)(end - text) < sizeof packages) {
        packages_length = (size_t)(end - text);
        memcpy(packages, text, packages_length);
    }
    if (file != NULL)
        gsh_py.Py_DecRef(file);
    gsh_python_error_clear();
}

/* Finds at_file and at_text by what CPython says of the code that runs. */
static bool find_offsets(PyObject *code)
{
    PyObject *name = gsh_py.PyObject_GetAttrString(code, "co_filename");
    const char *text = name != NULL ? gsh_python_text_utf8(name) : NULL;
    if (text == NULL)
        return false;
    at_text = (size_t)(text - (const char *)name);
    at_file = 0;
    while (at_file < CODE_WORDS * sizeof(void *) && name_of_sigsafe(code) != name)
        at_file += sizeof(void *);
    bool is_found = name_of_sigsafe(code) == name && ascii_sigsafe(name) == text;
    gsh_py.Py_DecRef(name);
    return is_found;
}

/* Of the code that runs. */
static bool find_offsets_now(void)
{
    struct gsh_python_place_frame frame;
    const void *thread = gsh_python_place_own_thread_sigsafe();
    return thread != NULL && gsh_python_place_walk_sigsafe(thread, &frame, 1) == 1 &&
           find_offsets(frame.code);
}

static void stop(void)
{
    is_ended = true;
    gsh_line_profile_stop();
}

static void start(void)
{
    if (gsh_line_profile_is_wanted())
        gsh_line_profile_start(find, find_sigsafe);
    if (gsh_stats_report_is_wanted())
        gsh_stats_set_folding(find_folding);
}

void gsh_python_line_init(void)
{
    if (!gsh_line_profile_is_wanted() && !gsh_stats_report_is_wanted())
        return;
    gsh_python_place_init();
    find_packages();
    if (find_offsets_now() && gsh_py.Py_AtExit(stop) == 0)
        start();
    else if (gsh_line_profile_is_wanted())
        gsh_log(GSH_LOG_WARN, "this Python does not tell the lines of calls");
    gsh_python_error_clear();
}
