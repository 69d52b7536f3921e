/* Checks of a kernel's arguments, in C99: what every entry written by the binding tool calls before anything runs. */
#ifndef TILEWRIGHT_RUNTIME_ENTRY_H
#define TILEWRIGHT_RUNTIME_ENTRY_H

#include <HalideRuntime.h>
#include <stddef.h>
#include <stdint.h>
#include <tilewright/runtime/argument.h>
#include <tilewright/runtime/argument_error.h>

static inline int tilewright_check_argument(const struct tilewright_argument* want, int at, const struct halide_buffer_t* have) {
    int64_t first = 0, dense = 1;
    int64_t reach = 1; /* elements up to the end of the dimensions further in */
    int d;
    if (have == NULL) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_BUFFER, at);
    if (have->type.code != want->type_code || have->type.bits != want->type_bits || have->type.lanes != 1)
        return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_TYPE, at);
    if (have->dimensions != want->rank) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_RANK, at);
    if (want->rank > 0 && have->dim == NULL) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_BUFFER, at);
    if (have->host == NULL || (have->flags & halide_buffer_flag_device_dirty) != 0)
        return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_HOST, at);
    for (d = want->rank - 1; d >= 0; --d) {
        const struct halide_dimension_t* dim = &have->dim[want->rank - 1 - d];
        const int64_t low = dim->min, high = low + dim->extent;
        const int64_t wanted_high = (int64_t)want->minimum[d] + want->extent[d];
        if (want->written || (want->exact >> d & 1) != 0 ? low != want->minimum[d] || high != wanted_high
                                                         : low > want->minimum[d] || high < wanted_high) {
            return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_EXTENT, at);
        }
    }
    for (d = want->rank - 1; d >= 0; --d) {
        const struct halide_dimension_t* dim = &have->dim[want->rank - 1 - d];
        first += ((int64_t)want->minimum[d] - dim->min) * dim->stride;
        if (dim->extent > 1) {
            const int inner = d == want->rank - 1;
            if (inner ? dim->stride != 1 : dim->stride < reach) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_STRIDE, at);
            if (d >= want->dense_from && dim->stride != dense) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_STRIDE, at);
            if ((int64_t)dim->stride * dim->extent > INT32_MAX) return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_EXTENT, at);
            if (want->stride_multiple[d] > 1 && dim->stride % want->stride_multiple[d] != 0)
                return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_STRIDE, at);
            if (want->longest_stride[d] > 0 && dim->stride > want->longest_stride[d])
                return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_STRIDE, at);
            reach = (int64_t)dim->stride * dim->extent;
        }
        dense *= want->extent[d];
    }
    first *= (want->type_bits + 7) / 8;
    if (((uint64_t)(uintptr_t)have->host + (uint64_t)first) % (uint64_t)want->alignment != 0)
        return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_MISALIGNED, at);
    return 0;
}

/* Makes an extent as large as run time says, at least; 1 where it cannot be. */
static inline int tilewright_reach(int32_t* extent, int64_t wanted) {
    if (wanted > INT32_MAX) return 1;
    if (*extent < wanted) *extent = (int32_t)wanted;
    return 0;
}

/* The bytes from the first element of a buffer to the end of the last. */
static inline uint64_t tilewright_end_of(const struct halide_buffer_t* b) {
    int64_t last = 0;
    int d;
    for (d = 0; d < b->dimensions; ++d) last += (int64_t)(b->dim[d].extent - 1) * b->dim[d].stride;
    return (uint64_t)(uintptr_t)b->host + (uint64_t)(last + 1) * (uint64_t)((b->type.bits + 7) / 8);
}

/* Whether two buffers are the same elements. */
static inline int tilewright_same_elements(const struct halide_buffer_t* a, const struct halide_buffer_t* b) {
    int d;
    if (a->host != b->host || a->dimensions != b->dimensions) return 0;
    for (d = 0; d < a->dimensions; ++d) {
        if (a->dim[d].min != b->dim[d].min || (a->dim[d].extent > 1 && a->dim[d].stride != b->dim[d].stride)) return 0;
    }
    return 1;
}

/* 0, or the code of the first argument that the kernel cannot run on. */
static inline int tilewright_check_arguments(const struct tilewright_argument* want, int count, struct halide_buffer_t* const* have) {
    int at, other;
    for (at = 0; at < count; ++at) {
        const int code = tilewright_check_argument(&want[at], at, have[at]);
        if (code != 0) return code;
    }
    for (at = 0; at < count; ++at) {
        if (!want[at].written) continue;
        for (other = 0; other < count; ++other) {
            const int apart = tilewright_end_of(have[at]) <= (uint64_t)(uintptr_t)have[other]->host ||
                              tilewright_end_of(have[other]) <= (uint64_t)(uintptr_t)have[at]->host;
            if (other != at && !apart && !(want[other].may_be_result && tilewright_same_elements(have[at], have[other])))
                return TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_OVERLAP, other);
        }
    }
    return 0;
}

#endif
