#ifndef CX264_H
#define CX264_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <x264.h>

// What is macros, variadic, or of no size that Swift could see.

// Enough for any message of libx264.
#define CX264_MESSAGE_SIZE 256

static inline void cx264_keep_message(void *text, int level, const char *format, va_list values) {
  if (level <= X264_LOG_ERROR) vsnprintf(text, CX264_MESSAGE_SIZE, format, values);
}

// Has errors written into `text`, of CX264_MESSAGE_SIZE bytes, in place of the standard error output.
static inline void cx264_set_messages(x264_param_t *param, char *text) {
  param->i_log_level = X264_LOG_ERROR;
  param->pf_log = cx264_keep_message;
  param->p_log_private = text;
}

// Of this build's version alone: the name holds it.
static inline x264_t *cx264_open(x264_param_t *param) { return x264_encoder_open(param); }

// The lowest level from `least` on (31 for 3.1) that takes pictures of so many macroblocks, so many macroblocks a second
// and so many kbit/s (ITU-T H.264 table A-1); 0 where none takes the picture. No level is too low for the rates alone.
static inline int cx264_level(int least, int macroblocks, double macroblocks_per_second, int kilobits_per_second) {
  int found = 0;
  for (const x264_level_t *level = x264_levels; level->level_idc; level++) {
    if (level->level_idc < least || level->frame_size < macroblocks) continue;
    found = level->level_idc;
    if (level->mbps >= macroblocks_per_second && level->bitrate >= kilobits_per_second) break;
  }
  return found;
}

#endif
