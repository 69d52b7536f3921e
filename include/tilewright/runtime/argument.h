/* What a kernel needs of an argument, in C99. */
#ifndef TILEWRIGHT_RUNTIME_ARGUMENT_H
#define TILEWRIGHT_RUNTIME_ARGUMENT_H

#include <stdint.h>

/* An argument as the plan needs it. Dimensions outermost first, as the tensor is written. */
struct tilewright_argument {
    uint8_t type_code, type_bits;
    int rank;
    int written;
    int32_t minimum[6], extent[6];
    int dense_from;             /* from this dimension on, elements follow each other without gaps */
    int64_t stride_multiple[6]; /* elements, of each dimension; 0: any */
    int64_t longest_stride[6];  /* likewise, the most that it may be; 0: any */
    int64_t alignment;          /* bytes, of the first element used */
    int exact;                  /* bit d: dimension d has the extent, no more; a written argument has in all of them */
    int may_be_result;          /* it may be the very elements that the kernel writes */
};

#endif
