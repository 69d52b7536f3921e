#pragma once
#include <map>
#include <tilewright/reference/onnx_places.hpp>

// Einsum: sums of products over letters.
namespace tilewright::reference::of_onnx {

/// An equation, with a letter for each axis: those of an ellipsis are digits, the last one is 0.
struct einsum_equation {
    std::vector<std::string> terms = {};
    std::string result = {};

    einsum_equation(std::string text, operands const& given) {
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        std::size_t const arrow = text.find("->");
        std::string left = text.substr(0, arrow) + ",";
        for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
            require(terms.size() < given.size() && given[terms.size()] != nullptr, "more terms than operands");
            terms.push_back(spelled(left.substr(0, comma), given[terms.size()]->extents.size()));
            left.erase(0, comma + 1);
        }
        require(terms.size() == given.size(), "more operands than terms");
        if (arrow == std::string::npos) result = letters_that_stand_once();
        else result = with_digits(text.substr(arrow + 2), broadcast_axes_);
    }

  private:
    static std::string with_digits(std::string term, std::size_t count) {
        std::size_t const dots = term.find("...");
        if (dots == std::string::npos) return term;
        require(count <= 10, "an ellipsis of more than ten axes");
        std::string digits;
        for (std::size_t at = count; at-- > 0;) digits += static_cast<char>('0' + static_cast<int>(at));
        return term.replace(dots, 3, digits);
    }
    std::string spelled(std::string const& term, std::size_t rank) {
        if (term.find("...") != std::string::npos) {
            require(rank + 3 >= term.size(), "an operand of a lower rank than its term");
            broadcast_axes_ = std::max(broadcast_axes_, rank + 3 - term.size());
            return with_digits(term, rank + 3 - term.size());
        }
        require(term.size() == rank, "an operand of another rank than its term");
        return term;
    }
    /// The ellipsis, then letters in their order.
    std::string letters_that_stand_once() const {
        std::map<char, int> counts;
        for (std::string const& term : terms) {
            for (char const letter : term) ++counts[letter];
        }
        std::string made = with_digits("...", broadcast_axes_);
        for (auto const& [letter, count] : counts) {
            if (count == 1 && (letter < '0' || letter > '9')) made += letter;
        }
        return made;
    }

    std::size_t broadcast_axes_ = 0;
};

inline elements einsum(call const& of) {
    require(!of.given.empty(), "no operands");
    einsum_equation const equation(of.word("equation", ""), of.given);
    std::string letters = equation.result;
    std::map<char, std::int64_t> extent_of;
    for (std::size_t term = 0; term < equation.terms.size(); ++term) {
        require(of.operand(term).type == of.operand(0).type, "operands of two types");
        for (std::size_t at = 0; at < equation.terms[term].size(); ++at) {
            char const letter = equation.terms[term][at];
            std::int64_t const extent = of.operand(term).extents[at];
            auto const [known, added] = extent_of.emplace(letter, extent);
            if (!added) known->second = broadcast({known->second}, {extent})[0];
            if (letters.find(letter) == std::string::npos) letters += letter;
        }
    }
    shape extents;
    for (char const letter : letters) {
        require(extent_of.count(letter) == 1, "a letter that no operand has");
        extents.push_back(extent_of[letter]);
    }
    std::vector<shape> steps(equation.terms.size(), shape(letters.size(), 0));
    for (std::size_t term = 0; term < steps.size(); ++term) {
        shape const &own = of.operand(term).extents, apart = strides_of(own);
        for (std::size_t at = 0; at < own.size(); ++at) steps[term][letters.find(equation.terms[term][at])] += own[at] == 1 ? 0 : apart[at];
    }
    shape const result(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(equation.result.size()));
    return with_ring(of.operand(0).type, [&](auto wide) {
        using number = decltype(wide);
        std::vector<std::vector<number>> values;
        for (elements const* one : of.given) values.push_back(detail::numbers_of<number>(*one));
        std::vector<number> made(static_cast<std::size_t>(count_of(result)));
        std::int64_t const sums = count_between(extents, result.size(), extents.size());
        std::int64_t to = 0;
        each_index(extents, [&](shape const& index) {
            number product = 1;
            for (std::size_t term = 0; term < steps.size(); ++term) {
                std::int64_t place = 0;
                for (std::size_t at = 0; at < index.size(); ++at) place += index[at] * steps[term][at];
                product *= values[term][static_cast<std::size_t>(place)];
            }
            made[static_cast<std::size_t>(to++ / sums)] += product;
        });
        return detail::of_numbers(of.operand(0).type, result, made);
    });
}

}  // namespace tilewright::reference::of_onnx
