#pragma once
#include <filesystem>
#include <fstream>
#include <limits>
#include <tilewright/import/chip.hpp>
#include <vector>

// What a program that eject() has written is made of.
namespace tilewright::imported {

/// A constant of a type, by its bits as a number: of a float, those of a double.
template <class T>
constexpr expression<1> typed_constant(std::int64_t bits) {
    return {{{{.op = operation::constant, .type = scalar_type_of<T>(), .value = bits}}}};
}
/// `body(value)`, where the value is computed once however often the body uses it.
/// @param place  tells this call from those around it
template <int Count, class Body>
constexpr auto once(expression<Count> const& value, Body const& body, int place) {
    return tilewright::detail::compute_once(value, body, place);
}
/// Likewise, of an element of a tensor.
template <int Count, class Body>
constexpr auto once(tensor_element<Count> const& value, Body const& body, int place) {
    return once(value.whole, body, place);
}

/// An agent of a chip by its name. @throws std::invalid_argument  where there is none
inline agent const& agent_named(chip const& on, std::string const& name) {
    for (chip::placed_agent const& one : on.agents()) {
        if (one.on.name.str() == name) return one.on;
    }
    throw std::invalid_argument("chip `" + on.name() + "` has no agent `" + name + "`");
}
/// A memory of the machines of a chip by its name. @throws std::invalid_argument  where there is none
inline memory const& memory_named(chip const& on, std::string const& name) {
    for (chip::placed_agent const& one : on.agents()) {
        auto const& all = one.on.where->memories;
        if (int const at = all.find(ir::label(name.c_str())); at >= 0) return all[at];
    }
    throw std::invalid_argument("chip `" + on.name() + "` has no memory `" + name + "`");
}

/// A kernel: what it computes, and how it runs on an agent. It stays where it is, since its schedule points at it.
struct written_kernel {
    placed_layer layer;
    schedule how;

    /// @param what  as `stages(…)` returns it
    /// @param made  the directives: a schedule of the layer
    template <int Count>
    written_kernel(computation<Count> const& what, agent const& on, schedule (*made)(placed_layer const&))
        : layer{layer_shape(layer_of(what.view()), no_constants(), {}), on.where}, how(made(layer)) {}
    written_kernel(written_kernel const&) = delete;

  private:
    static imported::layer layer_of(computation_view what) {
        imported::layer made;
        made.nodes.assign(what.nodes, what.nodes + what.count);
        return made;
    }
    static std::vector<stored> const& no_constants() {
        static std::vector<stored> const none;
        return none;
    }
};

/// The elements of constants, from a file.
class weights_file {
  public:
    /// @throws std::runtime_error  where there is no such file, or it has another size
    weights_file(std::filesystem::path const& file, std::size_t bytes) : elements_(bytes) {
        std::ifstream from(file, std::ios::binary);
        if (!from) throw std::runtime_error(file.string() + ": this file of constants cannot be read");
        if (std::uintmax_t const there = std::filesystem::file_size(file); there != bytes)
            throw std::runtime_error(file.string() + ": it has " + std::to_string(there) + " bytes of constants; the program wants " +
                                     std::to_string(bytes));
        from.read(reinterpret_cast<char*>(elements_.data()), static_cast<std::streamsize>(bytes));
        if (!from) throw std::runtime_error(file.string() + ": this file of constants cannot be read");
    }
    /// The elements that begin so many bytes from the beginning of the file.
    template <class T>
    T const* at(std::size_t offset) const {
        return reinterpret_cast<T const*>(elements_.data() + offset);
    }

  private:
    std::vector<std::byte> elements_;
};

}  // namespace tilewright::imported
