#ifndef RTCAST_PATHS_H
#define RTCAST_PATHS_H

/// The path of a file without symbolic links, which the caller frees; NULL if there is no such file.
///
/// It is `realpath`, which Swift cannot import in a fortified build: the header then defines it, and differently in modules that include
/// <limits.h> before it and those that do not.
char *_Nullable rtcast_resolved_path(const char *_Nonnull path);

#endif
