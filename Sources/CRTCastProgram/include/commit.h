// The commit that this program was built from.
#ifndef RTCAST_COMMIT_H
#define RTCAST_COMMIT_H

// 40 hexadecimal digits and a newline; empty where Git does not say so in a plain file: not in a clone, in a work tree beside
// one, on a branch other than main, or after `git pack-refs`.
const char *rtcast_commit(void);

#endif
