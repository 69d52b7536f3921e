/* What kernels return for arguments that they cannot run on, in C99. */
#ifndef TILEWRIGHT_RUNTIME_ARGUMENT_ERROR_H
#define TILEWRIGHT_RUNTIME_ARGUMENT_ERROR_H

/* What is wrong with an argument. A kernel returns -(2000 + 100 * kind + position of the argument), and has touched nothing. */
enum tilewright_argument_error {
    TILEWRIGHT_NULL_BUFFER = 1, /* the halide_buffer_t pointer, or its dim, is null */
    TILEWRIGHT_NULL_HOST = 2,   /* the buffer has no data, or its data is on a device of Halide's */
    TILEWRIGHT_WRONG_TYPE = 3,  /* another element type than the tensor's */
    TILEWRIGHT_WRONG_RANK = 4,
    TILEWRIGHT_WRONG_EXTENT = 5, /* an input does not hold the region that is read; an output is not the region that is written;
                                    or there are more than 2^31 - 1 elements from the first to the last; or it is not the extent that
                                    another argument has along the same axis, where that is left to run time */
    TILEWRIGHT_WRONG_STRIDE =
        6, /* innermost not 1, rows that overlap, gaps where a transfer joined dimensions, or not the multiple it needs */
    TILEWRIGHT_MISALIGNED = 7,       /* the first element used is not at a multiple of the alignment that a transfer needs */
    TILEWRIGHT_OVERLAP = 8,          /* the output shares bytes with this input, and is not these very elements where that is right */
    TILEWRIGHT_WRONG_CORE = 10,      /* a kernel for several cores is told the number of none of them; the position is 0 */
    TILEWRIGHT_WRONG_PROCESSOR = 11, /* the processor, or its operating system, does not have the instructions of any target that the kernel
                                        was compiled for; the position is 0 */
    TILEWRIGHT_RUN_TIME_EXTENT = 9,  /* an extent that is left to run time, and read from this argument, is less than 1 or more than the
                                        kernel takes */
    TILEWRIGHT_UNKNOWN_EXTENT = 12   /* tilewright::call is given an extent of a name that the kernel does not leave to run time; the
                                        position is 0 */
};
#define TILEWRIGHT_ARGUMENT_ERROR(kind, position) (-(2000 + 100 * (kind) + (position)))

#endif
