#ifndef CPULSE_H
#define CPULSE_H

#include <pulse/pulseaudio.h>

// Macros that Swift cannot see.

static inline pa_sample_format_t cpulse_native_float(void) { return PA_SAMPLE_FLOAT32NE; }

// Calls `readable` from the loop whenever `descriptor` can be read. Null when memory is short.
static inline pa_io_event *cpulse_watch(pa_mainloop *loop, int descriptor, pa_io_event_cb_t readable) {
  pa_mainloop_api *api = pa_mainloop_get_api(loop);
  return api->io_new(api, descriptor, PA_IO_EVENT_INPUT, readable, NULL);
}

static inline void cpulse_unwatch(pa_mainloop *loop, pa_io_event *event) {
  pa_mainloop_get_api(loop)->io_free(event);
}

#endif
