#pragma once
#include <cmath>
#include <sstream>
#include <tilewright/import/planned_network.hpp>
#include <tilewright/import/refusal_line.hpp>
#include <tilewright/import/strips.hpp>
#include <tilewright/report/table.hpp>

// Networks that fit the memories of a chip, if chains of their layers are computed by strips.
namespace tilewright::imported {

namespace detail {

/// A network on a chip, and how far it does not fit.
struct planned_layers : planned_network {
    using planned_network::planned_network;

    bool overflows() const { return plan().refusal.kind == verdict_kind::memory_overflow; }
    double need() const { return static_cast<double>(plan().refusal.facts[0].value); }
    double have() const { return static_cast<double>(plan().refusal.facts[1].value); }
};

/// A chain in strips, and what is expected of it.
struct strip_candidate {
    strip_chain chain;
    double more = 0;  ///< iterations that are computed again
};

/// Chains of a network that would make a memory which is too small large enough, the ones that compute least again first.
class strip_search {
  public:
    explicit strip_search(planned_layers const& refused) : network_(refused.program().network_apart()), shapes_(shapes_of(network_)) {
        ir::label const &memory_name = refused.plan().refusal.names[0], &kernel = refused.plan().refusal.names[2];
        int const memory_at = refused.plan().find_memory(memory_name);
        for (int at = 0; at < refused.plan().tensors.size(); ++at) {
            ir::program_tensor const& t = refused.plan().tensor_at(at);
            if (t.memory == memory_at && !t.passed && t.kind != ir::tensor_kind::constant)
                bytes_[t.name.str()] = static_cast<double>(t.bytes);
        }
        for (std::size_t at = 0; at < network_.all.size(); ++at) {
            for (ir::node const& one : network_.all[at].nodes) {
                if (one.op == operation::access) last_use_[one.name.str()] = at;
            }
        }
        for (stored const& one : network_.outputs) last_use_[one.name.str()] = network_.all.size();
        auto const& all = network_.all;
        auto const named = std::find_if(all.begin(), all.end(), [&](layer const& one) { return one.name == kernel; });
        // The kernel may be a copy between two memories.
        fullest_ = named != all.end() ? static_cast<std::size_t>(named - all.begin()) : layer_with_most();
        // What is there besides tensors: constants, buffers of kernels.
        room_ = refused.have() - std::max(0.0, refused.need() - alive_at(fullest_));
    }
    std::vector<strip_candidate> found() const {
        constexpr std::size_t longest = 12;
        std::vector<strip_candidate> made;
        for (std::size_t first = fullest_ + 1; first-- > 0 && fullest_ - first < longest;) {
            for (std::size_t last = std::max(fullest_, first + 1); last < network_.all.size() && last - first < longest; ++last) {
                auto const result = shapes_.find(network_.all[last].nodes.back().name.str());
                if (result == shapes_.end()) continue;
                for (int dimension = 0; dimension < static_cast<int>(result->second.size()); ++dimension)
                    add(made, {first, last, dimension, 1}, result->second[static_cast<std::size_t>(dimension)]);
            }
        }
        std::stable_sort(made.begin(), made.end(), [](auto const& a, auto const& b) { return a.more < b.more; });
        return made;
    }

  private:
    double bytes_of_tensor(ir::label const& name) const {
        auto const found = bytes_.find(name.str());
        return found == bytes_.end() ? 0 : found->second;
    }
    /// The last layer that has a tensor, or the end of the network.
    std::size_t last_use(ir::label const& tensor) const {
        auto const found = last_use_.find(tensor.str());
        return found == last_use_.end() ? 0 : found->second;
    }
    ir::label const& result_of(std::size_t layer) const { return network_.all[layer].nodes.back().name; }
    /// Bytes of tensors that are there before a layer runs, and that it or one after it reads.
    double alive_before(std::size_t layer) const {
        double all = 0;
        for (stored const& one : network_.inputs) all += last_use(one.name) >= layer ? bytes_of_tensor(one.name) : 0;
        for (std::size_t at = 0; at < layer; ++at) all += last_use(result_of(at)) >= layer ? bytes_of_tensor(result_of(at)) : 0;
        return all;
    }
    /// Bytes of tensors in the memory while a layer runs.
    double alive_at(std::size_t layer) const { return alive_before(layer) + bytes_of_tensor(result_of(layer)); }
    std::size_t layer_with_most() const {
        std::size_t found = 0;
        for (std::size_t at = 1; at < network_.all.size(); ++at) found = alive_at(at) > alive_at(found) ? at : found;
        return found;
    }
    /// Adds the fewest strips of a chain that leave enough room.
    void add(std::vector<strip_candidate>& to, strip_chain chain, std::int64_t extent) const {
        auto const whole = strips_of_chain(network_, shapes_, chain);
        if (!whole) return;
        double const room = room_ - alive_before(chain.first) - bytes_of_tensor(result_of(chain.last));
        for (std::int64_t const count : {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32}) {
            if (count > extent) return;
            chain.count = count;
            auto const strips = strips_of_chain(network_, shapes_, chain);
            if (!strips || most_inside(chain, *strips) > room) continue;
            to.push_back({chain, iterations_of(*strips) - iterations_of(*whole)});
            return;
        }
    }
    /// The most bytes of what stays inside of a chain while a strip is computed.
    double most_inside(strip_chain const& chain, std::vector<strip_of_layers> const& strips) const {
        double most = 0;
        for (strip_of_layers const& strip : strips) {
            for (std::size_t at = chain.first; at <= chain.last; ++at) {
                double here = 0;
                for (std::size_t made = chain.first; made < chain.last && made <= at; ++made) {
                    ir::label const& tensor = result_of(made);
                    if (last_use(tensor) < at) continue;
                    row_range const& needed = strip[made - chain.first].rows().at(tensor.str());
                    double const rows = static_cast<double>(shapes_.at(tensor.str()).at(static_cast<std::size_t>(needed.dimension)));
                    here += bytes_of_tensor(tensor) * static_cast<double>(needed.count()) / rows;
                }
                most = std::max(most, here);
            }
        }
        return most;
    }

    layers network_;
    tensor_shapes shapes_;
    std::map<std::string, double> bytes_ = {};  ///< of the tensors in the memory
    std::map<std::string, std::size_t> last_use_ = {};
    std::size_t fullest_ = 0;
    double room_ = 0;  ///< for tensors
};

}  // namespace detail

/// A network on a chip, planned. Where a memory does not hold what is between layers, chains of layers are computed depth-first by strips.
class fitted_network {
  public:
    /// @param watch  is told before each layer how many were placed or refused; again from the first on, where layers are cut into strips
    /// @throws not_placed  as `network_program`
    fitted_network(layers of, ir::label const& name, chip const& on, placing_watch const& watch = {})
        : given_(std::move(of), name, on, watch) {
        constexpr int most_attempts = 16;
        std::optional<detail::planned_layers> made;
        std::vector<std::string> chains;
        for (int attempts = 0; attempts < most_attempts;) {
            detail::planned_layers const& refused = made ? *made : given_;
            if (!refused.overflows()) break;
            layers const before = refused.program().network_apart();
            tensor_shapes const shapes = detail::shapes_of(before);
            std::optional<detail::planned_layers> best;
            std::string of_best;
            for (detail::strip_candidate const& one : detail::strip_search(refused).found()) {
                if (attempts++ >= most_attempts) break;
                auto cut = with_strips(before, shapes, one.chain);
                auto next = planned(std::move(cut->network), name, on, watch);
                bool const better = next && next->overflows() && next->need() < (best ? best->need() : refused.need());
                bool const fits = next && !next->plan().refusal;
                if (!fits && !better) continue;
                of_best = line(before, one.chain, *cut, refused.plan().refusal);
                best = std::move(next);
                if (fits) break;
            }
            if (!best) break;
            made = std::move(best);
            chains.push_back(of_best);
        }
        if (made && !made->plan().refusal) in_strips_ = std::move(made), strips_ = std::move(chains);
    }
    /// As it was given.
    layers const& network() const { return given_.program().network(); }
    /// With chains in strips, or as it was given where that fits, or where no chain helps: then the plan is refused.
    network_program const& program() const { return chosen().program(); }
    program_plan_value const& plan() const { return chosen().plan(); }
    /// Why the plan is refused, in the words of the model and of the chip; empty where it is not.
    std::string refusal() const { return plan().refusal ? refusal_line(program(), plan()) : std::string(); }
    /// A line for each chain in strips: its layers, the rows of a strip, why, and how much is computed again.
    std::vector<std::string> const& strips() const { return strips_; }

  private:
    detail::planned_layers const& chosen() const { return in_strips_ ? *in_strips_ : given_; }
    /// Nothing where no agent takes a strip of some layer.
    static std::optional<detail::planned_layers> planned(layers of, ir::label const& name, chip const& on, placing_watch const& watch) try {
        return std::optional<detail::planned_layers>(std::in_place, std::move(of), name, on, watch);
    } catch (not_placed const&) {
        return std::nullopt;
    }
    static std::string line(layers const& of, strip_chain const& chain, network_in_strips const& cut, verdict const& why) {
        std::ostringstream text;
        text << of.all[chain.first].name.str() << " to " << of.all[chain.last].name.str() << " by strips of " << cut.rows
             << " along dimension " << chain.dimension << " of " << of.all[chain.last].nodes.back().name.str() << ": otherwise "
             << why.names[0].str() << " needs " << reports::grouped(why.facts[0].value) << " bytes and has "
             << reports::grouped(why.facts[1].value) << "; " << static_cast<int>(100 * (cut.iterations / cut.iterations_before - 1) + 0.5)
             << " % of their iterations are computed again";
        return text.str();
    }

    detail::planned_layers given_;
    std::optional<detail::planned_layers> in_strips_ = {};
    std::vector<std::string> strips_ = {};
};

}  // namespace tilewright::imported
