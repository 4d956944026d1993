// SDL asks for the map of modifier keys whenever its window gets the keyboard, and takes for granted that it gets one. From
// a display that has just gone Xlib has none to give, and the process would end by reading it. SDL finds this function
// before Xlib's.
#define _GNU_SOURCE
#include <X11/Xlib.h>
#include <dlfcn.h>
#include <stdlib.h>

XModifierKeymap *XGetModifierMapping(Display *display) {
  XModifierKeymap *(*get)(Display *) = (XModifierKeymap * (*)(Display *)) dlsym(RTLD_NEXT, "XGetModifierMapping");
  XModifierKeymap *map = get ? get(display) : NULL;
  // Without keys, and freed by XFreeModifiermap as any other.
  return map ? map : calloc(1, sizeof(XModifierKeymap));
}
