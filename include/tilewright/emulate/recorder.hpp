#pragma once
#include <tilewright/emulate/recorded_job.hpp>
#include <vector>

namespace tilewright::emulation {

/// Keeps what engines and core do, while it is asked to.
class recorder {
  public:
    void record(bool on) { on_ = on; }
    bool on() const { return on_; }
    void keep(recorded_job const& job) { jobs_.push_back(job); }
    std::vector<recorded_job> const& jobs() const { return jobs_; }
    void clear() { jobs_.clear(); }

  private:
    bool on_ = false;
    std::vector<recorded_job> jobs_;
};

}  // namespace tilewright::emulation
