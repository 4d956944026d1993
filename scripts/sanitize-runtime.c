// Stands before the libraries of tests that run under a sanitizer (LD_PRELOAD), by scripts/sanitize alone.
//
// Tells ThreadSanitizer what the Swift runtime and libdispatch order between threads. Neither is instrumented: without
// this, what one thread does with an object after another let it go looks like a race, and so does what two threads do
// one after the other under a Mutex for which one of them waited. Speaks of Swift 6 on 64-bit Linux.
//
// Keeps libraries loaded: reports come at the end, and could not name what is gone by then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Nil in processes without the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

static void acquire(void *object) {
  if (__tsan_acquire) __tsan_acquire(object);
}

static void release(void *object) {
  if (__tsan_release) __tsan_release(object);
}

// What would have been called without this library.
#define NEXT(type, name)                          \
  static __typeof__(type) theirs;                             \
  if (!theirs) theirs = (__typeof__(type))dlsym(RTLD_NEXT, name)

// Mutex. A free one is taken and given by atomic operations, which are compiled into our code and seen.
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, SELF);
typedef __attribute__((swiftcall)) void (*unlock_function)(SELF);
__attribute__((swiftcall)) void lock_slow(uint32_t, SELF) __asm__(LOCK);
__attribute__((swiftcall)) void unlock_slow(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF) {
  NEXT(lock_function, LOCK);
  theirs(thread, self);
  acquire(self);
}

__attribute__((swiftcall)) void unlock_slow(SELF) {
  NEXT(unlock_function, UNLOCK);
  release(self);
  theirs(self);
}

// References. Whoever lets go of an object is before whoever then finds himself its only owner, or ends it.
struct object {
  void *metadata;
  uint64_t count;
};

static void let_go(struct object *object) {
  if ((intptr_t)object <= 0) return;
  uint64_t count = __atomic_load_n(&object->count, __ATOMIC_RELAXED);
  // Lives for ever.
  if ((uint32_t)count == UINT32_MAX) return;
  if (count >> 33 == 0)
    acquire(object);
  else
    release(object);
}

static struct object *untagged(void *bridged) {
  if ((intptr_t)bridged <= 0) return 0;
  return (struct object *)((uintptr_t)bridged & 0x0ffffffffffffff8);
}

void swift_release(struct object *object) {
  NEXT(void (*)(void *), "swift_release");
  let_go(object);
  theirs(object);
}

void swift_release_n(struct object *object, uint32_t n) {
  NEXT(void (*)(void *, uint32_t), "swift_release_n");
  if ((intptr_t)object > 0) release(object);
  theirs(object, n);
}

void swift_bridgeObjectRelease(void *object) {
  NEXT(void (*)(void *), "swift_bridgeObjectRelease");
  let_go(untagged(object));
  theirs(object);
}

#define UNIQUE(name)                                \
  bool name(void *object) {                         \
    NEXT(bool (*)(void *), #name);                  \
    bool is_unique = theirs(object);                \
    if (is_unique) acquire(untagged(object));       \
    return is_unique;                               \
  }
UNIQUE(swift_isUniquelyReferenced_native)
UNIQUE(swift_isUniquelyReferenced_nonNull_native)
UNIQUE(swift_isUniquelyReferenced_nonNull_bridgeObject)

#define ENDING(name)                                                    \
  void name(void *object, uintptr_t size, uintptr_t alignment_mask) {   \
    NEXT(void (*)(void *, uintptr_t, uintptr_t), #name);                \
    acquire(object);                                                    \
    theirs(object, size, alignment_mask);                               \
  }
ENDING(swift_deallocClassInstance)
ENDING(swift_deallocObject)

// Groups of libdispatch.
void dispatch_group_leave(void *group) {
  NEXT(void (*)(void *), "dispatch_group_leave");
  release(group);
  theirs(group);
}

intptr_t dispatch_group_wait(void *group, uint64_t timeout) {
  NEXT(intptr_t (*)(void *, uint64_t), "dispatch_group_wait");
  intptr_t late = theirs(group, timeout);
  if (late == 0) acquire(group);
  return late;
}

int dlclose(void *library) {
  (void)library;
  return 0;
}
