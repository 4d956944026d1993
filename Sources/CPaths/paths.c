#include "paths.h"

#include <stdlib.h>

char *rtcast_resolved_path(const char *path) { return realpath(path, NULL); }
