#pragma once

// The C of a self-test that is the same for all machines. `@` stands for the name of the test. It is freestanding C11: nothing is included
// but <stdbool.h>, <stddef.h> and <stdint.h>, and nothing is called but the functions of the machine.
namespace tilewright::bring_up {

inline constexpr char const* self_test_header_text = R"(/* What was found. */
enum @_kind {
    @_returned_code = 1,  /* a function returned a code that is not 0 */
    @_wrong_element,      /* an element is not what it should be */
    @_stray_byte,         /* a byte is overwritten where no element lies */
    @_early_wait,         /* an element is right only later: the wait returned before the job was complete */
    @_wrong_copy          /* bytes that were put into a memory do not come out of it: nothing else is said of the device */
};
struct @_failure {
    enum @_kind kind;
    int number;               /* of the case: run it alone by @_only */
    const char *part;         /* the transfer or the intrinsic */
    const char *text;         /* what is special about the case; may be empty */
    const char *operand;
    const char *memory;       /* of a code: NULL where the function is one of the part */
    uint64_t address;         /* of the byte: as a pointer has it, or from the first byte of a memory that has no pointers */
    int dimensions;
    int32_t index[12];        /* of the element, outermost first; of a stray byte nothing */
    int64_t byte;             /* of the window, from the operand's first element */
    int type, size;           /* of an element: see @_print; bytes */
    unsigned char expected[8], seen[8];
    int code;                 /* that was returned */
    const char *looks_like;   /* the device would have written the same if …; NULL: not known */
    const int32_t *numbers;   /* of the call, as @.c has them */
};
struct @_row {
    const char *part;
    int32_t cases, passed, failed;
    int32_t undefined;  /* values for which the declaration says nothing: the device was not called */
    int32_t unseen;     /* the device was called, and nobody can look at what it wrote */
    int32_t unreached;  /* nobody can put operands there */
};
extern struct @_row @_rows[@_ROWS];
extern volatile int32_t @_now; /* the case that runs: look here when a device hangs */

/* Runs all cases. Returns 0 if all passed and every part has a case that did; how many failed; or, if none did, the number of parts
 * without a case that passed, as a negative number: they could not be looked at. -1000 - m: the address of memory m is missing, or is not a
 * multiple of what it must be. */
int @(const struct @_setup *setup);
/* Runs one case. */
int @_only(const struct @_setup *setup, int number);
/* Writes a failure, or the table of counts, letter by letter. */
void @_print(const struct @_failure *what, void (*put)(char letter));
void @_print_rows(void (*put)(char letter));
)";

inline constexpr char const* self_test_basics_text = R"(
static const struct @_setup *on;
static bool undefined, without_border, other_start;
/* A byte that is looked for, and where a model may write. */
static const unsigned char *wanted, *lowest, *highest;
static int32_t found_index[12];
static int found_dimensions, found_size;
static const unsigned char *found_at;

static void copy(void *to, const void *from, int64_t bytes) {
    unsigned char *into = to;
    const unsigned char *out_of = from;
    for (int64_t at = 0; at < bytes; ++at) into[at] = out_of[at];
}
/* Whether a model leaves an element out: one byte is looked for, or it would write where nothing is kept. */
static bool looks(const unsigned char *to, int size, const int32_t *index, int dimensions) {
    if (lowest != NULL && (to < lowest || to + size > highest)) return true;
    if (wanted == NULL) return false;
    if (wanted < to || wanted >= to + size) return true;
    found_at = to, found_size = size, found_dimensions = dimensions;
    for (int at = 0; at < dimensions; ++at) found_index[at] = index[at];
    return true;
}
)";

inline constexpr char const* self_test_runner_text = R"(
/* Numbers that look like chance, and are the same at every run. */
static uint32_t mixed(uint32_t seed) {
    uint32_t x = seed * UINT32_C(0x9e3779b1) + UINT32_C(0x7f4a7c15);
    x ^= x >> 15;
    x *= UINT32_C(0x85ebca77);
    x ^= x >> 13;
    x *= UINT32_C(0xc2b2ae3d);
    return x ^ x >> 16;
}
static uint64_t whole_number(int type, int size, int values, bool tiny, uint32_t seed) {
    const bool has_sign = type <= INT64_AT;
    const int bits = 8 * size;
    const uint64_t any = (uint64_t)mixed(seed) << 32 | mixed(seed ^ UINT32_C(0x5bd1e995));
    const uint64_t low = has_sign ? UINT64_MAX << (bits - 1) : 0, high = has_sign ? ~low : UINT64_MAX >> (64 - bits);
    if (tiny && size >= 4) return any >> 60;
    switch (values) {
        case 1: return low;
        case 2: return high;
        case 3: {
            const uint64_t ends[] = {low, low + 1, has_sign ? UINT64_MAX : 2, 0, 1, high - 1, high};
            return ends[mixed(seed ^ 77) % 7];
        }
        case 4: {
            const int away = (int)(mixed(seed ^ 99) % (uint32_t)bits) + 64 - bits;
            const uint64_t short_one = any >> away;
            return has_sign && (seed & 1) != 0 ? 0 - short_one : short_one;
        }
        default: return size < 4 ? any : has_sign ? any % 2001 - 1000 : any % 1001;
    }
}
static float real_number(int values, uint32_t seed) {
    static const float ends[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1024.0f, -1024.0f, 3.0f};
    switch (values) {
        case 1: return -1024.0f;
        case 2: return 1024.0f;
        case 3: return ends[mixed(seed) % 8];
        case 4: return (float)((int32_t)(mixed(seed) % 2001) - 1000) / 1000.0f;
        default: return (float)((int32_t)(mixed(seed) % 17) - 8); /* sums of products are exact in any order */
    }
}
static void put_number(unsigned char *to, int size, uint64_t value) {
    const uint8_t of_1 = (uint8_t)value;
    const uint16_t of_2 = (uint16_t)value;
    const uint32_t of_4 = (uint32_t)value;
    copy(to, size == 1 ? (const void *)&of_1 : size == 2 ? (const void *)&of_2 : size == 4 ? (const void *)&of_4 : (const void *)&value, size);
}
static void put_element(unsigned char *to, const struct side *s, int values, bool tiny, uint32_t seed) {
    const float real = real_number(values, seed);
    const double wide = real;
    if (s->type == FLOAT_AT) copy(to, &real, 4);
    else if (s->type == FLOAT_AT + 1) copy(to, &wide, 8);
    else if (s->type == BOOL_AT) to[0] = values == 1 ? 0 : values == 2 ? 1 : mixed(seed) & 1;
    else put_number(to, s->size, whole_number(s->type, s->size, values, tiny, seed));
}
/* A bit for each window of the case that runs whose whole numbers are small. */
static unsigned tiny;
/* What stands in a window before a call: elements where something reads them, and bytes of chance elsewhere. */
static void fill(unsigned char *window, const int32_t *n, int at, const struct side *s, const struct test *t, uint32_t seed) {
    const int32_t bytes = n[3 * at + 1], first = n[3 * at + 2];
    for (int32_t byte = 0; byte < bytes; ++byte) window[byte] = (unsigned char)mixed(seed + (uint32_t)byte * 7u);
    if ((s->is & READ) == 0) return;
    for (int32_t byte = first; byte + s->size <= bytes; byte += s->size)
        put_element(window + byte, s, t->values, (tiny >> at & 1) != 0, seed + (uint32_t)byte * 7u);
}

static bool reaches(int memory, bool into) {
    const struct place *p = &places[memory];
    if (p->is_register || p->direct) return true;
    if (into ? on->write != NULL : on->read != NULL) return true;
    return (into ? p->in.part : p->out.part) >= 0;
}
/* One row of bytes, by a transfer of the machine. */
static int bring(const struct way *w, int64_t source, int64_t destination, int64_t bytes) {
    const struct part *p = &parts[w->part];
    int32_t n[LONGEST_CALL] = {0};
    n[0] = (int32_t)source, n[3] = (int32_t)destination, n[8] = (int32_t)bytes;
    for (int at = 11; at < p->length; at += 5) n[at] = 1;
    int code = p->call(n, 0, NULL);
    if (code == 0 && p->wait != NULL) code = p->wait(n, 0, 0);
    return code;
}
static int put(int memory, int64_t offset, int64_t bytes, const unsigned char *from) {
    const struct place *p = &places[memory];
    if (on->write != NULL) return on->write(on->context, memory, position(memory, offset), bytes, from);
    if (p->direct) {
        volatile unsigned char *const to = (volatile unsigned char *)(uintptr_t)position(memory, offset);
        for (int64_t at = 0; at < bytes; ++at) to[at] = from[at];
        return keep_up(memory, offset, bytes, true);
    }
    int code = 0;
    for (int64_t at = 0; at < bytes && code == 0; at += p->in.most) {
        const int64_t now = bytes - at < p->in.most ? bytes - at : p->in.most;
        code = put(p->in.near, places[p->in.near].stage, now, from + at);
        if (code == 0) code = bring(&p->in, places[p->in.near].stage, offset + at, now);
    }
    return code;
}
static int see(int memory, int64_t offset, int64_t bytes, unsigned char *to) {
    const struct place *p = &places[memory];
    if (on->read != NULL) return on->read(on->context, memory, position(memory, offset), bytes, to);
    if (p->direct) {
        const int code = keep_up(memory, offset, bytes, false);
        const volatile unsigned char *const from = (const volatile unsigned char *)(uintptr_t)position(memory, offset);
        for (int64_t at = 0; at < bytes; ++at) to[at] = from[at];
        return code;
    }
    int code = 0;
    for (int64_t at = 0; at < bytes && code == 0; at += p->out.most) {
        const int64_t now = bytes - at < p->out.most ? bytes - at : p->out.most;
        code = bring(&p->out, offset + at, places[p->out.near].stage, now);
        if (code == 0) code = see(p->out.near, places[p->out.near].stage, now, to + at);
    }
    return code;
}

static struct made_call made[MOST_CALLS];

static uint32_t seed_of(int call, int at) { return (uint32_t)@_now * 0x10001u + (uint32_t)call * 0x1003u + (uint32_t)at * 0x313u; }
static int put_window(const struct part *p, const struct made_call *c, int at) {
    const struct side *s = &p->side[at];
    if ((s->is & REGISTER) == 0) return put(s->memory, c->n[3 * at], c->n[3 * at + 1], c->window[at]);
    copy(c->given[at], c->window[at], c->n[3 * at + 1]);
    return 0;
}
static int see_window(const struct part *p, const struct made_call *c, int at, int64_t from, int64_t bytes, unsigned char *to) {
    const struct side *s = &p->side[at];
    if ((s->is & REGISTER) == 0) return see(s->memory, c->n[3 * at] + from, bytes, to);
    copy(to, c->given[at] + from, bytes);
    return 0;
}
static int64_t difference(const unsigned char *a, const unsigned char *b, int64_t bytes) {
    for (int64_t at = 0; at < bytes; ++at) {
        if (a[at] != b[at]) return at;
    }
    return -1;
}
/* What usual mistake would have written what was seen. */
static const char *likeness(const struct test *t, int call, int at) {
    const struct part *p = &parts[t->part];
    const struct made_call *c = &made[call];
    const struct side *s = &p->side[at];
    const char *what = NULL;
    if ((s->is & WRITTEN) == 0 || !reaches(s->memory, true)) return NULL;
    for (int other = 0; other < p->sides; ++other) {
        if (p->side[other].same >= 0) return NULL; /* what it read is gone */
    }
    const bool before = undefined;
    fill(tried, c->n, at, s, t, seed_of(call, at));
    if (difference(tried, seen, c->n[3 * at + 1]) < 0) return "nothing were written";
    for (int which = 0;; ++which) {
        int32_t changed[LONGEST_CALL];
        unsigned char *first[MOST_SIDES];
        for (int number = 0; number < p->length; ++number) changed[number] = c->n[number];
        const char *const name = p->flaw(which, c->n, changed);
        if (name == NULL) break;
        if (name[0] != '\0') {
            fill(tried, c->n, at, s, t, seed_of(call, at));
            for (int other = 0; other < p->sides; ++other) first[other] = c->window[other] + changed[3 * other + 2];
            first[at] = tried + c->n[3 * at + 2];
            lowest = tried, highest = tried + c->n[3 * at + 1];
            p->model(changed, first);
            lowest = highest = NULL;
            if (difference(tried, seen, c->n[3 * at + 1]) < 0) what = name;
        }
        without_border = other_start = false;
        if (what != NULL) break;
    }
    undefined = before;
    return what;
}
static void report(const struct test *t, struct @_failure *f, int call) {
    struct @_row *row = &@_rows[t->part];
    f->number = (int)(t - tests), f->part = parts[t->part].name, f->text = t->text, f->numbers = made[call].n;
    if (on->failed != NULL && (row->failed == 0 || on->all_failures != 0)) on->failed(on->context, f);
}
/* `memory` is the one that could not be read or written; NULL: the function is one of the part. */
static bool report_code(const struct test *t, int call, int code, const char *memory) {
    struct @_failure f = {.kind = @_returned_code, .code = code, .memory = memory};
    if (code != 0) report(t, &f, call);
    return code != 0;
}
static bool is_nan(int type, const unsigned char *bytes) {
    float real = 0;
    double wide = 0;
    uint16_t half = 0;
    if (type > FLOAT_AT + 1) copy(&half, bytes, 2);
    if ((half & 0x7fff) > (type == FLOAT_AT + 2 ? 0x7c00 : 0x7f80)) return true;
    if (type == FLOAT_AT) copy(&real, bytes, 4);
    if (type == FLOAT_AT + 1) copy(&wide, bytes, 8);
    return real != real || wide != wide;
}
/* Looks for the element that a byte of a window belongs to. */
static bool finds(const struct part *p, const struct made_call *c, int at, int64_t byte) {
    wanted = c->window[at] + byte, found_at = NULL;
    if ((p->side[at].is & WRITTEN) != 0) p->model(c->n, (unsigned char *const *)c->first);
    wanted = NULL;
    return found_at != NULL;
}
/* The first byte from `from` on that is not what is expected; -1: none. What is no number is so in any of its ways. */
static int64_t first_wrong(const struct part *p, const struct made_call *c, int at, int64_t from) {
    const int64_t bytes = c->n[3 * at + 1];
    for (;;) {
        const int64_t wrong = difference(seen + from, c->window[at] + from, bytes - from);
        if (wrong < 0) return -1;
        if (p->side[at].type < FLOAT_AT || !finds(p, c, at, from + wrong)) return from + wrong;
        const int64_t element = found_at - c->window[at];
        if (element < from || !is_nan(p->side[at].type, found_at) || !is_nan(p->side[at].type, seen + element)) return from + wrong;
        copy(seen + element, found_at, found_size);
    }
}
/* Compares a window with what is expected. */
static bool is_wrong(const struct test *t, int call, int at) {
    const struct part *p = &parts[t->part];
    const struct made_call *c = &made[call];
    const struct side *s = &p->side[at];
    const int32_t bytes = c->n[3 * at + 1], first = c->n[3 * at + 2];
    struct @_failure f = {.kind = @_stray_byte, .operand = s->name, .memory = places[s->memory].name, .type = s->type, .size = 1};
    int64_t wrong = -1, from = 0;
    int code = 0;
    /* What a job writes last is looked at first: a wait that returns early shows there. */
    if (p->wait != NULL && (s->is & WRITTEN) != 0) {
        from = bytes - bytes / 4 / places[s->memory].grain * places[s->memory].grain;
        code = see_window(p, c, at, from, bytes - from, seen + from);
        wrong = code == 0 ? first_wrong(p, c, at, from) : -1;
    }
    if (code == 0 && wrong < 0) {
        code = see_window(p, c, at, 0, bytes, seen);
        wrong = code == 0 ? first_wrong(p, c, at, 0) : -1;
    }
    if (report_code(t, call, code, f.memory)) return true;
    if (wrong < 0) return false;
    if (finds(p, c, at, wrong)) {
        f.kind = @_wrong_element, f.size = found_size, f.dimensions = found_dimensions;
        copy(f.index, found_index, sizeof found_index);
        wrong = found_at - c->window[at];
    }
    copy(f.expected, c->window[at] + wrong, f.size);
    copy(f.seen, seen + wrong, f.size);
    f.byte = wrong - first, f.address = (s->is & REGISTER) != 0 ? (uint64_t)wrong : position(s->memory, c->n[3 * at] + wrong);
    /* Late bytes, or wrong ones? */
    for (volatile uint32_t waited = 0; p->wait != NULL && waited < (on->patience != 0 ? on->patience : 100000u);) waited = waited + 1;
    if (see_window(p, c, at, 0, bytes, seen) == 0) {
        if (p->wait != NULL && first_wrong(p, c, at, 0) < 0) f.kind = @_early_wait;
        else f.looks_like = likeness(t, call, at);
    }
    report(t, &f, call);
    return true;
}
/* Puts operands where they belong. Returns whether it could. */
static bool set_up(const struct test *t) {
    const struct part *p = &parts[t->part];
    unsigned char *next = expected;
    bool could = true;
    for (int call = 0; call < t->calls; ++call) {
        struct made_call *c = &made[call];
        c->n = numbers + t->first + call * p->length;
        for (int at = 0; at < p->sides; ++at) {
            const struct side *s = &p->side[at];
            const int same = s->same >= 0 ? s->same : at;
            if (same == at) {
                c->window[at] = next;
                next += c->n[3 * at + 1];
            }
        }
        for (int at = 0; at < p->sides; ++at) {
            const struct side *s = &p->side[at];
            const int same = s->same >= 0 ? s->same : at;
            c->window[at] = c->window[same];
            c->first[at] = c->window[at] + c->n[3 * at + 2];
            c->given[at] = (s->is & REGISTER) != 0 ? registers[call][same] : c->first[at];
            if (same != at) continue;
            fill(c->window[at], c->n, at, s, t, seed_of(call, at));
            int code = 0;
            if (reaches(s->memory, true)) code = put_window(p, c, at);
            else if (reaches(s->memory, false)) code = see(s->memory, c->n[3 * at], c->n[3 * at + 1], c->window[at]);
            else could = could && (s->is & READ) == 0;
            if (report_code(t, call, code, places[s->memory].name)) {
                ++@_rows[t->part].failed;
                return false;
            }
        }
    }
    if (!could) ++@_rows[t->part].unreached;
    return could;
}
static bool has_failed(const struct test *t, bool *unseen) {
    const struct part *p = &parts[t->part];
    int started = 0, code = 0;
    bool bad = false;
    for (; started < t->calls && !bad; ++started) {
        code = p->call(made[started].n, started, (unsigned char *const *)made[started].given);
        bad = report_code(t, started, code, NULL);
    }
    for (int call = 0; call < started; ++call) {
        int64_t pending = 0;
        for (int later = call + 1; later < started; ++later) pending += made[later].n[3 * p->sides] == made[call].n[3 * p->sides];
        if (p->wait != NULL) {
            code = p->wait(made[call].n, call, pending);
            if (!bad) bad = report_code(t, call, code, NULL);
        }
        /* The result first, at once: a wait that returns early shows there. */
        for (int at = 0; at < 2 * p->sides && !bad; ++at) {
            const struct side *s = &p->side[at % p->sides];
            if (s->same >= 0 || ((s->is & WRITTEN) != 0) != (at < p->sides)) continue;
            if (reaches(s->memory, false)) bad = is_wrong(t, call, at % p->sides);
            else if ((s->is & WRITTEN) != 0) *unseen = true;
        }
    }
    return bad;
}
/* A case of any values, for which the declaration says nothing, is tried with smaller ones: its shape and places are what counts. */
static bool becomes_smaller(const struct test *t) {
    const struct part *p = &parts[t->part];
    unsigned may_be = 0;
    for (int at = 0; at < p->sides; ++at) may_be |= (p->side[at].is & MAY_BE_SMALL) != 0 ? 1u << at : 0u;
    if (t->values != 0 || t->tiny != 0 || tiny == may_be) return false;
    do ++tiny;
    while ((tiny & ~may_be) != 0);
    return true;
}
static void run(int number) {
    const struct test *t = &tests[number];
    struct @_row *row = &@_rows[t->part];
    const struct part *p = &parts[t->part];
    @_now = number;
    ++row->cases;
    tiny = t->tiny;
    do {
        undefined = false;
        if (!set_up(t)) return;
        for (int call = 0; call < t->calls; ++call) p->model(made[call].n, (unsigned char *const *)made[call].first);
    } while (undefined && becomes_smaller(t));
    if (undefined) {
        ++row->undefined;
        return;
    }
    bool unseen = false;
    if (has_failed(t, &unseen)) ++row->failed;
    else if (unseen) ++row->unseen;
    else ++row->passed;
}
/* Whether bytes that are put into a memory come out of it. */
static void check_memory(int memory) {
    const struct place *p = &places[memory];
    struct @_row *row = &@_rows[@_ROWS - 1];
    if (p->is_register || p->used == 0) return;
    ++row->cases;
    if (!reaches(memory, true) || !reaches(memory, false)) {
        ++row->unreached;
        return;
    }
    struct @_failure f = {.kind = @_wrong_copy, .number = -1, .part = row->part, .text = "", .operand = "", .memory = p->name, .type = UINT8_AT, .size = 1};
    const int64_t bytes = p->used < (int64_t)sizeof seen ? p->used : (int64_t)sizeof seen;
    for (int64_t at = 0; at < bytes; ++at) expected[at] = (unsigned char)mixed((uint32_t)at + 0x777u * (uint32_t)memory);
    int code = put(memory, 0, bytes, expected);
    if (code == 0) code = see(memory, 0, bytes, seen);
    const int64_t wrong = code != 0 ? 0 : difference(seen, expected, bytes);
    if (wrong < 0) {
        ++row->passed;
        return;
    }
    f.code = code, f.byte = wrong, f.address = position(memory, wrong), f.expected[0] = expected[wrong], f.seen[0] = seen[wrong];
    if (code != 0) f.kind = @_returned_code;
    if (on->failed != NULL) on->failed(on->context, &f);
    ++row->failed;
}
static int summary(void) {
    int failed = 0, blind = 0;
    for (int at = 0; at < @_ROWS; ++at) {
        failed += @_rows[at].failed;
        blind += at + 1 < @_ROWS && @_rows[at].cases > 0 && @_rows[at].passed == 0;
    }
    return failed != 0 ? failed : -blind;
}
static int begin(const struct @_setup *setup) {
    on = setup;
    for (int at = 0; at < @_ROWS; ++at) {
        struct @_row *row = &@_rows[at];
        row->cases = row->passed = row->failed = row->undefined = row->unseen = row->unreached = 0;
    }
    for (int memory = 0; memory < MEMORIES; ++memory) {
        const struct place *p = &places[memory];
        if (p->is_pool && p->used != 0 && (position(memory, 0) == 0 || position(memory, 0) % (uint64_t)p->grain != 0)) return -1000 - memory;
    }
    return 0;
}
int @(const struct @_setup *setup) {
    const int code = begin(setup);
    if (code != 0) return code;
    for (int memory = 0; memory < MEMORIES; ++memory) check_memory(memory);
    for (int number = 0; number < @_CASES; ++number) run(number);
    return summary();
}
int @_only(const struct @_setup *setup, int number) {
    const int code = begin(setup);
    if (code != 0) return code;
    if (number >= 0 && number < @_CASES) run(number);
    return summary();
}
)";

inline constexpr char const* self_test_print_text = R"(
static void put_text(void (*put_letter)(char), const char *text) {
    for (; text != NULL && *text != '\0'; ++text) put_letter(*text);
}
static void put_digits(void (*put_letter)(char), uint64_t value, unsigned base, int least) {
    char text[24];
    int count = 0;
    for (; value != 0 || count < least; value /= base) text[count++] = "0123456789abcdef"[value % base];
    while (count > 0) put_letter(text[--count]);
}
static void put_whole(void (*put_letter)(char), int64_t value) {
    if (value < 0) put_letter('-');
    put_digits(put_letter, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
}
/* Whole numbers as such; of floating point, the bits. */
static void put_value(void (*put_letter)(char), const struct @_failure *f, const unsigned char *bytes) {
    uint64_t value = 0;
    uint8_t of_1;
    uint16_t of_2;
    uint32_t of_4;
    copy(&of_1, bytes, 1), copy(&of_2, bytes, 2), copy(&of_4, bytes, 4), copy(&value, bytes, 8);
    if (f->size < 8) value = f->size == 1 ? of_1 : f->size == 2 ? of_2 : of_4;
    const bool as_bits = f->kind == @_stray_byte || f->kind == @_wrong_copy || f->type >= FLOAT_AT;
    const uint64_t sign = UINT64_C(1) << (8 * f->size - 1);
    if (as_bits) put_text(put_letter, "0x"), put_digits(put_letter, value, 16, 2 * f->size);
    else if (f->type <= INT64_AT && f->type != BOOL_AT) put_whole(put_letter, (int64_t)((value ^ sign) - sign));
    else put_digits(put_letter, value, 10, 1);
}
void @_print(const struct @_failure *f, void (*put_letter)(char)) {
    put_text(put_letter, f->part);
    if (f->number >= 0) put_text(put_letter, ", case "), put_whole(put_letter, f->number);
    if (f->text[0] != '\0') put_text(put_letter, " ("), put_text(put_letter, f->text), put_letter(')');
    put_text(put_letter, ": ");
    if (f->kind == @_returned_code) {
        put_text(put_letter, f->memory != NULL ? "reading or writing " : "a function"), put_text(put_letter, f->memory);
        put_text(put_letter, " returned "), put_whole(put_letter, f->code), put_letter('\n');
        return;
    }
    if (f->kind == @_stray_byte) put_text(put_letter, "stray byte ");
    if (f->kind == @_wrong_copy) put_text(put_letter, "what is put there does not come out: byte ");
    if (f->kind == @_stray_byte || f->kind == @_wrong_copy) put_whole(put_letter, f->byte), put_text(put_letter, " of ");
    put_text(put_letter, f->operand);
    for (int at = 0; at < f->dimensions; ++at) put_text(put_letter, at == 0 ? "[" : ", "), put_whole(put_letter, f->index[at]);
    if (f->dimensions > 0) put_letter(']');
    put_text(put_letter, f->operand[0] != '\0' ? " in " : ""), put_text(put_letter, f->memory);
    put_text(put_letter, " at 0x"), put_digits(put_letter, f->address, 16, 1);
    put_text(put_letter, ": expected "), put_value(put_letter, f, f->expected);
    put_text(put_letter, ", got "), put_value(put_letter, f, f->seen);
    if (f->kind == @_early_wait) put_text(put_letter, "; it came later: the wait returned early");
    if (f->looks_like != NULL) put_text(put_letter, "; as if "), put_text(put_letter, f->looks_like);
    put_letter('\n');
}
static void put_column(void (*put_letter)(char), const char *name, int32_t value) {
    put_text(put_letter, ", "), put_whole(put_letter, value), put_letter(' '), put_text(put_letter, name);
}
void @_print_rows(void (*put_letter)(char)) {
    for (int at = 0; at < @_ROWS; ++at) {
        const struct @_row *row = &@_rows[at];
        put_text(put_letter, row->part), put_text(put_letter, ": "), put_whole(put_letter, row->cases), put_text(put_letter, " cases");
        put_column(put_letter, "passed", row->passed);
        if (row->failed != 0) put_column(put_letter, "failed", row->failed);
        if (row->undefined != 0) put_column(put_letter, "undefined", row->undefined);
        if (row->unseen != 0) put_column(put_letter, "not seen", row->unseen);
        if (row->unreached != 0) put_column(put_letter, "not reached", row->unreached);
        put_letter('\n');
    }
}
)";

}  // namespace tilewright::bring_up
