#include "dma_device.h"

#include <string.h>

enum dma_mistake dma_has;
uint64_t dma_cycles;

enum { most_jobs = 16, channels = 2 };
struct job {
    int waiting;
    int64_t channel, tag;
    uint64_t due;
    unsigned char* to;
    const unsigned char* from;
    int64_t row_bytes, extents[2], source_strides[2], destination_strides[2];
};
static struct job jobs[most_jobs];
static int job_count;
static uint64_t is_free[channels];

static void carry_out(struct job* j) {
    for (int64_t plane = 0; plane < j->extents[1]; ++plane) {
        for (int64_t row = 0; row < j->extents[0]; ++row)
            memcpy(j->to + plane * j->destination_strides[1] + row * j->destination_strides[0],
                   j->from + plane * j->source_strides[1] + row * j->source_strides[0], (size_t)j->row_bytes);
    }
    j->waiting = 0;
}
void dma_pass(uint64_t cycles) {
    dma_cycles += cycles;
    for (int at = 0; at < job_count; ++at) {
        if (jobs[at].waiting && jobs[at].due <= dma_cycles) carry_out(&jobs[at]);
    }
}
void dma_reset(void) {
    job_count = 0;
    for (int channel = 0; channel < channels; ++channel) is_free[channel] = dma_cycles;
}
static int start(struct job made, uint64_t setup, uint64_t rate, uint64_t latency) {
    if (made.channel < 0 || made.channel >= channels) return 3;
    int pending = 0;
    for (int at = 0; at < job_count; ++at) pending += jobs[at].waiting;
    if (pending == 0) job_count = 0;
    if (job_count == most_jobs) return 4;
    if (dma_has == dma_ignores_channel && made.channel == 1) return 0;
    dma_pass(2);
    uint64_t* const next = &is_free[made.channel];
    const uint64_t bytes = (uint64_t)(made.row_bytes * made.extents[0] * made.extents[1]);
    *next = (*next > dma_cycles ? *next : dma_cycles) + setup + (bytes + rate - 1) / rate;
    made.due = *next + latency, made.waiting = 1;
    jobs[job_count++] = made;
    return 0;
}
int dma_fetch(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1, int64_t extent_2, int64_t source_stride_2,
              int64_t destination_stride_2) {
    struct job made = {0,
                       channel,
                       tag,
                       0,
                       destination,
                       source,
                       row_bytes,
                       {extent_1, extent_2},
                       {source_stride_1, source_stride_2},
                       {destination_stride_1, destination_stride_2}};
    if (dma_has == dma_swaps_planes) made.destination_strides[1] = made.source_strides[1];
    return start(made, 10, 8, 30);
}
int dma_store(int64_t channel, int64_t tag, void* destination, const void* source, int64_t row_bytes, int64_t extent_1,
              int64_t source_stride_1, int64_t destination_stride_1) {
    const struct job made = {
        0, channel, tag, 0, destination, source, row_bytes, {extent_1, 1}, {source_stride_1, 0}, {destination_stride_1, 0}};
    return start(made, 12, 4, 20);
}
int dma_wait(int64_t channel, int64_t tag) {
    dma_pass(1);
    if (dma_has == dma_waits_for_nothing) return 0;
    uint64_t until = dma_cycles;
    for (int at = 0; at < job_count; ++at) {
        if (jobs[at].waiting && jobs[at].channel == channel && jobs[at].tag == tag && jobs[at].due > until) until = jobs[at].due;
    }
    dma_pass(until - dma_cycles);
    return 0;
}
int dma_bordered(void* destination, const void* source, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride,
                 int64_t before, int64_t after, int64_t above, int64_t below, int64_t value) {
    if (dma_has == dma_borders_one_row_less && below > 0) --below, --rows;
    for (int64_t row = 0; row < rows; ++row) {
        unsigned char* const to = (unsigned char*)destination + row * destination_stride;
        const int outside = row < above || row >= rows - below;
        for (int64_t at = 0; at < row_bytes; ++at) {
            if (!outside && at >= before && at < row_bytes - after)
                to[at] = ((const unsigned char*)source)[(row - above) * source_stride + at - before];
            else if (dma_has != dma_leaves_border) to[at] = (unsigned char)value;
        }
    }
    return 0;
}
int widen(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t at = 0; at < row_bytes / 4; ++at) {
            const unsigned char byte = ((const unsigned char*)source)[row * source_stride + at];
            const int32_t value = 3 * (dma_has == dma_widens_without_sign ? (int32_t)byte : (int32_t)(int8_t)byte);
            memcpy((unsigned char*)destination + row * destination_stride + 4 * at, &value, 4);
        }
    }
    return 0;
}
int turn(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1, int64_t destination_stride_1,
         int64_t extent_2, int64_t source_stride_2, int64_t destination_stride_2) {
    if (dma_has == dma_does_not_turn && source_stride_1 > source_stride_2 && extent_1 > 1 && extent_2 > 1)
        source_stride_1 = destination_stride_1, source_stride_2 = destination_stride_2;
    for (int64_t outer = 0; outer < extent_2; ++outer) {
        for (int64_t inner = 0; inner < extent_1; ++inner)
            memcpy((unsigned char*)destination + outer * destination_stride_2 + inner * destination_stride_1,
                   (const unsigned char*)source + outer * source_stride_2 + inner * source_stride_1, (size_t)row_bytes);
    }
    return 0;
}
int clear(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    (void)source, (void)source_stride;
    if (dma_has == dma_clears_one_less && row_bytes > 1) --row_bytes;
    for (int64_t row = 0; row < rows; ++row) memset((unsigned char*)destination + row * destination_stride, 0, (size_t)row_bytes);
    return 0;
}
int add_saturating(void* z, const void* x, const void* y, int64_t count) {
    if (dma_has == dma_adds_whole_vectors) count = (count + 7) / 8 * 8;
    dma_pass((uint64_t)(6 + (count + 7) / 8));
    for (int64_t at = 0; at < count; ++at) {
        int16_t left, right;
        memcpy(&left, (const unsigned char*)x + 2 * at, 2), memcpy(&right, (const unsigned char*)y + 2 * at, 2);
        int32_t sum = left + right;
        if (dma_has != dma_wraps) sum = sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum;
        const int16_t kept = (int16_t)sum;
        memcpy((unsigned char*)z + 2 * at, &kept, 2);
    }
    return 0;
}
