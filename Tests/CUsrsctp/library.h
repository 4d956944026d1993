#ifndef CUSRSCTP_LIBRARY_H
#define CUSRSCTP_LIBRARY_H

#include "include/cusrsctp.h"

// Opaque outside library.c: one private state of usrsctp.
struct library;

// NULL with errno set when there is none to be had.
struct library *library_create(uint64_t seed, int64_t now);
// Makes the library's state and time current for this thread, and runs its timers; others wait until library_leave.
void library_enter(struct library *, int64_t now);
void library_leave(void);
// Called with the library entered; leaves it.
void library_destroy(struct library *);

#endif
