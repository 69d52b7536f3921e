/* What the functions written by hand count, and where they are told to fail. */
#ifndef C_SOURCE_DEVICE_H
#define C_SOURCE_DEVICE_H
#ifdef __cplusplus
extern "C" {
#endif
extern int moves, multiplications, fail_at_move;
extern int pending_loads, pending_stores, fail_at_load;
#ifdef __cplusplus
}
#endif
#endif
