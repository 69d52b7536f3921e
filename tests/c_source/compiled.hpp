#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tilewright/c_source/c_source.hpp>
#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/plan.hpp>

#include "c_source/caller.hpp"
#include "folder.hpp"
#include "kernels/run_kernel.hpp"

/// C source of kernels, compiled and loaded while a test runs.
namespace c_kernels {

using namespace tilewright;

/// What every C source must please.
inline constexpr char const* strict_flags = "-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -ffreestanding -fPIC";

struct compiler {
    char const* name;
    char const* flags;
};
inline constexpr compiler compilers[] = {{TILEWRIGHT_C_GCC, "-O2"}, {TILEWRIGHT_C_CLANG, "-O2"}};

/// A kernel on the emulated machine, from its C source.
class c_kernel {
  public:
    c_kernel(schedule const& made_by, plan_value const& plan, emulator& on, compiler const& with)
        : c_kernel(made_by, plan, {"kernel", halide::binding::emulated, {}}, {}, with) {
        reinterpret_cast<void (*)(void*)>(dlsym(library_, "use_machine"))(&on);
    }
    /// @param options  with `kernel` for its name; @param headers  the texts of the headers that it includes
    c_kernel(schedule const& made_by, plan_value const& plan, halide::c_source_options const& options,
             std::vector<std::string> const& headers, compiler const& with)
        : plan_(plan), text_(halide::c_source(made_by, plan, options)) {
        for (std::size_t at = 0; at < headers.size(); ++at) made_.write(options.includes.at(at), headers[at]);
        made_.write("kernel.h", text_.header);
        made_.write("kernel.c", text_.source);
        made_.write("call.c", caller_text(plan_, "kernel", "call"));
        std::string const in = made_.path.string() + "/";
        // The kernel under the strict flags; the functions of the emulator are in this process.
        std::string const command = std::string(with.name) + " " + strict_flags + " " + with.flags + " -shared -o " + in + "kernel.so " +
                                    in + "kernel.c " + in + "call.c 2> " + in + "said";
        if (std::system(command.c_str()) != 0) throw std::runtime_error(command + "\n" + made_.read("said") + "\n" + text_.source);
        library_ = dlopen((in + "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        call_ = reinterpret_cast<call_type*>(dlsym(library_, "call"));
    }
    c_kernel(c_kernel const&) = delete;
    ~c_kernel() {
        if (library_ != nullptr) dlclose(library_);
    }
    halide::c_source_text const& text() const { return text_; }

    /// @param plan  what the source was written from, or that at some extents
    /// @return the kernel's code
    int run(plan_value const& plan, kernels::operand_data const& data, Halide::Buffer<>& result, std::vector<double> const& parameters,
            int core = 0) const {
        std::vector<void*> tensors;
        std::vector<std::int64_t> strides, extents;
        auto const add = [&](Halide::Buffer<> const& one) {
            tensors.push_back(const_cast<void*>(one.data()));
            for (int d = one.dimensions() - 1; d > 0; --d) strides.push_back(one.dim(d).stride());
        };
        for (Halide::Buffer<> const& one : data.inputs) add(one);
        add(result);
        for (int at = 0; at < plan_.run_time_extents; ++at) {
            ir::shape const& from = ir::shape_of_extent(plan_, at, true);
            extents.push_back(plan.buffers[from.buffer].extents[from.dimension]);
        }
        extents.push_back(core);
        return call_(tensors.data(), strides.data(), parameters.data(), extents.data());
    }

  private:
    plan_value plan_;
    halide::c_source_text text_;
    folder made_;
    void* library_ = nullptr;
    call_type* call_ = nullptr;
};

/// The C source, compiled by both compilers, makes what the oracle says, and so does Halide's object, at the cost that the plan says.
/// Operands and planned memories lie at pages that cannot be touched.
/// @param plan  what is compiled; @param at  the same at some extents
inline void check_c_source(schedule const& made_by, plan_value const& plan, plan_value const& at, emulator& on,
                           std::vector<double> const& parameters = {}) {
    halide::jit_kernel object(plan, &on);
    kernels::operand_data const data = kernels::random_operands(at, 17), below = kernels::random_operands(at, 17, guarded::side::beginning);
    Halide::Buffer<> const wanted = kernels::expected_of(at, data, parameters);
    on.reset();
    CHECK(kernels::same_bits(kernels::result_of(object, data, parameters), wanted));
    REQUIRE(on.error() == "");
    for (compiler const& with : compilers) {
        INFO(with.name << " " << with.flags);
        std::unique_ptr<c_kernel> kernel;
        try {
            kernel = std::make_unique<c_kernel>(made_by, plan, on, with);
        } catch (std::exception const& wrong) {
            FAIL(wrong.what());
        }
        INFO(kernel->text().source);
        for (progress how : {progress::earliest, progress::latest, progress::random}) {
            kernels::operand_data const& operands = how == progress::latest ? below : data;
            on.use(how, 29);
            on.enclose(at, how == progress::latest ? region_side::beginning : region_side::end);
            on.reset();
            kernels::guarded_buffer result = kernels::make_result(operands);
            CHECK(kernel->run(at, operands, result.elements, parameters) == 0);
            CHECK(on.error() == "");
            CHECK(on.cycles() == predict(at).cycles);
            CHECK(kernels::same_bits(result.elements, wanted));
            CHECK((operands.is_intact() && result.memory->is_intact()));
        }
        on.use(progress::earliest);
    }
    on.stop_enclosing();
}

}  // namespace c_kernels
