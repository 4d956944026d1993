// A standard descriptor that is closed would be given to the next file or socket, and what is printed would go there. The
// Swift runtime opens descriptors before the first line of the program runs, so this comes before it.
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void hold_standard_streams(void) {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
    // The lowest number that is free is given first, so that it is this one.
    if (fcntl(descriptor, F_GETFD) < 0) (void)!open("/dev/null", O_RDWR);
  }
}
