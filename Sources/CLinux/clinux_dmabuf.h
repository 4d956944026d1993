#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clinux_descriptor.h"

/// The bytes of a DMA-BUF or memory file, or the negated errno.
static inline int64_t clinux_dmabuf_size(int fd) {
  off_t size = lseek(fd, 0, SEEK_END);
  return size < 0 ? -errno : (int64_t)size;
}

/// Maps the file for reading. Null on failure, with errno in `error`.
static inline const void *clinux_dmabuf_map(int fd, size_t count, int *error) {
  void *memory = mmap(NULL, count, PROT_READ, MAP_SHARED, fd, 0);
  *error = errno;
  return memory == MAP_FAILED ? NULL : memory;
}

static inline void clinux_dmabuf_unmap(const void *memory, size_t count) { munmap((void *)memory, count); }

/// Tells the driver that the processor begins or ends to read. -ENOTTY: the file is no DMA-BUF.
static inline int clinux_dmabuf_sync(int fd, int begins) {
  struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_READ | (begins ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END)};
  int status;
  do status = ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
  while (status < 0 && (errno == EINTR || errno == EAGAIN));
  return status < 0 ? -errno : 0;
}

/// Whether the file is a memory file that is sealed against shrinking. A DMA-BUF has no seals, and never shrinks.
static inline int clinux_dmabuf_is_sealed(int fd) {
  int seals = fcntl(fd, clinux_f_get_seals);
  return seals >= 0 && (seals & 2 /* F_SEAL_SHRINK */);
}

static inline void clinux_dmabuf_close(int fd) { close(fd); }
