#pragma once
#include <cstdint>
#include <span>
namespace tilewright {
struct placed_buffer { std::int64_t bytes = 0, alignment = 1; int born = 0, dead = 0; std::int64_t offset = -1; bool fixed = false; int bank = -1; };
struct address_space { std::int64_t capacity = 0; int banks = 1; };
struct offset_result { std::int64_t peak = 0, lower_bound = 0; bool proven = false; std::int64_t steps = 0; bool fits = false; };
constexpr offset_result assign_offsets(std::span<placed_buffer> b, address_space of, std::int64_t) {
    offset_result r;
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i].offset = 0; b[i].bank = 0;
        for (std::size_t j = 0; j < i; ++j) {
            if (b[j].born >= b[i].dead || b[i].born >= b[j].dead) continue;
            if (b[i].offset < b[j].offset + b[j].bytes && b[j].offset < b[i].offset + b[i].bytes) { b[i].offset = (b[j].offset + b[j].bytes + b[i].alignment - 1) / b[i].alignment * b[i].alignment; j = static_cast<std::size_t>(-1); }
        }
        if (r.peak < b[i].offset + b[i].bytes) r.peak = b[i].offset + b[i].bytes;
    }
    for (std::size_t i = 0; i < b.size(); ++i) { std::int64_t s = 0; for (std::size_t j = 0; j < b.size(); ++j) if (b[j].born <= b[i].born && b[j].dead > b[i].born) s += b[j].bytes; if (s > r.lower_bound) r.lower_bound = s; }
    r.proven = r.peak == r.lower_bound; r.fits = r.peak <= of.capacity; return r;
}
}
