#include <sys/wait.h>

#include <csignal>
#include <tilewright/emulate/region.hpp>

#include "catch.hpp"

namespace {

/// The signal that ends a child process which writes at `offset` from a region's first byte; 0: none.
int signal_of_write(tilewright::guarded_region const& region, std::ptrdiff_t offset) {
    pid_t const child = fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        *const_cast<std::byte volatile*>(region.begin() + offset) = std::byte{1};
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("a region is usable to its last byte and guarded on both sides") {
    tilewright::guarded_region const region(8192, 64);
    CHECK(signal_of_write(region, 0) == 0);
    CHECK(signal_of_write(region, 8191) == 0);
    CHECK(signal_of_write(region, 8192) == SIGSEGV);
    CHECK(signal_of_write(region, -1) == SIGSEGV);
}
TEST_CASE("a region of any size ends at a guard page when it is asked to") {
    tilewright::guarded_region const region(100, 4, tilewright::region_side::end);
    CHECK(signal_of_write(region, 0) == 0);
    CHECK(signal_of_write(region, 99) == 0);
    CHECK(signal_of_write(region, 100) == SIGSEGV);
    CHECK(signal_of_write(region, -4096) == SIGSEGV);
}
TEST_CASE("a region is aligned beyond the page size when it must be") {
    tilewright::guarded_region const region(100, 1 << 16);
    CHECK(reinterpret_cast<std::uintptr_t>(region.begin()) % (1 << 16) == 0);
    CHECK(region.holds(region.begin() + 99, 1));
    CHECK_FALSE(region.holds(region.begin() + 99, 2));
    CHECK_FALSE(region.holds(region.begin() - 1, 1));
}
