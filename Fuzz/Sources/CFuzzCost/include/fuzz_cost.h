#pragma once

/// What the calling thread has cost since it began.
struct fuzz_cost {
  /// Edges of the control flow that instrumented code has taken.
  unsigned long steps;
  /// Calls of malloc, calloc, realloc and their kin.
  unsigned long allocations;
  /// Bytes that those calls asked for.
  unsigned long bytes;
};

struct fuzz_cost fuzz_cost_now(void);
