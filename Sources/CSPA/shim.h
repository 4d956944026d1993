// The place of libspa's headers, by pkg-config. CPipeWire includes what it uses.
#include <stdint.h>
