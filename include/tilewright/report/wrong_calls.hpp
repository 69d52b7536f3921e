#pragma once
#include <tilewright/base/type_questions.hpp>

namespace tilewright {

/// Refused: write_report with other arguments than it takes, or without the header that has it. It loses to every other one.
template <bool expected = false>
void write_report(detail::anything, detail::anything = 0, detail::anything = 0, detail::anything = 0, detail::anything = 0) {
    static_assert(expected, "write_report takes schedule, plan, emulator, path: write_report(on_npu, plan<on_npu>, \"npu.html\")");
}

}  // namespace tilewright
