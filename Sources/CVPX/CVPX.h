#ifndef CVPX_H
#define CVPX_H

#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

// Macros and variadic functions that Swift cannot call.

static inline vpx_codec_err_t cvpx_encoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *codec,
                                                const vpx_codec_enc_cfg_t *configuration) {
  return vpx_codec_enc_init(context, codec, configuration, 0);
}

static inline vpx_codec_err_t cvpx_decoder_init(vpx_codec_ctx_t *context, vpx_codec_iface_t *codec, unsigned threads) {
  vpx_codec_dec_cfg_t configuration = {threads, 0, 0};
  return vpx_codec_dec_init(context, codec, &configuration, 0);
}

// What the first bytes of a frame say.
static inline vpx_codec_err_t cvpx_peek(vpx_codec_iface_t *codec, const uint8_t *data, unsigned count,
                                        vpx_codec_stream_info_t *info) {
  info->sz = sizeof *info;
  return vpx_codec_peek_stream_info(codec, data, count, info);
}

// 1 when the last frame refers to something that is not as it should be.
static inline int cvpx_is_corrupted(vpx_codec_ctx_t *context) {
  int corrupted = 0;
  return vpx_codec_control(context, VP8D_GET_FRAME_CORRUPTED, &corrupted) == VPX_CODEC_OK && corrupted != 0;
}

// For every control that takes one int.
static inline vpx_codec_err_t cvpx_control_int(vpx_codec_ctx_t *context, int control, int value) {
  return vpx_codec_control_(context, control, value);
}

static inline vpx_codec_err_t cvpx_set_active_map(vpx_codec_ctx_t *context, vpx_active_map_t *map) {
  return vpx_codec_control(context, VP8E_SET_ACTIVEMAP, map);
}

static inline vpx_codec_err_t cvpx_set_roi_map(vpx_codec_ctx_t *context, vpx_roi_map_t *map) {
  return vpx_codec_control(context, VP8E_SET_ROI_MAP, map);
}

// Replaces the frame that the next one is predicted from.
static inline vpx_codec_err_t cvpx_set_last_frame(vpx_codec_ctx_t *context, vpx_image_t image) {
  vpx_ref_frame_t frame = {VP8_LAST_FRAME, image};
  return vpx_codec_control(context, VP8_SET_REFERENCE, &frame);
}

// The quantiser index (VP8: 0...127, VP9: 0...255) of the last frame, -1 when there is none.
static inline int cvpx_last_quantizer(vpx_codec_ctx_t *context) {
  int quantizer = -1;
  vpx_codec_control(context, VP8E_GET_LAST_QUANTIZER, &quantizer);
  return quantizer;
}

#endif
