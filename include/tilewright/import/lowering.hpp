#pragma once
#include <iterator>
#include <set>
#include <tilewright/import/argument_names.hpp>
#include <tilewright/import/evaluate.hpp>
#include <tilewright/import/fold.hpp>
#include <tilewright/import/kernels.hpp>
#include <tilewright/import/rows.hpp>
#include <tilewright/network/given_extents.hpp>

namespace tilewright::imported {

/// What an operator is given: the node, its operands, and the kernels so far.
class lowering : public kernel_list {
  public:
    using kernel_list::compute;

    explicit lowering(network::graph const& graph) : from(graph), views_(graph.tensors.size()) {
        if (std::string const open = network::way_to_give_extents(from); !open.empty()) throw not_imported(open);
        need_arguments(from.inputs, "input ");
        need_arguments(from.outputs, "output ");
        for (std::size_t at = 0; at < from.inputs.size(); ++at) {
            auto const id = from.inputs[at];
            network::tensor const& one = from.tensors[static_cast<std::size_t>(id)];
            view const all = keep({numbered("in", at), type_of(one.type), {}}, network::usual_extents(one));
            views_[static_cast<std::size_t>(id)] = all;
            result.inputs.push_back(all.of);
        }
    }

    network::graph const& from;
    network::node const* node = nullptr;

    /// An input and an output are one state.
    void keep_state(state_names const& one) {
        names_of_arguments const names = argument_names(from);
        auto const find = [&](std::vector<network::tensor_id> const& all, std::vector<std::string> const& in_c, std::string const& wanted,
                              char const* what) {
            std::string known;
            for (std::size_t at = 0; at < all.size(); ++at) {
                std::string const& name = from.tensors[static_cast<std::size_t>(all[at])].name;
                if (name == wanted || in_c[at] == wanted) return at;
                known += (known.empty() ? "" : ", ") + network::shown(name);
            }
            throw not_imported("no " + std::string(what) + " is called " + network::shown(wanted) + "; there is " + known);
        };
        result.states.push_back(
            {find(from.inputs, names.inputs, one.before, "input"), find(from.outputs, names.outputs, one.after, "output")});
    }

    /// So are those that the graph says are.
    ///
    /// @throws not_imported  where another node reads one, which would have to see it before or after it is written
    void keep_variables() {
        auto const place = [](std::vector<network::tensor_id> const& in, network::tensor_id id) {
            return static_cast<std::size_t>(std::find(in.begin(), in.end(), id) - in.begin());
        };
        for (network::kept_tensor const& one : from.kept) {
            std::ptrdiff_t uses = std::count(from.outputs.begin(), from.outputs.end(), one.before);
            for (network::node const& by : from.nodes) uses += std::count(by.inputs.begin(), by.inputs.end(), one.before);
            if (uses > 1)
                throw not_imported("variable " + network::shown(from.tensors[static_cast<std::size_t>(one.before)].name) +
                                   " is read elsewhere than by the node that writes it");
            state const kept{place(from.inputs, one.before), place(from.outputs, one.after)};
            if (!result.is_kept(&state::input, kept.input)) result.states.push_back(kept);
        }
    }

    /// How many results are wanted: those that are left out at the end are none.
    std::size_t results() const {
        std::size_t count = node->outputs.size();
        while (count > 0 && node->outputs[count - 1] == network::no_tensor) --count;
        return count;
    }
    bool wants(std::size_t output) const { return output < node->outputs.size() && node->outputs[output] != network::no_tensor; }
    bool has(std::size_t operand) const { return operand < node->inputs.size() && node->inputs[operand] != network::no_tensor; }
    /// An operand, as kernels read it.
    view operand(std::size_t at) {
        if (!has(at)) throw not_imported("operand " + std::to_string(at) + " is missing");
        return read(node->inputs[at]);
    }
    /// The same of an input of the network that nothing has read: it is stored with these extents, which have as many elements.
    view operand_stored_as(std::size_t at, std::vector<std::int64_t> const& extents) {
        std::int64_t const count = operand(at).elements();
        auto const id = node->inputs[at];
        auto const found = std::find(from.inputs.begin(), from.inputs.end(), id);
        if (found == from.inputs.end() || count_of(extents) != count)
            throw not_imported("operand " + std::to_string(at) + " has to be an input of " + std::to_string(count_of(extents)) +
                               " elements");
        stored& input = result.inputs[static_cast<std::size_t>(found - from.inputs.begin())];
        input.extents.clear();
        view const all = keep(input, extents);
        input = all.of;
        views_[static_cast<std::size_t>(id)] = imported::reshaped(all, operand(at).shape());
        return all;
    }
    /// The shape of an operand, which may have no elements.
    std::vector<std::int64_t> shape_of_operand(std::size_t at) { return is_constant(at) ? known(at).what.extents : operand(at).shape(); }
    bool is_constant(std::size_t operand) const { return has(operand) && is_known(node->inputs[operand]); }
    /// An operand whose elements must be known, with its shape.
    known_tensor known(std::size_t at) const {
        if (!has(at)) throw not_imported("operand " + std::to_string(at) + " is missing");
        auto const id = node->inputs[at];
        if (auto made = known_of(id)) return std::move(*made);
        throw not_imported("operand " + std::to_string(at) + ", " + network::shown(from.tensors[static_cast<std::size_t>(id)].name) +
                           ", has to be a constant");
    }
    /// The elements of such an operand, as integers or as floats.
    std::vector<std::int64_t> known_integers(std::size_t at) const { return integers_of(known(at)); }
    static std::vector<std::int64_t> integers_of(known_tensor const& of) { return integers_of(of.what.type, of.bytes); }
    static std::vector<std::int64_t> integers_of(scalar_type type, std::vector<std::byte> const& bytes) {
        auto const all = [&](auto one) {
            auto const values = network::values_of<decltype(one)>(bytes);
            return std::vector<std::int64_t>(values.begin(), values.end());
        };
        switch (type) {
            case scalar_type::int64: return all(std::int64_t{});
            case scalar_type::int32: return all(std::int32_t{});
            case scalar_type::uint8: return all(std::uint8_t{});
            case scalar_type::int8: return all(std::int8_t{});
            case scalar_type::int16: return all(std::int16_t{});
            case scalar_type::uint16: return all(std::uint16_t{});
            case scalar_type::uint32: return all(std::uint32_t{});
            default: throw not_imported("a constant that is no list of integers");
        }
    }
    std::vector<double> known_numbers(std::size_t at) const {
        known_tensor const of = known(at);
        std::vector<double> made;
        if (of.what.type == scalar_type::float32) {
            for (float const one : network::values_of<float>(of.bytes)) made.push_back(static_cast<double>(one));
        } else if (of.what.type == scalar_type::float64) {
            made = network::values_of<double>(of.bytes);
        } else {
            for (std::int64_t const one : integers_of(of)) made.push_back(static_cast<double>(one));
        }
        return made;
    }

    /// A result that is another way to read an operand.
    void give(std::size_t output, view what) {
        count_of(what.shape());
        if (wants(output)) views_[static_cast<std::size_t>(node->outputs[output])] = std::move(what);
    }
    /// A result that is known.
    void give_known(std::size_t output, known_tensor what) {
        if (wants(output)) known_.insert_or_assign(node->outputs[output], std::move(what));
    }

    /// A kernel for a result: `what` at each point of the loops.
    view compute(space const& loops, value const& what, std::size_t output) {
        network::tensor_id const id = wants(output) ? node->outputs[output] : network::no_tensor;
        ir::label name = next_name();
        for (std::size_t at = 0; at < from.outputs.size(); ++at) {
            if (id != network::no_tensor && from.outputs[at] == id) name = numbered("out", at);
        }
        view const made = store(name, loops, what);
        give(output, made);
        return made;
    }
    /// Likewise, for a result that is made of a sum or another reduction: of the element of the reduction where the loops are.
    template <class Finish>
    view compute(space const& loops, value const& reduced, std::size_t output, Finish const& finish) {
        layer const before = begun_;
        view const whole = fits_inside(loops, reduced) ? stage(loops, reduced) : kernel_list::compute(loops, reduced);
        value const finished = finish(imported::at(whole, loops));
        bool const is_read = std::any_of(finished.nodes.begin(), finished.nodes.end(),
                                         [&](ir::node const& one) { return one.op == operation::access && one.name == whole.of.name; });
        if (!is_read) begun_ = before;
        return compute(loops, finished, output);
    }
    bool is_available(network::tensor_id id) const {
        return id == network::no_tensor || views_[static_cast<std::size_t>(id)] || is_known(id);
    }

    /// The operands that a node needs: of `If`, whose operands are a condition and what both branches give, those of the branch that is
    /// known to be taken.
    std::vector<network::tensor_id> needed_inputs(network::node const& of) const {
        std::size_t const count = of.outputs.size();
        bool const chooses = of.operation == "If" && of.domain.empty() && of.inputs.size() == 1 + 2 * count && count > 0;
        if (!chooses || of.inputs[0] == network::no_tensor) return of.inputs;
        auto const condition = known_of(of.inputs[0]);
        if (!condition || condition->bytes.size() != 1) return of.inputs;
        auto const first = of.inputs.begin() + 1 + (condition->bytes[0] == std::byte{0} ? static_cast<std::ptrdiff_t>(count) : 0);
        std::vector<network::tensor_id> made{of.inputs[0]};
        made.insert(made.end(), first, first + static_cast<std::ptrdiff_t>(count));
        return made;
    }
    /// An operator has given all results that are wanted.
    void check_results() const {
        for (std::size_t at = 0; at < node->outputs.size(); ++at) {
            if (!is_available(node->outputs[at])) throw not_imported("its result " + std::to_string(at) + " is not computed");
        }
    }

    /// Takes the results of a node back that is refused.
    void take_back() {
        begun_ = {};
        for (network::tensor_id const id : node->outputs) {
            if (id != network::no_tensor) views_[static_cast<std::size_t>(id)].reset(), known_.erase(id);
        }
    }
    /// What a result is so far, if it has been made.
    std::optional<view> const& made(std::size_t output) const { return views_[static_cast<std::size_t>(node->outputs.at(output))]; }
    /// Likewise, where it is known.
    std::optional<known_tensor> known_result(std::size_t output) const { return known_of(node->outputs.at(output)); }

    /// Notes what the kernel that was made last computes of its sums, for instructions that do the same.
    ///
    /// @param channel  there is one scale for all, or one for each iteration of this axis; where it is none, nothing is noted
    void note_rescaling(value const& channel, rescaling numbers) {
        if (channel.nodes.size() != 1 || channel.root().op != operation::axis_value) return;
        numbers.channel = channel.root().name;
        result.all.back().rescaled = std::move(numbers);
    }

    /// Copies results that no kernel wrote where the caller finds them, leaves out kernels that no result needs, computes those that read
    /// constants alone, names arguments, and settles how kernels read what they are given.
    void finish() {
        made_for = "the results";
        copy_results();
        leave_out_unread();
        result.tensors = std::move(views_);
        detail::fold_constants(result);
        name_arguments(result, argument_names(from));
        for (std::size_t at = 0; at < result.inputs.size(); ++at) {
            // What is kept has the rows of what is written.
            if (!result.is_kept(&state::input, at)) detail::keep_rows(result, result.inputs[at]);
        }
        auto const readers = detail::readers_of(result.all);
        for (known_tensor& one : result.constants) {
            std::vector<std::int64_t> reached(one.what.extents.size(), 0);
            auto const found = readers.find(one.what.name.str());
            bool const known = found == readers.end() || std::all_of(found->second.begin(), found->second.end(), [&](layer const* by) {
                                   return detail::reach(reached, by->nodes, one.what.name);
                               });
            if (known) detail::leave_out_unreached(one, reached);
        }
    }

  private:
    /// @throws not_imported  where the program cannot have an argument of the elements
    void need_arguments(std::vector<network::tensor_id> const& all, char const* what) const {
        for (network::tensor_id const id : all) {
            network::tensor const& one = from.at(id);
            if (one.type == network::element_type::other)
                throw not_imported(what + network::shown(one.name) + " has elements of " + one.type_name);
        }
    }
    void copy_results() {
        for (std::size_t at = 0; at < from.outputs.size(); ++at) {
            // A variable that no node sets has no elements.
            if (!is_available(from.outputs[at])) throw not_imported("result " + std::to_string(at) + " is not computed");
            view const of = read(from.outputs[at]);
            ir::label const name = numbered("out", at);
            if (of.of.name == name && is_plain_order(of)) {
                result.outputs.push_back(of.of);
                continue;
            }
            space const loops = loops_over({of}, of.shape());
            view const made = store(name, loops, imported::at(of, loops));
            result.outputs.push_back(made.of);
            // The copy may become a part of the kernel that it copies from.
            views_[static_cast<std::size_t>(from.outputs[at])] = made;
        }
    }

    /// Leaves out kernels whose results nobody reads.
    void leave_out_unread() {
        std::vector<ir::label> needed;
        for (stored const& one : result.outputs) needed.push_back(one.name);
        std::vector<layer> kept;
        for (std::size_t at = result.all.size(); at-- > 0;) {
            layer& one = result.all[at];
            if (std::find(needed.begin(), needed.end(), one.nodes.back().name) == needed.end()) continue;
            for (ir::node const& part : one.nodes) {
                if (part.op == operation::access && std::find(needed.begin(), needed.end(), part.name) == needed.end())
                    needed.push_back(part.name);
            }
            kept.push_back(std::move(one));
        }
        result.all.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    }
    /// Whether a plan can hold the position of an element that a stage of one element reads: a form of its own loops and of those that it
    /// shares with the last stage.
    static bool fits_inside(space const& loops, value const& reduced) {
        std::set<std::string> axes;
        for (ir::node const& one : reduced.nodes) {
            if (one.op == operation::axis_value) axes.insert(one.name.str());
        }
        return axes.size() + axes_of(loops) <= static_cast<std::size_t>(most_terms);
    }
    /// Whether a view reads its tensor row by row from the first element to the last.
    static bool is_plain_order(view const& of) {
        auto const flat = imported::reshaped(whole_of(of.of), of.shape());
        return flat && flat->dimensions == of.dimensions && flat->first == of.first;
    }
    /// What is known of a tensor: it is a constant of the model, an operator gives it, or it follows from such.
    std::optional<known_tensor> known_of(network::tensor_id id) const {
        if (auto const found = known_.find(id); found != known_.end()) return found->second;
        network::tensor const& one = from.tensors[static_cast<std::size_t>(id)];
        if (one.constant == network::no_constant) {
            std::optional<view> const& of = views_[static_cast<std::size_t>(id)];
            return of ? evaluator(result).elements_of(*of) : std::nullopt;
        }
        known_tensor made = known_elements(from, one.type, {}, one.constant);
        for (network::dimension const& extent : *one.shape) made.what.extents.push_back(*extent.extent);
        return made;
    }
    bool is_known(network::tensor_id id) const {
        bool const given = known_.count(id) != 0 || from.tensors[static_cast<std::size_t>(id)].constant != network::no_constant;
        return given || known_of(id).has_value();
    }
    /// A tensor, as kernels read it. What is known becomes a constant of the program where it is first read.
    view read(network::tensor_id id) {
        std::optional<view>& of = views_[static_cast<std::size_t>(id)];
        if (!of) {
            auto known = known_of(id);
            if (!known) throw not_imported("a result that is not computed");
            of = constant(std::move(*known));
        }
        return *of;
    }

    std::vector<std::optional<view>> views_;
    std::map<network::tensor_id, known_tensor> known_ = {};
};

}  // namespace tilewright::imported
