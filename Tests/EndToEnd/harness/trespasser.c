/* A plugin that tries what a cast should not be able to do, each harmlessly, and writes of each whether it was refused to
 * standard error: `done: NAME` or `refused: NAME`. The variables READ, WRITE and BESIDE name files. It draws one grey picture. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rtcast_plugin.h"

static rtcast_plugin *table;
static uint8_t grey[16 * 16 * 3 / 2];

static void say(const char *name, int was_done) {
  fprintf(stderr, "%s: %s\n", was_done ? "done" : "refused", name);
}

static int opens(const char *path, int flags) {
  int file = path ? open(path, flags | O_CLOEXEC, 0600) : -1;
  if (file >= 0) close(file);
  return file >= 0;
}

static int spawns(void) {
  char *const arguments[] = {"true", NULL};
  pid_t process;
  if (posix_spawn(&process, "/bin/true", NULL, NULL, arguments, NULL) != 0) return 0;
  waitpid(process, NULL, 0);
  return 1;
}

static int forks(void) {
  pid_t process = fork();
  if (process == 0) _exit(0);
  if (process > 0) waitpid(process, NULL, 0);
  return process > 0;
}

static void *nothing(void *context) { return context; }

static int32_t start(rtcast_host *host, const rtcast_option *options, uint32_t count, rtcast_request *request,
                     void **instance) {
  say("read", opens(getenv("READ"), O_RDONLY));
  say("write", opens(getenv("WRITE"), O_WRONLY | O_CREAT));
  say("beside", opens(getenv("BESIDE"), O_WRONLY | O_CREAT));
  say("environ", opens("/proc/1/environ", O_RDONLY));
  say("spawn", spawns());
  say("fork", forks());
  errno = 0;
  say("exec", execve("", (char *[]){NULL}, (char *[]){NULL}) == 0 || errno != EPERM);
  say("ptrace", ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0);
  say("kill", kill(getppid(), 0) == 0);
  say("mount", mount("none", "/tmp", "tmpfs", MS_REMOUNT | MS_BIND, NULL) == 0 || errno != EPERM);
  say("unshare", syscall(SYS_unshare, 0) == 0);
  say("bpf", syscall(SYS_bpf, -1, NULL, 0) == 0 || errno != EPERM);
  say("keys", syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3, 0) >= 0);
  say("packet", socket(AF_PACKET, SOCK_DGRAM, 0) >= 0 || errno != EAFNOSUPPORT);
  say("ring", syscall(425 /* io_uring_setup */, 0, NULL) >= 0 || errno != EPERM);
  errno = 0;
  say("keystroke", ioctl(0, TIOCSTI, "x") == 0 || errno != EPERM);
  pthread_t thread;
  say("thread", pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
  say("udp", socket(AF_INET, SOCK_DGRAM, 0) >= 0);
  memset(grey, 128, sizeof grey);
  rtcast_picture picture = {.struct_size = sizeof picture, .format = RTCAST_I420, .width = 16, .height = 16};
  picture.planes[0] = (rtcast_plane){grey, 16};
  picture.planes[1] = (rtcast_plane){grey + 256, 8};
  picture.planes[2] = (rtcast_plane){grey + 320, 8};
  table->push_picture(host, &picture);
  (void)options, (void)count, (void)request;
  *instance = host;
  return RTCAST_OK;
}

static void stop(void *instance) { (void)instance; }

RTCAST_PLUGIN_EXPORT int32_t rtcast_plugin_entry(rtcast_plugin *host) {
  host->abi_version = RTCAST_PLUGIN_ABI;
  table = host;
  host->name = "trespasser";
  host->summary = "Tries what a cast should not be able to do.";
  host->traits = RTCAST_HAS_PICTURES;
  host->width = 16;
  host->height = 16;
  host->frames_per_second = 1;
  host->start = start;
  host->stop = stop;
  return RTCAST_OK;
}
