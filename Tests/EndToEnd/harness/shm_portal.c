// Preloaded into xdg-desktop-portal-wlr 0.7, which insists on a DMA-BUF format that a compositor without a GPU does not have: the
// format of shared memory is told as one, and the DMA-BUF protocol is hidden, so that shared memory is used.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

struct wl_proxy;

typedef void (*global_function)(void *, void *, uint32_t, const char *, uint32_t);
typedef void (*buffer_function)(void *, void *, uint32_t, uint32_t, uint32_t, uint32_t);
typedef void (*dmabuf_function)(void *, void *, uint32_t, uint32_t, uint32_t);

static struct registry { global_function global; void *remove; } registry, own_registry;
static struct frame {
  buffer_function buffer;
  void *flags, *ready, *failed, *damage;
  dmabuf_function dmabuf;
  void *done;
} frame, own_frame;

static void global(void *data, void *proxy, uint32_t name, const char *interface, uint32_t version) {
  if (strcmp(interface, "zwp_linux_dmabuf_v1")) registry.global(data, proxy, name, interface, version);
}

static void buffer(void *data, void *proxy, uint32_t format, uint32_t width, uint32_t height, uint32_t stride) {
  frame.buffer(data, proxy, format, width, height, stride);
  frame.dmabuf(data, proxy, 0x34325258 /* XRGB8888 */, width, height);
}

int wl_proxy_add_listener(struct wl_proxy *proxy, void (**functions)(void), void *data) {
  int (*add)(struct wl_proxy *, void (**)(void), void *) = dlsym(RTLD_NEXT, "wl_proxy_add_listener");
  const char *(*class)(struct wl_proxy *) = dlsym(RTLD_NEXT, "wl_proxy_get_class");
  if (!strcmp(class(proxy), "wl_registry") && !registry.global) {
    registry = *(struct registry *)functions;
    own_registry = (struct registry){global, registry.remove};
    functions = (void (**)(void))&own_registry;
  } else if (!strcmp(class(proxy), "zwlr_screencopy_frame_v1")) {
    frame = *(struct frame *)functions;
    own_frame = frame;
    own_frame.buffer = buffer;
    functions = (void (**)(void))&own_frame;
  }
  return add(proxy, functions, data);
}
