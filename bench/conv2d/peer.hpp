#pragma once
#include <dnnl.h>

#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <tilewright/kernels/convolution.hpp>

/// A convolution of oneDNN in the layouts that it chooses. Images and weights are put into them, and results taken out, apart from it.
class onednn_convolution {
  public:
    using shape = tilewright::kernel::conv2d_shape;

    onednn_convolution(shape const& of, dnnl_data_type_t image, dnnl_data_type_t weight, dnnl_data_type_t sum) {
        check(dnnl_engine_create(&engine_, dnnl_cpu, 0));
        check(dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags));
        dnnl_dims_t const in{of.batch, of.channels, of.y.extent, of.x.extent};
        dnnl_dims_t const out{of.batch, of.filters, of.y.positions(), of.x.positions()};
        dnnl_dims_t const weights{of.filters, of.channels, of.y.taps, of.x.taps};
        dnnl_dims_t const grouped{of.groups, of.filters / of.groups, of.channels / of.groups, of.y.taps, of.x.taps};
        bool const groups = of.groups > 1;
        auto const describe = [&](dnnl_dims_t const& extents, int rank, dnnl_data_type_t element, dnnl_format_tag_t layout) {
            dnnl_memory_desc_t made;
            check(dnnl_memory_desc_init_by_tag(&made, rank, extents, element, layout));
            return made;
        };
        plain_[DNNL_ARG_SRC] = describe(in, 4, image, dnnl_nhwc);
        plain_[DNNL_ARG_DST] = describe(out, 4, sum, dnnl_nhwc);
        plain_[DNNL_ARG_WEIGHTS] = groups ? describe(grouped, 5, weight, dnnl_goihw) : describe(weights, 4, weight, dnnl_oihw);
        dnnl_memory_desc_t const any_in = describe(in, 4, image, dnnl_format_tag_any);
        dnnl_memory_desc_t const any_out = describe(out, 4, sum, dnnl_format_tag_any);
        dnnl_memory_desc_t const any_weights = groups ? describe(grouped, 5, weight, dnnl_format_tag_any)  //
                                                      : describe(weights, 4, weight, dnnl_format_tag_any);
        dnnl_dims_t const strides{of.y.stride, of.x.stride}, dilations{of.y.dilation - 1, of.x.dilation - 1};
        dnnl_dims_t const before{of.y.before, of.x.before}, after{of.y.after, of.x.after};
        dnnl_convolution_desc_t described;
        check(dnnl_dilated_convolution_forward_desc_init(&described, dnnl_forward_inference, dnnl_convolution_direct, &any_in, &any_weights,
                                                         nullptr, &any_out, strides, dilations, before, after));
        check(dnnl_primitive_desc_create(&chosen_, &described, nullptr, engine_, nullptr));
        check(dnnl_primitive_create(&primitive_, chosen_));
        for (auto const& [argument, query] :
             {std::pair{DNNL_ARG_SRC, dnnl_query_src_md}, {DNNL_ARG_WEIGHTS, dnnl_query_weights_md}, {DNNL_ARG_DST, dnnl_query_dst_md}})
            check(dnnl_memory_create(&held_[argument], dnnl_primitive_desc_query_md(chosen_, query, 0), engine_, DNNL_MEMORY_ALLOCATE));
    }
    onednn_convolution(onednn_convolution const&) = delete;
    ~onednn_convolution() {
        for (auto const& [argument, memory] : held_) dnnl_memory_destroy(memory);
        dnnl_primitive_destroy(primitive_);
        dnnl_primitive_desc_destroy(chosen_);
        dnnl_stream_destroy(stream_);
        dnnl_engine_destroy(engine_);
    }

    /// Images [batch][y][x][channels] or weights [filters][channels of a group][r][s].
    void put(int argument, void const* data) const { reorder(argument, const_cast<void*>(data), true); }
    /// Results [batch][y][x][filters].
    void take(void* data) const { reorder(DNNL_ARG_DST, data, false); }

    /// The implementation that it chose, by its own name for it.
    std::string implementation() const {
        char const* name = nullptr;
        check(dnnl_primitive_desc_query(chosen_, dnnl_query_impl_info_str, 0, &name));
        return name;
    }

    void run() const {
        dnnl_exec_arg_t const arguments[] = {
            {DNNL_ARG_SRC, held_.at(DNNL_ARG_SRC)}, {DNNL_ARG_WEIGHTS, held_.at(DNNL_ARG_WEIGHTS)}, {DNNL_ARG_DST, held_.at(DNNL_ARG_DST)}};
        check(dnnl_primitive_execute(primitive_, stream_, 3, arguments));
    }

  private:
    static void check(dnnl_status_t status) {
        if (status != dnnl_success) throw std::runtime_error("oneDNN refuses with status " + std::to_string(status));
    }
    void reorder(int argument, void* data, bool in) const {
        dnnl_memory_t plain;
        check(dnnl_memory_create(&plain, &plain_.at(argument), engine_, data));
        dnnl_memory_t const from = in ? plain : held_.at(argument), to = in ? held_.at(argument) : plain;
        dnnl_memory_desc_t const *from_layout, *to_layout;
        check(dnnl_memory_get_memory_desc(from, &from_layout));
        check(dnnl_memory_get_memory_desc(to, &to_layout));
        dnnl_primitive_desc_t described;
        check(dnnl_reorder_primitive_desc_create(&described, from_layout, engine_, to_layout, engine_, nullptr));
        dnnl_primitive_t moves;
        check(dnnl_primitive_create(&moves, described));
        dnnl_exec_arg_t const arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
        check(dnnl_primitive_execute(moves, stream_, 2, arguments));
        check(dnnl_stream_wait(stream_));
        dnnl_primitive_destroy(moves);
        dnnl_primitive_desc_destroy(described);
        dnnl_memory_destroy(plain);
    }

    dnnl_engine_t engine_{};
    dnnl_stream_t stream_{};
    dnnl_primitive_desc_t chosen_{};
    dnnl_primitive_t primitive_{};
    std::map<int, dnnl_memory_desc_t> plain_;
    std::map<int, dnnl_memory_t> held_;
};
