#include <iostream>
#include <tilewright/report/page.hpp>
#include <tilewright/report/plan_report.hpp>
#include <tilewright/report/text.hpp>

#include "small_kernel.hpp"

int main() {
    std::cout << plan<on_npu> << traffic(plan<on_npu>) << memory_map(plan<on_npu>) << loop_program(plan<on_npu>)
              << cycle_account(plan<on_npu>);
}
