// The C functions of processors with VNNI, for kernels that a benchmark compiles.
#define X86_VNNI_DEFINE
#include <tilewright/targets/x86_vnni.h>
