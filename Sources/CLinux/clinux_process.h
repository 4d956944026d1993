#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/// The variables of this process, as `NAME=value`, up to a null pointer.
static inline char *const *clinux_environment(void) { return environ; }

// Shown to _GNU_SOURCE only.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// Starts a program with `descriptor` as its descriptor 3 and no others but standard error, which is its standard output
/// too. `environment` is all that it is told of this program's. Returns the process or the negated errno.
static inline int clinux_process_start(
    const char *path, char *const arguments[], char *const environment[], int descriptor) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  pid_t process = 0;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawn_file_actions_adddup2(&actions, descriptor, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int error = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -error : (int)process;
}

/// Waits for a child that has closed its connection to end; kills it after `milliseconds`. Returns how it ended, as
/// `waitpid` says it.
static inline int clinux_process_reap(int process, int milliseconds) {
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
  int fd = (int)syscall(SYS_pidfd_open, process, 0);
  struct pollfd ended = {.fd = fd, .events = POLLIN};
  if (fd < 0 || poll(&ended, 1, milliseconds) <= 0) kill(process, SIGKILL);
  if (fd >= 0) close(fd);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return status;
}
