/* What the accelerator of rows counts. */
#ifndef ROWS_DEVICE_H
#define ROWS_DEVICE_H
#ifdef __cplusplus
extern "C" {
#endif
extern int rows_loads, rows_stores, rows_ld_settings, rows_st_settings, rows_steps;
void rows_reset(void);
#ifdef __cplusplus
}
#endif
#endif
