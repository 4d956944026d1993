#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

/// How often the calling thread has allocated since it began.
unsigned long allocation_count(void);

#endif
