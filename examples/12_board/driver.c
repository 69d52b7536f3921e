/* The functions of the controllers and of the cores: both cores call them, so they are compiled for core 0. */
#define MPS2_AN521_DMA_DRIVER
#include <tilewright/targets/mps2_an521.h>
