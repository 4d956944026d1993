#define _GNU_SOURCE
#include "rtcast_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The signals that were blocked before `rtcast_run_supervise`, which programs begin with.
static sigset_t inherited;

int rtcast_run_split(int *connection) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
  pid_t process = fork();
  if (process < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return -error;
  }
  *connection = ends[process == 0];
  close(ends[process != 0]);
  return process;
}

int rtcast_run_supervise(void) {
  static const int terminal[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  sigset_t blocked, children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  blocked = children;
  for (size_t i = 0; i < sizeof terminal / sizeof *terminal; i++) sigaddset(&blocked, terminal[i]);
  if (sigprocmask(SIG_BLOCK, &blocked, &inherited) < 0) return -errno;
  prctl(PR_SET_NAME, "rtc-run", 0, 0, 0);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) return -errno;
  int descriptor = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

void rtcast_run_notice(int children) {
  struct signalfd_siginfo notice;
  while (read(children, &notice, sizeof notice) == sizeof notice) {}
}

/// In the new process: becomes the program. Returns only when that fails.
static void become(const struct rtcast_run_program *program, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, program->death_signal, 0, 0, 0);
  if (getppid() != parent) _exit(127);
  if (program->is_server) setsid();
  if (dup2(program->input, 0) < 0 || dup2(program->output, 1) < 0 || dup2(program->errors, 2) < 0) return;
  // 4: they are closed with the start of the program.
  if (program->is_server) syscall(436 /* close_range */, 3u, ~0u, 4u);
  if (program->passed > 2) fcntl(program->passed, F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &inherited, NULL);
  // A program expects to die of a pipe that nobody reads.
  signal(SIGPIPE, SIG_DFL);
  environ = (char **)program->environment;
  execvp(program->arguments[0], (char *const *)program->arguments);
}

int rtcast_run_start(const struct rtcast_run_program *program) {
  int refusal[2];
  if (pipe2(refusal, O_CLOEXEC) < 0) return -errno;
  pid_t parent = getpid(), process = fork();
  if (process == 0) {
    become(program, parent);
    int error = errno;
    (void)!write(refusal[1], &error, sizeof error);
    _exit(127);
  }
  int error = errno;
  close(refusal[1]);
  if (process > 0) {
    ssize_t count;
    while ((count = read(refusal[0], &error, sizeof error)) < 0 && errno == EINTR) {}
    if (count == sizeof error) {
      while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
      process = -1;
    }
  }
  close(refusal[0]);
  return process < 0 ? -error : process;
}

int rtcast_run_reap(int *status) {
  pid_t process = waitpid(-1, status, WNOHANG);
  return process > 0 ? process : 0;
}
