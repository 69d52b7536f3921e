/* What start-ups of both boards have in common. Included once, by the start-up of the board. */
#ifndef BOARD_START_H
#define BOARD_START_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the linker script. */
extern unsigned char board_data[], board_data_end[], board_data_image[], board_zero[], board_zero_end[];
/* Of librdimon: files and printf by semihosting. */
extern void initialise_monitor_handles(void);
int main(void);

#define REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define FLOATING_POINT REGISTER(0xe000ed88u)
#define HANDLERS REGISTER(0xe000ed24u)
#define FAULTS REGISTER(0xe000ed28u)
#define PROTECTION_FAULT_ADDRESS REGISTER(0xe000ed34u)
#define BUS_FAULT_ADDRESS REGISTER(0xe000ed38u)

/* newlib asks for them at the end; nothing here needs them. */
void _init(void) {}
void _fini(void) {}

/* Semihosting without a library, which may be what failed. */
static int ask_host(int what, const void* with) {
    register int r0 __asm__("r0") = what;
    register const void* r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void say(const char* name, uint32_t number) {
    char text[] = "0x        ";
    ask_host(4, name);
    for (int at = 9; at > 1; --at, number >>= 4) text[at] = "0123456789abcdef"[number & 15];
    ask_host(4, text);
}
/* An access that hardware refuses says where it was, and ends the program with code 3. */
static void report_fault(void) {
    const uint32_t status = FAULTS;
    say("fault: status ", status);
    if ((status & 1u << 15) != 0) say(", bus address ", BUS_FAULT_ADDRESS);
    if ((status & 1u << 7) != 0) say(", protected address ", PROTECTION_FAULT_ADDRESS);
    ask_host(4, "\n");
    const uint32_t how[2] = {0x20026, 3};
    ask_host(0x20, how);
    for (;;) {
    }
}

/* Where the stack begins, the first instruction, and handlers: what a core reads from its first addresses. */
struct vectors {
    const void* stack;
    void (*entries[7])(void);
};
#define VECTORS(stack, begin)                                                                                \
    {                                                                                                        \
        stack, { begin, report_fault, report_fault, report_fault, report_fault, report_fault, report_fault } \
    }

/* Brings variables to the values that they begin with. */
static void set_variables(void) {
    memcpy(board_data, board_data_image, (size_t)(board_data_end - board_data));
    memset(board_zero, 0, (size_t)(board_zero_end - board_zero));
}
/* Turns on floating point and vectors, where this core has them, and the faults that have handlers of their own: of the bus, of protection
 * and of usage. */
static void set_core(void) {
    FLOATING_POINT |= 0xfu << 20;
    HANDLERS |= 7u << 16;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
/* Runs the program on this core. */
static void run_main(void) {
    set_core();
    initialise_monitor_handles();
    exit(main());
}
#endif
