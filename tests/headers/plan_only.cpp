#include "small_kernel.hpp"

static_assert(plan<on_npu>.peak(spad) == 512);
static_assert(plan<on_npu>.cycles() >= plan<on_npu>.bound());
