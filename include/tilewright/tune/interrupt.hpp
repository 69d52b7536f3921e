#pragma once
#include <csignal>

namespace tilewright::tune {

namespace detail {
inline volatile std::sig_atomic_t& caught_signal() {
    static volatile std::sig_atomic_t which = 0;
    return which;
}
extern "C" inline void tilewright_tune_catch_signal(int which) { caught_signal() = which; }
}  // namespace detail

/// While it lives, SIGINT and SIGTERM only ask to stop: what is measured already is kept. A second one of the same kind ends the process.
class interruption {
  public:
    interruption() {
        detail::caught_signal() = 0;
        struct sigaction once {};
        once.sa_handler = detail::tilewright_tune_catch_signal;
        once.sa_flags = static_cast<int>(SA_RESETHAND);
        sigemptyset(&once.sa_mask);
        sigaction(SIGINT, &once, &interrupt_);
        sigaction(SIGTERM, &once, &terminate_);
    }
    ~interruption() {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGTERM, &terminate_, nullptr);
    }
    interruption(interruption const&) = delete;

    /// 0, or the signal that asked to stop.
    static int signal() { return detail::caught_signal(); }

  private:
    struct sigaction interrupt_ {
    }, terminate_{};
};

}  // namespace tilewright::tune
