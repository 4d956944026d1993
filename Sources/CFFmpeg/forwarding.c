// FFmpeg's functions under their own names, each a call into a library that is loaded when it is first wanted. Without
// the library each says no in its own way: ENOSYS, null or 0.

#include <dlfcn.h>
#include <stdatomic.h>

#include "CFFmpeg.h"

#define FILE_NAME(library, major) "lib" library ".so." AV_STRINGIFY(major)

static const char *const avformat = FILE_NAME("avformat", LIBAVFORMAT_VERSION_MAJOR);
static const char *const avcodec = FILE_NAME("avcodec", LIBAVCODEC_VERSION_MAJOR);
static const char *const avutil = FILE_NAME("avutil", LIBAVUTIL_VERSION_MAJOR);
static const char *const swresample = FILE_NAME("swresample", LIBSWRESAMPLE_VERSION_MAJOR);
static const char *const swscale = FILE_NAME("swscale", LIBSWSCALE_VERSION_MAJOR);

// The version whose headers this was compiled with; never closed. Two threads at once get the same address.
static void *find(const char *library, const char *name) {
  void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return opened ? dlsym(opened, name) : NULL;
}

const char *cffmpeg_missing(void) {
  const char *const libraries[] = {avformat, avcodec, avutil, swresample, swscale};
  for (size_t index = 0; index < sizeof libraries / sizeof *libraries; index++)
    if (!dlopen(libraries[index], RTLD_LAZY | RTLD_LOCAL)) return dlerror();
  return NULL;
}

// Hidden, so that the libraries' calls to each other do not come by here.
#define FIND(library, name)                                                               \
  static _Atomic(void *) known;                                                           \
  void *address = atomic_load_explicit(&known, memory_order_acquire);                     \
  if (!address) {                                                                         \
    address = find(library, #name);                                                       \
    atomic_store_explicit(&known, address, memory_order_release);                         \
  }                                                                                       \
  __typeof__(&name) function = (__typeof__(&name))address

#define ASK(library, type, refusal, name, parameters, arguments)                          \
  __attribute__((visibility("hidden"))) type name parameters {                            \
    FIND(library, name);                                                                  \
    return function ? function arguments : refusal;                                       \
  }

#define RUN(library, name, parameters, arguments)                                         \
  __attribute__((visibility("hidden"))) void name parameters {                            \
    FIND(library, name);                                                                  \
    if (function) function arguments;                                                     \
  }

ASK(avformat, int, AVERROR(ENOSYS), av_find_best_stream, (AVFormatContext *ic, enum AVMediaType type,
    int wanted_stream_nb, int related_stream, const AVCodec **decoder_ret, int flags), (ic, type, wanted_stream_nb,
    related_stream, decoder_ret, flags))
ASK(avformat, int, AVERROR(ENOSYS), av_read_frame, (AVFormatContext *s, AVPacket *pkt), (s, pkt))
ASK(avformat, int, AVERROR(ENOSYS), av_seek_frame, (AVFormatContext *s, int stream_index, int64_t timestamp,
    int flags), (s, stream_index, timestamp, flags))
ASK(avformat, uint8_t *, NULL, av_stream_get_side_data, (const AVStream *stream, enum AVPacketSideDataType type,
    size_t *size), (stream, type, size))
ASK(avformat, uint8_t *, NULL, av_stream_new_side_data, (AVStream *stream, enum AVPacketSideDataType type,
    size_t size), (stream, type, size))
ASK(avformat, int, AVERROR(ENOSYS), av_write_frame, (AVFormatContext *s, AVPacket *pkt), (s, pkt))
ASK(avformat, int, AVERROR(ENOSYS), av_write_trailer, (AVFormatContext *s), (s))
ASK(avformat, AVFormatContext *, NULL, avformat_alloc_context, (void), ())
ASK(avformat, int, AVERROR(ENOSYS), avformat_alloc_output_context2, (AVFormatContext **ctx,
    const AVOutputFormat *oformat, const char *format_name, const char *filename), (ctx, oformat, format_name,
    filename))
RUN(avformat, avformat_close_input, (AVFormatContext **s), (s))
ASK(avformat, int, AVERROR(ENOSYS), avformat_find_stream_info, (AVFormatContext *ic, AVDictionary **options), (ic,
    options))
RUN(avformat, avformat_free_context, (AVFormatContext *s), (s))
ASK(avformat, const AVIndexEntry *, NULL, avformat_index_get_entry_from_timestamp, (AVStream *st,
    int64_t wanted_timestamp, int flags), (st, wanted_timestamp, flags))
ASK(avformat, AVStream *, NULL, avformat_new_stream, (AVFormatContext *s, const AVCodec *c), (s, c))
ASK(avformat, int, AVERROR(ENOSYS), avformat_open_input, (AVFormatContext **ps, const char *url,
    const AVInputFormat *fmt, AVDictionary **options), (ps, url, fmt, options))
ASK(avformat, int, AVERROR(ENOSYS), avformat_seek_file, (AVFormatContext *s, int stream_index, int64_t min_ts,
    int64_t ts, int64_t max_ts, int flags), (s, stream_index, min_ts, ts, max_ts, flags))
ASK(avformat, int, AVERROR(ENOSYS), avformat_write_header, (AVFormatContext *s, AVDictionary **options), (s, options))
ASK(avformat, AVIOContext *, NULL, avio_alloc_context, (unsigned char *buffer, int buffer_size, int write_flag,
    void *opaque, int (*read_packet)(void *opaque, uint8_t *buf, int buf_size), int (*write_packet)(void *opaque,
    uint8_t *buf, int buf_size), int64_t (*seek)(void *opaque, int64_t offset, int whence)), (buffer, buffer_size,
    write_flag, opaque, read_packet, write_packet, seek))
ASK(avformat, int, AVERROR(ENOSYS), avio_closep, (AVIOContext **s), (s))
RUN(avformat, avio_context_free, (AVIOContext **s), (s))
RUN(avformat, avio_flush, (AVIOContext *s), (s))
ASK(avformat, int, AVERROR(ENOSYS), avio_open2, (AVIOContext **s, const char *url, int flags,
    const AVIOInterruptCB *int_cb, AVDictionary **options), (s, url, flags, int_cb, options))

ASK(avcodec, int, AVERROR(ENOSYS), av_new_packet, (AVPacket *pkt, int size), (pkt, size))
ASK(avcodec, AVPacket *, NULL, av_packet_alloc, (void), ())
RUN(avcodec, av_packet_free, (AVPacket **pkt), (pkt))
ASK(avcodec, uint8_t *, NULL, av_packet_get_side_data, (const AVPacket *pkt, enum AVPacketSideDataType type,
    size_t *size), (pkt, type, size))
ASK(avcodec, int, AVERROR(ENOSYS), av_packet_make_refcounted, (AVPacket *pkt), (pkt))
RUN(avcodec, av_packet_unref, (AVPacket *pkt), (pkt))
RUN(avcodec, avcodec_align_dimensions2, (AVCodecContext *s, int *width, int *height,
    int linesize_align[AV_NUM_DATA_POINTERS]), (s, width, height, linesize_align))
ASK(avcodec, AVCodecContext *, NULL, avcodec_alloc_context3, (const AVCodec *codec), (codec))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_default_get_buffer2, (AVCodecContext *s, AVFrame *frame, int flags), (s,
    frame, flags))
ASK(avcodec, const AVCodec *, NULL, avcodec_find_decoder, (enum AVCodecID id), (id))
ASK(avcodec, const AVCodec *, NULL, avcodec_find_decoder_by_name, (const char *name), (name))
RUN(avcodec, avcodec_flush_buffers, (AVCodecContext *avctx), (avctx))
RUN(avcodec, avcodec_free_context, (AVCodecContext **avctx), (avctx))
ASK(avcodec, const char *, NULL, avcodec_get_name, (enum AVCodecID id), (id))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_open2, (AVCodecContext *avctx, const AVCodec *codec,
    AVDictionary **options), (avctx, codec, options))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_parameters_to_context, (AVCodecContext *codec,
    const AVCodecParameters *par), (codec, par))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_receive_frame, (AVCodecContext *avctx, AVFrame *frame), (avctx, frame))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_send_packet, (AVCodecContext *avctx, const AVPacket *avpkt), (avctx,
    avpkt))
ASK(avcodec, int, AVERROR(ENOSYS), avcodec_parameters_copy, (AVCodecParameters *dst, const AVCodecParameters *src),
    (dst, src))
ASK(avcodec, int, AVERROR(ENOSYS), av_bsf_send_packet, (AVBSFContext *ctx, AVPacket *pkt), (ctx, pkt))
ASK(avcodec, int, AVERROR(ENOSYS), av_bsf_receive_packet, (AVBSFContext *ctx, AVPacket *pkt), (ctx, pkt))
ASK(avcodec, int, AVERROR(ENOSYS), av_bsf_list_parse_str, (const char *str, AVBSFContext **bsf), (str, bsf))
ASK(avcodec, int, AVERROR(ENOSYS), av_bsf_init, (AVBSFContext *ctx), (ctx))
RUN(avcodec, av_bsf_free, (AVBSFContext **ctx), (ctx))

ASK(avutil, AVBufferRef *, NULL, av_buffer_create, (uint8_t *data, size_t size, void (*free)(void *opaque,
    uint8_t *data), void *opaque, int flags), (data, size, free, opaque, flags))
RUN(avutil, av_channel_layout_default, (AVChannelLayout *ch_layout, int nb_channels), (ch_layout, nb_channels))
ASK(avutil, int, AVERROR(ENOSYS), av_channel_layout_from_mask, (AVChannelLayout *channel_layout, uint64_t mask),
    (channel_layout, mask))
ASK(avutil, int, AVERROR(ENOSYS), av_cpu_count, (void), ())
RUN(avutil, av_dict_free, (AVDictionary **m), (m))
ASK(avutil, int, AVERROR(ENOSYS), av_dict_set, (AVDictionary **pm, const char *key, const char *value, int flags),
    (pm, key, value, flags))
ASK(avutil, double, 0, av_display_rotation_get, (const int32_t matrix[9]), (matrix))
RUN(avutil, av_display_rotation_set, (int32_t matrix[9], double angle), (matrix, angle))
ASK(avutil, AVFrame *, NULL, av_frame_alloc, (void), ())
RUN(avutil, av_frame_free, (AVFrame **frame), (frame))
ASK(avutil, AVFrameSideData *, NULL, av_frame_get_side_data, (const AVFrame *frame, enum AVFrameSideDataType type),
    (frame, type))
RUN(avutil, av_free, (void *ptr), (ptr))
RUN(avutil, av_log_set_level, (int level), (level))
ASK(avutil, void *, NULL, av_malloc, (size_t size), (size))
ASK(avutil, void *, NULL, av_mallocz, (size_t size), (size))
ASK(avutil, int, AVERROR(ENOSYS), av_opt_set_int, (void *obj, const char *name, int64_t val, int search_flags), (obj,
    name, val, search_flags))
ASK(avutil, const AVPixFmtDescriptor *, NULL, av_pix_fmt_desc_get, (enum AVPixelFormat pix_fmt), (pix_fmt))
ASK(avutil, int64_t, 0, av_rescale_q, (int64_t a, AVRational bq, AVRational cq), (a, bq, cq))
ASK(avutil, int, AVERROR(ENOSYS), av_strerror, (int errnum, char *errbuf, size_t errbuf_size), (errnum, errbuf,
    errbuf_size))

ASK(swresample, int, AVERROR(ENOSYS), swr_alloc_set_opts2, (struct SwrContext **ps, AVChannelLayout *out_ch_layout,
    enum AVSampleFormat out_sample_fmt, int out_sample_rate, AVChannelLayout *in_ch_layout,
    enum AVSampleFormat in_sample_fmt, int in_sample_rate, int log_offset, void *log_ctx), (ps, out_ch_layout,
    out_sample_fmt, out_sample_rate, in_ch_layout, in_sample_fmt, in_sample_rate, log_offset, log_ctx))
ASK(swresample, int, AVERROR(ENOSYS), swr_convert, (struct SwrContext *s, uint8_t **out, int out_count,
    const uint8_t **in, int in_count), (s, out, out_count, in, in_count))
RUN(swresample, swr_free, (struct SwrContext **s), (s))
ASK(swresample, int, AVERROR(ENOSYS), swr_get_out_samples, (struct SwrContext *s, int in_samples), (s, in_samples))
ASK(swresample, int, AVERROR(ENOSYS), swr_init, (struct SwrContext *s), (s))

ASK(swscale, struct SwsContext *, NULL, sws_alloc_context, (void), ())
RUN(swscale, sws_freeContext, (struct SwsContext *swsContext), (swsContext))
ASK(swscale, const int *, NULL, sws_getCoefficients, (int colorspace), (colorspace))
ASK(swscale, int, AVERROR(ENOSYS), sws_init_context, (struct SwsContext *sws_context, SwsFilter *srcFilter,
    SwsFilter *dstFilter), (sws_context, srcFilter, dstFilter))
ASK(swscale, int, AVERROR(ENOSYS), sws_scale, (struct SwsContext *c, const uint8_t *const srcSlice[],
    const int srcStride[], int srcSliceY, int srcSliceH, uint8_t *const dst[], const int dstStride[]), (c, srcSlice,
    srcStride, srcSliceY, srcSliceH, dst, dstStride))
ASK(swscale, int, AVERROR(ENOSYS), sws_setColorspaceDetails, (struct SwsContext *c, const int inv_table[4],
    int srcRange, const int table[4], int dstRange, int brightness, int contrast, int saturation), (c, inv_table,
    srcRange, table, dstRange, brightness, contrast, saturation))
