/* What a program and the plugin that counts its instructions agree on. */
#ifndef TILEWRIGHT_BENCH_MARKS_H
#define TILEWRIGHT_BENCH_MARKS_H
/* A system call that no kernel has: it fails, and does nothing else. */
#define MARK_CALL 4099
#endif
