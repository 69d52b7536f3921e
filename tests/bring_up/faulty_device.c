/* The device of faults.cpp, right or with one fault: each is one that only some cases of a self-test find. */
#include <stdbool.h>
#include <string.h>

#include "faulty.h"

/* As faults.cpp has them. */
enum fault {
    none,
    loses_end_of_row,  /* of `at` bytes, alone */
    loses_end_of_rows, /* likewise, of several */
    cuts_rows,         /* after `at` bytes */
    loses_last,        /* row, plane, … of `at` in dimension `of` */
    counts_with_bits,  /* dimension `of`, `at` bits */
    sorts_dimensions,  /* where the outer one lies closer, and has `at` */
    bends_stride,      /* of `at` bytes; of: 1 and 2 of the source, 3 and 4 of the destination */
    keeps_stride_bits, /* `at` bits of each */
    merges_rows,       /* of words, or of `of` bytes; at: 1 where the source alone has gaps, 2 the destination, 0 none */
    rounds_start,      /* `at` bytes past a multiple of 16; of: 1 of short rows at the source, 2 of long ones, 3 and 4 at the destination */
    has_one_byte_less, /* of memory, where it writes, or reads (at 1) */
    ignores_channel,   /* `at` */
    overwrites_job,    /* the first, of rows of `of` bytes; at: 2 where two are in flight, 3 where three are, 0 on other channels */
    returns_early,     /* from waits */
    fills_otherwise,   /* a border of value `at`, where `of` says that it is */
    takes_value_for_0, /* `at`; of: 16 where all in a row are */
    wraps_some,        /* up to `at` */
    wraps,             /* and does not saturate */
    loses_last_of_axis,
    loses_odd_ends, /* of all axes; at 1: of one each */
    bends_operand,  /* where the stride of operand `of` is `at`; of 3: of all operands, that have one more than they need */
    rounds_operand, /* `of`, `at` bytes past a multiple of 16 */
    sums_to,        /* `at` at most */
    takes_ends_for_0,
    has_short_mantissa,
    shifts_short_ones, /* up to `at` */
    packs_small_ones,  /* where all are, and does not shift them */
};
static enum fault has;
static int64_t at, of;

static unsigned char tcm[64 * 1024];
static const uint64_t tcm_base = 0x10000000u;

static unsigned char* here(uint64_t address) {
    return address >= tcm_base && address < tcm_base + sizeof tcm ? tcm + (address - tcm_base) : (unsigned char*)(uintptr_t)address;
}
static bool is_last(const unsigned char* byte) { return byte == tcm + sizeof tcm - 1; }

struct job {
    int64_t channel, tag, bytes, extents[2], source_strides[2], destination_strides[2];
    const void* source;
    void* destination;
};

static void bend(struct job* j) {
    const bool alone = j->extents[0] == 1 && j->extents[1] == 1, all = j->extents[0] == 3 && (j->extents[1] == 1 || j->extents[1] == 3);
    const bool from_gaps = j->source_strides[0] > j->bytes || j->source_strides[1] > j->extents[0] * j->source_strides[0];
    const bool to_gaps = j->destination_strides[0] > j->bytes || j->destination_strides[1] > j->extents[0] * j->destination_strides[0];
    const uint64_t source = (uint64_t)(uintptr_t)j->source, destination = (uint64_t)(uintptr_t)j->destination;
    int64_t* const strides[] = {&j->source_strides[0], &j->source_strides[1], &j->destination_strides[0], &j->destination_strides[1]};
    switch (has) {
        case loses_end_of_row: j->bytes -= alone && j->bytes == at; break;
        case loses_end_of_rows: j->bytes -= all && j->bytes == at; break;
        case cuts_rows: j->bytes = j->bytes > at ? at : j->bytes; break;
        case loses_last:
            j->extents[of - 1] -= j->bytes == 5 && !alone && to_gaps && j->extents[of - 1] == at && j->extents[2 - of] <= 2;
            break;
        case counts_with_bits: j->extents[of - 1] &= (INT64_C(1) << at) - 1; break;
        case sorts_dimensions:
            if (j->extents[1] == at && j->extents[0] > 1 && j->source_strides[0] > j->source_strides[1])
                j->source_strides[0] = j->destination_strides[0], j->source_strides[1] = j->destination_strides[1];
            break;
        case bends_stride: *strides[of - 1] += all && j->bytes == 9 && *strides[of - 1] == at; break;
        case keeps_stride_bits:
            for (int which = 0; which < 4; ++which) *strides[which] &= (INT64_C(1) << at) - 1;
            break;
        case merges_rows:
            if (all && (of == 0 ? j->bytes % 4 == 0 : j->bytes == of) && at == from_gaps + 2 * to_gaps)
                j->source_strides[0] = j->destination_strides[0] = j->bytes + 1;
            break;
        case rounds_start:
            if ((j->bytes >= 16) != (of % 2 == 0)) break;
            if (of <= 2 && source % 16 == (uint64_t)at) j->source = (const unsigned char*)j->source - at;
            if (of > 2 && destination % 16 == (uint64_t)at) j->destination = (unsigned char*)j->destination - at;
            break;
        default: break;
    }
}
static void carry_out(struct job j) {
    bend(&j);
    for (int64_t plane = 0; plane < j.extents[1]; ++plane) {
        for (int64_t row = 0; row < j.extents[0]; ++row) {
            const unsigned char* const from = here((uint64_t)(uintptr_t)j.source) + plane * j.source_strides[1] + row * j.source_strides[0];
            unsigned char* const to =
                here((uint64_t)(uintptr_t)j.destination) + plane * j.destination_strides[1] + row * j.destination_strides[0];
            for (int64_t byte = 0; byte < j.bytes; ++byte) {
                if (has == has_one_byte_less && is_last(at == 0 ? to + byte : from + byte)) continue;
                to[byte] = from[byte];
            }
        }
    }
}

static struct job jobs[8], late;
static int waiting;
static bool is_late;

int dev_fetch(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1, int64_t extent_2, int64_t source_stride_2,
              int64_t destination_stride_2);
int dev_wait(int64_t channel, int64_t tag);
int dev_store(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int dev_bordered(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride,
                 int64_t before, int64_t after, int64_t above, int64_t below, int64_t value);
int dev_narrow(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride);
int dev_multiply(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride, int64_t rows, int64_t columns,
                 int64_t depth);
int dev_shift(const void* x, const void* y, void* z, int64_t count);
int dev_scale(const void* x, const void* y, void* z);

int dev_fetch(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1, int64_t extent_2, int64_t source_stride_2,
              int64_t destination_stride_2) {
    struct job made = {.channel = channel, .tag = tag, .bytes = row_bytes, .source = source, .destination = destination};
    made.extents[0] = extent_1, made.source_strides[0] = source_stride_1, made.destination_strides[0] = destination_stride_1;
    made.extents[1] = extent_2, made.source_strides[1] = source_stride_2, made.destination_strides[1] = destination_stride_2;
    if (has == ignores_channel && channel == at && waiting == 0) return 0;
    if (waiting == 8) return 3;
    jobs[waiting++] = made;
    return 0;
}
/* All jobs up to that one of the channel are complete. */
int dev_wait(int64_t channel, int64_t tag) {
    const bool mixed = waiting > 1 && jobs[0].channel != jobs[1].channel;
    if (has == overwrites_job && waiting > 1 && jobs[0].bytes == of && (at == 0 ? mixed : !mixed && waiting == at))
        jobs[0].source_strides[0] = jobs[waiting - 1].source_strides[0];
    if (is_late) carry_out(late);
    is_late = false;
    int kept = 0;
    bool found = false;
    for (int which = 0; which < waiting; ++which) {
        if (jobs[which].channel != channel || found) {
            jobs[kept++] = jobs[which];
            continue;
        }
        found = jobs[which].tag == tag;
        if (has == returns_early) late = jobs[which], is_late = true;
        else carry_out(jobs[which]);
    }
    waiting = kept;
    return 0;
}
int dev_store(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    carry_out((struct job){.bytes = row_bytes,
                           .source = source,
                           .destination = destination,
                           .extents = {rows, 1},
                           .source_strides = {source_stride, 0},
                           .destination_strides = {destination_stride, 0}});
    return 0;
}
int dev_bordered(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride,
                 int64_t before, int64_t after, int64_t above, int64_t below, int64_t value) {
    if (has == fills_otherwise && value == at && of == before + 10 * after + 100 * above + 1000 * below) value = at + 1;
    for (int64_t row = 0; row < rows; ++row) {
        unsigned char* const to = here((uint64_t)(uintptr_t)destination) + row * destination_stride;
        const bool outside = row < above || row >= rows - below;
        for (int64_t byte = 0; byte < row_bytes; ++byte) {
            if (!outside && byte >= before && byte < row_bytes - after)
                to[byte] = ((const unsigned char*)source)[(row - above) * source_stride + byte - before];
            else to[byte] = (unsigned char)value;
        }
    }
    return 0;
}
int dev_narrow(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    for (int64_t row = 0; row < rows; ++row) {
        const unsigned char* const from = here((uint64_t)(uintptr_t)source) + row * source_stride;
        unsigned char* const to = here((uint64_t)(uintptr_t)destination) + row * destination_stride;
        bool all = row_bytes == 32;
        for (int64_t which = 0; which < row_bytes / 2; ++which) {
            int32_t value;
            memcpy(&value, from + 4 * which, 4);
            all = all && value == at;
        }
        for (int64_t which = 0; which < row_bytes / 2; ++which) {
            int32_t value;
            memcpy(&value, from + 4 * which, 4);
            if (has == takes_value_for_0 && value == at && (of == 0 || all)) value = 0;
            if (has != wraps && (has != wraps_some || value < 0 || value > at))
                value = value > 32767 ? 32767 : value < -32768 ? -32768 : value;
            const int16_t kept = (int16_t)value;
            memcpy(to + 2 * which, &kept, 2);
        }
    }
    return 0;
}

static unsigned char* operand(const void* address, int number) {
    const bool rounded = has == rounds_operand && of == number && (uintptr_t)address % 16 == (uintptr_t)at;
    return here((uint64_t)(uintptr_t)address) - (rounded ? at : 0);
}
static bool is_end(int8_t value) { return value < -126 || value > 125 || (value >= -1 && value <= 1); }
int dev_multiply(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride, int64_t rows, int64_t columns,
                 int64_t depth) {
    const int8_t *const left = (const int8_t*)operand(a, 0), *const right = (const int8_t*)operand(b, 1);
    unsigned char* const to = operand(c, 2);
    int64_t strides[] = {a_stride, b_stride, c_stride}, extents[] = {rows, columns, depth};
    if (has == bends_operand && of < 3) strides[of] += strides[of] == at;
    if (has == bends_operand && of == 3) strides[0] += a_stride > 24 && b_stride > 18 && c_stride > 18;
    if (has == loses_last_of_axis) extents[of] -= extents[of] == at && (rows == 20) + (columns == 18) + (depth == 24) == 2;
    if (has == loses_odd_ends) extents[0] -= at == 1 ? rows == 1 && columns == 1 && depth == 1 : rows == 19 && columns == 17 && depth == 23;
    for (int64_t i = 0; i < extents[0]; ++i) {
        for (int64_t j = 0; j < extents[1]; ++j) {
            int32_t sum = 0;
            bool ends = true, same = true;
            for (int64_t k = 0; k < extents[2]; ++k) {
                const int8_t x = left[i * strides[0] + k], y = right[k * strides[1] + j];
                sum += x * y;
                ends = ends && is_end(y), same = same && y == right[j];
            }
            if (has == takes_ends_for_0 && ends && !same && depth == 24) sum = 0;
            if (has == sums_to && sum == at) --sum;
            unsigned char* const element = to + 4 * (i * strides[2] + j);
            if (has == has_one_byte_less && at == 0 && is_last(element + 3)) continue;
            memcpy(element, &sum, 4);
        }
    }
    return 0;
}
int dev_shift(const void* x, const void* y, void* z, int64_t count) {
    const unsigned char *const left = operand(x, 3), *const right = operand(y, 4);
    unsigned char* const to = operand(z, 5);
    if (has == loses_last_of_axis) count -= of == 3 && count == at;
    bool small = has == packs_small_ones;
    for (int64_t which = 0; which < count; ++which) {
        int32_t value;
        memcpy(&value, left + 4 * which, 4);
        small = small && value >= 0 && value < 16;
    }
    for (int64_t which = 0; which < count; ++which) {
        int32_t value, amount;
        memcpy(&value, left + 4 * which, 4), memcpy(&amount, right + 4 * which, 4);
        if (amount < 0 || amount > 31) return 9; /* nobody may ask that */
        if (has == shifts_short_ones && (value > at || value < -at)) value &= 0xffff;
        if (small) amount = 0;
        const int32_t made = value >> amount;
        memcpy(to + 4 * which, &made, 4);
    }
    return 0;
}
int dev_scale(const void* x, const void* y, void* z) {
    for (int which = 0; which < 16; ++which) {
        float left, right;
        memcpy(&left, operand(x, 6) + 4 * which, 4), memcpy(&right, operand(y, 7) + 4 * which, 4);
        float made = left * right;
        uint32_t bits;
        memcpy(&bits, &made, 4);
        if (has == has_short_mantissa) bits &= 0xffffe000u;
        if (has == takes_value_for_0 && 2 * left == (float)at) bits = 0; /* of halves */
        memcpy(operand(z, 8) + 4 * which, &bits, 4);
    }
    return 0;
}

/* What a test is told of failures: the part, what is special about the case, the kind, the code, and all of it in words. */
typedef void tell(const char* part, const char* text, int kind, int code, const char* words);
static tell* told;
static char words[512];
static size_t letters;
static void put(char letter) {
    if (letters + 1 < sizeof words) words[letters++] = letter;
    words[letters] = '\0';
}
static void failed(void* context, const struct faulty_failure* what) {
    (void)context;
    letters = 0;
    faulty_print(what, put);
    told(what->part, what->text, what->kind, what->code, words);
}
/* After so many calls, the next one returns a code; -1: none, -2: all. */
static int reads_left, writes_left;
static bool fails(int* left) { return *left == -2 || (*left >= 0 && (*left)-- == 0); }
static int read(void* context, int memory, uint64_t address, int64_t bytes, void* to) {
    (void)context, (void)memory;
    if (fails(&reads_left)) return 41;
    memcpy(to, here(address), (size_t)bytes);
    if (is_late) carry_out(late); /* time passes */
    is_late = false;
    return 0;
}
static int write(void* context, int memory, uint64_t address, int64_t bytes, const void* from) {
    (void)context, (void)memory;
    if (fails(&writes_left)) return 42;
    memcpy(here(address), from, (size_t)bytes);
    return 0;
}
static _Alignas(64) unsigned char ddr[faulty_ddr_BYTES];
static struct faulty_setup setup_for(tell* tells, int reads, int writes) {
    const struct faulty_setup setup = {.ddr = ddr,
                                       .read = reads == -3 ? NULL : read,
                                       .write = writes == -3 ? NULL : write,
                                       .failed = failed,
                                       .all_failures = 1,
                                       .patience = 1};
    has = none, told = tells, waiting = 0, is_late = false, reads_left = reads, writes_left = writes;
    memset(tcm, 0x5a, sizeof tcm);
    return setup;
}

/* Runs the cases of one part on the device with a fault. */
void run_with(int part, int fault, int64_t at_what, int64_t of_what, tell* tells);
void run_with(int part, int fault, int64_t at_what, int64_t of_what, tell* tells) {
    static int first[faulty_ROWS];
    const struct faulty_setup setup = setup_for(tells, -1, -1);
    if (first[faulty_ROWS - 1] == 0) {
        faulty(&setup);
        for (int row = 1; row < faulty_ROWS; ++row) first[row] = first[row - 1] + faulty_rows[row - 1].cases;
    }
    has = (enum fault)fault, at = at_what, of = of_what;
    for (int number = first[part]; number < first[part + 1]; ++number) faulty_only(&setup, number);
}
/* Runs the self-test on the right device by callbacks, of which one returns a code: see above; -3: it is not given. */
int run_by(int reads, int writes, tell* tells);
int run_by(int reads, int writes, tell* tells) {
    const struct faulty_setup setup = setup_for(tells, reads, writes);
    return faulty(&setup);
}
void rows_of(void (*to)(char letter));
void rows_of(void (*to)(char letter)) { faulty_print_rows(to); }
