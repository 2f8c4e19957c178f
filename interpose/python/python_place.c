/* SPDX-License-Identifier: Apache-2.0
 *
 * CPython 3.11 and newer keep frames as structs on a separate stack. The thread state points to the
 * innermost one (3.13 and newer) or to a struct that does (3.11, 3.12). A frame object from
 * PyEval_GetFrame points to its struct. Older versions have only frame objects, which
 * PyEval_GetFrame returns at no cost. Code objects are stored in a hash table by address.
 */
#include "python_place.h"

#include "log.h"
#include "python_error.h"

#include <dlfcn.h>
#include <stdlib.h>

#define NOTES 1024         /* a power of 2 */
#define WAYS 4             /* slots in which a code object may be stored */
#define STATE_WORDS 16     /* words of the thread state that are searched */
#define FRAME_WORDS 10     /* words of a frame that are searched */
#define FRAME_OF_OBJECT 24 /* PyFrameObject.f_frame */
#define HELD_FRAME 56      /* PyThreadState.cframe of 3.11 and 3.12 */
#define NOWHERE (~0U)
#define STEP 2       /* bytes of an instruction */
#define MOST_BACK 64 /* bytes, to an instruction that has a line: jumps of 3.11 have none */

struct note {
    uint32_t number;                /* the place's number; 0: free */
    PyObject *code, *module, *kept; /* references */
    const void *globals;
};

static struct note notes[NOTES];
static uint32_t last_number;
static PyObject *code_type; /* NULL: places are unavailable */
static void *(*get_state)(void);
static void *(*get_own_state)(void); /* also of a thread without the GIL */
static int (*line_of)(PyObject *, int);
static bool has_structs;           /* 3.11 and newer */
static bool is_behind;             /* 3.11, 3.12: behind a struct */
static bool has_stack;             /* frames lead to their callers' */
static unsigned at_state, at_held; /* offsets in bytes */
static unsigned at_code, at_globals, at_instruction, at_previous; /* in a frame */
static ptrdiff_t
    at_bytes; /* offset of a code object's first instruction; before 3.11 an instruction's size */

static void *word_sigsafe(const void *base, size_t offset)
{
    return *(void *const *)((const char *)base + offset);
}

/* 3.14 marks references in the low bits. */
static PyObject *object_at_sigsafe(const void *frame, size_t offset)
{
    return (PyObject *)((uintptr_t)word_sigsafe(frame, offset) & ~(uintptr_t)7);
}

static const void *innermost_of_sigsafe(const void *state)
{
    const char *held = word_sigsafe(state, at_state);
    return is_behind && held ? word_sigsafe(held, at_held) : held;
}

static const void *innermost(void)
{
    return has_structs ? innermost_of_sigsafe(get_state()) : gsh_py.PyEval_GetFrame();
}

static int instruction_of_sigsafe(const void *frame, PyObject *code)
{
    if (has_structs)
        return (int)((char *)word_sigsafe(frame, at_instruction) - (char *)code - at_bytes);
    return *(const int *)((const char *)frame + at_instruction) * (int)at_bytes;
}

static int instruction_now(PyObject *code)
{
    return instruction_of_sigsafe(innermost(), code);
}

/* The slot that contains the code object, else a free one, else one in turn. */
static struct note *find_slot(PyObject *code, const void *globals)
{
    static unsigned turn;
    size_t first =
        ((uintptr_t)code >> 4 ^ (uintptr_t)code >> 13) & (NOTES - 1) & ~(size_t)(WAYS - 1);
    struct note *free_slot = NULL;
    for (struct note *slot = &notes[first]; slot < &notes[first + WAYS]; slot++) {
        if (slot->code == code && slot->globals == globals)
            return slot;
        if (slot->code == NULL && free_slot == NULL)
            free_slot = slot;
    }
    return free_slot ? free_slot : &notes[first + turn++ % WAYS];
}

/* Stores the code object in the slot. The lower bits of a note's number identify the slot; the
 * upper bits change each time a slot is taken. */
static void take_slot(struct note *slot, PyObject *code, PyObject *globals)
{
    PyObject *const before[] = {slot->code, slot->module, slot->kept};
    PyObject *module = gsh_py.PyDict_GetItemString(globals, "__name__");
    if (module && gsh_py_type(module) != gsh_py.PyUnicode_Type)
        module = NULL;
    gsh_py.Py_IncRef(code);
    if (module)
        gsh_py.Py_IncRef(module);
    if (++last_number >= UINT32_MAX / NOTES)
        last_number = 1;
    *slot = (struct note){.number = last_number * NOTES + (uint32_t)(slot - notes),
                          .code = code,
                          .module = module,
                          .globals = globals};
    gsh_py_drop(before, GSH_COUNT(before));
}

struct gsh_python_place gsh_python_place_note(void)
{
    const void *frame = code_type ? innermost() : NULL;
    PyObject *code = frame ? object_at_sigsafe(frame, at_code) : NULL;
    if (!code || gsh_py_type(code) != code_type)
        return (struct gsh_python_place){0};
    PyObject *globals = object_at_sigsafe(frame, at_globals);
    struct note *slot = find_slot(code, globals);
    if (slot->code != code || slot->globals != globals)
        take_slot(slot, code, globals);
    return (struct gsh_python_place){slot->number, instruction_of_sigsafe(frame, code)};
}

bool gsh_python_place_find(struct gsh_python_place place, struct gsh_python_place_info *info)
{
    struct note *slot = &notes[place.note & (NOTES - 1)];
    if (place.note == 0 || slot->number != place.note)
        return false;
    *info = (struct gsh_python_place_info){.code = slot->code,
                                           .module = slot->module,
                                           .globals = slot->globals,
                                           .kept = &slot->kept,
                                           .line = line_of(slot->code, place.instruction)};
    return true;
}

/* ---- the stack ---- */

const void *gsh_python_place_thread(void)
{
    return has_stack ? get_state() : NULL;
}

const void *gsh_python_place_own_thread_sigsafe(void)
{
    return has_stack && get_own_state != NULL ? get_own_state() : NULL;
}

unsigned gsh_python_place_walk_sigsafe(const void *thread, struct gsh_python_place_frame *frames,
                                       unsigned most)
{
    unsigned count = 0;
    const void *frame = innermost_of_sigsafe(thread);
    for (; frame != NULL && count < most; frame = word_sigsafe(frame, at_previous)) {
        PyObject *code = object_at_sigsafe(frame, at_code);
        if (code != NULL && gsh_py_type(code) == code_type)
            frames[count++] =
                (struct gsh_python_place_frame){code, instruction_of_sigsafe(frame, code)};
    }
    return count;
}

int gsh_python_place_line_sigsafe(struct gsh_python_place_frame frame)
{
    int line = line_of(frame.code, frame.instruction);
    for (int back = STEP; line < 1 && back <= MOST_BACK && back <= frame.instruction; back += STEP)
        line = line_of(frame.code, frame.instruction - back);
    return GSH_MAX(line, 0);
}

/* ---- offsets ---- */

static int minor_version(void)
{
    return atoi(gsh_py.Py_GetVersion() + 2);
}

/* The offset of a word that equals the object, apart from marks in the low bits. */
static unsigned find_word(const void *base, unsigned words, const void *object)
{
    for (unsigned offset = 0; offset < words * sizeof(void *); offset += sizeof(void *))
        if (object_at_sigsafe(base, offset) == object)
            return offset;
    return NOWHERE;
}

static int attribute_number(PyObject *object, const char *name)
{
    int overflow;
    PyObject *value = gsh_py.PyObject_GetAttrString(object, name);
    int number = value ? (int)gsh_py.PyLong_AsLongLongAndOverflow(value, &overflow) : -1;
    if (value)
        gsh_py.Py_DecRef(value);
    return number;
}

/* Finds f_lasti in a frame object up to 3.10. It counts bytes in 3.9 and instructions in 3.10. */
static bool find_old_instruction(PyObject *frame, int instruction)
{
    at_instruction = minor_version() == 9 ? 104 : 96;
    at_bytes = minor_version() == 9 ? 1 : 2;
    return instruction_of_sigsafe(frame, NULL) == instruction;
}

/* Finds the word that points into the code object. */
static bool find_instruction(const void *frame, PyObject *code, int instruction)
{
    uintptr_t low = (uintptr_t)code + 64, high = (uintptr_t)code + 512;
    for (at_instruction = 0; at_instruction < FRAME_WORDS * sizeof(void *);
         at_instruction += sizeof(void *)) {
        uintptr_t first = (uintptr_t)word_sigsafe(frame, at_instruction) - (uintptr_t)instruction;
        at_bytes = (ptrdiff_t)(first - (uintptr_t)code);
        if (first > low && first < high)
            return true;
    }
    return false;
}

/* Finds the word of the thread state that leads to the frame. */
static bool find_innermost(const void *frame)
{
    const char *state = get_state(), *held = word_sigsafe(state, HELD_FRAME);
    is_behind = minor_version() <= 12;
    if (is_behind) {
        at_state = HELD_FRAME;
        at_held = find_word(held, 2, frame);
        return at_held != NOWHERE;
    }
    at_state = find_word(state, STATE_WORDS, frame);
    return at_state != NOWHERE;
}

/* Finds the offsets from the frame object of the Python code that is running. */
static bool find_offsets(PyObject *object, PyObject *code, PyObject *globals)
{
    int instruction = attribute_number(object, "f_lasti");
    has_structs = minor_version() >= 11;
    const void *frame = has_structs ? word_sigsafe(object, FRAME_OF_OBJECT) : object;
    if (instruction < 0 || !frame)
        return false;
    at_code = find_word(frame, FRAME_WORDS, code);
    at_globals = find_word(frame, FRAME_WORDS, globals);
    if (at_code == NOWHERE || at_globals == NOWHERE)
        return false;
    return has_structs ? find_innermost(frame) && find_instruction(frame, code, instruction)
                       : find_old_instruction(object, instruction);
}

/* Checks the version's offset of a frame's caller: it leads from the frame object's frame to that of its caller, past frames that
 * belong to no code. */
static bool find_previous(PyObject *object)
{
    enum { HOPS = 4 };
    PyObject *caller = gsh_py.PyFrame_GetBack(object);
    const void *frame = has_structs ? word_sigsafe(object, FRAME_OF_OBJECT) : object;
    const void *wanted = caller && has_structs ? word_sigsafe(caller, FRAME_OF_OBJECT) : caller;
    at_previous = minor_version() >= 12 ? 8 : minor_version() == 11 ? 48 : 24;
    for (int hop = 0; hop < HOPS && frame && frame != wanted; hop++)
        frame = word_sigsafe(frame, at_previous);
    if (!has_structs)
        at_state = find_word(get_state(), STATE_WORDS, object);
    gsh_py_drop(&caller, 1);
    return wanted != NULL && frame == wanted && at_state != NOWHERE;
}

void gsh_python_place_init(void)
{
    *(void **)&get_state = dlsym(RTLD_DEFAULT, "PyThreadState_Get");
    *(void **)&line_of = dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
    PyObject *object = gsh_py.PyEval_GetFrame();
    if (!get_state || !line_of || !object)
        return;
    PyObject *code = gsh_py.PyFrame_GetCode(object);
    PyObject *globals = gsh_py.PyObject_GetAttrString(object, "f_globals");
    if (code && globals && find_offsets(object, code, globals))
        code_type = gsh_py_type(code);
    if (code_type && line_of(code, instruction_now(code)) != gsh_py.PyFrame_GetLineNumber(object))
        code_type = NULL;
    has_stack = code_type && find_previous(object);
    *(void **)&get_own_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    if (!code_type)
        gsh_log(GSH_LOG_DEBUG, "late warnings name the line that runs then");
    PyObject *const made[] = {code, globals};
    gsh_py_drop(made, GSH_COUNT(made));
    gsh_python_error_clear();
}
