// What Swift cannot reach in XCB: global extension records, variable-length requests and eventfd.
// XCB and not Xlib: an Xlib error or a vanished display goes through handlers of the whole process, and ends it by
// default; XCB returns both to the caller.
#pragma once
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xfixes.h>
#include <xcb/xinput.h>

enum rtc_x11_extension {
  RTC_X11_SHM,
  RTC_X11_DAMAGE,
  RTC_X11_XFIXES,
  RTC_X11_RANDR,
  RTC_X11_COMPOSITE,
  RTC_X11_XINPUT
};

static inline xcb_extension_t *rtc_x11_extension_record(enum rtc_x11_extension e) {
  switch (e) {
    case RTC_X11_SHM: return &xcb_shm_id;
    case RTC_X11_DAMAGE: return &xcb_damage_id;
    case RTC_X11_XFIXES: return &xcb_xfixes_id;
    case RTC_X11_RANDR: return &xcb_randr_id;
    case RTC_X11_COMPOSITE: return &xcb_composite_id;
    case RTC_X11_XINPUT: return &xcb_input_id;
  }
  return NULL;
}

// Null when the server does not have it.
static inline const xcb_query_extension_reply_t *rtc_x11_extension_data(xcb_connection_t *c, enum rtc_x11_extension e) {
  const xcb_query_extension_reply_t *reply = xcb_get_extension_data(c, rtc_x11_extension_record(e));
  return reply && reply->present ? reply : NULL;
}

// Raw pointer motion of every master device, told to `window` (the root), on or off.
static inline void rtc_x11_select_raw_motion(xcb_connection_t *c, xcb_window_t window, int on) {
  struct {
    xcb_input_event_mask_t head;
    uint32_t mask;
  } select = {{XCB_INPUT_DEVICE_ALL_MASTER, 1}, on ? XCB_INPUT_XI_EVENT_MASK_RAW_MOTION : 0};
  xcb_input_xi_select_events(c, window, 1, &select.head);
}

// Memory of this process that can be opened by its number in /proc/self/fd. Negative when the system has none.
static inline int rtc_x11_memory(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u /* CLOEXEC */); }
