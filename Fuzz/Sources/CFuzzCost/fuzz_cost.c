#include "fuzz_cost.h"
#include <errno.h>
#include <stddef.h>

// The malloc of an executable precedes the one of glibc in symbol resolution. glibc's is still there under these names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread struct fuzz_cost cost;

struct fuzz_cost fuzz_cost_now(void) { return cost; }

// Called at every edge of code that is compiled with -sanitizer-coverage-trace-pc. The linker's option --wrap puts it in
// the place of libFuzzer's function, which has no use here: coverage comes from the inline counters.
void __wrap___sanitizer_cov_trace_pc(void) { cost.steps++; }

static void count(size_t size) {
  cost.allocations++;
  cost.bytes += size;
}

void *malloc(size_t size) {
  count(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(size);
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count(size);
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
