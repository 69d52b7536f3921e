/* Registers of eight floats as a type, by the extension of two compilers or as a structure, and functions on them. */
#ifndef VECTORS_H
#define VECTORS_H

#ifdef VECTORS_OF_THE_COMPILER
typedef float v8f __attribute__((vector_size(32)));
#else
typedef struct {
    float lane[8];
} v8f;
#endif

static inline v8f vload(const float* from) {
    v8f value;
    for (int i = 0; i < 8; ++i) ((float*)&value)[i] = from[i];
    return value;
}
static inline void vstore(float* to, v8f value) {
    for (int i = 0; i < 8; ++i) to[i] = ((const float*)&value)[i];
}
#ifdef VECTORS_OF_THE_COMPILER
static inline v8f vmul8(v8f a, v8f b) { return a * b; }
static inline v8f vfma8(v8f a, v8f b, v8f c) { return c + a * b; }
static inline v8f vscale8(const float* a, v8f b, v8f c) { return c + *a * b; }
static inline v8f vstart8(const float* a, v8f b, v8f d) { return d + *a * b; }
#else
static inline v8f vmul8(v8f a, v8f b) {
    for (int i = 0; i < 8; ++i) a.lane[i] *= b.lane[i];
    return a;
}
static inline v8f vfma8(v8f a, v8f b, v8f c) {
    for (int i = 0; i < 8; ++i) c.lane[i] += a.lane[i] * b.lane[i];
    return c;
}
static inline v8f vscale8(const float* a, v8f b, v8f c) {
    for (int i = 0; i < 8; ++i) c.lane[i] += *a * b.lane[i];
    return c;
}
static inline v8f vstart8(const float* a, v8f b, v8f d) { return vscale8(a, b, d); }
#endif
#endif
