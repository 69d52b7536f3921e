// The functions, defined as in a program.
#define X86_VNNI_DEFINE
#include <tilewright/targets/x86_vnni.h>
