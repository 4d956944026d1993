#ifndef CWEBP_H
#define CWEBP_H

#include <webp/decode.h>
#include <webp/encode.h>

#endif
