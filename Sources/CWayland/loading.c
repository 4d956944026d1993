// The functions of libwayland-client under their own names, each a call into the library, which is loaded when it is first
// wanted. Without it, no connection comes about, and so no other function is called.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "CWayland.h"

static const char *const library = "libwayland-client.so.0";

struct wl_proxy *(*cwayland_marshal)(
    struct wl_proxy *proxy, uint32_t opcode, const struct wl_interface *interface, uint32_t version, uint32_t flags, ...);

// Never closed. Two threads at once get the same address.
static void *find(const char *name) {
  void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return opened ? dlsym(opened, name) : NULL;
}

const char *cwayland_missing(void) {
  void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!opened) return dlerror();
  return dlsym(opened, "wl_proxy_marshal_flags") ? NULL : "libwayland-client is older than 1.20";
}

#define FIND(name)                                                                        \
  static _Atomic(void *) known;                                                           \
  void *address = atomic_load_explicit(&known, memory_order_acquire);                     \
  if (!address) {                                                                         \
    address = find(#name);                                                                \
    atomic_store_explicit(&known, address, memory_order_release);                         \
  }                                                                                       \
  __typeof__(&name) function = (__typeof__(&name))address

#define ASK(type, refusal, name, parameters, arguments)                                   \
  __attribute__((visibility("hidden"))) type name parameters {                            \
    FIND(name);                                                                           \
    return function ? function arguments : refusal;                                       \
  }

#define RUN(name, parameters, arguments)                                                  \
  __attribute__((visibility("hidden"))) void name parameters {                            \
    FIND(name);                                                                           \
    if (function) function arguments;                                                     \
  }

__attribute__((visibility("hidden"))) struct wl_display *wl_display_connect(const char *name) {
  FIND(wl_display_connect);
  __typeof__(cwayland_marshal) marshal = (__typeof__(cwayland_marshal))find("wl_proxy_marshal_flags");
  if (!function || !marshal) return NULL;
  // Every thread stores the same address.
  __atomic_store_n(&cwayland_marshal, marshal, __ATOMIC_RELEASE);
  return function(name);
}

RUN(wl_display_disconnect, (struct wl_display *display), (display))
ASK(int, -1, wl_display_get_fd, (struct wl_display *display), (display))
ASK(int, -1, wl_display_dispatch_pending, (struct wl_display *display), (display))
ASK(int, -1, wl_display_prepare_read, (struct wl_display *display), (display))
ASK(int, -1, wl_display_read_events, (struct wl_display *display), (display))
ASK(int, -1, wl_display_flush, (struct wl_display *display), (display))
ASK(int, 1, wl_display_get_error, (struct wl_display *display), (display))
ASK(uint32_t, 0, wl_display_get_protocol_error, (struct wl_display *display, const struct wl_interface **interface,
    uint32_t *id), (display, interface, id))
ASK(int, -1, wl_proxy_add_listener, (struct wl_proxy *proxy, void (**implementation)(void), void *data), (proxy,
    implementation, data))
RUN(wl_proxy_destroy, (struct wl_proxy *proxy), (proxy))
ASK(uint32_t, 0, wl_proxy_get_version, (struct wl_proxy *proxy), (proxy))
RUN(wl_proxy_set_user_data, (struct wl_proxy *proxy, void *data), (proxy, data))
ASK(void *, NULL, wl_proxy_get_user_data, (struct wl_proxy *proxy), (proxy))
RUN(wl_log_set_handler_client, (wl_log_func_t handler), (handler))

static void ignore(const char *format, va_list arguments) {
  (void)format;
  (void)arguments;
}

void cwayland_silence(void) { wl_log_set_handler_client(ignore); }

int cwayland_peer_process(int socket) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}
