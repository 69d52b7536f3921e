/* The C functions of the Arm MPS2-AN521 that kernels for `targets/mps2_an521.hpp` call: its DMA controllers, what its two cores tell each
 * other, and its instructions on words.
 *
 * It stands beside the description of the machine, since the two say the same and change together. To port it to your board, change the
 * addresses and `mps2_an521_dma_begin`, which is all that knows the controller, and copy the machine.
 *
 * Generated C includes this header (`C_INCLUDES tilewright/targets/mps2_an521.h`). One source of the program has the driver:
 *
 *     #define MPS2_AN521_DMA_DRIVER
 *     #include <tilewright/targets/mps2_an521.h>
 *
 * With MPS2_AN521_LAZY_DMA as well, that driver moves data only when somebody waits for it. Programs that forget to wait then compute
 * nonsense, where a controller that happened to be fast, or an emulator, would hide it.
 */
#ifndef TILEWRIGHT_TARGETS_MPS2_AN521_H
#define TILEWRIGHT_TARGETS_MPS2_AN521_H
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a transfer: each is one descriptor. As `descriptors` in mps2_an521.hpp. */
#define MPS2_AN521_DESCRIPTORS 64
/* Elements of one descriptor: the controller's counter has 12 bits. As `most_elements` there. */
#define MPS2_AN521_MOST_ELEMENTS 4095

/* What the functions of the controllers return. */
enum {
    MPS2_AN521_DMA_DONE = 0,
    MPS2_AN521_DMA_NO_CHANNEL = 1, /* there are eight */
    MPS2_AN521_DMA_TOO_LONG = 2,   /* a row of too many elements, or too many rows */
    MPS2_AN521_DMA_ADDRESS = 3,    /* outside all memories, where a controller reads 0 and reports nothing */
    MPS2_AN521_DMA_FAILED = 4      /* the controller reports an error */
};

/* Starts to copy `rows` rows of `row_bytes`, and returns. A channel whose transfer is not complete is waited for first. */
int mps2_an521_dma_start(int64_t channel, void* destination, const void* source, int64_t row_bytes, int64_t rows,
                         int64_t destination_stride, int64_t source_stride);
/* Returns when the transfer of a channel is complete: at once, if there is none. */
int mps2_an521_dma_wait(int64_t channel);
/* Fills rows with zeros: the core does, and nobody waits. */
int mps2_an521_clear(void* destination, int64_t row_bytes, int64_t rows, int64_t stride);

/* Queues of signals from a core to the other one. As `signal_queues` there. */
#define MPS2_AN521_QUEUES 16

/* Forgets what the cores have told each other: to be called before both begin a kernel. */
void mps2_an521_begin(void);
/* With status 0, returns 0 when the other core has come, too, or the code with which it has failed. With another status, notes that this
 * core has failed, and returns at once. What a core has stored before, the other sees afterwards. */
int mps2_an521_barrier(int64_t core, int64_t status);
/* Sends a signal to the other core. */
int mps2_an521_signal(int64_t core, int64_t queue);
/* Takes a signal of the other core when there is one; or returns the code with which it has failed. */
int mps2_an521_await(int64_t core, int64_t queue);

/* A word of memory, of any alignment, in a register: one instruction. */
static inline int32_t mps2_an521_load(const void* source) {
    int32_t word;
    memcpy(&word, source, sizeof word);
    return word;
}
static inline void mps2_an521_save(void* destination, int32_t word) { memcpy(destination, &word, sizeof word); }

/* The instructions on words. Cores without them do not have the functions, and kernels that call them do not compile. Programs that try
 * them on another computer may ask for plain C of the same meaning. */
#ifdef __ARM_FEATURE_DSP
#include <arm_acle.h>
/* sum + a[0] b[0] + a[1] b[1] of two halves each, modulo 2^32. */
static inline int32_t mps2_an521_mac2(int32_t a, int32_t b, int32_t sum) { return __smlad(a, b, sum); }
static inline int32_t mps2_an521_mul2(int32_t a, int32_t b) { return __smuad(a, b); }
static inline int32_t mps2_an521_even_bytes(int32_t word) { return __sxtb16(word); }
/* The instruction rotates what it takes. */
static inline int32_t mps2_an521_odd_bytes(int32_t word) {
#ifdef __GNUC__
    int32_t halves;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(halves) : "r"(word));
    return halves;
#else
    return __sxtb16((int32_t)((uint32_t)word >> 8 | (uint32_t)word << 24));
#endif
}
#define MPS2_AN521_HAS_WORDS
#elif defined(MPS2_AN521_PLAIN_C)
static inline int32_t mps2_an521_mac2(int32_t a, int32_t b, int32_t sum) {
    const int32_t low = (int16_t)(uint16_t)a * (int16_t)(uint16_t)b, high = (a >> 16) * (b >> 16);
    return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}
static inline int32_t mps2_an521_mul2(int32_t a, int32_t b) { return mps2_an521_mac2(a, b, 0); }
static inline int32_t mps2_an521_even_bytes(int32_t word) {
    const uint32_t low = (uint16_t)(int8_t)(uint8_t)word, high = (uint16_t)(int8_t)(uint8_t)(word >> 16);
    return (int32_t)(high << 16 | low);
}
static inline int32_t mps2_an521_odd_bytes(int32_t word) { return mps2_an521_even_bytes((int32_t)((uint32_t)word >> 8)); }
#define MPS2_AN521_HAS_WORDS
#endif

#ifdef MPS2_AN521_HAS_WORDS
/* Widens four bytes of two rows at `narrow`, the second `narrow_step` bytes behind the first, to 16 bits. Bytes 0 and 2 of the first row
 * are a word at `wide`, and those of the second row one `row_step` halves behind it; bytes 1 and 3 are words `odd_step` halves behind
 * these. */
static inline int mps2_an521_widen(void* wide, int64_t odd_step, int64_t row_step, const void* narrow, int64_t narrow_step) {
    const int32_t first = mps2_an521_load(narrow), second = mps2_an521_load((const char*)narrow + narrow_step);
    const int32_t even_first = mps2_an521_even_bytes(first), even_second = mps2_an521_even_bytes(second);
    const int32_t odd_first = mps2_an521_odd_bytes(first), odd_second = mps2_an521_odd_bytes(second);
    char *const even = (char*)wide, *const odd = even + 2 * odd_step;
    mps2_an521_save(even, even_first);
    mps2_an521_save(even + 2 * row_step, even_second);
    mps2_an521_save(odd, odd_first);
    mps2_an521_save(odd + 2 * row_step, odd_second);
    return 0;
}
/* sum + a[0] b[0] + ... + a[3] b[3] of four bytes each, modulo 2^32. */
static inline int32_t mps2_an521_mac4(int32_t a, int32_t b, int32_t sum) {
    sum = mps2_an521_mac2(mps2_an521_even_bytes(a), mps2_an521_even_bytes(b), sum);
    return mps2_an521_mac2(mps2_an521_odd_bytes(a), mps2_an521_odd_bytes(b), sum);
}
static inline int32_t mps2_an521_mul4(int32_t a, int32_t b) {
    const int32_t even = mps2_an521_mul2(mps2_an521_even_bytes(a), mps2_an521_even_bytes(b));
    return mps2_an521_mac2(mps2_an521_odd_bytes(a), mps2_an521_odd_bytes(b), even);
}
/* sum + a[0] b[0] + ... of rows of bytes, modulo 2^32. */
static inline int32_t mps2_an521_dot(int32_t sum, const void* a, const void* b, int64_t count) {
    const unsigned char *left = (const unsigned char*)a, *right = (const unsigned char*)b;
    int32_t words = (int32_t)count >> 2, rest = (int32_t)count & 3;
    for (; words > 0; --words, left += 4, right += 4) sum = mps2_an521_mac4(mps2_an521_load(left), mps2_an521_load(right), sum);
    for (; rest > 0; --rest, ++left, ++right) sum = (int32_t)((uint32_t)sum + (uint32_t)((int8_t)*left * (int8_t)*right));
    return sum;
}
static inline int32_t mps2_an521_dot0(const void* a, const void* b, int64_t count) { return mps2_an521_dot(0, a, b, count); }
#endif

#ifdef MPS2_AN521_DMA_DRIVER

/* A descriptor, as the PL081 reads it, and as its channel begins. */
struct mps2_an521_descriptor {
    uint32_t source, destination, next, control;
};
struct mps2_an521_channel {
    struct mps2_an521_descriptor chain[MPS2_AN521_DESCRIPTORS];
    int begun;
};
static struct mps2_an521_channel mps2_an521_channels[8];

/* Controllers, and the registers of one of their two channels. */
static inline volatile uint32_t* mps2_an521_controller(int channel) {
    return (volatile uint32_t*)(uintptr_t)(0x50110000u + 0x1000u * (uint32_t)(channel / 2));
}
enum {
    MPS2_AN521_ERRORS = 0x0c / 4,
    MPS2_AN521_CLEAR_ERRORS = 0x10 / 4,
    MPS2_AN521_ENABLED = 0x1c / 4,
    MPS2_AN521_CONFIGURATION = 0x30 / 4
};

/* Gives the chain of a channel to its controller. */
static void mps2_an521_dma_begin(int channel) {
    volatile uint32_t *const controller = mps2_an521_controller(channel), *const own = controller + (0x100 + 0x20 * (channel % 2)) / 4;
    const struct mps2_an521_descriptor* const first = mps2_an521_channels[channel].chain;
    /* What the program stored, the controller reads: neither the compiler nor the core may hold it back. */
    __asm__ volatile("dsb sy" ::: "memory");
    controller[MPS2_AN521_CONFIGURATION] = 1;
    controller[MPS2_AN521_CLEAR_ERRORS] = 1u << channel % 2;
    own[0] = first->source;
    own[1] = first->destination;
    own[2] = first->next;
    own[3] = first->control;
    own[4] = 1; /* memory to memory, from now on */
}

int mps2_an521_dma_wait(int64_t number) {
    const int channel = (int)number;
    if (number < 0 || number >= 8) return MPS2_AN521_DMA_NO_CHANNEL;
    if (!mps2_an521_channels[channel].begun) return MPS2_AN521_DMA_DONE;
    mps2_an521_channels[channel].begun = 0;
#ifdef MPS2_AN521_LAZY_DMA
    mps2_an521_dma_begin(channel);
#endif
    volatile uint32_t* const controller = mps2_an521_controller(channel);
    const uint32_t bit = 1u << channel % 2;
    while ((controller[MPS2_AN521_ENABLED] & bit) != 0) {
    }
    /* What follows reads what the controller wrote. */
    __asm__ volatile("dsb sy" ::: "memory");
    return (controller[MPS2_AN521_ERRORS] & bit) != 0 ? MPS2_AN521_DMA_FAILED : MPS2_AN521_DMA_DONE;
}

/* Whether these bytes are all in one memory of the board. */
static int mps2_an521_is_memory(uint32_t first, uint32_t bytes) {
    static const struct {
        uint32_t base, bytes;
    } memories[] = {{0x10000000u, 0x400000u}, {0x30000000u, 0x20000u}, {0x38000000u, 0x400000u}, {0x80000000u, 0x1000000u}};
    for (unsigned at = 0; at < sizeof memories / sizeof memories[0]; ++at) {
        const uint32_t offset = first - memories[at].base;
        if (offset < memories[at].bytes && bytes <= memories[at].bytes - offset) return 1;
    }
    return 0;
}

int mps2_an521_dma_start(int64_t number, void* destination, const void* source, int64_t row_bytes, int64_t row_count,
                         int64_t destination_stride, int64_t source_stride) {
    uint32_t to = (uint32_t)(uintptr_t)destination, from = (uint32_t)(uintptr_t)source;
    uint32_t row = (uint32_t)row_bytes, rows = (uint32_t)row_count;
    const uint32_t to_stride = (uint32_t)destination_stride, from_stride = (uint32_t)source_stride;
    if (number < 0 || number >= 8) return MPS2_AN521_DMA_NO_CHANNEL;
    if (row == 0 || rows == 0) return MPS2_AN521_DMA_DONE;
    /* The widest elements that everything is a multiple of. Both sides have the same width. */
    const uint32_t all = to | from | row | (rows > 1 ? to_stride | from_stride : 0);
    const uint32_t width = (all & 1) != 0 ? 0 : (all & 2) != 0 ? 1 : 2;
    /* Rows that follow each other are one, if that is short enough. */
    if (rows > 1 && to_stride == row && from_stride == row && rows * row >> width <= MPS2_AN521_MOST_ELEMENTS) {
        row *= rows;
        rows = 1;
    }
    if (rows > MPS2_AN521_DESCRIPTORS || row >> width > MPS2_AN521_MOST_ELEMENTS) return MPS2_AN521_DMA_TOO_LONG;
    if (!mps2_an521_is_memory(to, (rows - 1) * to_stride + row) || !mps2_an521_is_memory(from, (rows - 1) * from_stride + row))
        return MPS2_AN521_DMA_ADDRESS;

    const int status = mps2_an521_dma_wait(number);
    if (status != 0) return status;
    const int channel = (int)number;
    struct mps2_an521_descriptor* const chain = mps2_an521_channels[channel].chain;
    const uint32_t control = row >> width | width << 18 | width << 21 | 1u << 26 | 1u << 27;
    for (uint32_t at = 0; at < rows; ++at, to += to_stride, from += from_stride) {
        chain[at].source = from;
        chain[at].destination = to;
        chain[at].next = at + 1 < rows ? (uint32_t)(uintptr_t)(chain + at + 1) : 0;
        chain[at].control = control;
    }
    mps2_an521_channels[channel].begun = 1;
#ifndef MPS2_AN521_LAZY_DMA
    mps2_an521_dma_begin(channel);
#endif
    return MPS2_AN521_DMA_DONE;
}

int mps2_an521_clear(void* destination, int64_t row_bytes, int64_t rows, int64_t stride) {
    for (int64_t row = 0; row < rows; ++row) memset((unsigned char*)destination + row * stride, 0, (size_t)row_bytes);
    return 0;
}

/* What a core tells the other: each word is written by its core alone. */
struct mps2_an521_words {
    volatile uint32_t meetings, sent[MPS2_AN521_QUEUES], taken[MPS2_AN521_QUEUES];
    volatile int failed;
};
static struct mps2_an521_words mps2_an521_words_of[2];

void mps2_an521_begin(void) {
    memset((void*)mps2_an521_words_of, 0, sizeof mps2_an521_words_of);
    __asm__ volatile("dsb sy" ::: "memory");
}

/* Polls until `*word` of the other core is not `before` any more, and returns 0, or the code with which that core has failed. An emulator
 * that runs one core at a time lets the other one go on at a `yield`. */
static int mps2_an521_poll(const struct mps2_an521_words* other, const volatile uint32_t* word, uint32_t before) {
    while (*word == before) {
        if (other->failed != 0) return other->failed;
        __asm__ volatile("yield");
    }
    __asm__ volatile("dsb sy" ::: "memory");
    return 0;
}

int mps2_an521_barrier(int64_t core, int64_t status) {
    struct mps2_an521_words *const own = mps2_an521_words_of + core, *const other = mps2_an521_words_of + (1 - core);
    __asm__ volatile("dsb sy" ::: "memory");
    if (status != 0) {
        own->failed = (int)status;
        return (int)status;
    }
    /* The other core is at this meeting already, or one behind: it cannot leave the next one without this core. */
    const uint32_t before = own->meetings;
    own->meetings = before + 1;
    return mps2_an521_poll(other, &other->meetings, before);
}

int mps2_an521_signal(int64_t core, int64_t queue) {
    struct mps2_an521_words* const own = mps2_an521_words_of + core;
    __asm__ volatile("dsb sy" ::: "memory");
    own->sent[queue] = own->sent[queue] + 1;
    return 0;
}

int mps2_an521_await(int64_t core, int64_t queue) {
    struct mps2_an521_words *const own = mps2_an521_words_of + core, *const other = mps2_an521_words_of + (1 - core);
    const int failed = mps2_an521_poll(other, &other->sent[queue], own->taken[queue]);
    if (failed == 0) own->taken[queue] = own->taken[queue] + 1;
    return failed;
}

#endif

#ifdef __cplusplus
}
#endif
#endif
