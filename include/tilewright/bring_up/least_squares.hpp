#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace tilewright::bring_up {

/// The numbers x >= 0, at most six of them, for which the sum of (rows * x - wanted)^2 is least.
///
/// Every choice of numbers that are 0 is tried, and the others solved for: of six, 64 small systems. What does not change any row is 0.
inline std::vector<double> least_squares(std::vector<std::vector<double>> const& rows, std::vector<double> const& wanted) {
    constexpr std::size_t most = 6;
    std::size_t const count = rows.empty() ? 0 : rows.front().size();
    std::vector<double> best(count, 0.0);
    auto const residual = [&](std::vector<double> const& x) {
        double sum = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double value = -wanted[r];
            for (std::size_t c = 0; c < count; ++c) value += rows[r][c] * x[c];
            sum += value * value;
        }
        return sum;
    };
    double least = residual(best);
    for (unsigned chosen = 1; count <= most && chosen < 1u << count; ++chosen) {
        std::vector<std::size_t> free;
        for (std::size_t c = 0; c < count; ++c) {
            if ((chosen >> c & 1) != 0) free.push_back(c);
        }
        std::array<std::array<double, most + 1>, most> system{};
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (std::size_t i = 0; i < free.size(); ++i) {
                for (std::size_t j = 0; j < free.size(); ++j) system[i][j] += rows[r][free[i]] * rows[r][free[j]];
                system[i][free.size()] += rows[r][free[i]] * wanted[r];
            }
        }
        bool solved = true;
        for (std::size_t pivot = 0; pivot < free.size() && solved; ++pivot) {
            std::size_t largest = pivot;
            for (std::size_t r = pivot + 1; r < free.size(); ++r) {
                if (std::abs(system[r][pivot]) > std::abs(system[largest][pivot])) largest = r;
            }
            std::swap(system[pivot], system[largest]);
            double const scale = system[pivot][pivot];
            solved = std::abs(scale) > 1e-7;
            for (std::size_t r = 0; r < free.size() && solved; ++r) {
                double const times = r == pivot ? 0 : system[r][pivot] / scale;
                for (std::size_t c = pivot; c <= free.size(); ++c) system[r][c] -= times * system[pivot][c];
            }
        }
        if (!solved) continue;
        std::vector<double> x(count, 0.0);
        bool allowed = true;
        for (std::size_t i = 0; i < free.size(); ++i) {
            x[free[i]] = system[i][free.size()] / system[i][i];
            allowed = allowed && x[free[i]] >= 0;
        }
        if (double const sum = allowed ? residual(x) : least; sum < least - 1e-9) least = sum, best = x;
    }
    return best;
}

}  // namespace tilewright::bring_up
