/* An agent whose functions are inline: it is told by a mailbox, behind the back of the compiler. */
#ifndef INLINE_AGENT_H
#define INLINE_AGENT_H
#include <stdint.h>

struct inline_mailbox {
    int (*kernel)(void*);
    void* arguments;
    int16_t told, done; /* how many kernels it was told to run, and has run */
    int16_t code;
};
extern volatile struct inline_mailbox inline_mailbox;

#ifndef __cplusplus
static inline int inline_start(int (*kernel)(void*), void* arguments) {
    inline_mailbox.kernel = kernel;
    inline_mailbox.arguments = arguments;
    inline_mailbox.told = (int16_t)(inline_mailbox.told + 1);
    return 0;
}
static inline int inline_join(void) {
    while (inline_mailbox.done != inline_mailbox.told) {
    }
    return inline_mailbox.code;
}
#define aside_join inline_join
#endif
#endif
