/* Records of the calls of a device's functions: a ring for each core, in plain C without a library.
 *
 * A header that tilewright_add_trace() writes calls these functions where TILEWRIGHT_TRACE is defined. One source of the program defines
 * TILEWRIGHT_TRACE_STORAGE in front of this header: it has the rings. All sources agree on the sizes.
 *
 *     uint64_t tilewright_cycles(void) { return read_the_cycle_counter(); }    // yours
 *     ...
 *     tilewright_trace_dump(put_letter);                                       // after the kernel
 *
 * A call that has not returned stands in the ring with `done` 0: a debugger sees where a device hangs. */
#ifndef TILEWRIGHT_RUNTIME_TRACE_H
#define TILEWRIGHT_RUNTIME_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* Calls of each core that are kept: the last ones. */
#ifndef TILEWRIGHT_TRACE_RECORDS
#define TILEWRIGHT_TRACE_RECORDS 1024
#endif
#ifndef TILEWRIGHT_TRACE_CORES
#define TILEWRIGHT_TRACE_CORES 1
#endif
/* The number of the core that calls. */
#ifndef TILEWRIGHT_TRACE_CORE
#define TILEWRIGHT_TRACE_CORE() 0
#endif
enum { tilewright_trace_arguments = 18 };

#ifdef __cplusplus
extern "C" {
#endif

struct tilewright_trace_record {
    const char* symbol;
    int32_t count; /* of arguments */
    int32_t code;  /* that the function returned */
    uint32_t done; /* 0: it has not returned */
    uint64_t begin, end;
    int64_t arguments[tilewright_trace_arguments];
};
struct tilewright_trace_ring {
    uint32_t written; /* all calls; the last TILEWRIGHT_TRACE_RECORDS of them are kept */
    struct tilewright_trace_record records[TILEWRIGHT_TRACE_RECORDS];
};
extern struct tilewright_trace_ring tilewright_trace_rings[TILEWRIGHT_TRACE_CORES];

/* A counter of cycles, from anywhere on. */
uint64_t tilewright_cycles(void);

/* A call is going to be made. The counter is read last. */
static inline struct tilewright_trace_record* tilewright_trace_begin(const char* symbol, int32_t count, const int64_t* arguments) {
    struct tilewright_trace_ring* const ring = &tilewright_trace_rings[TILEWRIGHT_TRACE_CORE()];
    struct tilewright_trace_record* const record = &ring->records[ring->written % TILEWRIGHT_TRACE_RECORDS];
    record->symbol = symbol, record->count = count, record->done = 0, record->code = 0, record->end = 0;
    for (int32_t at = 0; at < count; ++at) record->arguments[at] = arguments[at];
    ++ring->written;
    record->begin = tilewright_cycles();
    return record;
}
/* It has returned. The counter is read first. */
static inline void tilewright_trace_end(struct tilewright_trace_record* record, int code) {
    record->end = tilewright_cycles();
    record->code = code;
    record->done = 1;
}
/* Forgets all calls. */
void tilewright_trace_clear(void);
/* Writes all records, letter by letter: a line for each. */
void tilewright_trace_dump(void (*put)(char letter));

#ifdef __cplusplus
}
#endif

#ifdef TILEWRIGHT_TRACE_STORAGE
struct tilewright_trace_ring tilewright_trace_rings[TILEWRIGHT_TRACE_CORES];

static void tilewright_trace_text(void (*put)(char), const char* text) {
    for (; *text != '\0'; ++text) put(*text);
}
static void tilewright_trace_number(void (*put)(char), uint64_t value) {
    char text[20];
    int count = 0;
    do {
        text[count++] = (char)('0' + (char)(value % 10));
        value /= 10;
    } while (value != 0);
    while (count > 0) put(text[--count]);
}
static void tilewright_trace_signed(void (*put)(char), int64_t value) {
    if (value < 0) put('-');
    tilewright_trace_number(put, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}
void tilewright_trace_clear(void) {
    for (int core = 0; core < TILEWRIGHT_TRACE_CORES; ++core) tilewright_trace_rings[core].written = 0;
}
void tilewright_trace_dump(void (*put)(char letter)) {
    for (int core = 0; core < TILEWRIGHT_TRACE_CORES; ++core) {
        const struct tilewright_trace_ring* const ring = &tilewright_trace_rings[core];
        const uint32_t lost = ring->written > TILEWRIGHT_TRACE_RECORDS ? ring->written - TILEWRIGHT_TRACE_RECORDS : 0;
        tilewright_trace_text(put, "core ");
        tilewright_trace_number(put, (uint64_t)core);
        tilewright_trace_text(put, " calls ");
        tilewright_trace_number(put, ring->written);
        tilewright_trace_text(put, " lost ");
        tilewright_trace_number(put, lost);
        put('\n');
        for (uint32_t at = lost; at < ring->written; ++at) {
            const struct tilewright_trace_record* const record = &ring->records[at % TILEWRIGHT_TRACE_RECORDS];
            tilewright_trace_text(put, record->symbol);
            for (int32_t argument = 0; argument < record->count; ++argument)
                put(' '), tilewright_trace_signed(put, record->arguments[argument]);
            tilewright_trace_text(put, record->done != 0 ? " = " : " = ?");
            if (record->done != 0) tilewright_trace_signed(put, record->code);
            tilewright_trace_text(put, " @ ");
            tilewright_trace_number(put, record->begin);
            put(' ');
            tilewright_trace_number(put, record->end);
            put('\n');
        }
    }
}
#endif

#endif
