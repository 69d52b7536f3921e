#pragma once
#include <tilewright/import/movement.hpp>

// Sums of products, as an equation names their indices.
namespace tilewright::imported::detail {

/// The letters of an operand. An ellipsis stands for numbers: the dimensions before the others, of which the last is 0.
inline std::vector<int> letters_of(std::string const& term, int rank) {
    std::vector<int> made;
    std::size_t const dots = term.find("...");
    std::size_t const named = term.size() - (dots == std::string::npos ? 0 : 3);
    for (std::size_t at = 0; at < term.size(); ++at) {
        if (at == dots) {
            if (static_cast<std::size_t>(rank) < named) throw not_imported("an equation with more letters than dimensions");
            for (int left = rank - static_cast<int>(named); left-- > 0;) made.push_back(left);
            at += 2;
            continue;
        }
        if (std::isalpha(static_cast<unsigned char>(term[at])) == 0)
            throw not_imported("the equation has " + network::shown(term.substr(at, 1)));
        made.push_back(static_cast<unsigned char>(term[at]) + 1000);
    }
    return made;
}
inline void einsum(lowering& of) {
    std::string equation;
    for (char const letter : word(of, "equation", "")) equation += letter == ' ' ? "" : std::string(1, letter);
    std::size_t const arrow = equation.find("->");
    std::string const left = equation.substr(0, arrow);
    std::vector<view> operands;
    std::vector<std::vector<int>> letters;
    std::map<int, std::int64_t> extents;
    std::map<int, int> times;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < of.node->inputs.size(); ++at) {
        if (begin > left.size()) throw not_imported("an equation of fewer operands");
        std::size_t const end = std::min(left.find(',', begin), left.size());
        operands.push_back(of.indexable(of.operand(at)));
        letters.push_back(letters_of(left.substr(begin, end - begin), operands.back().rank()));
        if (letters.back().size() != operands.back().dimensions.size()) throw not_imported("an equation of other dimensions");
        for (std::size_t one = 0; one < letters.back().size(); ++one) {
            std::int64_t const extent = operands.back().extent(static_cast<int>(one));
            std::int64_t& known = extents.try_emplace(letters.back()[one], extent).first->second;
            if (known != extent && known != 1 && extent != 1)
                throw not_imported("extents of " + std::to_string(known) + " and " + std::to_string(extent));
            known = std::max(known, extent);
            ++times[letters.back()[one]];
        }
        begin = end + 1;
    }
    if (operands.empty() || begin <= left.size()) throw not_imported("an equation of more operands");
    std::vector<int> result;
    int shared = 0;
    for (auto const& one : extents) shared += one.first < 1000 ? 1 : 0;
    if (arrow == std::string::npos) {
        for (int one = shared; one-- > 0;) result.push_back(one);
        for (auto const& one : times) {
            if (one.first >= 1000 && one.second == 1) result.push_back(one.first);
        }
    } else {
        std::string const right = equation.substr(arrow + 2);
        result =
            letters_of(right, shared + static_cast<int>(std::count_if(right.begin(), right.end(), [](char one) { return one != '.'; })));
    }
    shape whole;
    for (int const one : result) {
        if (extents.count(one) == 0) throw not_imported("a letter of the result that no operand has");
        whole.push_back(extents[one]);
    }
    space const loops = loops_over(whole);
    std::map<int, value> index;
    for (std::size_t at = 0; at < result.size(); ++at) {
        if (!index.emplace(result[at], loops.index(static_cast<int>(at))).second) throw not_imported("a letter twice in the result");
    }
    std::vector<value> axes;
    for (auto const& [letter, extent] : extents) {
        if (index.count(letter) != 0) continue;
        index.emplace(letter, extent > 1 ? along(ir::label(("pick" + std::to_string(letter)).c_str()), extent)
                                         : number(std::int64_t{0}, scalar_type::int32));
        if (extent > 1) axes.push_back(index.at(letter));
    }
    std::optional<value> product;
    for (std::size_t at = 0; at < operands.size(); ++at) {
        std::vector<value> indices;
        for (int const letter : letters[at]) indices.push_back(index.at(letter));
        value const one = imported::at(operands[at], indices);
        product = product ? *product * one : one;
    }
    of.compute(loops, over(operation::reduce_sum, axes, *product), 0);
}

}  // namespace tilewright::imported::detail
