#pragma once

// Catch2 2 has one header, Catch2 3 has another.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
