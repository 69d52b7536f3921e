#include "nx1.h"

#include <string.h>

enum { sram_base = 0x20000000, sram_bytes = 32 * 1024, most_jobs = 8 };
static unsigned char sram[sram_bytes];
int nx_first_silicon;

/* An address of the SRAM is one of the array; others are those of this program. */
static unsigned char* at(const void* address) {
    const uintptr_t value = (uintptr_t)address;
    return value >= sram_base && value < sram_base + sram_bytes ? sram + (value - sram_base) : (unsigned char*)value;
}

/* An engine with a queue. A copy is made as late as it may be: when somebody waits for it. */
struct job {
    int waiting, tag;
    unsigned char* to;
    const unsigned char* from;
    int32_t row_bytes, rows, from_stride, to_stride;
};
struct queue {
    struct job jobs[most_jobs];
    int count;
};
static struct queue loads, stores;

static int start(struct queue* of, struct job made) {
    if (of->count == most_jobs) return 1;
    /* The erratum: the engine does not see the distance of rows in the SRAM where there are three of them. */
    if (nx_first_silicon && made.rows == 3) made.to_stride = made.row_bytes;
    of->jobs[of->count++] = made;
    return 0;
}
/* Copies are made in the order in which they were started, up to the last one with this tag. */
static int wait_for(struct queue* of, int tag) {
    int until = 0;
    for (int at_job = 0; at_job < of->count; ++at_job) {
        if (of->jobs[at_job].tag == tag) until = at_job + 1;
    }
    for (int at_job = 0; at_job < until; ++at_job) {
        const struct job* const j = &of->jobs[at_job];
        for (int32_t row = 0; row < j->rows; ++row)
            memcpy(j->to + row * j->to_stride, j->from + row * j->from_stride, (size_t)j->row_bytes);
    }
    of->count -= until;
    memmove(of->jobs, of->jobs + until, (size_t)of->count * sizeof of->jobs[0]);
    return 0;
}
int nx_load(int tag, void* to, const void* from, int32_t row_bytes, int32_t rows, int32_t from_stride, int32_t to_stride) {
    const struct job made = {1, tag, at(to), at(from), row_bytes, rows, from_stride, to_stride};
    return start(&loads, made);
}
int nx_store(int tag, void* to, const void* from, int32_t row_bytes, int32_t rows, int32_t from_stride, int32_t to_stride) {
    const struct job made = {1, tag, at(to), at(from), row_bytes, rows, from_stride, to_stride};
    return start(&stores, made);
}
int nx_wait_load(int tag) { return wait_for(&loads, tag); }
int nx_wait_store(int tag) { return wait_for(&stores, tag); }

static int multiply(int adds, void* y, const void* x, const void* w, int32_t stride, int32_t outputs) {
    if (outputs < 1 || outputs > 32) return 2;
    const int8_t* const values = (const int8_t*)at(x);
    for (int32_t o = 0; o < outputs; ++o) {
        int32_t sum = 0;
        if (adds) memcpy(&sum, at(y) + 4 * o, 4);
        for (int d = 0; d < 16; ++d) sum += values[d] * ((const int8_t*)at(w))[d * stride + o];
        memcpy(at(y) + 4 * o, &sum, 4);
    }
    return 0;
}
int nx_mul(void* y, const void* x, const void* w, int32_t stride, int32_t outputs) { return multiply(0, y, x, w, stride, outputs); }
int nx_mac(void* y, const void* x, const void* w, int32_t stride, int32_t outputs) { return multiply(1, y, x, w, stride, outputs); }

int nx_peek(uint32_t address, int32_t bytes, void* to) {
    memcpy(to, sram + (address - sram_base), (size_t)bytes);
    return 0;
}
int nx_poke(uint32_t address, int32_t bytes, const void* from) {
    memcpy(sram + (address - sram_base), from, (size_t)bytes);
    return 0;
}
