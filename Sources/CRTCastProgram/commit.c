// Git's own files are embedded, so that the compiler's list of dependencies has them: this file, and what is linked with it,
// is made anew when the commit changes and at no other time, however the build was started.
#include "commit.h"

#pragma clang diagnostic ignored "-Wc23-extensions"  // #embed, in whatever C the package is compiled as

static const char head[] = {
#if __has_embed("../../.git/HEAD")
#embed "../../.git/HEAD" suffix(, )
#endif
    0};

static const char main_branch[] = {
#if __has_embed("../../.git/refs/heads/main")
#embed "../../.git/refs/heads/main" suffix(, )
#endif
    0};

const char *rtcast_commit(void) {
  const char *on_main = "ref: refs/heads/main\n";
  const char *place = head;
  while (*on_main != 0 && *place == *on_main) {
    place++;
    on_main++;
  }
  if (*on_main == 0) return main_branch;
  return head[0] == 'r' ? "" : head;  // the commit itself when no branch is checked out
}
