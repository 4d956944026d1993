#pragma once

// What Swift cannot import from Linux: macros, packed structs, variadic calls and GNU extensions of glibc.
// Every function that can fail returns its result (>= 0) or the negated errno.
// _GNU_SOURCE must not be defined here: with it glibc's structs differ from those in Swift's own Glibc module,
// which then cannot be imported beside this one. What it would give is declared here or called by number.

#include "clinux_poll.h"
#include "clinux_thread.h"
#include "clinux_address.h"
#include "clinux_udp.h"
#include "clinux_tcp.h"
#include "clinux_resolve.h"
#include "clinux_multicast.h"
#include "clinux_message.h"
#include "clinux_batch.h"
#include "clinux_interface.h"
#include "clinux_network.h"
#include "clinux_descriptor.h"
#include "clinux_process.h"
#include "clinux_confine.h"
#include "clinux_sandbox.h"
#include "clinux_signal.h"
#include "clinux_camera.h"
#include "clinux_dmabuf.h"
