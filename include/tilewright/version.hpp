#pragma once
/// The version of this library. CMakeLists.txt reads it here, so the macros and the packages agree.

#define TILEWRIGHT_VERSION_MAJOR 0
#define TILEWRIGHT_VERSION_MINOR 1
#define TILEWRIGHT_VERSION_PATCH 0

/// One number that `#if` compares: 1.2.3 is 10203.
#define TILEWRIGHT_VERSION (TILEWRIGHT_VERSION_MAJOR * 10000 + TILEWRIGHT_VERSION_MINOR * 100 + TILEWRIGHT_VERSION_PATCH)
