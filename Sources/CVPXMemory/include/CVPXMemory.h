#ifndef CVPXMEMORY_H
#define CVPXMEMORY_H

#include <stddef.h>

// The functions by which libvpx, linked statically, takes its memory and gives it back, in place of its own ones: those fill
// what is to be zero by hand, and so make 48 MiB of a 1080p encoder resident that it never uses.
// Any thread may call them.

void *vpx_malloc(size_t size);
// Zeroed, aligned to 16 bytes; NULL when there is no room or `count * size` is too large.
void *vpx_calloc(size_t count, size_t size);
// `alignment` is a power of two.
void *vpx_memalign(size_t alignment, size_t size);
void vpx_free(void *memory);

#endif
