#pragma once

#include <stddef.h>
#include <stdint.h>

/* libFuzzer as a library: SwiftPM insists on naming the entry point itself, so libFuzzer's own main cannot be it. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one_input)(const uint8_t *data, size_t size));
