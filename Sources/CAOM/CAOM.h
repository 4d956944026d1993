#ifndef CAOM_H
#define CAOM_H

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>

// Macros and variadic functions that Swift cannot call.

static inline aom_codec_err_t caom_encoder_init(aom_codec_ctx_t *context, const aom_codec_enc_cfg_t *config) {
  return aom_codec_enc_init(context, aom_codec_av1_cx(), config, 0);
}

// For every control that takes one int.
static inline aom_codec_err_t caom_control_int(aom_codec_ctx_t *context, int control, int value) {
  return aom_codec_control(context, control, value);
}

#endif
