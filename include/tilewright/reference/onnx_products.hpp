#pragma once
#include <tilewright/reference/onnx_places.hpp>

// Products of matrices.
namespace tilewright::reference::of_onnx {

/// Adds a[rows][inner] * b[inner][columns] to c[rows][columns].
template <class Number>
void add_product(Number const* a, Number const* b, Number* c, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t at = 0; at < inner; ++at) {
            Number const factor = a[row * inner + at];
            Number const* from = b + at * columns;
            Number* to = c + row * columns;
            for (std::int64_t column = 0; column < columns; ++column) to[column] += factor * from[column];
        }
    }
}

/// A stack of matrices as MatMul takes its operands: a vector is one row, or one column where it is the second operand.
struct stack {
    shape before = {};  ///< the extents in front of the matrices
    std::int64_t rows = 1, columns = 1;
    bool is_vector = false;

    stack(shape const& extents, bool is_second) : is_vector(extents.size() == 1) {
        require(!extents.empty(), "a product of a scalar");
        if (is_vector) {
            (is_second ? rows : columns) = extents[0];
            return;
        }
        before.assign(extents.begin(), extents.end() - 2);
        rows = extents[extents.size() - 2];
        columns = extents.back();
    }
};

/// What a product of two stacks looks like.
struct product_shape {
    stack a, b;
    shape before, result;  ///< the extents in front of the matrices, and all extents

    product_shape(shape const& of_a, shape const& of_b) : a(of_a, false), b(of_b, true), before(broadcast(a.before, b.before)) {
        require(a.columns == b.rows, "a product of matrices that do not fit");
        result = before;
        if (!a.is_vector) result.push_back(a.rows);
        if (!b.is_vector) result.push_back(b.columns);
    }
};

/// The numbers of the product, row by row.
template <class Number>
std::vector<Number> product_of(product_shape const& of, std::vector<Number> const& a, std::vector<Number> const& b) {
    places const at_a = broadcast_places(of.a.before, of.before), at_b = broadcast_places(of.b.before, of.before);
    std::vector<Number> made(static_cast<std::size_t>(count_of(of.result)));
    for (std::size_t at = 0; at < at_a.size(); ++at) {
        add_product(a.data() + static_cast<std::int64_t>(at_a[at]) * of.a.rows * of.a.columns,
                    b.data() + static_cast<std::int64_t>(at_b[at]) * of.b.rows * of.b.columns,
                    made.data() + static_cast<std::int64_t>(at) * of.a.rows * of.b.columns, of.a.rows, of.a.columns, of.b.columns);
    }
    return made;
}

/// By the rules of numpy.matmul.
inline elements matmul(call const& of) {
    auto const &a = of.operand(0), &b = of.operand(1);
    require(a.type == b.type, "operands of two types");
    product_shape const extents(a.extents, b.extents);
    return with_ring(a.type, [&](auto wide) {
        using number = decltype(wide);
        auto const made = product_of(extents, detail::numbers_of<number>(a), detail::numbers_of<number>(b));
        return detail::of_numbers(a.type, extents.result, made);
    });
}

/// A matrix, with rows and columns exchanged where `transposed`.
inline elements matrix_of(elements const& from, bool transposed) {
    require(from.extents.size() == 2, "a matrix of another rank");
    if (!transposed) return from;
    shape const extents = {from.extents[1], from.extents[0]};
    return pick(from, extents, walk<std::size_t>(extents, 0, {1, from.extents[1]}));
}

/// alpha * A * B + beta * C; C broadcasts.
///
/// @throws not_covered  where integers are multiplied by a factor that is none, and for broadcasting as before version 7
inline elements gemm(call const& of) {
    elements const a = matrix_of(of.operand(0), of.integer("transA", 0) != 0), b = matrix_of(of.operand(1), of.integer("transB", 0) != 0);
    require(a.type == b.type, "operands of two types");
    product_shape const extents(a.extents, b.extents);
    double const alpha = of.real("alpha", 1), beta = of.real("beta", 1);
    require(is_float(a.type) || (alpha == std::floor(alpha) && beta == std::floor(beta)), "integers and a factor that is none");
    return with_ring(a.type, [&](auto wide) {
        using number = decltype(wide);
        auto const factor_of = [](double real) {
            if constexpr (std::is_floating_point_v<number>) return real;
            else return static_cast<number>(static_cast<std::int64_t>(real));
        };
        auto made = product_of(extents, detail::numbers_of<number>(a), detail::numbers_of<number>(b));
        for (number& one : made) one *= factor_of(alpha);
        if (auto const* c = of.find(2)) {
            require(c->type == a.type, "operands of two types");
            places const at = broadcast_places(c->extents, extents.result);
            auto const added = detail::numbers_of<number>(*c);
            for (std::size_t to = 0; to < made.size(); ++to) made[to] += factor_of(beta) * added[at[to]];
        }
        return detail::of_numbers(a.type, extents.result, made);
    });
}

}  // namespace tilewright::reference::of_onnx
