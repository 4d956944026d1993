// LD_PRELOAD=camera.so RTCAST_TEST_CAMERAS=FILE: the program finds the cameras that FILE describes, at the paths it gives
// (`camera.py` writes it). They answer as Video4Linux devices do: open, access, ioctl, mmap, epoll, close. A word a line:
//
//   camera PATH                             another camera; the lines that follow are about it
//   name TEXT                               what it calls itself
//   mode CODE WIDTH HEIGHT RATE FRAMES      a format by its four letters; rate 0: the camera does not say. FRAMES is a file of
//                                           pictures, each behind its length in four bytes, played in a loop; the highest
//                                           bit of a length marks the picture as damaged, as drivers do
//   answer CODE WIDTH HEIGHT ROW_BYTES      what it says that it delivers, whatever was asked for
//   refuse STEP ERRNO                       STEP: open, format, buffers or stream
//   unplug COUNT                            gone after so many pictures
//
// The descriptor is a timer's: readable when a picture is due. A picture for which no buffer is queued is lost, and its
// number is left out.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MODES = 16, CAMERAS = 8, DEVICES = 8, BUFFERS = 16 };

typedef struct {
  uint32_t code, width, height, rate;
  int frames; /* a file, opened before the program confines itself */
} Mode;

typedef struct {
  char path[256], name[32];
  Mode modes[MODES];
  int mode_count;
  bool has_answer;
  Mode answer;
  uint32_t answer_row_bytes;
  int refuse_open, refuse_format, refuse_buffers, refuse_stream;
  long unplug; /* negative: never */
} Camera;

/* A list of buffers, the oldest first. */
typedef struct {
  int items[BUFFERS], count;
} List;

/* A camera that is open. */
typedef struct {
  int file;
  const Camera *camera; /* null: free */
  const Mode *mode;
  double interval;
  int memory; /* of all buffers, one after another */
  uint8_t *pictures;
  size_t buffer_size;
  int buffer_count;
  List queued, filled;
  struct v4l2_buffer about[BUFFERS];
  const uint8_t *frames;
  size_t frames_size, at;
  uint32_t number;
} Device;

static Camera cameras[CAMERAS];
static int camera_count;
static Device devices[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int (*real_open)(const char *, int, ...);
static int (*real_access)(const char *, int);
static int (*real_ioctl)(int, unsigned long, ...);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static int (*real_close)(int);

// MARK: Description

static uint32_t code(const char *letters) { return v4l2_fourcc(letters[0], letters[1], letters[2], letters[3]); }

static void describe(char *line) {
  char word[16], text[256], letters[8];
  uint32_t width, height, last;
  int used = 0;
  if (sscanf(line, "camera %255s", text) == 1 && camera_count < CAMERAS) {
    Camera *new = &cameras[camera_count++];
    snprintf(new->path, sizeof new->path, "%s", text);
    new->unplug = -1;
    return;
  }
  if (camera_count == 0) return;
  Camera *camera = &cameras[camera_count - 1];
  line[strcspn(line, "\n")] = 0;
  if (sscanf(line, "name %n", &used) == 0 && used > 0) {
    snprintf(camera->name, sizeof camera->name, "%s", line + used);
  } else if (sscanf(line, "mode %4s %u %u %u %255s", letters, &width, &height, &last, text) == 5 && camera->mode_count < MODES) {
    Mode *mode = &camera->modes[camera->mode_count++];
    *mode = (Mode){code(letters), width, height, last, real_open(text, O_RDONLY | O_CLOEXEC)};
  } else if (sscanf(line, "answer %4s %u %u %u", letters, &width, &height, &last) == 4) {
    camera->has_answer = true;
    camera->answer = (Mode){code(letters), width, height, 0, -1};
    camera->answer_row_bytes = last;
  } else if (sscanf(line, "refuse %15s %u", word, &last) == 2) {
    if (strcmp(word, "open") == 0) camera->refuse_open = (int)last;
    if (strcmp(word, "format") == 0) camera->refuse_format = (int)last;
    if (strcmp(word, "buffers") == 0) camera->refuse_buffers = (int)last;
    if (strcmp(word, "stream") == 0) camera->refuse_stream = (int)last;
  } else {
    sscanf(line, "unplug %ld", &camera->unplug);
  }
}

/* Other libraries may call before this one has begun. */
static void resolve(void) {
  if (real_close) return;
  real_open = dlsym(RTLD_NEXT, "open");
  real_access = dlsym(RTLD_NEXT, "access");
  real_ioctl = dlsym(RTLD_NEXT, "ioctl");
  real_mmap = dlsym(RTLD_NEXT, "mmap");
  real_close = dlsym(RTLD_NEXT, "close");
}

__attribute__((constructor)) static void begin(void) {
  resolve();
  const char *path = getenv("RTCAST_TEST_CAMERAS");
  FILE *file = path ? fopen(path, "re") : NULL;
  char line[640];
  while (file && fgets(line, sizeof line, file)) describe(line);
  if (file) fclose(file);
}

static const Camera *camera_at(const char *path) {
  for (int index = 0; index < camera_count; index++)
    if (strcmp(cameras[index].path, path) == 0) return &cameras[index];
  return NULL;
}

static Device *device_of(int file) {
  for (int index = 0; index < DEVICES; index++)
    if (devices[index].camera && devices[index].file == file) return &devices[index];
  return NULL;
}

static int fail(int error) {
  errno = error;
  return -1;
}

// MARK: Pictures

static uint32_t length_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Loads the mode's pictures; false when there are none. */
static bool load(Device *device) {
  struct stat about;
  int file = device->mode->frames;
  if (file < 0 || fstat(file, &about) < 0 || about.st_size < 5) return false;
  const uint8_t *bytes = real_mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) return false;
  device->frames = bytes;
  device->frames_size = (size_t)about.st_size;
  device->buffer_size = 4096;
  for (size_t at = 0; at + 4 <= device->frames_size;) {
    size_t length = length_at(bytes + at) & 0x7fffffff;
    size_t pages = (length + 4095) / 4096 * 4096;
    if (pages > device->buffer_size) device->buffer_size = pages;
    at += 4 + length;
  }
  return true;
}

static void push(List *list, int item) {
  if (list->count < BUFFERS) list->items[list->count++] = item;
}

static int pop(List *list) {
  int first = list->items[0];
  memmove(list->items, list->items + 1, sizeof(int) * (size_t)--list->count);
  return first;
}

/* The next picture into the oldest buffer that waits; it is lost when none does. */
static void deliver(Device *device) {
  uint32_t length = length_at(device->frames + device->at), number = device->number++;
  const uint8_t *bytes = device->frames + device->at + 4;
  device->at += 4 + (length & 0x7fffffff);
  if (device->at + 4 > device->frames_size) device->at = 0;
  if (device->queued.count == 0) return;
  int index = pop(&device->queued);
  struct v4l2_buffer *about = &device->about[index];
  about->bytesused = length & 0x7fffffff;
  about->sequence = number;
  about->flags = length & 0x80000000 ? V4L2_BUF_FLAG_ERROR : 0;
  memcpy(device->pictures + (size_t)index * device->buffer_size, bytes, about->bytesused);
  push(&device->filled, index);
}

static bool is_gone(const Device *device) {
  return device->camera->unplug >= 0 && device->number >= device->camera->unplug;
}

static int dequeue(Device *device, struct v4l2_buffer *buffer) {
  uint64_t due = 0;
  if (read(device->file, &due, sizeof due) == sizeof due)
    while (due-- > 0 && !is_gone(device)) deliver(device);
  if (device->filled.count == 0) return fail(is_gone(device) ? ENODEV : EAGAIN);
  *buffer = device->about[pop(&device->filled)];
  return 0;
}

// MARK: Requests

static int list_format(const Device *device, struct v4l2_fmtdesc *format) {
  uint32_t seen[MODES], count = 0;
  for (int index = 0; index < device->camera->mode_count; index++) {
    bool is_new = true;
    for (uint32_t other = 0; other < count; other++) is_new = is_new && seen[other] != device->camera->modes[index].code;
    if (is_new) seen[count++] = device->camera->modes[index].code;
  }
  if (format->index >= count) return fail(EINVAL);
  format->pixelformat = seen[format->index];
  return 0;
}

static const Mode *mode_of(const Device *device, uint32_t code, uint32_t nth) {
  for (int index = 0; index < device->camera->mode_count; index++) {
    const Mode *mode = &device->camera->modes[index];
    if (mode->code == code && nth-- == 0) return mode;
  }
  return NULL;
}

static int list_size(const Device *device, struct v4l2_frmsizeenum *size) {
  const Mode *mode = mode_of(device, size->pixel_format, size->index);
  if (!mode) return fail(EINVAL);
  size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
  size->discrete = (struct v4l2_frmsize_discrete){mode->width, mode->height};
  return 0;
}

static int list_interval(const Device *device, struct v4l2_frmivalenum *interval) {
  const Mode *mode;
  for (uint32_t nth = 0; (mode = mode_of(device, interval->pixel_format, nth)); nth++)
    if (mode->width == interval->width && mode->height == interval->height) break;
  if (!mode || mode->rate == 0 || interval->index > 0) return fail(EINVAL);
  interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
  interval->discrete = (struct v4l2_fract){1, mode->rate};
  return 0;
}

static int set_format(Device *device, struct v4l2_pix_format *format) {
  if (device->camera->refuse_format) return fail(device->camera->refuse_format);
  const Mode *mode;
  for (uint32_t nth = 0; (mode = mode_of(device, format->pixelformat, nth)); nth++)
    if (mode->width == format->width && mode->height == format->height) break;
  if (!mode) return fail(EINVAL);
  device->mode = mode;
  uint32_t row = mode->code == V4L2_PIX_FMT_YUYV ? 2 * mode->width : mode->code == V4L2_PIX_FMT_NV12 ? mode->width : 0;
  const Mode *said = mode;
  if (device->camera->has_answer) {
    said = &device->camera->answer;
    row = device->camera->answer_row_bytes;
  }
  format->width = said->width;
  format->height = said->height;
  format->pixelformat = said->code;
  format->bytesperline = row;
  format->colorspace = V4L2_COLORSPACE_SMPTE170M;
  return 0;
}

static int set_rate(Device *device, struct v4l2_captureparm *capture) {
  double most = device->mode && device->mode->rate ? device->mode->rate : 30;
  double asked = capture->timeperframe.numerator ? (double)capture->timeperframe.denominator / capture->timeperframe.numerator : most;
  double rate = asked < most ? asked : most;
  device->interval = 1 / rate;
  capture->timeperframe = (struct v4l2_fract){1000, (uint32_t)(1000 * rate)};
  return 0;
}

static int make_buffers(Device *device, struct v4l2_requestbuffers *request) {
  if (device->camera->refuse_buffers) return fail(device->camera->refuse_buffers);
  if (!device->mode || device->memory >= 0 || !load(device)) return fail(EINVAL);
  if (request->count > BUFFERS) request->count = BUFFERS;
  size_t size = device->buffer_size * request->count;
  device->memory = memfd_create("camera", MFD_CLOEXEC);
  if (device->memory < 0 || ftruncate(device->memory, (off_t)size) < 0) return fail(ENOMEM);
  device->pictures = real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, device->memory, 0);
  if (device->pictures == MAP_FAILED) return fail(ENOMEM);
  device->buffer_count = (int)request->count;
  for (uint32_t index = 0; index < request->count; index++)
    device->about[index] = (struct v4l2_buffer){
        .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP,
        .length = (uint32_t)device->buffer_size, .m.offset = (uint32_t)(index * device->buffer_size)};
  return 0;
}

static int stream(Device *device, bool on) {
  if (on && device->camera->refuse_stream) return fail(device->camera->refuse_stream);
  long interval = on ? (long)(1e9 * (device->interval > 0 ? device->interval : 1 / 30.0)) : 0;
  struct timespec each = {interval / 1000000000, interval % 1000000000};
  struct itimerspec timer = {each, each};
  if (!on) device->queued.count = device->filled.count = 0;
  return timerfd_settime(device->file, 0, &timer, NULL);
}

static int answer(Device *device, unsigned long request, void *argument) {
  struct v4l2_buffer *buffer = argument;
  switch (request) {
  case VIDIOC_QUERYCAP: {
    struct v4l2_capability *about = argument;
    snprintf((char *)about->driver, sizeof about->driver, "uvcvideo");
    memcpy(about->card, device->camera->name, sizeof about->card);
    about->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    about->capabilities = about->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
  }
  case VIDIOC_ENUM_FMT: return list_format(device, argument);
  case VIDIOC_ENUM_FRAMESIZES: return list_size(device, argument);
  case VIDIOC_ENUM_FRAMEINTERVALS: return list_interval(device, argument);
  case VIDIOC_S_FMT: return set_format(device, &((struct v4l2_format *)argument)->fmt.pix);
  case VIDIOC_S_PARM: return set_rate(device, &((struct v4l2_streamparm *)argument)->parm.capture);
  case VIDIOC_REQBUFS: return make_buffers(device, argument);
  case VIDIOC_QUERYBUF:
    if (buffer->index >= (uint32_t)device->buffer_count) return fail(EINVAL);
    *buffer = device->about[buffer->index];
    return 0;
  case VIDIOC_QBUF:
    if (buffer->index >= (uint32_t)device->buffer_count) return fail(EINVAL);
    push(&device->queued, (int)buffer->index);
    return 0;
  case VIDIOC_DQBUF: return dequeue(device, buffer);
  case VIDIOC_STREAMON: return stream(device, true);
  case VIDIOC_STREAMOFF: return stream(device, false);
  default: return fail(ENOTTY);
  }
}

// MARK: The system's calls

static int open_camera(const Camera *camera) {
  if (camera->refuse_open) return fail(camera->refuse_open);
  int file = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  pthread_mutex_lock(&lock);
  for (int index = 0; file >= 0 && index < DEVICES; index++) {
    if (devices[index].camera) continue;
    devices[index] = (Device){.file = file, .camera = camera, .memory = -1};
    pthread_mutex_unlock(&lock);
    return file;
  }
  pthread_mutex_unlock(&lock);
  return fail(EMFILE);
}

int open(const char *path, int flags, ...) {
  const Camera *camera = camera_at(path);
  if (camera) return open_camera(camera);
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  resolve();
  return real_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}

int access(const char *path, int mode) {
  resolve();
  return camera_at(path) ? 0 : real_access(path, mode);
}

int ioctl(int file, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  resolve();
  pthread_mutex_lock(&lock);
  Device *device = device_of(file);
  int result = device ? answer(device, request, argument) : 0;
  pthread_mutex_unlock(&lock);
  return device ? result : real_ioctl(file, request, argument);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  resolve();
  if (file >= 0) {
    pthread_mutex_lock(&lock);
    Device *device = device_of(file);
    if (device) file = device->memory;
    pthread_mutex_unlock(&lock);
  }
  return real_mmap(address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap(address, length, protection, flags, file, offset);
}

int close(int file) {
  resolve();
  pthread_mutex_lock(&lock);
  Device *device = device_of(file);
  if (device) {
    if (device->pictures) munmap(device->pictures, device->buffer_size * (size_t)device->buffer_count);
    if (device->frames) munmap((void *)device->frames, device->frames_size);
    if (device->memory >= 0) real_close(device->memory);
    device->camera = NULL;
  }
  pthread_mutex_unlock(&lock);
  return real_close(file);
}
