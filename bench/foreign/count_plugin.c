/* A plugin of QEMU that counts instructions: a program marks places by a system call that no kernel has, and the plugin prints how many
 * instructions were begun before each.
 *
 * Debian ships QEMU with plugins, and not the header for them. What is declared here is the part of version 1 of that interface which
 * this one uses.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "marks.h"

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info_t;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*called)(qemu_plugin_id_t, unsigned, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                       uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, enum qemu_plugin_op, void* counter, uint64_t more);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, called);

EXPORTED int qemu_plugin_version = 1;

static uint64_t instructions;

/* A block counts as a whole when it is entered: system calls end blocks, so the count is exact there. */
static void count(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &instructions, qemu_plugin_tb_n_insns(block));
}

static void mark(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t which, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
                 uint64_t a6, uint64_t a7, uint64_t a8) {
    (void)id, (void)cpu, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == MARK_CALL) {
        fprintf(stderr, "mark %" PRIu64 " at %" PRIu64 "\n", which, instructions);
    }
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int count_of_arguments, char** arguments) {
    (void)info, (void)count_of_arguments, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count);
    qemu_plugin_register_vcpu_syscall_cb(id, mark);
    return 0;
}
