#include "CVPXMemory.h"

#include <stdlib.h>

// What libvpx asks of `vpx_malloc` and `vpx_calloc`.
_Static_assert(_Alignof(max_align_t) >= 2 * sizeof(void *), "malloc aligns by less than libvpx needs");

void *vpx_malloc(size_t size) { return malloc(size); }

// Large memory comes from the kernel, which zeroes a page when it is first touched.
void *vpx_calloc(size_t count, size_t size) { return calloc(count, size); }

void *vpx_memalign(size_t alignment, size_t size) {
  void *memory = NULL;
  if (alignment < sizeof memory) alignment = sizeof memory;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

void vpx_free(void *memory) { free(memory); }
