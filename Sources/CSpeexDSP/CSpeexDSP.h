#ifndef CSPEEXDSP_H
#define CSPEEXDSP_H

#include <speex/speex_resampler.h>

#endif
