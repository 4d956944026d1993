#ifndef CYUV_H
#define CYUV_H

#include <libyuv.h>

// The conversion constants are global objects of an incomplete type, which Swift cannot take the address of.
static inline const struct YuvConstants *cyuv_bt601_limited(void) { return &kYuvI601Constants; }
static inline const struct YuvConstants *cyuv_bt709_limited(void) { return &kYuvH709Constants; }
static inline const struct YuvConstants *cyuv_bt709_full(void) { return &kYuvF709Constants; }
static inline const struct YuvConstants *cyuv_bt601_full(void) { return &kYuvJPEGConstants; }

#endif
