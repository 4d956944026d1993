// The calls of the session's D-Bus that start a screen cast, by sd-bus, of which libsystemd is loaded when the bus is opened: a
// machine without it still runs the program. One thread uses a bus, and callbacks come on it, within `csystemdbus_process`.
#ifndef CSYSTEMDBUS_H
#define CSYSTEMDBUS_H

#include <stdbool.h>
#include <stdint.h>

enum csystemdbus_cursor { csystemdbus_cursor_hidden = 0, csystemdbus_cursor_drawn = 1, csystemdbus_cursor_told = 2 };

struct csystemdbus_listener {
  void *owner;
  // A stream of pictures is there, as a node of PipeWire.
  void (*node)(void *owner, uint32_t node);
  // The desktop has ended the session.
  void (*closed)(void *owner);
  // An answer of the portal: 0 yes, 1 refused by the user, 2 another end. Null or 0 for what it does not say.
  void (*answered)(void *owner, uint32_t code, const char *session, uint32_t node, const char *token);
};

// A monitor of Mutter's.
struct csystemdbus_monitor {
  char connector[64];
  int32_t x, y, width, height;
  double scale;
  uint32_t transform;
  bool is_primary;
};

struct csystemdbus;

// What the dynamic linker says if libsystemd cannot be loaded; null when it is there. Loads it.
const char *csystemdbus_missing(void);

// Connects to the session's bus. Null if that fails, with errno. The listener must outlive the bus.
struct csystemdbus *csystemdbus_open(const struct csystemdbus_listener *listener);
void csystemdbus_close(struct csystemdbus *bus);

// Readable when `csystemdbus_process` has something to do.
int csystemdbus_descriptor(struct csystemdbus *bus);

// Calls the listener for what has come; false when the bus went away.
bool csystemdbus_process(struct csystemdbus *bus);

// What the other side said of the last call that failed.
const char *csystemdbus_failure(struct csystemdbus *bus);

// Whether a name of the bus has an owner, or can be started.
bool csystemdbus_has(struct csystemdbus *bus, const char *name);

// A number among the properties of the portal's ScreenCast; 0 if there is none.
uint32_t csystemdbus_portal_number(struct csystemdbus *bus, const char *property);

// Fills `monitors`; returns how many there are, at most `most`, or a negated errno.
int csystemdbus_monitors(struct csystemdbus *bus, struct csystemdbus_monitor *monitors, int most);

// Records a monitor of Mutter's; the area if `connector` is null; or, if both are null, a monitor that Mutter makes for it.
// `node` is called later. 0, or a negated errno.
int csystemdbus_record(
    struct csystemdbus *bus, const char *connector, const int32_t area[4], enum csystemdbus_cursor cursor);

// The steps of the portal, each followed by `answered`. 0, or a negated errno. `is_kept`: the answer is to have a token that restores
// the choice.
int csystemdbus_portal_create(struct csystemdbus *bus);
int csystemdbus_portal_select(
    struct csystemdbus *bus, const char *session, uint32_t sources, enum csystemdbus_cursor cursor, bool is_kept, const char *token);
int csystemdbus_portal_start(struct csystemdbus *bus, const char *session);

// The connection to PipeWire that the portal has opened for the session: a descriptor, or a negated errno.
int csystemdbus_portal_remote(struct csystemdbus *bus, const char *session);

#endif
