// What tune/tune.hpp declares: compiled once for all tuners of a project.
#include <tilewright/tune/tuner.hpp>

namespace tilewright::tune {

findings run(problem const& of, options const& how) { return detail::tuner(of, how).run(); }
void print(findings const& found, problem const& of, std::ostream& out) { detail::print_findings(found, of, out); }
int main(problem const& of, int count, char const* const* arguments) { return detail::run_program(of, count, arguments); }

}  // namespace tilewright::tune
