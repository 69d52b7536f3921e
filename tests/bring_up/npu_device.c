#include "npu_device.h"

#include <string.h>

enum npu_mistake npu_has;
unsigned char npu_spad[260 * 1024], npu_acc[68 * 1024];

unsigned char* npu_at(uint64_t address) {
    if (address >= 0x50000000u && address < 0x50000000u + sizeof npu_spad) return npu_spad + (address - 0x50000000u);
    if (address >= 0x51000000u && address < 0x51000000u + sizeof npu_acc) return npu_acc + (address - 0x51000000u);
    return NULL;
}
static unsigned char* here(const void* address) {
    unsigned char* const inside = npu_at((uint64_t)(uintptr_t)address);
    return inside != NULL ? inside : (unsigned char*)(uintptr_t)address;
}

static int move(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    const unsigned char* from = here(source);
    unsigned char* to = here(destination);
    if (npu_has == npu_fails && rows > 2) return 7;
    if (npu_has == npu_ignores_source_stride) source_stride = row_bytes;
    if (npu_has == npu_ignores_destination_stride) destination_stride = row_bytes;
    if (npu_has == npu_loses_last_row && rows > 1) --rows;
    if (npu_has == npu_starts_one_row_late && rows > 1) from += source_stride;
    if (npu_has == npu_stores_one_row_too_many && rows > 1) ++rows;
    if (npu_has == npu_aligns_addresses) to -= (uintptr_t)destination % 4;
    for (int64_t row = 0; row < rows; ++row) memcpy(to + row * destination_stride, from + row * source_stride, (size_t)row_bytes);
    return 0;
}
int mvin(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    return move(source, destination, row_bytes, rows, source_stride, destination_stride);
}
int mvout(const void* source, void* destination, int64_t row_bytes, int64_t rows, int64_t source_stride, int64_t destination_stride) {
    return move(source, destination, row_bytes, rows, source_stride, destination_stride);
}

static int multiply(int adds, const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride) {
    const int8_t *const left = (const int8_t*)here(a), *const right = (const int8_t*)here(b);
    if (npu_has == npu_adds_always) adds = 1;
    if (npu_has == npu_never_adds) adds = 0;
    if (npu_has == npu_ignores_stride_of_b) b_stride = 16;
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) {
            unsigned char* const to = here(c) + (i * c_stride + j) * 4;
            int32_t sum;
            memcpy(&sum, to, sizeof sum);
            if (!adds) sum = 0;
            for (int l = 0; l < 16; ++l) {
                sum += left[i * a_stride + l] * right[l * b_stride + j];
                if (npu_has == npu_saturates_sums) sum = sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum;
            }
            memcpy(to, &sum, sizeof sum);
        }
    }
    return 0;
}
int mac16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride) {
    return multiply(1, a, a_stride, b, b_stride, c, c_stride);
}
int mul16(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* c, int64_t c_stride) {
    return multiply(0, a, a_stride, b, b_stride, c, c_stride);
}
