/* What the hand-written device counts, and where it is told to fail. */
#ifndef DEVICE_H
#define DEVICE_H
#ifdef __cplusplus
extern "C" {
#endif
extern int mvin_calls, mvout_calls, mac_calls, mul_calls, fail_at_mvout;
#ifdef __cplusplus
}
#endif
#endif
