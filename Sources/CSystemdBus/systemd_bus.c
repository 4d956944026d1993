#include "CSystemdBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define FUNCTIONS(DO)                                                                                             \
  DO(open_user) DO(flush_close_unref) DO(get_fd) DO(process) DO(flush) DO(call_method) DO(match_signal)           \
  DO(get_unique_name) DO(get_property_trivial) DO(message_read) DO(message_enter_container)                       \
  DO(message_exit_container) DO(message_skip) DO(message_unref) DO(message_new_method_call) DO(message_append)    \
  DO(message_open_container) DO(message_close_container) DO(call) DO(error_free) DO(slot_unref)

#define POINTER(name) __typeof__(&sd_bus_##name) name;
static struct {
  FUNCTIONS(POINTER)
} sd;

static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Never closed.
static void load(void) {
  void *opened = dlopen("libsystemd.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (!opened) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
#define FIND(name)                                                                        \
  sd.name = (__typeof__(sd.name))dlsym(opened, "sd_bus_" #name);                          \
  if (!sd.name) snprintf(failure, sizeof failure, "libsystemd has no function sd_bus_%s", #name);
  FUNCTIONS(FIND)
}

const char *csystemdbus_missing(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

struct csystemdbus {
  sd_bus *bus;
  const struct csystemdbus_listener *listener;
  // The signals of the session, and of the request that is under way.
  sd_bus_slot *closed, *added, *request;
  unsigned requests;
  char failure[256];
};

// A call that is not answered within this time, in microseconds, fails: dialogs answer by signals.
static const uint64_t answer_limit = 5000000;
static const char *const portal = "org.freedesktop.portal.Desktop";
static const char *const portal_path = "/org/freedesktop/portal/desktop";
static const char *const portal_cast = "org.freedesktop.portal.ScreenCast";
static const char *const mutter = "org.gnome.Mutter.ScreenCast";

struct csystemdbus *csystemdbus_open(const struct csystemdbus_listener *listener) {
  struct csystemdbus *self = csystemdbus_missing() ? NULL : calloc(1, sizeof *self);
  if (!self) {
    errno = ENOSYS;
    return NULL;
  }
  self->listener = listener;
  int result = sd.open_user(&self->bus);
  if (result >= 0) return self;
  free(self);
  errno = -result;
  return NULL;
}

void csystemdbus_close(struct csystemdbus *self) {
  sd.slot_unref(self->closed);
  sd.slot_unref(self->added);
  sd.slot_unref(self->request);
  sd.flush_close_unref(self->bus);
  free(self);
}

int csystemdbus_descriptor(struct csystemdbus *self) { return sd.get_fd(self->bus); }

bool csystemdbus_process(struct csystemdbus *self) {
  int result;
  do result = sd.process(self->bus, NULL);
  while (result > 0);
  return result == 0;
}

const char *csystemdbus_failure(struct csystemdbus *self) { return self->failure; }

// MARK: Calls

// Sends `message`, which may be null after a failure, and gives it back. The reply may be null.
static int call(struct csystemdbus *self, sd_bus_message *message, sd_bus_message **reply) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  int result = sd.call(self->bus, message, answer_limit, &error, reply);
  if (result < 0) snprintf(self->failure, sizeof self->failure, "%s", error.message ? error.message : strerror(-result));
  sd.error_free(&error);
  sd.message_unref(message);
  return result < 0 ? result : 0;
}

static sd_bus_message *method(
    struct csystemdbus *self, const char *name, const char *path, const char *interface, const char *member) {
  sd_bus_message *message = NULL;
  sd.message_new_method_call(self->bus, &message, name, path, interface, member);
  return message;
}

bool csystemdbus_has(struct csystemdbus *self, const char *name) {
  static const char *const lists[] = {"ListNames", "ListActivatableNames"};
  bool is_there = false;
  for (int index = 0; index < 2 && !is_there; index++) {
    sd_bus_message *reply = NULL;
    sd_bus_message *message =
        method(self, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", lists[index]);
    if (!message || call(self, message, &reply) < 0) continue;
    const char *found;
    if (sd.message_enter_container(reply, 'a', "s") >= 0)
      while (sd.message_read(reply, "s", &found) > 0) is_there |= !strcmp(found, name);
    sd.message_unref(reply);
  }
  return is_there;
}

uint32_t csystemdbus_portal_number(struct csystemdbus *self, const char *property) {
  uint32_t value = 0;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  if (sd.get_property_trivial(self->bus, portal, portal_path, portal_cast, property, &error, 'u', &value) < 0) value = 0;
  sd.error_free(&error);
  return value;
}

// MARK: Mutter

static int on_closed(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct csystemdbus *self = data;
  (void)message, (void)error;
  self->listener->closed(self->listener->owner);
  return 0;
}

static int on_added(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct csystemdbus *self = data;
  (void)error;
  uint32_t node;
  if (sd.message_read(message, "u", &node) > 0) self->listener->node(self->listener->owner, node);
  return 0;
}

// Reads the current mode of a monitor.
static void read_modes(sd_bus_message *reply, struct csystemdbus_monitor *monitor) {
  if (sd.message_enter_container(reply, 'a', "(siiddada{sv})") < 0) return;
  while (sd.message_enter_container(reply, 'r', "siiddada{sv}") > 0) {
    const char *id, *key;
    int32_t width, height;
    double rate, scale;
    int is_current = 0;
    if (sd.message_read(reply, "siidd", &id, &width, &height, &rate, &scale) < 0) return;
    if (sd.message_skip(reply, "ad") < 0 || sd.message_enter_container(reply, 'a', "{sv}") < 0) return;
    while (sd.message_enter_container(reply, 'e', "sv") > 0) {
      if (sd.message_read(reply, "s", &key) < 0) return;
      if (!strcmp(key, "is-current") ? sd.message_read(reply, "v", "b", &is_current) < 0 : sd.message_skip(reply, "v") < 0)
        return;
      sd.message_exit_container(reply);
    }
    sd.message_exit_container(reply);
    if (is_current) {
      monitor->width = width;
      monitor->height = height;
    }
    sd.message_exit_container(reply);
  }
  sd.message_exit_container(reply);
}

// Reads the places of the monitors that are on.
static void read_places(sd_bus_message *reply, struct csystemdbus_monitor *monitors, int count) {
  if (sd.message_enter_container(reply, 'a', "(iiduba(ssss)a{sv})") < 0) return;
  while (sd.message_enter_container(reply, 'r', "iiduba(ssss)a{sv}") > 0) {
    int32_t x, y;
    double scale;
    uint32_t transform;
    int is_primary;
    const char *connector, *vendor, *product, *serial;
    if (sd.message_read(reply, "iidub", &x, &y, &scale, &transform, &is_primary) < 0) return;
    if (sd.message_enter_container(reply, 'a', "(ssss)") < 0) return;
    while (sd.message_read(reply, "(ssss)", &connector, &vendor, &product, &serial) > 0)
      for (int index = 0; index < count; index++)
        if (!strcmp(monitors[index].connector, connector)) {
          monitors[index].x = x;
          monitors[index].y = y;
          monitors[index].scale = scale;
          monitors[index].transform = transform;
          monitors[index].is_primary = is_primary;
        }
    sd.message_exit_container(reply);
    if (sd.message_skip(reply, "a{sv}") < 0) return;
    sd.message_exit_container(reply);
  }
}

int csystemdbus_monitors(struct csystemdbus *self, struct csystemdbus_monitor *monitors, int most) {
  sd_bus_message *reply = NULL;
  sd_bus_message *message = method(
      self, "org.gnome.Mutter.DisplayConfig", "/org/gnome/Mutter/DisplayConfig", "org.gnome.Mutter.DisplayConfig",
      "GetCurrentState");
  if (!message) return -ENOMEM;
  int result = call(self, message, &reply);
  if (result < 0) return result;
  uint32_t serial;
  int count = 0;
  if (sd.message_read(reply, "u", &serial) > 0 &&
      sd.message_enter_container(reply, 'a', "((ssss)a(siiddada{sv})a{sv})") > 0) {
    while (count < most && sd.message_enter_container(reply, 'r', "(ssss)a(siiddada{sv})a{sv}") > 0) {
      const char *connector, *vendor, *product, *number;
      if (sd.message_read(reply, "(ssss)", &connector, &vendor, &product, &number) < 0) break;
      struct csystemdbus_monitor *monitor = &monitors[count];
      memset(monitor, 0, sizeof *monitor);
      snprintf(monitor->connector, sizeof monitor->connector, "%s", connector);
      read_modes(reply, monitor);
      if (sd.message_skip(reply, "a{sv}") < 0) break;
      sd.message_exit_container(reply);
      count++;
    }
    sd.message_exit_container(reply);
    read_places(reply, monitors, count);
  }
  sd.message_unref(reply);
  return count;
}

int csystemdbus_record(
    struct csystemdbus *self, const char *connector, const int32_t area[4], enum csystemdbus_cursor cursor) {
  sd_bus_message *reply = NULL;
  sd_bus_message *message = method(self, mutter, "/org/gnome/Mutter/ScreenCast", mutter, "CreateSession");
  if (!message) return -ENOMEM;
  sd.message_append(message, "a{sv}", 0);
  int result = call(self, message, &reply);
  const char *path;
  char session[256] = "", stream[256] = "";
  if (result >= 0 && sd.message_read(reply, "o", &path) > 0) snprintf(session, sizeof session, "%s", path);
  sd.message_unref(reply);
  if (result < 0) return result;
  sd.match_signal(
      self->bus, &self->closed, mutter, session, "org.gnome.Mutter.ScreenCast.Session", "Closed", on_closed, self);
  message = method(
      self, mutter, session, "org.gnome.Mutter.ScreenCast.Session",
      connector ? "RecordMonitor" : area ? "RecordArea" : "RecordVirtual");
  if (!message) return -EINVAL;
  if (connector) {
    sd.message_append(message, "s", connector);
  } else if (area) {
    sd.message_append(message, "iiii", area[0], area[1], area[2], area[3]);
  }
  sd.message_append(message, "a{sv}", 1, "cursor-mode", "u", (uint32_t)cursor);
  reply = NULL;
  result = call(self, message, &reply);
  if (result >= 0 && sd.message_read(reply, "o", &path) > 0) snprintf(stream, sizeof stream, "%s", path);
  sd.message_unref(reply);
  if (result < 0) return result;
  sd.match_signal(
      self->bus, &self->added, mutter, stream, "org.gnome.Mutter.ScreenCast.Stream", "PipeWireStreamAdded", on_added, self);
  message = method(self, mutter, session, "org.gnome.Mutter.ScreenCast.Session", "Start");
  return message ? call(self, message, NULL) : -EINVAL;
}

// MARK: The portal

// Reads what the portal answers: a handle of the session, a token, the first stream.
static int on_answer(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct csystemdbus *self = data;
  (void)error;
  uint32_t code = 2, node = 0;
  const char *key, *session = NULL, *token = NULL;
  if (sd.message_read(message, "u", &code) > 0 && sd.message_enter_container(message, 'a', "{sv}") > 0) {
    while (sd.message_enter_container(message, 'e', "sv") > 0) {
      if (sd.message_read(message, "s", &key) <= 0) break;
      int result;
      if (!strcmp(key, "session_handle")) {
        result = sd.message_read(message, "v", "s", &session);
      } else if (!strcmp(key, "restore_token")) {
        result = sd.message_read(message, "v", "s", &token);
      } else if (!strcmp(key, "streams")) {
        result = sd.message_enter_container(message, 'v', "a(ua{sv})");
        if (result > 0) result = sd.message_enter_container(message, 'a', "(ua{sv})");
        while (result > 0 && sd.message_enter_container(message, 'r', "ua{sv}") > 0) {
          uint32_t found = 0;
          if (sd.message_read(message, "u", &found) <= 0 || sd.message_skip(message, "a{sv}") < 0) break;
          if (!node) node = found;
          sd.message_exit_container(message);
        }
        sd.message_exit_container(message);
        sd.message_exit_container(message);
      } else {
        result = sd.message_skip(message, "v");
      }
      if (result < 0) break;
      sd.message_exit_container(message);
    }
  }
  self->listener->answered(self->listener->owner, code, session, node, token);
  return 0;
}

// Begins a request: its answer comes by a signal of an object whose name is agreed on beforehand.
static int expect(struct csystemdbus *self, char *token, size_t size) {
  const char *name = NULL;
  int result = sd.get_unique_name(self->bus, &name);
  if (result < 0) return result;
  char sender[128], path[256];
  snprintf(sender, sizeof sender, "%s", name[0] == ':' ? name + 1 : name);
  for (char *letter = sender; *letter; letter++)
    if (*letter == '.') *letter = '_';
  snprintf(token, size, "rtcast%u", ++self->requests);
  snprintf(path, sizeof path, "/org/freedesktop/portal/desktop/request/%s/%s", sender, token);
  self->request = sd.slot_unref(self->request);
  return sd.match_signal(
      self->bus, &self->request, portal, path, "org.freedesktop.portal.Request", "Response", on_answer, self);
}

int csystemdbus_portal_create(struct csystemdbus *self) {
  char token[32];
  int result = expect(self, token, sizeof token);
  if (result < 0) return result;
  sd_bus_message *message = method(self, portal, portal_path, portal_cast, "CreateSession");
  if (!message) return -ENOMEM;
  sd.message_append(message, "a{sv}", 2, "handle_token", "s", token, "session_handle_token", "s", "rtcast");
  return call(self, message, NULL);
}

int csystemdbus_portal_select(
    struct csystemdbus *self, const char *session, uint32_t sources, enum csystemdbus_cursor cursor, bool is_kept,
    const char *restored) {
  char token[32];
  int result = expect(self, token, sizeof token);
  if (result < 0) return result;
  sd.match_signal(
      self->bus, &self->closed, portal, session, "org.freedesktop.portal.Session", "Closed", on_closed, self);
  sd_bus_message *message = method(self, portal, portal_path, portal_cast, "SelectSources");
  if (!message) return -EINVAL;
  sd.message_append(message, "o", session);
  sd.message_open_container(message, 'a', "{sv}");
  sd.message_append(message, "{sv}", "handle_token", "s", token);
  sd.message_append(message, "{sv}", "types", "u", sources);
  sd.message_append(message, "{sv}", "multiple", "b", 0);
  sd.message_append(message, "{sv}", "cursor_mode", "u", 1u << cursor);
  // From version 4 on; others ignore it.
  sd.message_append(message, "{sv}", "persist_mode", "u", is_kept ? 2u : 0u);
  if (restored && restored[0]) sd.message_append(message, "{sv}", "restore_token", "s", restored);
  sd.message_close_container(message);
  return call(self, message, NULL);
}

int csystemdbus_portal_start(struct csystemdbus *self, const char *session) {
  char token[32];
  int result = expect(self, token, sizeof token);
  if (result < 0) return result;
  sd_bus_message *message = method(self, portal, portal_path, portal_cast, "Start");
  if (!message) return -EINVAL;
  sd.message_append(message, "osa{sv}", session, "", 1, "handle_token", "s", token);
  return call(self, message, NULL);
}

int csystemdbus_portal_remote(struct csystemdbus *self, const char *session) {
  sd_bus_message *reply = NULL;
  sd_bus_message *message = method(self, portal, portal_path, portal_cast, "OpenPipeWireRemote");
  if (!message) return -EINVAL;
  sd.message_append(message, "oa{sv}", session, 0);
  int result = call(self, message, &reply);
  if (result < 0) return result;
  int descriptor = -1;
  result = sd.message_read(reply, "h", &descriptor);
  int own = result > 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1;
  int failed = errno;
  sd.message_unref(reply);
  return own >= 0 ? own : result > 0 ? -failed : -EPROTO;
}
