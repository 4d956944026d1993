// LD_PRELOAD=no_camera.so: a machine without cameras, whatever there is; no /dev/video* can be opened or is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int is_camera(const char *path) { return path && strncmp(path, "/dev/video", 10) == 0; }

static int hide(void) {
  errno = ENOENT;
  return -1;
}

#define OPEN(name)                                                                            \
  int name(const char *path, int flags, ...) {                                                \
    static int (*real)(const char *, int, ...);                                               \
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);               \
    va_list more;                                                                             \
    va_start(more, flags);                                                                    \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                   \
    va_end(more);                                                                             \
    return is_camera(path) ? hide() : real(path, flags, mode);                                \
  }

OPEN(open)
OPEN(open64)

int access(const char *path, int mode) {
  static int (*real)(const char *, int);
  if (!real) real = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  return is_camera(path) ? hide() : real(path, mode);
}
