/* The product of lesson 15 as plain loops over fractals. Numbers of 16 bits are floats here. */
/* clang-format off */
static inline void fractal_by_hand(float (*a)[16], float (*b)[16], float (*c)[16]) {
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j)
            for (int l = 0; l < 16; ++l)
                c[i][j] += a[i][l] * b[j][l];
}

/* Row-major `from`, of which there are `rows` x `columns`: beyond is 0. */
static inline void to_fractal(const float* from, int rows, int columns, int row, int column, float (*fractal)[16]) {
    for (int i = 0; i < 16; ++i)
        for (int l = 0; l < 16; ++l)
            fractal[i][l] = row + i < rows && column + l < columns ? from[(row + i) * columns + column + l] : 0;
}

static inline void matmul_by_hand(const float* A, const float* B, float* C) {
    for (int m1 = 0; m1 < 19; ++m1)
        for (int n1 = 0; n1 < 16; ++n1) {
            float a[16][16], b[16][16], c[16][16] = {{0}};
            for (int l1 = 0; l1 < 13; ++l1) {
                to_fractal(A, 300, 200, 16 * m1, 16 * l1, a);
                to_fractal(B, 250, 200, 16 * n1, 16 * l1, b);
                fractal_by_hand(a, b, c);
            }
            for (int i = 0; i < 16; ++i)
                for (int j = 0; j < 16; ++j)
                    C[(16 * m1 + i) * 256 + 16 * n1 + j] = c[i][j];
        }
}
