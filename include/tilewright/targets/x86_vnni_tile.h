/* Products of bytes for vectors of one width: `targets/x86_vnni.h` includes this once for each, with its instructions as macros. */

/* Of some rows, the sums of their bytes, 128 times: what the turned signs of the right operand are too much. */
__attribute__((target(X86_VNNI_TARGET))) static inline void X86_VNNI_NAME(excess)(const struct x86_vnni_call* of, const uint8_t* left,
                                                                                  int64_t rows, int32_t* excess) {
    const int64_t step = X86_VNNI_BYTES / 4, whole = of->groups / step * step;
    const X86_VNNI_MASK mask = X86_VNNI_MASK_OF(of->groups - whole);
    const X86_VNNI_VECTOR ones = X86_VNNI_OF(0x01010101);
    for (int64_t i = 0; i < rows; ++i, left += of->left_row) {
        X86_VNNI_VECTOR sums = X86_VNNI_ZERO();
        for (int64_t tap = 0; tap < of->tap_rows * of->taps; ++tap) {
            const uint8_t* const row = left + tap / of->taps * of->left_tap_row + tap % of->taps * of->left_tap;
            for (int64_t l = 0; l < whole; l += step) sums = X86_VNNI_DOT(sums, ones, X86_VNNI_LOAD(row + 4 * l));
            if (whole < of->groups) sums = X86_VNNI_DOT(sums, ones, X86_VNNI_LOAD_SOME(row + 4 * whole, mask));
        }
        excess[i] = (int32_t)(128u * (uint32_t)X86_VNNI_TOTAL(sums));
    }
}

/* A tile of sums in registers, over all taps and groups: `rows` of `vectors`, the last of which holds `columns` in all. */
X86_VNNI_INLINE(X86_VNNI_TARGET)
void X86_VNNI_NAME(tile)(const enum x86_vnni_signed which, const int rows, const int vectors, const int whole,
                         const struct x86_vnni_call* of, const uint8_t* left, const int32_t* excess, const uint8_t* right, int32_t* to,
                         int64_t columns) {
    X86_VNNI_VECTOR sums[X86_VNNI_ROWS][2];
    const X86_VNNI_MASK mask = X86_VNNI_MASK_OF(columns - (vectors - 1) * (X86_VNNI_BYTES / 4));
    const int64_t left_row = of->left_row;
    X86_VNNI_UNROLL for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = X86_VNNI_ZERO();
    for (int64_t tap = 0; tap < of->tap_rows * of->taps; ++tap) {
        const int64_t r = tap / of->taps, s = tap % of->taps;
        /* Three rows from each pointer, so that few registers hold where they are. */
        const uint8_t* a[(X86_VNNI_ROWS + 2) / 3];
        X86_VNNI_UNROLL for (int i = 0; i < rows; i += 3) {
            a[i / 3] = left + r * of->left_tap_row + s * of->left_tap + i * left_row;
            __asm__("" : "+r"(a[i / 3]));
        }
        const uint8_t* b = right + r * of->right_tap_row + s * of->right_tap;
        for (int64_t l = 0; l < of->groups; ++l) {
            X86_VNNI_VECTOR value[2];
            value[0] = vectors == 1 && !whole ? X86_VNNI_LOAD_SOME(b, mask) : X86_VNNI_LOAD(b);
            if (vectors == 2) value[1] = whole ? X86_VNNI_LOAD(b + X86_VNNI_BYTES) : X86_VNNI_LOAD_SOME(b + X86_VNNI_BYTES, mask);
            X86_VNNI_UNROLL for (int i = 0; i < rows; ++i) {
                int32_t four;
                memcpy(&four, a[i / 3] + i % 3 * left_row, 4);
                const X86_VNNI_VECTOR fours = X86_VNNI_OF(four);
                X86_VNNI_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] =
                    which == X86_VNNI_LEFT_SIGNED ? X86_VNNI_DOT(sums[i][v], value[v], fours) : X86_VNNI_DOT(sums[i][v], fours, value[v]);
            }
            X86_VNNI_UNROLL for (int i = 0; i < rows; i += 3) a[i / 3] += 4;
            b += of->right_group;
        }
    }
    X86_VNNI_UNROLL for (int i = 0; i < rows; ++i) {
        int32_t* const row = to + i * of->sums_row;
        X86_VNNI_UNROLL for (int v = 0; v < vectors; ++v) {
            int32_t* const at = row + v * (X86_VNNI_BYTES / 4);
            X86_VNNI_VECTOR value = which == X86_VNNI_LEFT_SIGNED ? X86_VNNI_SUBTRACT(sums[i][v], X86_VNNI_OF(excess[i])) : sums[i][v];
            if (whole || v < vectors - 1) {
                if (of->adds) value = X86_VNNI_ADD(value, X86_VNNI_LOAD(at));
                X86_VNNI_STORE(at, value);
            } else {
                if (of->adds) value = X86_VNNI_ADD(value, X86_VNNI_LOAD_SOME(at, mask));
                X86_VNNI_STORE_SOME(at, value, mask);
            }
        }
    }
}

/* Some rows of all panels of columns, which are two vectors wide. */
X86_VNNI_INLINE(X86_VNNI_TARGET)
void X86_VNNI_NAME(rows)(const enum x86_vnni_signed which, const int rows, const struct x86_vnni_call* of, const uint8_t* left,
                         const int32_t* excess, int32_t* to) {
    const int64_t lanes = X86_VNNI_BYTES / 4;
    for (int64_t j = 0; j < of->columns; j += 2 * lanes) {
        const uint8_t* const right = of->right + 4 * j;
        const int64_t columns = of->columns - j;
        if (columns >= 2 * lanes) X86_VNNI_NAME(tile)(which, rows, 2, 1, of, left, excess, right, to + j, 2 * lanes);
        else if (columns > lanes) X86_VNNI_NAME(tile)(which, rows, 2, 0, of, left, excess, right, to + j, columns);
        else X86_VNNI_NAME(tile)(which, rows, 1, 0, of, left, excess, right, to + j, columns);
    }
}

/* Rows go in tiles of about equal heights: one of two rows would wait for its sums. */
X86_VNNI_INLINE(X86_VNNI_TARGET) void X86_VNNI_NAME(tiles)(const enum x86_vnni_signed which, const struct x86_vnni_call* of) {
    int64_t i = 0;
    for (int64_t tiles = (of->rows + X86_VNNI_ROWS - 1) / X86_VNNI_ROWS; tiles > 0; --tiles) {
        const int64_t rows = (of->rows - i + tiles - 1) / tiles;
        const uint8_t* const left = of->left + i * of->left_row;
        int32_t* const to = of->sums + i * of->sums_row;
        int32_t excess[X86_VNNI_ROWS];
        if (which == X86_VNNI_LEFT_SIGNED) X86_VNNI_NAME(excess)(of, left, rows, excess);
        switch (rows) {
#define X86_VNNI_CASE(count) \
    case count: X86_VNNI_NAME(rows)(which, count, of, left, excess, to); break;
            X86_VNNI_CASE(1)
            X86_VNNI_CASE(2)
            X86_VNNI_CASE(3)
            X86_VNNI_CASE(4)
            X86_VNNI_CASE(5)
            X86_VNNI_CASE(6)
#if X86_VNNI_ROWS > 6
            X86_VNNI_CASE(7)
            X86_VNNI_CASE(8)
            X86_VNNI_CASE(9)
            X86_VNNI_CASE(10)
            X86_VNNI_CASE(11)
            X86_VNNI_CASE(12)
#endif
#undef X86_VNNI_CASE
        }
        i += rows;
    }
}

__attribute__((target(X86_VNNI_TARGET))) static inline void X86_VNNI_NAME(right_signed)(const struct x86_vnni_call* of) {
    X86_VNNI_NAME(tiles)(X86_VNNI_RIGHT_SIGNED, of);
}
__attribute__((target(X86_VNNI_TARGET))) static inline void X86_VNNI_NAME(left_signed)(const struct x86_vnni_call* of) {
    X86_VNNI_NAME(tiles)(X86_VNNI_LEFT_SIGNED, of);
}
static inline void X86_VNNI_NAME(product)(enum x86_vnni_signed which, struct x86_vnni_call of) {
    /* Taps that follow each other are more groups. */
    if (of.left_tap == 4 * of.groups && of.right_tap == of.groups * of.right_group) of.groups *= of.taps, of.taps = 1;
    if (of.right_column != 4) x86_vnni_product_in_c(which, of);
    else if (which == X86_VNNI_LEFT_SIGNED) X86_VNNI_NAME(left_signed)(&of);
    else X86_VNNI_NAME(right_signed)(&of);
}

#undef X86_VNNI_TARGET
#undef X86_VNNI_NAME
#undef X86_VNNI_ROWS
#undef X86_VNNI_BYTES
#undef X86_VNNI_VECTOR
#undef X86_VNNI_MASK
#undef X86_VNNI_MASK_OF
#undef X86_VNNI_ZERO
#undef X86_VNNI_LOAD
#undef X86_VNNI_LOAD_SOME
#undef X86_VNNI_STORE
#undef X86_VNNI_STORE_SOME
#undef X86_VNNI_ADD
#undef X86_VNNI_SUBTRACT
#undef X86_VNNI_OF
#undef X86_VNNI_TOTAL
#undef X86_VNNI_DOT
