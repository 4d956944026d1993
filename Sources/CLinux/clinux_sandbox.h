#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clinux_confine.h"

// The program confines itself: its filter of system calls, which is a list of what is refused (libraries for devices, sound and
// graphics need much), and Landlock, by numbers of our own, since headers may be older than the kernel.

static inline int clinux_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0; }

/// The capabilities (capabilities(7)) that the program can use after its start: a user's files for root (Landlock says which), ports
/// below 1024, and priorities of threads. Without the others, root has no power over the machine's networks, modules and users.
static const uint64_t clinux_kept_capabilities =
    1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_NET_BIND_SERVICE | 1ULL << CAP_SYS_NICE;

/// Reads this thread's capabilities. Returns 0 or the negated errno.
static inline int clinux_read_capabilities(struct __user_cap_data_struct sets[2]) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  return syscall(SYS_capget, &head, sets) < 0 ? -errno : 0;
}

/// Gives up all capabilities of this thread, and of the threads that it starts, but those kept. Returns 0 or the negated errno.
static inline int clinux_drop_capabilities(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[2];
  int status = clinux_read_capabilities(sets);
  if (status < 0) return status;
  // Only root, who has CAP_SETPCAP, can lower the bounding set; others cannot gain from it, as they gain no privileges.
  for (int each = 0; each < 64; each++)
    if (!(clinux_kept_capabilities >> each & 1)) prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
  for (int half = 0; half < 2; half++) {
    const uint32_t kept = (uint32_t)(clinux_kept_capabilities >> 32 * half);
    sets[half].effective &= kept;
    sets[half].permitted &= kept;
    sets[half].inheritable &= kept;
  }
  return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

/// The last system call that this filter knows. Later ones fail with ENOSYS, as on an older kernel.
enum { clinux_last_known_call = 469 };

#define CLINUX_REFUSE_CALL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), CLINUX_REFUSE(EPERM)
#define CLINUX_REFUSE_NUMBER(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), CLINUX_REFUSE(EPERM)
#define CLINUX_ALLOW_VALUE(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), CLINUX_ALLOW
#define CLINUX_REFUSE_VALUE(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), CLINUX_REFUSE(EPERM)

/// Refuses the whole process, all of its threads, what nothing of the program does after its start. With `local` 0, sockets of
/// this machine (AF_UNIX) too. Returns 0, or the negated errno where the system has no such filters or refuses them.
static inline int clinux_refuse_calls(int local) {
#ifndef CLINUX_AUDIT_ARCH
  return -ENOSYS;
#else
  const uint32_t own = (uint32_t)getpid();
  struct sock_filter steps[] = {
      CLINUX_LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLINUX_AUDIT_ARCH, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      CLINUX_LOAD(nr),
      // Later ones, and those of x32.
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, clinux_last_known_call, 0, 1),
      CLINUX_REFUSE(ENOSYS),
      // Programs and processes. glibc falls back to `clone`, whose flags a filter can read: threads alone.
      CLINUX_REFUSE_CALL(execve),
      CLINUX_REFUSE_CALL(execveat),
#ifdef SYS_fork
      CLINUX_REFUSE_CALL(fork),
      CLINUX_REFUSE_CALL(vfork),
#endif
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 0, 1),
      CLINUX_REFUSE(ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5),
      CLINUX_ARG(0),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x10000 /* CLONE_THREAD */ | 0x7E020000 /* CLONE_NEW… */),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x10000, 0, 1),
      CLINUX_ALLOW,
      CLINUX_REFUSE(EPERM),
      // Other processes: their memory, descriptors and signals.
      CLINUX_REFUSE_CALL(ptrace),
      CLINUX_REFUSE_CALL(process_vm_readv),
      CLINUX_REFUSE_CALL(process_vm_writev),
      CLINUX_REFUSE_NUMBER(440 /* process_madvise */),
      CLINUX_REFUSE_NUMBER(438 /* pidfd_getfd */),
      CLINUX_REFUSE_NUMBER(424 /* pidfd_send_signal */),
      CLINUX_REFUSE_NUMBER(448 /* process_mrelease */),
      CLINUX_REFUSE_CALL(tkill),
      CLINUX_ALLOW_IF(kill, 0, own),
      CLINUX_ALLOW_IF(tgkill, 0, own),
      CLINUX_ALLOW_IF(rt_sigqueueinfo, 0, own),
      CLINUX_ALLOW_IF(rt_tgsigqueueinfo, 0, own),
      CLINUX_ALLOW_IF(kcmp, 0, own),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 6),
      CLINUX_ARG(0),
      CLINUX_ALLOW_VALUE(0),
      CLINUX_ALLOW_VALUE(own),
      CLINUX_REFUSE(EPERM),
      CLINUX_REFUSE_CALL(migrate_pages),
      CLINUX_REFUSE_CALL(move_pages),
      // The kernel and its inner parts.
      CLINUX_REFUSE_CALL(bpf),
      CLINUX_REFUSE_CALL(perf_event_open),
      CLINUX_REFUSE_CALL(userfaultfd),
      CLINUX_REFUSE_CALL(init_module),
      CLINUX_REFUSE_CALL(finit_module),
      CLINUX_REFUSE_CALL(delete_module),
      CLINUX_REFUSE_CALL(kexec_load),
#ifdef SYS_kexec_file_load
      CLINUX_REFUSE_CALL(kexec_file_load),
#endif
      CLINUX_REFUSE_CALL(reboot),
      CLINUX_REFUSE_CALL(syslog),
      CLINUX_REFUSE_CALL(acct),
      CLINUX_REFUSE_CALL(add_key),
      CLINUX_REFUSE_CALL(request_key),
      CLINUX_REFUSE_CALL(keyctl),
      CLINUX_REFUSE_CALL(fanotify_init),
      CLINUX_REFUSE_CALL(fanotify_mark),
      CLINUX_REFUSE_CALL(lookup_dcookie),
#ifdef SYS_iopl
      CLINUX_REFUSE_CALL(iopl),
      CLINUX_REFUSE_CALL(ioperm),
      CLINUX_REFUSE_CALL(modify_ldt),
      CLINUX_REFUSE_CALL(uselib),
      CLINUX_REFUSE_CALL(ustat),
      CLINUX_REFUSE_CALL(sysfs),
#endif
      // A ring of requests goes past every filter.
      CLINUX_REFUSE_NUMBER(425 /* io_uring_setup */),
      CLINUX_REFUSE_NUMBER(426 /* io_uring_enter */),
      CLINUX_REFUSE_NUMBER(427 /* io_uring_register */),
      // What the machine is made of: mounts, namespaces, quotas, clocks, names.
      CLINUX_REFUSE_CALL(mount),
      CLINUX_REFUSE_CALL(umount2),
      CLINUX_REFUSE_CALL(pivot_root),
      CLINUX_REFUSE_CALL(chroot),
      CLINUX_REFUSE_NUMBER(428 /* open_tree */),
      CLINUX_REFUSE_NUMBER(429 /* move_mount */),
      CLINUX_REFUSE_NUMBER(430 /* fsopen */),
      CLINUX_REFUSE_NUMBER(431 /* fsconfig */),
      CLINUX_REFUSE_NUMBER(432 /* fsmount */),
      CLINUX_REFUSE_NUMBER(433 /* fspick */),
      CLINUX_REFUSE_NUMBER(442 /* mount_setattr */),
      CLINUX_REFUSE_NUMBER(467 /* open_tree_attr */),
      CLINUX_REFUSE_CALL(setns),
      CLINUX_REFUSE_CALL(unshare),
      CLINUX_REFUSE_CALL(open_by_handle_at),
      CLINUX_REFUSE_CALL(swapon),
      CLINUX_REFUSE_CALL(swapoff),
      CLINUX_REFUSE_CALL(quotactl),
      CLINUX_REFUSE_NUMBER(443 /* quotactl_fd */),
      CLINUX_REFUSE_CALL(settimeofday),
      CLINUX_REFUSE_CALL(clock_settime),
      CLINUX_REFUSE_CALL(clock_adjtime),
      CLINUX_REFUSE_CALL(adjtimex),
      CLINUX_REFUSE_CALL(sethostname),
      CLINUX_REFUSE_CALL(setdomainname),
      CLINUX_REFUSE_CALL(vhangup),
      CLINUX_REFUSE_CALL(personality),
      // Other users, and owners of files.
      CLINUX_REFUSE_CALL(setuid),
      CLINUX_REFUSE_CALL(setgid),
      CLINUX_REFUSE_CALL(setreuid),
      CLINUX_REFUSE_CALL(setregid),
      CLINUX_REFUSE_CALL(setresuid),
      CLINUX_REFUSE_CALL(setresgid),
      CLINUX_REFUSE_CALL(setgroups),
      CLINUX_REFUSE_CALL(setfsuid),
      CLINUX_REFUSE_CALL(setfsgid),
      CLINUX_REFUSE_CALL(capset),
#ifdef SYS_chown
      CLINUX_REFUSE_CALL(chown),
      CLINUX_REFUSE_CALL(lchown),
      CLINUX_REFUSE_CALL(mknod),
#endif
      CLINUX_REFUSE_CALL(fchown),
      CLINUX_REFUSE_CALL(fchownat),
      CLINUX_REFUSE_CALL(mknodat),
      CLINUX_REFUSE_CALL(setxattr),
      CLINUX_REFUSE_CALL(lsetxattr),
      CLINUX_REFUSE_CALL(fsetxattr),
      CLINUX_REFUSE_NUMBER(463 /* setxattrat */),
      CLINUX_REFUSE_NUMBER(469 /* file_setattr */),
      // Keys typed into the terminal of whoever started the program.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 6),
      CLINUX_ARG(1),
      CLINUX_REFUSE_VALUE(0x5412 /* TIOCSTI */),
      CLINUX_REFUSE_VALUE(0x541C /* TIOCLINUX */),
      CLINUX_ALLOW,
      // Networks by TCP and UDP, news of them and of devices, and this machine's own programs.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 18),
      CLINUX_ARG(0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 3),
      BPF_STMT(BPF_LD | BPF_IMM, (uint32_t)(local != 0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 14, 0),
      CLINUX_REFUSE(EACCES),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4),
      CLINUX_ARG(2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0 /* NETLINK_ROUTE */, 10, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 15 /* NETLINK_KOBJECT_UEVENT */, 9, 0),
      CLINUX_REFUSE(EACCES),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0),
      CLINUX_REFUSE(EAFNOSUPPORT),
      CLINUX_ARG(1),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1 /* SOCK_STREAM */, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2 /* SOCK_DGRAM */, 1, 0),
      CLINUX_REFUSE(EACCES),
      CLINUX_ALLOW,
  };
  const struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (result > 0) return -ESRCH;  // that thread could not be confined
  return result < 0 ? -errno : 0;
#endif
}

// MARK: - Landlock

enum { clinux_landlock_create_ruleset = 444, clinux_landlock_add_rule = 445, clinux_landlock_restrict_self = 446 };

/// The version of the kernel's Landlock, or the negated errno: ENOSYS where there is none, EOPNOTSUPP where it is switched off.
static inline int clinux_landlock_version(void) {
  long version = syscall(clinux_landlock_create_ruleset, NULL, 0, 1u);
  return version < 0 ? -errno : (int)version;
}

/// Kinds of access to files, as the kernel numbers them.
enum clinux_landlock_access {
  clinux_landlock_execute = 1 << 0,
  clinux_landlock_write_file = 1 << 1,
  clinux_landlock_read_file = 1 << 2,
  clinux_landlock_read_folder = 1 << 3,
  clinux_landlock_remove_folder = 1 << 4,
  clinux_landlock_remove_file = 1 << 5,
  clinux_landlock_make_device = 1 << 6 | 1 << 11,
  clinux_landlock_make_folder = 1 << 7,
  clinux_landlock_make_file = 1 << 8,
  clinux_landlock_make_socket = 1 << 9,
  clinux_landlock_make_pipe = 1 << 10,
  clinux_landlock_make_link = 1 << 12,
  clinux_landlock_refer = 1 << 13,           // since version 2
  clinux_landlock_truncate = 1 << 14,        // since version 3
  clinux_landlock_control_device = 1 << 15,  // ioctl; since version 5
  /// What a rule for a file, and not a folder, can allow.
  clinux_landlock_of_files = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15,
};

/// All kinds of access to files that a version knows.
static inline uint64_t clinux_landlock_known(int version) {
  if (version >= 5) return (1u << 16) - 1;
  if (version >= 3) return (1u << 15) - 1;
  return version == 2 ? (1u << 14) - 1 : (1u << 13) - 1;
}

/// Begins a set of rules that refuses all access to files, and signals to other programs from version 6 on.
static inline int clinux_landlock_begin(int version) {
  struct {
    uint64_t files, network, scopes;
  } refused = {.files = clinux_landlock_known(version), .scopes = 1 << 1 /* signals */};
  size_t count = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  long rules = syscall(clinux_landlock_create_ruleset, &refused, count, 0);
  return rules < 0 ? -errno : (int)rules;
}

/// Allows access to a file, or to a folder and all in it. Returns 0, or the negated errno: ENOENT where there is none.
static inline int clinux_landlock_allow(int rules, const char *path, uint64_t access, int version) {
  int fd = open(path, 010000000 /* O_PATH */ | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct stat status;
  int result = fstat(fd, &status) < 0 ? -errno : 0;
  if (result == 0) {
    struct __attribute__((packed)) {
      uint64_t access;
      int32_t folder;
    } rule = {.access = access & clinux_landlock_known(version), .folder = fd};
    if (!S_ISDIR(status.st_mode)) rule.access &= clinux_landlock_of_files;
    if (rule.access != 0 && syscall(clinux_landlock_add_rule, rules, 1 /* PATH_BENEATH */, &rule, 0) < 0)
      result = -errno;
  }
  close(fd);
  return result;
}

/// Holds this thread, and the threads and programs that it starts, to the rules.
static inline int clinux_landlock_enforce(int rules) {
  return syscall(clinux_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}

// MARK: - Trying

/// What a confined program is refused, each tried harmlessly: 0 where it was refused, 1 where it was done, or could have been.
enum clinux_trial {
  clinux_trial_read,
  clinux_trial_write,
  clinux_trial_program,
  clinux_trial_process,
  clinux_trial_trace,
  clinux_trial_signal,
  clinux_trial_socket,
  clinux_trial_mount,
  clinux_trial_key,
  clinux_trial_root,
};

static inline int clinux_try(enum clinux_trial trial) {
  char *const nothing[] = {NULL};
  int fd = -1;
  switch (trial) {
    case clinux_trial_read:
      fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (fd < 0) return errno != EACCES;
      break;
    case clinux_trial_write:
      // A file without a name, which is gone with its descriptor.
      fd = open("/tmp", 020200000 /* O_TMPFILE */ | O_WRONLY | O_CLOEXEC, 0600);
      if (fd < 0) return errno != EACCES;
      break;
    case clinux_trial_program: return execve("", nothing, nothing) == 0 || errno != EPERM;  // else ENOENT
    case clinux_trial_process:
      return syscall(SYS_clone, 0xFFFFFFFF00000000UL | 0x800 /* CLONE_SIGHAND alone */, 0, 0, 0, 0) >= 0 ||
             errno != EPERM;  // else EINVAL
    case clinux_trial_trace: return ptrace(PTRACE_DETACH, 0, NULL, NULL) == 0 || errno != EPERM;  // else ESRCH
    case clinux_trial_signal: return kill(getppid(), 0) == 0 || errno != EPERM;
    case clinux_trial_socket:
      fd = socket(40 /* AF_VSOCK */, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (fd < 0) return errno != EAFNOSUPPORT;
      break;
    case clinux_trial_mount: return mount(NULL, "", NULL, 0, NULL) == 0 || errno != EPERM;  // else ENOENT
    case clinux_trial_key: return syscall(SYS_keyctl, -1, 0, 0, 0, 0) >= 0 || errno != EPERM;  // else EOPNOTSUPP
    case clinux_trial_root: {
      struct __user_cap_data_struct sets[2];
      if (clinux_read_capabilities(sets) < 0) return 0;
      return ((sets[0].permitted | (uint64_t)sets[1].permitted << 32) & ~clinux_kept_capabilities) != 0;
    }
  }
  if (fd >= 0) close(fd);
  return 1;
}

/// The threads of this process; 0 where nobody knows.
static inline int clinux_thread_count(void) {
  struct stat status;
  return stat("/proc/self/task", &status) < 0 ? 0 : (int)status.st_nlink - 2;
}

/// Splits this process in two: 0 in the new one. Only for a process of one thread.
static inline int clinux_fork(void) {
  pid_t process = fork();
  return process < 0 ? -errno : (int)process;
}

/// Closes all descriptors but those of the standard streams and `kept`.
static inline void clinux_close_all_but(int kept) {
  if (kept > 3) syscall(436 /* close_range */, 3u, (unsigned)kept - 1, 0u);
  syscall(436, (unsigned)kept + 1, ~0u, 0u);
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/// A descriptor that can be read when the process has ended.
static inline int clinux_process_descriptor(int process) {
  int fd = (int)syscall(SYS_pidfd_open, process, 0);
  if (fd < 0) return -errno;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}
