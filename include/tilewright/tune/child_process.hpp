#pragma once
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::tune {

/// What became of a command.
struct command_result {
    enum class ending { exited, killed, timed_out, stopped } how = ending::exited;
    int code = 0;        ///< that it exited with, or the signal that killed it
    std::string output;  ///< what it printed, the first 64 KiB
    double milliseconds = 0;
};

/// Runs `command ARGUMENT…` in a shell, as a group of processes of its own. It reads nothing. What it prints for people, on stderr, goes
/// where that of this process goes.
///
/// @param variables  of its environment, beside those of this process
/// @param timeout    seconds: a command that takes longer is killed with all that it has started
/// @param stop       asked often; when it says yes, likewise
/// @throws std::runtime_error when no process can be made
inline command_result run_command(std::string const& command, std::vector<std::string> const& arguments,
                                  std::vector<std::pair<std::string, std::string>> const& variables, double timeout,
                                  std::function<bool()> const& stop) {
    using clock = std::chrono::steady_clock;
    // Made before the fork: afterwards, a child of a process with threads may not allocate.
    std::string const script = command + " \"$@\"";
    std::vector<std::string> words{"/bin/sh", "-c", script, "tilewright"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> all;
    for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
    for (auto const& [name, value] : variables) all.push_back(name + "=" + value);
    auto const pointers = [](std::vector<std::string>& of) {
        std::vector<char*> made;
        for (std::string& one : of) made.push_back(one.data());
        made.push_back(nullptr);
        return made;
    };
    std::vector<char*> const argv = pointers(words), envp = pointers(all);

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe for a command: ") + std::strerror(errno));
    int const nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    auto const begin = clock::now();
    pid_t const child = ::fork();
    if (child < 0) {
        ::close(ends[0]), ::close(ends[1]);
        throw std::runtime_error(std::string("no process for a command: ") + std::strerror(errno));
    }
    if (child == 0) {
        ::setpgid(0, 0);
        ::signal(SIGINT, SIG_DFL);
        ::signal(SIGTERM, SIG_DFL);
        ::dup2(ends[1], STDOUT_FILENO);
        if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(127);
    }
    ::setpgid(child, child);
    ::close(ends[1]);
    if (nothing >= 0) ::close(nothing);

    command_result made;
    int status = 0;
    bool open = true, running = true;
    auto const seconds = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
    while (running) {
        pollfd on{ends[0], POLLIN, 0};
        ::poll(&on, open ? 1 : 0, 20);
        if (open && on.revents != 0) {
            char piece[4096];
            ssize_t const count = ::read(ends[0], piece, sizeof piece);
            if (count > 0 && made.output.size() < 65536) made.output.append(piece, static_cast<std::size_t>(count));
            open = count > 0 || (count < 0 && errno == EINTR);
        }
        if (::waitpid(child, &status, WNOHANG) == child) running = false;
        bool const late = seconds() > timeout, stopped = stop && stop();
        if (running && (late || stopped)) {
            made.how = stopped ? command_result::ending::stopped : command_result::ending::timed_out;
            ::kill(-child, SIGKILL);
            ::waitpid(child, &status, 0);
            running = false;
        }
    }
    made.milliseconds = seconds() * 1e3;
    // What is left in the pipe; a grandchild may still hold it open.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (char piece[4096]; open && made.output.size() < 65536;) {
        ssize_t const count = ::read(ends[0], piece, sizeof piece);
        if (count <= 0) break;
        made.output.append(piece, static_cast<std::size_t>(count));
    }
    ::close(ends[0]);
    if (made.how != command_result::ending::exited) return made;
    made.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (!WIFEXITED(status)) made.how = command_result::ending::killed;
    return made;
}

}  // namespace tilewright::tune
