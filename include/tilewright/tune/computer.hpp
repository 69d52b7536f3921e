#pragma once
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <string>

// What this process runs on.
namespace tilewright::tune {

/// The model of this computer's processor, as the system calls it.
inline std::string processor_model() {
    std::ifstream about("/proc/cpuinfo");
    for (std::string line; std::getline(about, line);) {
        std::size_t const colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
    }
    struct utsname system {};
    return ::uname(&system) == 0 ? system.machine : "unknown";
}

/// "Linux 6.1.0 x86_64"
inline std::string operating_system() {
    struct utsname system {};
    if (::uname(&system) != 0) return "unknown";
    return std::string(system.sysname) + " " + system.release + " " + system.machine;
}

/// Now, in UTC: "2026-11-24T08:40:00Z".
inline std::string utc_now() {
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace tilewright::tune
