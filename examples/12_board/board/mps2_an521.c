/* Start-up of the MPS2-AN521: core 0 wakes core 1, which runs `main`, and sleeps. Compiled for core 0, so without DSP and floating point.
 */
#include "board.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t board_stack_0[], board_stack_1[];
extern unsigned char board_data[], board_data_end[], board_data_image[], board_zero[], board_zero_end[];
extern void initialise_monitor_handles(void); /* of librdimon: files and printf by semihosting */
int main(void);

#define REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define FIRST_CODE_OF_CORE_1 REGISTER(0x50021114u)
#define HALTED_CORES REGISTER(0x50021118u)
#define FLOATING_POINT REGISTER(0xe000ed88u)
#define HANDLERS REGISTER(0xe000ed24u)
#define FAULTS REGISTER(0xe000ed28u)
#define FAULT_ADDRESS REGISTER(0xe000ed38u)
#define PROTECTION_FAULT_ADDRESS REGISTER(0xe000ed34u)

static void begin_on_core_0(void);
static void begin_on_core_1(void);
static void report_fault(void);

/* Where the stack begins, the first instruction, and handlers: what a core reads from its first addresses. */
struct vectors {
    const void* stack;
    void (*entries[7])(void);
};
#define VECTORS(stack, begin)                                                                                \
    {                                                                                                        \
        stack, { begin, report_fault, report_fault, report_fault, report_fault, report_fault, report_fault } \
    }
__attribute__((section(".vectors"), used, aligned(512))) static const struct vectors vectors_0 = VECTORS(board_stack_0, begin_on_core_0);
__attribute__((section(".vectors.1"), used, aligned(512))) static const struct vectors vectors_1 = VECTORS(board_stack_1, begin_on_core_1);

/* newlib asks for them at the end; nothing here needs them. */
void _init(void) {}
void _fini(void) {}

static void begin_on_core_0(void) {
    memcpy(board_data, board_data_image, (size_t)(board_data_end - board_data));
    memset(board_zero, 0, (size_t)(board_zero_end - board_zero));
    FIRST_CODE_OF_CORE_1 = (uint32_t)(uintptr_t)&vectors_1;
    HALTED_CORES = 0;
    for (;;) __asm__ volatile("wfi");
}

static void begin_on_core_1(void) {
    FLOATING_POINT |= 0xfu << 20;
    HANDLERS |= 7u << 16; /* faults of the bus, of protection and of usage have handlers of their own */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    initialise_monitor_handles();
    exit(main());
}

/* Semihosting without a library, which may be what failed. */
static int ask_host(int what, const void* with) {
    register int r0 __asm__("r0") = what;
    register const void* r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void say(const char* name, uint32_t number) {
    char text[] = "          ";
    ask_host(4, name);
    for (int at = 9; at > 1; --at, number >>= 4) text[at] = "0123456789abcdef"[number & 15];
    text[0] = '0';
    text[1] = 'x';
    ask_host(4, text);
}
static void report_fault(void) {
    const uint32_t status = FAULTS;
    say("fault: status ", status);
    if ((status & 1u << 15) != 0) say(", bus address ", FAULT_ADDRESS);
    if ((status & 1u << 7) != 0) say(", protected address ", PROTECTION_FAULT_ADDRESS);
    ask_host(4, "\n");
    const uint32_t how[2] = {0x20026, 3};
    ask_host(0x20, how);
    for (;;) {
    }
}
