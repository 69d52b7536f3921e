/* Devices written by hand: the array of lesson 02, and DMA engines that do nothing before they are waited for. */
#include "device.h"

#include <string.h>

#include "double_buffered_c.h"
#include "matmul_c.h"

int moves, multiplications, fail_at_move;

static int copy_rows(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride,
                     int64_t destination_stride) {
    int64_t row;
    if (++moves == fail_at_move) return 33;
    for (row = 0; row < rows; ++row)
        memcpy((char*)destination + row * destination_stride, (const char*)source + row * source_stride, (size_t)row_bytes);
    return 0;
}
int mvin(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1,
         int64_t destination_stride_1) {
    return copy_rows(source, destination, row_bytes, extent_1, source_stride_1, destination_stride_1);
}
int mvout(const void* source, void* destination, int64_t row_bytes, int64_t extent_1, int64_t source_stride_1,
          int64_t destination_stride_1) {
    return copy_rows(source, destination, row_bytes, extent_1, source_stride_1, destination_stride_1);
}

static int multiply(const int8_t* a, int64_t a_stride, const int8_t* b, int64_t b_stride, int32_t* c, int64_t c_stride, int keep) {
    int i, j, l;
    ++multiplications;
    for (i = 0; i < 16; ++i) {
        for (j = 0; j < 16; ++j) {
            int32_t sum = keep ? c[i * c_stride + j] : 0;
            for (l = 0; l < 16; ++l) sum += a[i * a_stride + l] * b[l * b_stride + j];
            c[i * c_stride + j] = sum;
        }
    }
    return 0;
}
int mac16(const void* a, int64_t a_stride_0, const void* b, int64_t b_stride_0, void* c, int64_t c_stride_0) {
    return multiply((const int8_t*)a, a_stride_0, (const int8_t*)b, b_stride_0, (int32_t*)c, c_stride_0, 1);
}
int mul16(const void* a, int64_t a_stride_0, const void* b, int64_t b_stride_0, void* c, int64_t c_stride_0) {
    return multiply((const int8_t*)a, a_stride_0, (const int8_t*)b, b_stride_0, (int32_t*)c, c_stride_0, 0);
}

/* Jobs that are not done yet, the oldest first. */
struct job {
    const void* source;
    void* destination;
    int64_t bytes, tag;
};
static struct job loads[16], stores[16];
int pending_loads, pending_stores, fail_at_load;
static int started_loads;

static void do_oldest(struct job* jobs, int* count) {
    memcpy(jobs[0].destination, jobs[0].source, (size_t)jobs[0].bytes);
    memmove(jobs, jobs + 1, sizeof jobs[0] * (size_t)(--*count));
}
int load(const void* source, void* destination, int64_t bytes, int64_t tag) {
    const struct job made = {source, destination, bytes, tag};
    if (pending_loads == 0 && pending_stores == 0) started_loads = 0;
    if (++started_loads == fail_at_load || pending_loads == 16) return 44;
    loads[pending_loads++] = made;
    return 0;
}
int store(const void* source, void* destination, int64_t bytes) {
    const struct job made = {source, destination, bytes, 0};
    if (pending_stores == 16) return 45;
    stores[pending_stores++] = made;
    return 0;
}
int loader_wait(int64_t tag) {
    int at, last = -1;
    for (at = 0; at < pending_loads; ++at) {
        if (loads[at].tag == tag) last = at;
    }
    for (; last >= 0; --last) do_oldest(loads, &pending_loads);
    return 0;
}
int storer_wait(int64_t pending) {
    while (pending_stores > pending) do_oldest(stores, &pending_stores);
    return 0;
}
