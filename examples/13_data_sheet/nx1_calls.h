/* What the generated C includes: the vendor's header. Each name that is defined here is declared there, and not once more. */
#include "nx1.h"

#define nx_load nx_load
#define nx_store nx_store
#define nx_wait_load nx_wait_load
#define nx_wait_store nx_wait_store
#define nx_mul nx_mul
#define nx_mac nx_mac
