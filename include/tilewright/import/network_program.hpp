#pragma once
#include <deque>
#include <memory>
#include <tilewright/import/layers.hpp>
#include <tilewright/program/program.hpp>

namespace tilewright::imported {

/// A network as a program of plain loops on one processor: tensors between kernels lie in the memory `arena`, constants in `weights`. It
/// holds what the program points at.
class network_program {
  public:
    network_program(layers of, ir::label const& name) : network_(std::move(of)), made_(name) {
        auto const as_tensor = [](stored const& one) { return any_tensor{one.name, one.type}; };
        // What no kernel reads is no argument, and no constant.
        for (stored const& one : network_.inputs) {
            if (network_.is_read(one)) made_.input(as_tensor(one), dram_);
        }
        for (known_tensor const& one : network_.constants) {
            if (network_.is_read(one.what)) add_constant(one);
        }
        for (layer const& one : network_.all) {
            schedules_.push_back(in_loops(one));
            made_.run(one.name, cpu_, schedules_.back());
        }
        for (stored const& one : network_.outputs) made_.output(as_tensor(one), dram_);
    }
    network_program(network_program const&) = delete;

    program const& get() const { return made_; }
    layers const& network() const { return network_; }
    memory const& arena() const { return arena_; }
    memory const& weights() const { return weights_; }

  private:
    /// Plain loops. What stays in the kernel is kept for as long as it is needed.
    schedule in_loops(layer const& one) const {
        schedule made(computation_view{one.nodes.data(), static_cast<int>(one.nodes.size())}, processor_);
        // From the last one on: a stage is computed where those after it are, which read it.
        for (std::size_t at = one.inner.size(); at-- > 0;) {
            inner_stage const& stage = one.inner[at];
            any_tensor const result{stage.result, scalar_type::literal};
            loop_name during;
            during.name = stage.loop;
            if (!during.name.empty()) made.compute_at(result, during);
            made.store_in(result, stage.element ? element_ : arena_);
        }
        return made;
    }
    template <class T>
    void add_as(known_tensor const& one) {
        auto const kept = std::make_shared<std::vector<T>>(network::values_of<T>(one.bytes));
        data_.push_back(kept);
        made_.constant({one.what.name, one.what.type}, weights_, kept->data(), static_cast<std::int64_t>(kept->size()));
    }
    void add_constant(known_tensor const& one) {
        switch (one.what.type) {
            case scalar_type::int8: return add_as<std::int8_t>(one);
            case scalar_type::int16: return add_as<std::int16_t>(one);
            case scalar_type::int32: return add_as<std::int32_t>(one);
            case scalar_type::int64: return add_as<std::int64_t>(one);
            case scalar_type::uint8: return add_as<std::uint8_t>(one);
            case scalar_type::uint16: return add_as<std::uint16_t>(one);
            case scalar_type::uint32: return add_as<std::uint32_t>(one);
            case scalar_type::uint64: return add_as<std::uint64_t>(one);
            case scalar_type::float32: return add_as<float>(one);
            case scalar_type::float64: return add_as<double>(one);
            default: return;
        }
    }

    memory dram_{.name = "dram"}, arena_{.name = "arena", .capacity = 1024_MiB, .alignment = 16},
        weights_{.name = "weights", .capacity = 1024_MiB, .alignment = 16};
    memory element_ = register_file("element", 64, 8);
    machine processor_{"processor", dram_, arena_, weights_, element_};
    agent cpu_{"cpu", processor_};
    layers network_;
    std::deque<schedule> schedules_ = {};
    std::vector<std::shared_ptr<void>> data_ = {};
    program made_;
};

}  // namespace tilewright::imported
