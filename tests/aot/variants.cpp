#include "variants.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tilewright/runtime/call.hpp>
#include <vector>

#include "chosen_product.h"
#include "chosen_sum.h"
#include "product_for_avx2.h"
#include "product_of_bytes.h"

// Run as it is, and by emulators of processors that have less: an instruction that they do not have ends the program.

namespace {

int failures = 0;
void check(bool good, char const* what) {
    if (!good) std::printf("FAILED: %s\n", what), ++failures;
}
std::string text_of(char const* text) { return text == nullptr ? "none" : text; }
bool ends_with(std::string const& text, std::string const& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Sums of few whole numbers, so that all schedules round alike: they are exact.
std::vector<float> numbers(int count, int from) {
    std::vector<float> made;
    for (int at = 0; at < count; ++at) made.push_back(static_cast<float>((at * 7 + from) % 11 - 5));
    return made;
}

alignas(64) char l2[TILEWRIGHT_chosen_product_l2_BYTES];
static_assert(TILEWRIGHT_chosen_product_l2_BYTES >= TILEWRIGHT_product_for_avx2_l2_BYTES);

constexpr int rows = variants::shape.rows, columns = variants::shape.columns, depth = variants::shape.depth;
std::vector<float> const left = numbers(rows * depth, 1), right = numbers(depth * columns, 4);

bool is_product(std::vector<float> const& c) {
    bool same = true;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            float sum = 0;
            for (int k = 0; k < depth; ++k) sum += left[row * depth + k] * right[k * columns + column];
            same = same && c[row * columns + column] == sum;
        }
    }
    return same;
}

void check_bytes(bool runs) {
    std::vector<std::uint8_t> a(rows * depth);
    std::vector<std::int8_t> b(depth * columns);
    for (int at = 0; at < rows * depth; ++at) a[at] = static_cast<std::uint8_t>(at * 37 + 11);
    for (int at = 0; at < depth * columns; ++at) b[at] = static_cast<std::int8_t>(at * 29 + 200);
    std::vector<std::int32_t> c(rows * columns, -1);
    alignas(64) static char room[TILEWRIGHT_product_of_bytes_l2_BYTES];
    int const code = tilewright::call<variants::bytes_on_avx512, variants::bytes_on_avx>(product_of_bytes, b, a, room, c);
    check(code == (runs ? 0 : -3100), "the product of bytes runs where it can");
    for (int at = 0; at < rows * columns; ++at) {
        std::int32_t sum = 0;
        for (int k = 0; k < depth; ++k) sum += a[at / columns * depth + k] * b[k * columns + at % columns];
        check(c[at] == (runs ? sum : -1), "the product of bytes is right, or untouched");
    }
}

}  // namespace

/// @param arguments  what this processor has: avx512, avx2, any; without, the compiler's own functions are asked
int main(int count, char** arguments) {
    using namespace variants;
    __builtin_cpu_init();
    bool const has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool const has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    std::string const has = count > 1 ? arguments[1] : has_avx512 ? "avx512" : has_avx2 ? "avx2" : "any";

    std::string const product = text_of(chosen_product_variant()), sum_text = text_of(chosen_sum_variant()),
                      alone = text_of(product_for_avx2_variant());
    std::printf("%s: %s; %s; %s\n", has.c_str(), product.c_str(), sum_text.c_str(), alone.c_str());
    check(product.find("variants::on_" + has + ", x86-64-linux") == 0, "the schedule for this processor");
    check(ends_with(sum_text, has == "avx512" ? "avx512_skylake"
                              : has == "avx2" ? "fma"
                                              : "x86-64-linux"),
          "the target for this processor");
    check((alone == "none") == (has == "any"), "a kernel for AVX2 alone");

    std::vector<float> c(rows * columns, -1.0f);
    check((call<on_avx512, on_avx2, on_any>(chosen_product, left, right, l2, c)) == 0, "the chosen product runs");
    check(is_product(c), "the chosen product is right");

    std::vector<float> first = numbers(1000, 2), second = numbers(1000, 5), sums(1000);
    check(call<added>(chosen_sum, first, second, sums) == 0, "the chosen sum runs");
    for (int at = 0; at < 1000; ++at) check(sums[at] == first[at] + second[at], "the chosen sum is right");

    std::vector<float> untouched(rows * columns, -1.0f);
    for (int time = 0; time < 2; ++time) {  // asked, and as it was answered before
        int const code = call<on_avx2>(product_for_avx2, left, right, l2, untouched);
        if (has == "any") {
            check(code == TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_WRONG_PROCESSOR, 0) && code == -3100, "the code of another processor");
            check(product_for_avx2(nullptr, nullptr, nullptr, nullptr) == -3100, "before arguments are looked at");
            check(untouched == std::vector<float>(rows * columns, -1.0f), "nothing was written");
        } else {
            check(code == 0 && is_product(untouched), "the product for AVX2 is right");
        }
    }

    // The target is the same, but C functions of the machines need more.
    std::string const bytes = text_of(product_of_bytes_variant());
    std::printf("%s\n", bytes.c_str());
    bool const has_vnni = has == "avx512" && __builtin_cpu_supports("avx512vnni");
    if (has_vnni) check(bytes.find("variants::bytes_on_avx512, x86-64-linux") == 0, "VNNI of AVX-512");
    else if (count > 1) check(bytes == "none", "no VNNI where QEMU has none");
    else check(bytes == "none" || bytes.find("variants::bytes_on_avx, x86-64-linux") == 0, "VNNI of AVX, or none");
    check_bytes(bytes != "none");
    return failures == 0 ? 0 : 1;
}
