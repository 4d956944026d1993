#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

// A process that decodes what strangers sent. Its rights are an allow list of system calls: memory, its own threads, clocks,
// its connection, and memory to share. All else fails with EPERM, so a library that tries something goes on without it.

enum { clinux_connection = 3 };

#if defined(__x86_64__)
#define CLINUX_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CLINUX_AUDIT_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CLINUX_AUDIT_ARCH AUDIT_ARCH_RISCV64
#endif

/// Limits what the process may use: addresses in bytes, one file beside those that are open, no core dump, and `file_bytes` for
/// memory that it makes to share. A process that has more addresses already, as sanitizers take, is left with them. Returns 0
/// or the negated errno.
static inline int clinux_limit_resources(uint64_t memory_bytes, uint64_t file_bytes) {
  struct rlimit memory, before;
  const struct rlimit file = {.rlim_cur = file_bytes, .rlim_max = file_bytes};
  const struct rlimit files = {.rlim_cur = clinux_connection + 2, .rlim_max = clinux_connection + 2};
  const struct rlimit none = {0, 0};
  if (getrlimit(RLIMIT_AS, &before) < 0) return -errno;
  memory = before;
  if (memory_bytes < memory.rlim_cur) memory.rlim_cur = memory_bytes;
  if (setrlimit(RLIMIT_AS, &memory) < 0) return -errno;
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) memory = before;
  else munmap(page, 4096), memory.rlim_max = memory.rlim_cur;
  if (setrlimit(RLIMIT_AS, &memory) < 0 || setrlimit(RLIMIT_FSIZE, &file) < 0 ||
      setrlimit(RLIMIT_NOFILE, &files) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
    return -errno;
  return 0;
}

/// Has all threads of the process share one heap: each of its own would keep what its thread has freed. Before the first thread.
static inline void clinux_share_heap(void) { mallopt(M_ARENA_MAX, 1); }

/// Leaves the process its connection and nothing else: no other descriptor but /dev/null as 0, 1 and 2, no environment, and
/// the root folder as its working folder.
static inline int clinux_leave_all(void) {
  int null = open("/dev/null", O_RDWR);
  if (null >= 0)
    for (int fd = 0; fd < clinux_connection; fd++) dup2(null, fd);
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
  if (syscall(SYS_close_range, clinux_connection + 1, ~0u, 0) < 0)
    for (int fd = clinux_connection + 1; fd < 1024; fd++) close(fd);
  if (clearenv() != 0) return -ENOMEM;
  return chdir("/") < 0 ? -errno : 0;
}

// The filter's steps. A is the accumulator; each rule begins with the number of the call in A.
#define CLINUX_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
// The lower half of an argument: both machines named above are little-endian, as is riscv64.
#define CLINUX_ARG(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define CLINUX_ARG_HIGH(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]) + 4)
#define CLINUX_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define CLINUX_REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define CLINUX_ALLOW_CALL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), CLINUX_ALLOW
/// Allowed when argument `n` is `value`.
#define CLINUX_ALLOW_IF(call, n, value)                                                                         \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), CLINUX_ARG(n),                                         \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), CLINUX_ALLOW, CLINUX_REFUSE(EPERM)
/// Allowed when argument `n` has none of `bits`.
#define CLINUX_ALLOW_WITHOUT(call, n, bits)                                                                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), CLINUX_ARG(n),                                         \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), CLINUX_ALLOW, CLINUX_REFUSE(EPERM)

/// Takes the rights of the whole process, all of its threads, but for those above. Returns 0, or the negated errno where the
/// system has no such filters or refuses them.
static inline int clinux_confine(void) {
#ifndef CLINUX_AUDIT_ARCH
  return -ENOSYS;
#else
  enum {
    thread_flags = 0x100 | 0x800 | 0x10000,  // CLONE_VM, CLONE_SIGHAND, CLONE_THREAD
    foreign_flags = 0x7E020000,              // CLONE_NEW…
    plain_memory = 1 | 2,                    // MFD_CLOEXEC, MFD_ALLOW_SEALING
  };
  const uint32_t own = (uint32_t)getpid();
  struct sock_filter steps[] = {
      CLINUX_LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLINUX_AUDIT_ARCH, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      CLINUX_LOAD(nr),
      // What every picture needs comes first.
      CLINUX_ALLOW_CALL(futex),
      CLINUX_ALLOW_IF(recvmsg, 0, clinux_connection),
      CLINUX_ALLOW_IF(sendmsg, 0, clinux_connection),
      CLINUX_ALLOW_CALL(setitimer),
      CLINUX_ALLOW_CALL(madvise),
      CLINUX_ALLOW_CALL(munmap),
      CLINUX_ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
      CLINUX_ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
      CLINUX_ALLOW_CALL(brk),
      CLINUX_ALLOW_CALL(mremap),
      // Memory to share.
      CLINUX_ALLOW_IF(memfd_create, 1, plain_memory),
      CLINUX_ALLOW_CALL(ftruncate),
      CLINUX_ALLOW_IF(fcntl, 1, 1033 /* F_ADD_SEALS */),
      CLINUX_ALLOW_CALL(close),
      // Threads of its own, not processes. glibc falls back to `clone`, whose flags a filter can read.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      CLINUX_REFUSE(ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5),
      CLINUX_ARG(0),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, thread_flags | foreign_flags),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, thread_flags, 0, 1),
      CLINUX_ALLOW,
      CLINUX_REFUSE(EPERM),
      CLINUX_ALLOW_CALL(exit),
      CLINUX_ALLOW_CALL(exit_group),
      CLINUX_ALLOW_CALL(set_robust_list),
      CLINUX_ALLOW_CALL(rseq),
      CLINUX_ALLOW_IF(prctl, 0, PR_SET_NAME),
      CLINUX_ALLOW_CALL(sched_yield),
      CLINUX_ALLOW_CALL(sched_getaffinity),
      CLINUX_ALLOW_CALL(getpid),
      CLINUX_ALLOW_CALL(gettid),
      CLINUX_ALLOW_CALL(rt_sigaction),
      CLINUX_ALLOW_CALL(rt_sigprocmask),
      CLINUX_ALLOW_CALL(rt_sigreturn),
      CLINUX_ALLOW_CALL(sigaltstack),
      CLINUX_ALLOW_IF(tgkill, 0, own),
      CLINUX_ALLOW_CALL(restart_syscall),
      // Clocks and randomness.
      CLINUX_ALLOW_CALL(clock_gettime),
      CLINUX_ALLOW_CALL(clock_nanosleep),
      CLINUX_ALLOW_CALL(nanosleep),
      CLINUX_ALLOW_CALL(gettimeofday),
      CLINUX_ALLOW_CALL(getrandom),
      CLINUX_ALLOW_CALL(sysinfo),
      // The last words of a program that ends itself; 2 is /dev/null.
      CLINUX_ALLOW_IF(write, 0, 2),
      CLINUX_REFUSE(EPERM),
  };
  const struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (result > 0) return -ESRCH;  // that thread of ours could not be confined
  return result < 0 ? -errno : 0;
#endif
}

enum clinux_right {
  clinux_right_files = 1,
  clinux_right_sockets = 2,
  clinux_right_programs = 4,
  clinux_right_processes = 8,
  clinux_right_code = 16,
};

/// Tries what a confined process must not be able to do, harmlessly. Returns the rights (`clinux_right`) that it still has.
static inline int clinux_rights_left(void) {
  int rights = 0;
  int file = (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (file >= 0 || errno != EPERM) rights |= clinux_right_files;
  if (file >= 0) close(file);
  int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (udp >= 0 || errno != EPERM) rights |= clinux_right_sockets;
  if (udp >= 0) close(udp);
  // No descriptor: EBADF from a kernel that looks.
  if (connect(-1, NULL, 0) == 0 || errno != EPERM) rights |= clinux_right_sockets;
  // No program: ENOENT from a kernel that looks.
  char *const nothing[] = {NULL};
  if (execve("", nothing, nothing) == 0 || errno != EPERM) rights |= clinux_right_programs;
  // No process: ESRCH from a kernel that looks.
  if (ptrace(PTRACE_DETACH, 0, NULL, NULL) == 0 || errno != EPERM) rights |= clinux_right_processes;
  if (kill(getppid(), 0) == 0 || errno != EPERM) rights |= clinux_right_processes;
  void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code != MAP_FAILED) {
    rights |= clinux_right_code;
    munmap(code, 4096);
  }
  return rights;
}

/// Ends the process `seconds` from now unless called again before; 0: not any more.
static inline void clinux_set_deadline(int seconds) {
  const struct itimerval time = {.it_value = {.tv_sec = seconds}};
  setitimer(ITIMER_REAL, &time, NULL);
}
