#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace tilewright::tune {

/// "1:05", "2:03:10"
inline std::string duration_text(double seconds) {
    auto const whole = static_cast<long long>(seconds + 0.5);
    char text[48];
    if (whole >= 3600) std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
    else std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
    return text;
}

/// Says on stderr how far the work is, and how long it may still take: on a terminal in one line, elsewhere in a line every ten seconds.
class progress_line {
  public:
    progress_line(std::string const& title, std::int64_t all) : title_(title), all_(all), terminal_(::isatty(STDERR_FILENO) == 1) {}
    ~progress_line() {
        if (shown_ && terminal_) std::fputc('\n', stderr);
    }
    progress_line(progress_line const&) = delete;

    /// @param best  of what is known
    void show(std::int64_t done, std::string const& best) {
        if (!is_due() && done < all_) return;
        std::string text = title_ + ": " + std::to_string(done) + " of " + std::to_string(all_);
        if (!best.empty()) text += ", best " + best;
        double const passed = std::chrono::duration<double>(clock::now() - begin_).count();
        if (done > 0 && done < all_)
            text += ", " + duration_text(passed / static_cast<double>(done) * static_cast<double>(all_ - done)) + " left";
        say(text);
    }
    /// Whether the last line is old enough for another one.
    bool is_due() const { return !shown_ || std::chrono::duration<double>(clock::now() - last_).count() >= (terminal_ ? 0.2 : 10); }
    /// A line of another text.
    void say(std::string const& text) {
        std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
        std::fflush(stderr);
        last_ = clock::now();
        shown_ = true;
    }
    /// Takes the line from a terminal, where something else is about to be printed.
    void clear() {
        if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
    }

  private:
    using clock = std::chrono::steady_clock;
    std::string title_;
    std::int64_t all_;
    bool terminal_, shown_ = false;
    clock::time_point begin_ = clock::now(), last_ = begin_;
};

}  // namespace tilewright::tune
