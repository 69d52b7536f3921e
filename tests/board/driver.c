/* The functions of targets/mps2_an521.h on the board, beside plain C. */
#include <board.h>
#include <stdio.h>

#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>

static int failed;
#define CHECK(condition) \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), failed = 1

BOARD_FAR static unsigned char from[40000], to[40000];
#define BANK ((unsigned char*)(uintptr_t)0x30008000u)

/* Copies rows, at all alignments, into a bank and out of it. */
static void copies_rows(void) {
    for (int at = 0; at < (int)sizeof from; ++at) from[at] = (unsigned char)(at * 7 + at / 251);
    for (int first = 0; first < 4; ++first) {
        for (int row = 1; row < 40; row += 3) {
            const int rows = MPS2_AN521_DESCRIPTORS, from_stride = row + first, to_stride = row + 4 - first;
            memset(BANK, 0xa5, 0x8000);
            CHECK(mps2_an521_dma_start(first, BANK + first, from + 1, row, rows, to_stride, from_stride) == 0);
            CHECK(mps2_an521_dma_wait(first) == 0);
            int wrong = 0;
            for (int at = 0; at < 0x8000; ++at) {
                const int r = (at - first) / to_stride, e = (at - first) % to_stride;
                const int inside = at >= first && r < rows && e < row;
                wrong += BANK[at] != (inside ? from[1 + r * from_stride + e] : 0xa5);
            }
            CHECK(wrong == 0);
            memset(to, 0, sizeof to);
            CHECK(mps2_an521_dma_start(7, to, BANK + first, row, rows, row, to_stride) == 0);
            CHECK(mps2_an521_dma_wait(7) == 0);
            for (int r = 0; r < rows; ++r) CHECK(memcmp(to + r * row, from + 1 + r * from_stride, (size_t)row) == 0);
        }
    }
}

/* Which elements are taken follows from the alignment; so does what is too long. */
static void limits(void) {
    CHECK(mps2_an521_dma_start(0, BANK, from, 4095, 1, 0, 0) == 0);
    CHECK(mps2_an521_dma_start(0, BANK, from + 1, 4095, 1, 0, 0) == 0);
    CHECK(mps2_an521_dma_start(0, BANK, from, 4097, 1, 0, 0) == MPS2_AN521_DMA_TOO_LONG);
    CHECK(mps2_an521_dma_start(0, BANK, from, 4095 * 4, 1, 0, 0) == 0);
    CHECK(mps2_an521_dma_start(0, BANK, from + 2, 4095 * 4, 1, 0, 0) == MPS2_AN521_DMA_TOO_LONG);
    CHECK(mps2_an521_dma_start(0, BANK, from, 4096 * 4, 1, 0, 0) == MPS2_AN521_DMA_TOO_LONG);
    CHECK(mps2_an521_dma_start(0, BANK, from, 4, MPS2_AN521_DESCRIPTORS + 1, 8, 4) == MPS2_AN521_DMA_TOO_LONG);
    CHECK(mps2_an521_dma_start(0, BANK, from, 4, MPS2_AN521_DESCRIPTORS + 1, 4, 4) == 0); /* they follow each other */
    CHECK(mps2_an521_dma_start(8, BANK, from, 4, 1, 0, 0) == MPS2_AN521_DMA_NO_CHANNEL);
    CHECK(mps2_an521_dma_start(-1, BANK, from, 4, 1, 0, 0) == MPS2_AN521_DMA_NO_CHANNEL);
    CHECK(mps2_an521_dma_start(0, (void*)0x20000000u, from, 4, 1, 0, 0) == MPS2_AN521_DMA_ADDRESS);
    CHECK(mps2_an521_dma_start(0, BANK, (void*)0x81000000u, 4, 1, 0, 0) == MPS2_AN521_DMA_ADDRESS);
    CHECK(mps2_an521_dma_start(0, (void*)0x3001fffcu, from, 4, 2, 4, 4) == MPS2_AN521_DMA_ADDRESS);
    CHECK(mps2_an521_dma_start(0, BANK, from, 0, 1, 0, 0) == 0);
    CHECK(mps2_an521_dma_wait(0) == 0);
    CHECK(mps2_an521_dma_wait(0) == 0);
    CHECK(mps2_an521_dma_wait(3) == 0); /* nothing was started */
    CHECK(mps2_an521_dma_wait(8) == MPS2_AN521_DMA_NO_CHANNEL);
}

/* When data moves: at the start, or no earlier than somebody waits for it or wants the channel. */
static void when(void) {
    memset(BANK, 0, 64);
    from[0] = 1;
    mps2_an521_dma_start(2, BANK, from, 1, 1, 0, 0);
#ifdef MPS2_AN521_LAZY_DMA
    CHECK(*(volatile unsigned char*)BANK == 0);
    from[0] = 2;
    mps2_an521_dma_start(2, BANK + 1, from, 1, 1, 0, 0);
    CHECK(*(volatile unsigned char*)BANK == 2 && *(volatile unsigned char*)(BANK + 1) == 0);
#else
    CHECK(*(volatile unsigned char*)BANK == 1);
    mps2_an521_dma_start(2, BANK + 1, from, 1, 1, 0, 0);
#endif
    mps2_an521_dma_wait(2);
    CHECK(BANK[1] == from[0]);
}

static void clears(void) {
    memset(BANK, 0xa5, 256);
    CHECK(mps2_an521_clear(BANK + 3, 5, 4, 9) == 0);
    for (int at = 0; at < 256; ++at) CHECK(BANK[at] == (at >= 3 && at < 3 + 36 && (at - 3) % 9 < 5 ? 0 : 0xa5));
}

/* Sums of products of all signs, modulo 2^32. */
static void words(void) {
    uint32_t seed = 1;
    unsigned char a[4], b[4];
    for (int trial = 0; trial < 2000; ++trial) {
        for (int at = 0; at < 4; ++at) {
            seed = seed * 1664525u + 1013904223u;
            a[at] = (unsigned char)(trial < 16 ? (trial & 1 << at ? 0x80 : 0x7f) : seed >> 24);
            b[at] = (unsigned char)(trial < 16 ? 0x80 : seed >> 16);
        }
        const int32_t sum = (int32_t)seed, left = mps2_an521_load(a), right = mps2_an521_load(b);
        uint32_t bytes = 0, halves = 0;
        for (int at = 0; at < 4; ++at) bytes += (uint32_t)((int8_t)a[at] * (int8_t)b[at]);
        for (int at = 0; at < 4; at += 2) {
            const int32_t one = (int16_t)(a[at] | a[at + 1] << 8), other = (int16_t)(b[at] | b[at + 1] << 8);
            halves += (uint32_t)(one * other);
        }
        CHECK(mps2_an521_mul4(left, right) == (int32_t)bytes);
        CHECK(mps2_an521_mac4(left, right, sum) == (int32_t)((uint32_t)sum + bytes));
        CHECK(mps2_an521_mul2(left, right) == (int32_t)halves);
        CHECK(mps2_an521_mac2(left, right, sum) == (int32_t)((uint32_t)sum + halves));
        for (int count = 0; count <= 4; ++count) {
            uint32_t row = 0;
            for (int at = 0; at < count; ++at) row += (uint32_t)((int8_t)a[at] * (int8_t)b[at]);
            CHECK(mps2_an521_dot0(a, b, count) == (int32_t)row);
            CHECK(mps2_an521_dot(sum, a, b, count) == (int32_t)((uint32_t)sum + row));
        }
    }
}

int main(void) {
    copies_rows();
    limits();
    when();
    clears();
    words();
    return failed;
}
