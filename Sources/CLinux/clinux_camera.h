#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int clinux_camera_ask(int fd, unsigned long request, void *argument) {
  int status;
  do status = ioctl(fd, request, argument);
  while (status < 0 && errno == EINTR);
  return status < 0 ? -errno : 0;
}

/// Opens a Video4Linux device that captures pictures: its descriptor, -ENOTTY when it is anything else.
/// `name` gets what the maker calls it, with its final zero.
static inline int clinux_camera_open(const char *path, char name[33]) {
  int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct v4l2_capability about = {0};
  int status = clinux_camera_ask(fd, VIDIOC_QUERYCAP, &about);
  uint32_t can = about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
  if (!status && (~can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING))) status = -ENOTTY;
  if (status) {
    close(fd);
    return status;
  }
  memcpy(name, about.card, 32);
  name[32] = 0;
  return fd;
}

/// The four-letter code of a format; 0 after the last.
static inline uint32_t clinux_camera_format(int fd, uint32_t index) {
  struct v4l2_fmtdesc f = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  return clinux_camera_ask(fd, VIDIOC_ENUM_FMT, &f) ? 0 : f.pixelformat;
}

/// Sizes of a format: one (`step_x` 0), or all from the smallest to `width`, `height` in steps.
struct clinux_camera_sizes {
  uint32_t width, height, smallest_x, smallest_y, step_x, step_y;
};

/// False after the last.
static inline int clinux_camera_sizes(int fd, uint32_t format, uint32_t index, struct clinux_camera_sizes *sizes) {
  struct v4l2_frmsizeenum s = {.index = index, .pixel_format = format};
  if (clinux_camera_ask(fd, VIDIOC_ENUM_FRAMESIZES, &s)) return 0;
  if (s.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
    *sizes = (struct clinux_camera_sizes){s.discrete.width, s.discrete.height, 0, 0, 0, 0};
    return 1;
  }
  // One answer for all of them.
  if (index > 0) return 0;
  *sizes = (struct clinux_camera_sizes){s.stepwise.max_width,  s.stepwise.max_height, s.stepwise.min_width,
                                        s.stepwise.min_height, s.stepwise.step_width, s.stepwise.step_height};
  return 1;
}

/// The most pictures a second at a size; 0 when the camera does not say.
static inline double clinux_camera_rate(int fd, uint32_t format, uint32_t width, uint32_t height) {
  double best = 0;
  for (uint32_t index = 0; index < 100; index++) {
    struct v4l2_frmivalenum i = {.index = index, .pixel_format = format, .width = width, .height = height};
    if (clinux_camera_ask(fd, VIDIOC_ENUM_FRAMEINTERVALS, &i)) break;
    struct v4l2_fract shortest = i.type == V4L2_FRMIVAL_TYPE_DISCRETE ? i.discrete : i.stepwise.min;
    if (shortest.numerator == 0) continue;
    double rate = (double)shortest.denominator / shortest.numerator;
    if (rate > best) best = rate;
  }
  return best;
}

/// What the camera says that it delivers, which need not be what it was asked for.
struct clinux_camera_layout {
  uint32_t format, width, height, row_bytes, is_bt709;
  /// Pictures a second; 0 when it does not say.
  double rate;
};

static inline int clinux_camera_set(
    int fd, uint32_t format, uint32_t width, uint32_t height, double rate, struct clinux_camera_layout *layout) {
  struct v4l2_format f = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  f.fmt.pix.width = width;
  f.fmt.pix.height = height;
  f.fmt.pix.pixelformat = format;
  f.fmt.pix.field = V4L2_FIELD_NONE;
  int status = clinux_camera_ask(fd, VIDIOC_S_FMT, &f);
  if (status) return status;
  *layout = (struct clinux_camera_layout){f.fmt.pix.pixelformat, f.fmt.pix.width, f.fmt.pix.height,
                                          f.fmt.pix.bytesperline, f.fmt.pix.colorspace == V4L2_COLORSPACE_REC709, 0};
  // A camera that has one rate refuses this, and that is as good.
  struct v4l2_streamparm p = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
  p.parm.capture.timeperframe = (struct v4l2_fract){1000, (uint32_t)(rate * 1000 + 0.5)};
  if (clinux_camera_ask(fd, VIDIOC_S_PARM, &p) == 0 && p.parm.capture.timeperframe.numerator > 0)
    layout->rate = (double)p.parm.capture.timeperframe.denominator / p.parm.capture.timeperframe.numerator;
  return 0;
}

/// Has the driver make buffers: how many it made.
static inline int clinux_camera_request_buffers(int fd, uint32_t count) {
  struct v4l2_requestbuffers r = {
      .count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  int status = clinux_camera_ask(fd, VIDIOC_REQBUFS, &r);
  return status ? status : (int)r.count;
}

/// A buffer's memory, to be unmapped by munmap; null when there is none.
static inline void *clinux_camera_map(int fd, uint32_t index, size_t *count) {
  struct v4l2_buffer b = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  if (clinux_camera_ask(fd, VIDIOC_QUERYBUF, &b)) return NULL;
  void *memory = mmap(NULL, b.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)b.m.offset);
  *count = b.length;
  return memory == MAP_FAILED ? NULL : memory;
}

static inline int clinux_camera_queue(int fd, uint32_t index) {
  struct v4l2_buffer b = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  return clinux_camera_ask(fd, VIDIOC_QBUF, &b);
}

/// A buffer that the driver has filled. `used` is 0 for a damaged picture. `number` counts the pictures, those that were
/// lost included, where the driver counts.
struct clinux_camera_filled {
  uint32_t index, number;
  size_t used;
};

/// 0 and the oldest filled buffer; -EAGAIN when none is filled.
static inline int clinux_camera_dequeue(int fd, struct clinux_camera_filled *filled) {
  struct v4l2_buffer b = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  int status = clinux_camera_ask(fd, VIDIOC_DQBUF, &b);
  if (status) return status;
  *filled = (struct clinux_camera_filled){b.index, b.sequence, b.flags & V4L2_BUF_FLAG_ERROR ? 0 : b.bytesused};
  return 0;
}

static inline int clinux_camera_run(int fd, int on) {
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return clinux_camera_ask(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}
