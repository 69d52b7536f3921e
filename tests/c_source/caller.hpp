#pragma once
#include <tilewright/c_source/binding_files.hpp>

namespace c_kernels {

using namespace tilewright;

/// How kernels of all signatures are called: tensors in the order of their arguments, the strides of their outer dimensions, parameters,
/// extents that are left to run time, and last the core that runs it.
using call_type = int(void**, std::int64_t const*, double const*, std::int64_t const*);

/// C that defines `call` for a kernel on an emulated machine, which `use_machine` is told. Both names begin with what is given.
inline std::string caller_text(plan_value const& plan, std::string const& kernel, std::string const& call) {
    std::string inputs, output;
    int tensor = 0, stride = 0;
    for (int at : {0, 1}) {
        for (ir::buffer const& b : halide::detail::passed_buffers(plan)) {
            if (b.written != (at == 1)) continue;
            std::string& into = at == 0 ? inputs : output;
            into += "tensors[" + std::to_string(tensor++) + "], ";
            for (int d = 0; d + 1 < b.rank; ++d) into += "strides[" + std::to_string(stride++) + "], ";
        }
    }
    ir::argument_list const list = ir::arguments_of(plan);
    for (int at = 0; at < list.parameter_count; ++at) {
        std::string const type = halide::detail::c_type(plan.what[list.parameters[at]].type);
        inputs += "(" + type + ")parameters[" + std::to_string(at) + "], ";
    }
    std::string all = inputs + output;
    for (int at = 0; at < plan.run_time_extents; ++at) all += "extents[" + std::to_string(at) + "], ";
    all.resize(all.size() - 2);
    // Of several cores, each runs on an emulator of its own.
    if (plan.cores > 1) all = "(int32_t)extents[" + std::to_string(plan.run_time_extents) + "], " + all;
    std::string const machine = plan.cores > 1 ? "tilewright_this_core()" : "machine";
    std::string const use = kernel == "kernel" ? "use_machine" : "use_machine_of_" + kernel, own = kernel + "_machine";
    return "#include \"" + kernel + ".h\"\nvoid *tilewright_this_core(void);\nstatic void *machine;\nvoid " + use + "(void *used);\nvoid " +
           use + "(void *used) { machine = used; }\nvoid *" + own + "(void);\nvoid *" + own + "(void) { return " + machine + "; }\nint " +
           call + "(void **tensors, const int64_t *strides, const double *parameters, const int64_t *extents);\nint " + call +
           "(void **tensors, const int64_t *strides, const double *parameters, const int64_t *extents) {\n"
           "    (void)tensors, (void)strides, (void)parameters, (void)extents;\n    return " +
           kernel + "(" + all + ");\n}\n";
}

}  // namespace c_kernels
