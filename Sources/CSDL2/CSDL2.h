// SDL2, and what Swift cannot reach beside it: macros, and the calls of Xlib that keep a vanished X server from ending
// the process.
#ifndef CSDL2_H
#define CSDL2_H

#define SDL_MAIN_HANDLED
#include <SDL2/SDL.h>
#include <SDL2/SDL_syswm.h>
#include <X11/Xlib.h>
#include <X11/Xlibint.h>

static inline int csdl_anywhere(void) { return SDL_WINDOWPOS_UNDEFINED; }

// The X window behind an SDL window; 0 when it is none of X11.
static inline unsigned long csdl_x11_window(SDL_Window *window) {
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (!SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return 0;
  return info.info.x11.window;
}

// SDL opens libX11 at run time and so do we: this program links no Xlib. Null on a machine without it. Never closed, as
// handlers set in it must stay.
static inline void *csdl_xlib(void) { return SDL_LoadObject("libX11.so.6"); }

// Sets the handlers of the process and tells those before; false, with nothing set, where libX11 has none.
static inline SDL_bool csdl_xlib_set_handlers(
    void *xlib, XErrorHandler error, XIOErrorHandler lost, XErrorHandler *old_error, XIOErrorHandler *old_lost) {
  XErrorHandler (*set_error)(XErrorHandler) = SDL_LoadFunction(xlib, "XSetErrorHandler");
  XIOErrorHandler (*set_lost)(XIOErrorHandler) = SDL_LoadFunction(xlib, "XSetIOErrorHandler");
  if (!set_error || !set_lost) return SDL_FALSE;
  *old_error = set_error(error);
  *old_lost = set_lost(lost);
  return SDL_TRUE;
}

// Xlib holds locks of a lost display while it tells of it. Without any, the libraries' own ends can look at the display
// when the process exits.
static inline void csdl_xlib_unlock(Display *display) { display->lock_fns = NULL; }

// The connection that a window's events come by; -1 where SDL does not tell.
static inline int csdl_descriptor(SDL_Window *window) {
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (!SDL_GetWindowWMInfo(window, &info)) return -1;
  if (info.subsystem == SDL_SYSWM_X11) return ConnectionNumber(info.info.x11.display);
  if (info.subsystem != SDL_SYSWM_WAYLAND) return -1;
  // SDL has it open; this is one more count of its users, kept for as long as the process lives.
  void *wayland = SDL_LoadObject("libwayland-client.so.0");
  int (*descriptor)(struct wl_display *) = wayland ? SDL_LoadFunction(wayland, "wl_display_get_fd") : NULL;
  return descriptor ? descriptor(info.info.wl.display) : -1;
}

// SDL asks Xlib to turn the title from UTF-8 to UTF-8, by the locale: without one, letters beyond ASCII are lost.
static inline void csdl_xlib_set_title(void *xlib, SDL_Window *window, const char *title) {
  Atom (*intern)(Display *, const char *, Bool) = SDL_LoadFunction(xlib, "XInternAtom");
  int (*change)(Display *, Window, Atom, Atom, int, int, const unsigned char *, int) =
      SDL_LoadFunction(xlib, "XChangeProperty");
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (!intern || !change || !SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return;
  Display *display = info.info.x11.display;
  change(display, info.info.x11.window, intern(display, "_NET_WM_NAME", False), intern(display, "UTF8_STRING", False), 8,
         PropModeReplace, (const unsigned char *)title, (int)SDL_strlen(title));
}

// Lets SDL find the answer it waits for, without end, when it takes down a window: of one that somebody else destroyed
// none comes.
static inline void csdl_xlib_pretend_unmapped(void *xlib, SDL_Window *window) {
  int (*put)(Display *, XEvent *) = SDL_LoadFunction(xlib, "XPutBackEvent");
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (!put || !SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return;
  XEvent event = {.xunmap = {.type = UnmapNotify,
                             .display = info.info.x11.display,
                             .event = info.info.x11.window,
                             .window = info.info.x11.window}};
  put(info.info.x11.display, &event);
}

// The name of what draws by OpenGL in the present context; null when there is none.
static inline const char *csdl_gl_renderer(void) {
  const unsigned char *(*get)(unsigned int) = SDL_GL_GetProcAddress("glGetString");
  return get ? (const char *)get(0x1F01) : NULL;
}

#endif
