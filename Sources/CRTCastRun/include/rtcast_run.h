// The processes of `rtcast run`: what Swift cannot call, as `fork` and functions with variable arguments.
// Every function that can fail returns its result (>= 0) or the negated errno.
#ifndef RTCAST_RUN_H
#define RTCAST_RUN_H

/// Splits this process, which has one thread, in two that are joined by a socket of messages. Returns the new process, and 0 in it.
int rtcast_run_split(int *connection);

/// Makes this process the parent of all processes that its children leave behind, and blocks the signals that a terminal sends: they
/// are for the program. Returns a descriptor that can be read when a child has ended.
int rtcast_run_supervise(void);

/// Takes notice of ended children: discards what the descriptor of `rtcast_run_supervise` holds.
void rtcast_run_notice(int children);

/// A program to be started.
struct rtcast_run_program {
  const char *const *arguments;
  const char *const *environment;
  /// What becomes its standard input, output and error.
  int input, output, errors;
  /// A descriptor that stays open in the program under its number; -1: none.
  int passed;
  /// The signal that it gets when its parent dies.
  int death_signal;
  /// Whether it is a server: in a session of its own, and without descriptors that are not named here.
  int is_server;
};

/// Starts a program, found by PATH of its environment. Returns the process.
int rtcast_run_start(const struct rtcast_run_program *program);

/// Takes the end of any child. Returns the child and how it ended, as `waitpid` says it; 0 where none has ended.
int rtcast_run_reap(int *status);

#endif
