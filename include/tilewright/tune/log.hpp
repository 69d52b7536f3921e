#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <tilewright/tune/result_line.hpp>

// Logs: a file of lines, each of which is the result of one configuration.
namespace tilewright::tune {

/// A line that says no result.
struct broken_line {
    std::string file;
    std::int64_t number = 0;  ///< from 1
    std::string why;
};

struct log_contents {
    std::vector<record> results;
    std::vector<broken_line> broken;
};

/// Adds the results of a file. A line that was cut or changed is passed over and kept as broken.
/// @param must_exist  otherwise a file that is not there has no results
/// @throws std::runtime_error when it cannot be read
inline void read_log(std::string const& file, log_contents& into, bool must_exist = false) {
    if (!std::filesystem::exists(file) && !must_exist) return;
    std::ifstream in(file, std::ios::binary);
    std::string line;
    if (!in || !std::filesystem::is_regular_file(file)) throw std::runtime_error("cannot read the log " + file);
    for (std::int64_t number = 1; std::getline(in, line); ++number) {
        if (line.empty()) continue;
        try {
            into.results.push_back(from_line(line));
        } catch (std::invalid_argument const& wrong) {
            into.broken.push_back({file, number, wrong.what()});
        }
    }
}

/// Writes results at the end of a log, each line at once: what ends the process can cut the line that is being written, and no other.
/// Processes of one computer can write to the same file.
class log_writer {
  public:
    /// Without a name, nothing is written. @throws std::runtime_error when the file cannot be opened
    explicit log_writer(std::string const& file) : file_(file) {
        if (file.empty()) return;
        descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail("open");
    }
    ~log_writer() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    log_writer(log_writer const&) = delete;

    void add(record const& result) {
        if (descriptor_ < 0) return;
        ::flock(descriptor_, LOCK_EX);
        std::string const text = (ends_inside_a_line() ? "\n" : "") + to_line(result) + "\n";
        std::size_t written = 0;
        while (written < text.size()) {
            ssize_t const more = ::write(descriptor_, text.data() + written, text.size() - written);
            if (more < 0 && errno == EINTR) continue;
            if (more < 0) fail("write");
            written += static_cast<std::size_t>(more);
        }
        ::flock(descriptor_, LOCK_UN);
    }

  private:
    /// Whether the last line was cut: what follows it begins a line of its own.
    bool ends_inside_a_line() const {
        struct stat about {};
        char last = '\n';
        return ::fstat(descriptor_, &about) == 0 && about.st_size > 0 && ::pread(descriptor_, &last, 1, about.st_size - 1) == 1 &&
               last != '\n';
    }
    [[noreturn]] void fail(char const* what) const {
        throw std::runtime_error(std::string("cannot ") + what + " the log " + file_ + ": " + std::strerror(errno));
    }

    std::string file_;
    int descriptor_ = -1;
};

/// Replaces a file by a text, or leaves it as it is where it says that already. Who reads it meanwhile finds the old text or the new one.
/// @throws std::runtime_error when it cannot be written
inline void replace_file(std::string const& file, std::string const& text) {
    {
        std::ifstream in(file, std::ios::binary);
        std::string const old((std::istreambuf_iterator<char>(in)), {});
        if (in && old == text) return;
    }
    std::string const beside = file + "." + std::to_string(::getpid()) + ".new";
    std::ofstream out(beside, std::ios::binary);
    out << text;
    out.close();
    if (!out || std::rename(beside.c_str(), file.c_str()) != 0) {
        std::remove(beside.c_str());
        throw std::runtime_error("cannot write " + file);
    }
}

}  // namespace tilewright::tune
