#include "reference.hpp"

#include "shape.hpp"

namespace lesson_digits {

void run_in_plain_cpp(std::int8_t const* pixels, std::int8_t const* weights, std::int32_t* scores) {
    for (int row = 0; row < padded_rows; ++row)
        for (int label = 0; label < padded_classes; ++label) {
            std::int32_t score = 0;
            for (int feature = 0; feature < padded_features; ++feature)
                score += pixels[row * padded_features + feature] * weights[feature * padded_classes + label];
            scores[row * padded_classes + label] = score;
        }
}

}  // namespace lesson_digits
