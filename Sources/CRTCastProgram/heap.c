// The C library raises the limit from which blocks are given back to the kernel, as blocks are freed. Pictures of several sizes then leave
// holes: fifty changes between two sources made 253 MiB of 31, and 77 with a limit that stays.
#include <malloc.h>

__attribute__((constructor)) static void give_large_blocks_back(void) { mallopt(M_MMAP_THRESHOLD, 1 << 20); }
