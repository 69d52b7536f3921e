#pragma once

/// Prints runs of programs as JSON, as report_traces does.
void print_program_runs();
