#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "CPipeWire.h"
#include "pipewire.h"

struct cpipewire_library cpipewire_library;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(void *opened, const char *name) {
  void *found = dlsym(opened, name);
  if (!found && !failure[0]) snprintf(failure, sizeof failure, "libpipewire-0.3 has no function %s", name);
  return found;
}

// Never closed.
static void load(void) {
  void *opened = dlopen("libpipewire-0.3.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (!opened) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
#define FIND(name) cpipewire_library.name = (__typeof__(cpipewire_library.name))find(opened, "pw_" #name)
  FIND(init);
  FIND(get_library_version);
  FIND(loop_new);
  FIND(loop_destroy);
  FIND(context_new);
  FIND(context_destroy);
  FIND(context_connect);
  FIND(context_connect_fd);
  FIND(core_disconnect);
  FIND(properties_new_string);
  FIND(stream_new);
  FIND(stream_destroy);
  FIND(stream_add_listener);
  FIND(stream_connect);
  FIND(stream_update_params);
  FIND(stream_dequeue_buffer);
  FIND(stream_queue_buffer);
}

const char *cpipewire_missing(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

const char *cpipewire_version(void) { return cpipewire_missing() ? NULL : cpipewire_library.get_library_version(); }
