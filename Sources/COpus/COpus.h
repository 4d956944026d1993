#ifndef COPUS_H
#define COPUS_H

#include <opus.h>

// The control functions are variadic, which Swift cannot call.

// For every request that takes one opus_int32.
static inline int copus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value) {
  return opus_encoder_ctl(encoder, request, value);
}

static inline int copus_encoder_get(OpusEncoder *encoder, int request, opus_int32 *value) {
  return opus_encoder_ctl(encoder, request, value);
}

#endif
