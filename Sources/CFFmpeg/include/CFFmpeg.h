// FFmpeg's libraries, loaded by the first call to them: they bring a hundred others with them, which a hub or a cast of
// a screen never needs. See `forwarding.c`, which must name each function that is used.
#ifndef CFFMPEG_H
#define CFFMPEG_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/cpu.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Macros that Swift cannot see.

static const int cffmpeg_error_eof = AVERROR_EOF;
static const int cffmpeg_error_again = AVERROR(EAGAIN);
static const int cffmpeg_error_exit = AVERROR_EXIT;
static const int cffmpeg_error_invalid_data = AVERROR_INVALIDDATA;
static const int64_t cffmpeg_no_timestamp = AV_NOPTS_VALUE;

// The callbacks of a decoder may be called on any of its threads, as from FFmpeg 6 on they always are.
static inline void cffmpeg_call_back_anywhere(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#else
  (void)context;
#endif
}

static inline int cffmpeg_error(int number) { return AVERROR(number); }

// What the dynamic linker says of the first of FFmpeg's libraries that cannot be loaded, valid until this thread asks
// it for something else; null when all are there. Loads them.
const char *cffmpeg_missing(void);

#endif
