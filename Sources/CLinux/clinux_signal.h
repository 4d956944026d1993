#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

// Libraries that write to a connection without MSG_NOSIGNAL (xcb and all above it) end the process by SIGPIPE when the
// other end has gone. Blocked on the thread that writes, the call fails with EPIPE and nothing more.

/// Blocks SIGPIPE on the calling thread; tells whether it was already.
static inline int clinux_sigpipe_block(void) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  return sigismember(&before, SIGPIPE);
}

/// Undoes it, with what `clinux_sigpipe_block` told; one that came meanwhile is not delivered.
static inline void clinux_sigpipe_restore(int was_blocked) {
  if (was_blocked) return;
  sigset_t pipe;
  struct timespec at_once = {0, 0};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  while (sigtimedwait(&pipe, NULL, &at_once) == SIGPIPE) {}
  pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}
