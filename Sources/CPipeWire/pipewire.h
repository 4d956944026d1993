// The part of libpipewire-0.3 that `stream.c` uses, as its stable binary interface has it. SwiftPM has no flags of pkg-config for
// headers without linking the library, and this one is loaded at run time. libspa, which consists of headers, has its own.
#ifndef CPIPEWIRE_PIPEWIRE_H
#define CPIPEWIRE_PIPEWIRE_H

#include <spa/buffer/buffer.h>
#include <spa/pod/pod.h>
#include <spa/support/loop.h>
#include <spa/utils/hook.h>

struct pw_context;
struct pw_core;
struct pw_properties;
struct pw_stream;

struct pw_loop {
  struct spa_system *system;
  struct spa_loop *loop;
  struct spa_loop_control *control;
  struct spa_loop_utils *utils;
};

struct pw_buffer {
  struct spa_buffer *buffer;
  void *user_data;
  uint64_t size, requested;
};

enum pw_stream_state {
  PW_STREAM_STATE_ERROR = -1,
  PW_STREAM_STATE_UNCONNECTED = 0,
  PW_STREAM_STATE_CONNECTING = 1,
  PW_STREAM_STATE_PAUSED = 2,
  PW_STREAM_STATE_STREAMING = 3
};

enum { PW_VERSION_REGISTRY = 3, PW_DIRECTION_INPUT = 0, PW_STREAM_FLAG_AUTOCONNECT = 1 << 0, PW_STREAM_FLAG_DONT_RECONNECT = 1 << 7, PW_ID_CORE = 0 };

// Version 0, which has the members that are used.
struct pw_stream_events {
  uint32_t version;
  void (*destroy)(void *data);
  void (*state_changed)(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error);
  void (*control_info)(void *data, uint32_t id, const void *control);
  void (*io_changed)(void *data, uint32_t id, void *area, uint32_t size);
  void (*param_changed)(void *data, uint32_t id, const struct spa_pod *param);
  void (*add_buffer)(void *data, struct pw_buffer *buffer);
  void (*remove_buffer)(void *data, struct pw_buffer *buffer);
  void (*process)(void *data);
  void (*drained)(void *data);
};

// Version 0.
struct pw_core_events {
  uint32_t version;
  void (*info)(void *data, const void *info);
  void (*done)(void *data, uint32_t id, int sequence);
  void (*ping)(void *data, uint32_t id, int sequence);
  void (*error)(void *data, uint32_t id, int sequence, int result, const char *message);
  void (*remove_id)(void *data, uint32_t id);
  void (*bound_id)(void *data, uint32_t id, uint32_t global);
  void (*add_mem)(void *data, uint32_t id, uint32_t type, int descriptor, uint32_t flags);
  void (*remove_mem)(void *data, uint32_t id);
};

struct pw_registry;

// The first of its methods.
struct pw_core_methods {
  uint32_t version;
  int (*add_listener)(void *object, struct spa_hook *hook, const struct pw_core_events *events, void *data);
  int (*hello)(void *object, uint32_t version);
  int (*sync)(void *object, uint32_t id, int sequence);
  int (*pong)(void *object, uint32_t id, int sequence);
  int (*error)(void *object, uint32_t id, int sequence, int result, const char *message);
  struct pw_registry *(*get_registry)(void *object, uint32_t version, size_t user_data_size);
};

// Version 0.
struct pw_registry_events {
  uint32_t version;
  void (*global)(
      void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version, const void *properties);
  void (*global_remove)(void *data, uint32_t id);
};

// The first of its methods.
struct pw_registry_methods {
  uint32_t version;
  int (*add_listener)(void *object, struct spa_hook *hook, const struct pw_registry_events *events, void *data);
};

// The library's functions; null before `cpipewire_missing` was called.
struct cpipewire_library {
  void (*init)(int *count, char ***words);
  const char *(*get_library_version)(void);
  struct pw_loop *(*loop_new)(const void *properties);
  void (*loop_destroy)(struct pw_loop *loop);
  struct pw_context *(*context_new)(struct pw_loop *loop, struct pw_properties *properties, size_t size);
  void (*context_destroy)(struct pw_context *context);
  struct pw_core *(*context_connect)(struct pw_context *context, struct pw_properties *properties, size_t size);
  struct pw_core *(*context_connect_fd)(
      struct pw_context *context, int descriptor, struct pw_properties *properties, size_t size);
  int (*core_disconnect)(struct pw_core *core);
  struct pw_properties *(*properties_new_string)(const char *text);
  struct pw_stream *(*stream_new)(struct pw_core *core, const char *name, struct pw_properties *properties);
  void (*stream_destroy)(struct pw_stream *stream);
  void (*stream_add_listener)(
      struct pw_stream *stream, struct spa_hook *hook, const struct pw_stream_events *events, void *data);
  int (*stream_connect)(
      struct pw_stream *stream, int direction, uint32_t target, int flags, const struct spa_pod **params, uint32_t count);
  int (*stream_update_params)(struct pw_stream *stream, const struct spa_pod **params, uint32_t count);
  struct pw_buffer *(*stream_dequeue_buffer)(struct pw_stream *stream);
  int (*stream_queue_buffer)(struct pw_stream *stream, struct pw_buffer *buffer);
};
extern struct cpipewire_library cpipewire_library;

#endif
