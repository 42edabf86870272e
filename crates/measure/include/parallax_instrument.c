/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parallax_instrument.c: records calls, loops and accesses of a program without marks.
 *
 * gcc and clang put a call before every access and around every function with -fsanitize=thread.
 * Here these calls write events of parallax.h instead of finding races, so that this object is
 * linked in place of the compiler's library. A place is the address that a call returns to; names
 * are looked up when the program is over (PARALLAX_NAMER). What the program asks of the C library
 * that orders threads or gives memory comes by here because the linker is told so: `--wrap=NAME`
 * makes `NAME` of the program's own objects `__wrap_NAME`, and `__real_NAME` the library's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <string.h>

/* What parallax.h does for itself is not recorded. */
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
void *__real_memcpy(void *to, const void *from, size_t bytes);
#define pthread_mutex_lock __real_pthread_mutex_lock
#define pthread_mutex_unlock __real_pthread_mutex_unlock
#define memcpy __real_memcpy
#include "parallax.h"
#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#undef memcpy

#include <dlfcn.h>
#include <link.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>
#include <threads.h>

extern char **environ;

#define COLD __attribute__((noinline, cold))
#define HERE ((uintptr_t)__builtin_return_address(0))

/* Records of names, see FORMAT.md. */
enum { AT_MODULE = 3, AT_ADDRESS = 4 };
/* Events of its own: memory of a function that returns; a block of a function begins. */
enum { FRAME_ENDS = 13, BLOCK = 14 };
/* And a kind of place. */
enum { AT_BLOCK = 5 };
/* What else a place may be at one address. */
#define IS_REGION ((uint64_t)1 << 62)

enum { KNOWN_SITES = 1 << 12, KNOWN_FRAMES = 1 << 12 };

struct known_site {
    uint64_t key;
    uint32_t id;
};

/* A function that has not returned. */
struct frame {
    /* Of the stack when it was entered, and where its own part of the stack ends; 0: not known. */
    uintptr_t stack, end;
};

/* What a thread knows besides what parallax.h does; mapped when it first does something. */
struct own {
    struct known_site sites[KNOWN_SITES];
    struct frame frames[KNOWN_FRAMES];
    uintptr_t stack_from, stack_to;
    /* The lowest address of its own stack that was accessed and is not given back. */
    uintptr_t lowest;
};

static __thread struct own *own_;
/* Whether this thread is in what follows, and not in the program. */
static __thread int is_inside;
/* Before, compilers only call __tsan_init, from functions of their own. */
static int is_started;
__attribute__((constructor(101))) static void start(void) { is_started = 1; }

/* All places, by key: open addressing. With the lock of parallax.h held. */
static struct known_site *places;
static uint64_t places_room, num_places;

/* Modules whose records are written. */
static struct {
    uintptr_t from, to;
} modules[512];
static int num_modules;

static int module_found(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    uintptr_t from = UINTPTR_MAX, to = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (start < from) from = start;
        if (start + info->dlpi_phdr[i].p_memsz > to) to = start + info->dlpi_phdr[i].p_memsz;
    }
    for (int i = 0; i < num_modules; i++)
        if (modules[i].from == from) return 0;
    if (to <= from || num_modules == sizeof modules / sizeof *modules) return 0;
    char path[PARALLAX_LONGEST_NAME_ + 1];
    ssize_t length = -1;
    if (!info->dlpi_name || !info->dlpi_name[0]) {
        length = num_modules ? 0 : readlink("/proc/self/exe", path, PARALLAX_LONGEST_NAME_);
        path[length > 0 ? length : 0] = 0;
    }
    unsigned char *at = parallax_names_();
    if (!at) return 1;
    modules[num_modules].from = from;
    modules[num_modules++].to = to;
    unsigned char *tag = at;
    at = parallax_number_(at + 1, info->dlpi_addr);
    at = parallax_number_(at, from);
    at = parallax_number_(at, to);
    at = parallax_text_(at, length >= 0 ? path : info->dlpi_name);
    *tag = AT_MODULE;
    parallax_run_.names_at = at;
    return 0;
}

static void know_module(uintptr_t address) {
    for (int i = 0; i < num_modules; i++)
        if (address >= modules[i].from && address < modules[i].to) return;
    dl_iterate_phdr(module_found, NULL);
}

static uint64_t slot_of(const struct known_site *table, uint64_t room, uint64_t key) {
    uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (table[at].key && table[at].key != key) at = (at + 1) & (room - 1);
    return at;
}

static void *fresh(uint64_t bytes) {
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Keeps the table of places at most half full; 0 without memory. */
static int make_place(void) {
    if (2 * (num_places + 1) <= places_room) return 1;
    uint64_t room = places_room ? 2 * places_room : 1 << 14;
    struct known_site *table = fresh(room * sizeof *table);
    if (!table) return 0;
    for (uint64_t i = 0; i < places_room; i++)
        if (places[i].key) table[slot_of(table, room, places[i].key)] = places[i];
    if (places) munmap(places, places_room * sizeof *places);
    places = table;
    places_room = room;
    return 1;
}

/* The number of a place, which is written down if it is new; 0 when nothing is recorded. */
static COLD uint32_t define(uint64_t key, uint32_t kind, const char *name) {
    uint32_t id = 0;
    int error = errno;
    is_inside++;
    __real_pthread_mutex_lock(&parallax_lock_);
    if (parallax_run_.state == PARALLAX_RECORDS_ && make_place()) {
        struct known_site *place = &places[slot_of(places, places_room, key)];
        uintptr_t address = (uintptr_t)(key & ~IS_REGION);
        if (!place->key) {
            know_module(address);
            unsigned char *at = parallax_names_(), *tag = at;
            if (at) {
                place->key = key;
                place->id = ++parallax_run_.sites;
                num_places++;
                at = parallax_number_(at + 1, place->id);
                at = parallax_number_(at, kind);
                at = parallax_number_(at, address);
                at = parallax_text_(at, name);
                *tag = AT_ADDRESS;
                parallax_run_.names_at = at;
            }
        }
        id = place->id;
    }
    __real_pthread_mutex_unlock(&parallax_lock_);
    is_inside--;
    errno = error;
    return id;
}

static inline struct parallax_site_ site(uint64_t key, uint32_t kind, const char *name) {
    struct known_site *known = &own_->sites[(key >> 1) % KNOWN_SITES];
    if (__builtin_expect(known->key != key, 0)) {
        known->id = define(key, kind, name);
        known->key = known->id ? key : 0;
    }
    struct parallax_site_ found = {NULL, NULL, NULL, kind, 0, known->id};
    return found;
}

static COLD int begin(void) {
    if (!is_started) return 0;
    int error = errno;
    is_inside++;
    int is_ready = parallax_next_chunk_(&parallax_self_);
    if (is_ready && !own_) {
        own_ = fresh(sizeof *own_);
        pthread_attr_t attributes;
        if (own_ && pthread_getattr_np(pthread_self(), &attributes) == 0) {
            void *from;
            size_t bytes;
            if (pthread_attr_getstack(&attributes, &from, &bytes) == 0) {
                own_->stack_from = (uintptr_t)from;
                own_->stack_to = (uintptr_t)from + bytes;
            }
            pthread_attr_destroy(&attributes);
        }
        if (own_) own_->lowest = own_->stack_to;
    }
    is_inside--;
    errno = error;
    return is_ready && own_;
}

/* Whether an event of the program can be written. */
static inline int records(void) {
    if (is_inside) return 0;
    struct parallax_thread_ *self = &parallax_self_;
    return __builtin_expect(self->end - self->at >= PARALLAX_ROOM_ && own_, 1) || begin();
}

/* The same of what belongs to a call. */
static inline int records_in_call(void) { return records() && parallax_self_.depth > 0; }

static inline int is_own_stack(uintptr_t address) {
    return address >= own_->stack_from && address < own_->stack_to;
}

/* Forgets functions that were left without a word, as with longjmp: their parts of the stack are
 * below. */
static inline void forget_below(uintptr_t stack) {
    if (!is_own_stack(stack)) return;
    while (parallax_self_.depth > 0 && parallax_self_.depth <= KNOWN_FRAMES &&
           own_->frames[parallax_self_.depth - 1].stack < stack &&
           is_own_stack(own_->frames[parallax_self_.depth - 1].stack))
        parallax_self_.depth--;
}

static inline void enter(uint32_t kind, uint64_t key, const char *name, uintptr_t stack, uintptr_t end) {
    struct parallax_site_ place = site(key, kind, name);
    uint32_t depth = parallax_self_.depth;
    if (depth < KNOWN_FRAMES) {
        own_->frames[depth].stack = stack;
        own_->frames[depth].end = end;
    }
    if (place.id) parallax_enter_(PARALLAX_CALL_, &place);
}

static inline void leave(void) {
    struct parallax_scope_ scope = {parallax_self_.depth - 1, 1};
    uintptr_t end = scope.depth < KNOWN_FRAMES ? own_->frames[scope.depth].end : 0;
    if (end > own_->lowest && records()) {
        struct parallax_thread_ *self = &parallax_self_;
        unsigned char *at = self->at;
        *at = FRAME_ENDS;
        at = parallax_place_(self, at + 1, (const void *)own_->lowest);
        self->at = parallax_number_(at, end - own_->lowest);
        own_->lowest = end;
    }
    if (records()) parallax_leave_(&scope);
}

/* What the compiler calls. */

void __tsan_init(void) {}
void __tsan_vptr_read(void **at) { (void)at; }

void __tsan_func_entry(void *caller) {
    (void)caller;
    if (!records()) return;
    uintptr_t *frame = (uintptr_t *)__builtin_frame_address(0);
    uintptr_t stack = (uintptr_t)frame, end = 0;
    forget_below(stack);
#if defined(__x86_64__)
    /* The caller keeps a frame pointer, above which are its return address and its caller. */
    if (*frame > stack && is_own_stack(stack) && *frame < own_->stack_to) end = *frame + 16;
#endif
    enter(PARALLAX_AT_FUNCTION_, HERE, "", stack, end);
}

void __tsan_func_exit(void) {
    if (!records()) return;
    forget_below((uintptr_t)__builtin_frame_address(0));
    if (parallax_self_.depth > 0) leave();
}

/* A block of straight code begins (-fsanitize-coverage=trace-pc): which of them follow each other
 * tells where the loops are. */
void __sanitizer_cov_trace_pc(void) {
    if (!records_in_call()) return;
    forget_below((uintptr_t)__builtin_frame_address(0));
    struct parallax_thread_ *self = &parallax_self_;
    struct parallax_site_ place = site(HERE, AT_BLOCK, "");
    if (self->depth == 0 || !place.id) return;
    unsigned char *at = self->at;
    *at = BLOCK;
    at = parallax_number_(at + 1, self->depth);
    at = parallax_number_(at, place.id);
    self->at = parallax_time_(self, at);
}

static inline void touch(int tag, const volatile void *pointer, uint64_t bytes, uintptr_t from) {
    if (bytes == 0 || !records_in_call()) return;
    struct parallax_site_ place = site(from, PARALLAX_AT_OTHER_, "");
    uintptr_t address = (uintptr_t)pointer;
    if (address < own_->lowest && address >= own_->stack_from) own_->lowest = address;
    if (place.id) parallax_access_(tag, &place, pointer, bytes);
}

#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *at) { touch(PARALLAX_READ_, at, bytes, HERE); }                 \
    void __tsan_write##bytes(void *at) { touch(PARALLAX_WRITE_, at, bytes, HERE); }               \
    void __tsan_unaligned_read##bytes(void *at) { touch(PARALLAX_READ_, at, bytes, HERE); }       \
    void __tsan_unaligned_write##bytes(void *at) { touch(PARALLAX_WRITE_, at, bytes, HERE); }     \
    void __tsan_volatile_read##bytes(void *at) { touch(PARALLAX_READ_, at, bytes, HERE); }        \
    void __tsan_volatile_write##bytes(void *at) { touch(PARALLAX_WRITE_, at, bytes, HERE); }      \
    void __tsan_read_write##bytes(void *at) {                                                      \
        touch(PARALLAX_READ_, at, bytes, HERE);                                                   \
        touch(PARALLAX_WRITE_, at, bytes, HERE);                                                  \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *at, unsigned long bytes) { touch(PARALLAX_READ_, at, bytes, HERE); }
void __tsan_write_range(void *at, unsigned long bytes) { touch(PARALLAX_WRITE_, at, bytes, HERE); }
void __tsan_vptr_update(void **at, void *value) {
    if (*at != value) touch(PARALLAX_WRITE_, at, sizeof *at, HERE);
}

/* What orders threads: an event of a lock at an address. */
static inline void lock_event(int tag, const volatile void *lock, uintptr_t from) {
    if (!records_in_call()) return;
    struct parallax_site_ place = site(from, PARALLAX_AT_OTHER_, "");
    if (place.id) parallax_at_(tag, &place, lock);
}
/* What this thread did comes before what others do that meet it at this address later. */
static inline void meet(const volatile void *at, uintptr_t from) {
    lock_event(PARALLAX_ACQUIRED_, at, from);
    lock_event(PARALLAX_RELEASES_, at, from);
}

/* Atomic accesses: each is recorded while nobody else has the address, so that their order in the
 * recording is that in the program. */
static volatile char guards[256];
static inline void guard(const volatile void *at, uintptr_t from) {
    volatile char *own = &guards[((uintptr_t)at >> 3) % sizeof guards];
    while (__atomic_test_and_set(own, __ATOMIC_ACQUIRE)) sched_yield();
    lock_event(PARALLAX_ACQUIRED_, at, from);
}
static inline void unguard(const volatile void *at, uintptr_t from) {
    lock_event(PARALLAX_RELEASES_, at, from);
    __atomic_clear(&guards[((uintptr_t)at >> 3) % sizeof guards], __ATOMIC_RELEASE);
}

#define ATOMIC_UPDATE(bits, type, name, compute)                                                   \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order) {                  \
        (void)order;                                                                               \
        guard(at, HERE);                                                                           \
        type before = *at, now;                                                                    \
        do now = compute;                                                                          \
        while (!EXCHANGED_##bits(at, &before, now));                                               \
        touch(PARALLAX_READ_, at, sizeof *at, HERE);                                              \
        touch(PARALLAX_WRITE_, at, sizeof *at, HERE);                                             \
        unguard(at, HERE);                                                                         \
        return before;                                                                             \
    }
/* Code without the hooks may access the same; of 16 bytes that is not known to be atomic. */
#define EXCHANGED(at, before, now)                                                                 \
    __atomic_compare_exchange_n(at, before, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define EXCHANGED_8 EXCHANGED
#define EXCHANGED_16 EXCHANGED
#define EXCHANGED_32 EXCHANGED
#define EXCHANGED_64 EXCHANGED
#define EXCHANGED_128(at, before, now) (*(before) == *(at) ? (*(at) = (now), 1) : (*(before) = *(at), 0))
#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) {                          \
        (void)order;                                                                               \
        guard(at, HERE);                                                                           \
        type value = *at;                                                                          \
        touch(PARALLAX_READ_, at, sizeof *at, HERE);                                              \
        unguard(at, HERE);                                                                         \
        return value;                                                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {                   \
        (void)order;                                                                               \
        guard(at, HERE);                                                                           \
        type before = *at;                                                                         \
        while (!EXCHANGED_##bits(at, &before, value)) continue;                                    \
        touch(PARALLAX_WRITE_, at, sizeof *at, HERE);                                             \
        unguard(at, HERE);                                                                         \
    }                                                                                              \
    ATOMIC_UPDATE(bits, type, exchange, value)                                                     \
    ATOMIC_UPDATE(bits, type, fetch_add, before + value)                                           \
    ATOMIC_UPDATE(bits, type, fetch_sub, before - value)                                           \
    ATOMIC_UPDATE(bits, type, fetch_and, before &value)                                            \
    ATOMIC_UPDATE(bits, type, fetch_or, before | value)                                            \
    ATOMIC_UPDATE(bits, type, fetch_xor, before ^ value)                                           \
    ATOMIC_UPDATE(bits, type, fetch_nand, ~(before & value))                                       \
    static int exchanged##bits(volatile type *at, type *expected, type value, uintptr_t from) {    \
        guard(at, from);                                                                           \
        int is_done = EXCHANGED_##bits(at, expected, value);                                       \
        touch(PARALLAX_READ_, at, sizeof *at, from);                                              \
        if (is_done) touch(PARALLAX_WRITE_, at, sizeof *at, from);                                \
        unguard(at, from);                                                                         \
        return is_done;                                                                            \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,           \
                                                      type value, int order, int otherwise) {      \
        (void)order, (void)otherwise;                                                              \
        return exchanged##bits(at, expected, value, HERE);                                         \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type value, \
                                                    int order, int otherwise) {                    \
        (void)order, (void)otherwise;                                                              \
        return exchanged##bits(at, expected, value, HERE);                                         \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value,  \
                                                    int order, int otherwise) {                    \
        (void)order, (void)otherwise;                                                              \
        exchanged##bits(at, &expected, value, HERE);                                               \
        return expected;                                                                           \
    }
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned int)
ATOMIC(64, unsigned long long)
#ifdef __SIZEOF_INT128__
ATOMIC(128, unsigned __int128)
#endif
void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Memory. */

static inline void allocated(const void *pointer, uint64_t bytes, const char *by, uintptr_t from) {
    if (!pointer || !records_in_call()) return;
    struct parallax_site_ place = site(from, PARALLAX_AT_OTHER_, by);
    if (place.id) parallax_allocated_(&place, pointer, bytes, PARALLAX_HEAP_);
}
static inline void released(const void *pointer, uintptr_t from) {
    if (pointer) lock_event(PARALLAX_RELEASED_, pointer, from);
}

/* Functions of the library that a program need not have. */
#define REAL(type, name, ...) extern type __real_##name(__VA_ARGS__) __attribute__((weak))

REAL(void *, malloc, size_t);
REAL(void *, calloc, size_t, size_t);
REAL(void *, realloc, void *, size_t);
REAL(void, free, void *);
REAL(void *, aligned_alloc, size_t, size_t);
REAL(int, posix_memalign, void **, size_t, size_t);
REAL(char *, strdup, const char *);
void *__wrap_malloc(size_t bytes) {
    void *pointer = __real_malloc(bytes);
    allocated(pointer, bytes, "malloc", HERE);
    return pointer;
}
void *__wrap_calloc(size_t count, size_t bytes) {
    void *pointer = __real_calloc(count, bytes);
    allocated(pointer, count * bytes, "calloc", HERE);
    return pointer;
}
void *__wrap_realloc(void *before, size_t bytes) {
    released(before, HERE);
    void *pointer = __real_realloc(before, bytes);
    allocated(pointer, bytes, "realloc", HERE);
    return pointer;
}
void __wrap_free(void *pointer) {
    released(pointer, HERE);
    __real_free(pointer);
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    void *pointer = __real_aligned_alloc(alignment, bytes);
    allocated(pointer, bytes, "aligned_alloc", HERE);
    return pointer;
}
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t bytes) {
    int wrong = __real_posix_memalign(pointer, alignment, bytes);
    if (!wrong) allocated(*pointer, bytes, "posix_memalign", HERE);
    return wrong;
}
char *__wrap_strdup(const char *text) {
    char *pointer = __real_strdup(text);
    if (pointer) allocated(pointer, strlen(pointer) + 1, "strdup", HERE);
    return pointer;
}

/* `new` and `delete` of C++, as they are called there. */
#define NEW(name, parameters, arguments)                                                           \
    extern void *__real_##name parameters __attribute__((weak));                                   \
    void *__wrap_##name parameters {                                                               \
        void *pointer = __real_##name arguments;                                                   \
        allocated(pointer, bytes, "new", HERE);                                                    \
        return pointer;                                                                            \
    }
#define DELETE(name, parameters, arguments)                                                        \
    extern void __real_##name parameters __attribute__((weak));                                    \
    void __wrap_##name parameters {                                                                \
        released(pointer, HERE);                                                                   \
        __real_##name arguments;                                                                   \
    }
NEW(_Znwm, (size_t bytes), (bytes))
NEW(_Znam, (size_t bytes), (bytes))
NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))
NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
DELETE(_ZdlPv, (void *pointer), (pointer))
DELETE(_ZdaPv, (void *pointer), (pointer))
DELETE(_ZdlPvm, (void *pointer, size_t bytes), (pointer, bytes))
DELETE(_ZdaPvm, (void *pointer, size_t bytes), (pointer, bytes))
DELETE(_ZdlPvSt11align_val_t, (void *pointer, size_t alignment), (pointer, alignment))
DELETE(_ZdaPvSt11align_val_t, (void *pointer, size_t alignment), (pointer, alignment))
DELETE(_ZdlPvmSt11align_val_t, (void *pointer, size_t bytes, size_t alignment), (pointer, bytes, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *pointer, size_t bytes, size_t alignment), (pointer, bytes, alignment))

/* What the library accesses for the program. */
extern void *__real_memmove(void *to, const void *from, size_t bytes);
extern void *__real_memset(void *to, int value, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
    touch(PARALLAX_READ_, from, bytes, HERE);
    touch(PARALLAX_WRITE_, to, bytes, HERE);
    return __real_memcpy(to, from, bytes);
}
void *__wrap_memmove(void *to, const void *from, size_t bytes) {
    touch(PARALLAX_READ_, from, bytes, HERE);
    touch(PARALLAX_WRITE_, to, bytes, HERE);
    return __real_memmove(to, from, bytes);
}
void *__wrap_memset(void *to, int value, size_t bytes) {
    touch(PARALLAX_WRITE_, to, bytes, HERE);
    return __real_memset(to, value, bytes);
}

/* Locks, and what else threads wait for. */
#define LOCK(name, type)                                                                           \
    REAL(int, name, type *);                                                                       \
    int __wrap_##name(type *lock) {                                                                \
        int wrong = __real_##name(lock);                                                           \
        if (!wrong) lock_event(PARALLAX_ACQUIRED_, lock, HERE);                                    \
        return wrong;                                                                              \
    }
#define LOCK_FOR(name, type)                                                                       \
    REAL(int, name, type *, const struct timespec *);                                              \
    int __wrap_##name(type *lock, const struct timespec *until) {                                  \
        int wrong = __real_##name(lock, until);                                                    \
        if (!wrong) lock_event(PARALLAX_ACQUIRED_, lock, HERE);                                    \
        return wrong;                                                                              \
    }
#define UNLOCK(name, type)                                                                         \
    REAL(int, name, type *);                                                                       \
    int __wrap_##name(type *lock) {                                                                \
        lock_event(PARALLAX_RELEASES_, lock, HERE);                                                \
        return __real_##name(lock);                                                                \
    }
LOCK(pthread_mutex_lock, pthread_mutex_t)
LOCK(pthread_mutex_trylock, pthread_mutex_t)
LOCK_FOR(pthread_mutex_timedlock, pthread_mutex_t)
UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
LOCK(pthread_spin_lock, pthread_spinlock_t)
LOCK(pthread_spin_trylock, pthread_spinlock_t)
UNLOCK(pthread_spin_unlock, pthread_spinlock_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
LOCK_FOR(pthread_rwlock_timedrdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
LOCK_FOR(pthread_rwlock_timedwrlock, pthread_rwlock_t)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
LOCK(mtx_lock, mtx_t)
LOCK(mtx_trylock, mtx_t)
LOCK_FOR(mtx_timedlock, mtx_t)
UNLOCK(mtx_unlock, mtx_t)

/* While a thread waits for a condition, it does not have the lock. */
#define WAIT(name, condition_type, lock_type, parameters, arguments)                               \
    extern int __real_##name parameters __attribute__((weak));                                     \
    int __wrap_##name parameters {                                                                 \
        lock_event(PARALLAX_RELEASES_, lock, HERE);                                                \
        int wrong = __real_##name arguments;                                                       \
        lock_event(PARALLAX_ACQUIRED_, lock, HERE);                                                \
        return wrong;                                                                              \
    }
WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t, (pthread_cond_t *on, pthread_mutex_t *lock),
     (on, lock))
WAIT(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t,
     (pthread_cond_t *on, pthread_mutex_t *lock, const struct timespec *until), (on, lock, until))
WAIT(pthread_cond_clockwait, pthread_cond_t, pthread_mutex_t,
     (pthread_cond_t *on, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until),
     (on, lock, clock, until))
WAIT(cnd_wait, cnd_t, mtx_t, (cnd_t *on, mtx_t *lock), (on, lock))
WAIT(cnd_timedwait, cnd_t, mtx_t, (cnd_t *on, mtx_t *lock, const struct timespec *until),
     (on, lock, until))
/* std::condition_variable::wait(std::unique_lock<std::mutex> &), whose first field is the mutex. */
extern void __real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void *, void **)
    __attribute__((weak));
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void *on, void **lock) {
    lock_event(PARALLAX_RELEASES_, *lock, HERE);
    __real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(on, lock);
    lock_event(PARALLAX_ACQUIRED_, *lock, HERE);
}

REAL(int, pthread_barrier_wait, pthread_barrier_t *);
REAL(int, sem_post, sem_t *);
REAL(int, sem_wait, sem_t *);
REAL(int, sem_trywait, sem_t *);
REAL(int, sem_timedwait, sem_t *, const struct timespec *);
REAL(int, pthread_once, pthread_once_t *, void (*)(void));
int __wrap_pthread_barrier_wait(pthread_barrier_t *barrier) {
    meet(barrier, HERE);
    int which = __real_pthread_barrier_wait(barrier);
    meet(barrier, HERE);
    return which;
}
int __wrap_sem_post(sem_t *semaphore) {
    meet(semaphore, HERE);
    return __real_sem_post(semaphore);
}
int __wrap_sem_wait(sem_t *semaphore) {
    int wrong = __real_sem_wait(semaphore);
    if (!wrong) meet(semaphore, HERE);
    return wrong;
}
int __wrap_sem_trywait(sem_t *semaphore) {
    int wrong = __real_sem_trywait(semaphore);
    if (!wrong) meet(semaphore, HERE);
    return wrong;
}
int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    int wrong = __real_sem_timedwait(semaphore, until);
    if (!wrong) meet(semaphore, HERE);
    return wrong;
}
static __thread struct {
    pthread_once_t *what;
    void (*run)(void);
} once;
static void run_once(void) {
    pthread_once_t *what = once.what;
    once.run();
    meet(what, HERE);
}
int __wrap_pthread_once(pthread_once_t *what, void (*run)(void)) {
    once.what = what;
    once.run = run;
    int wrong = __real_pthread_once(what, run_once);
    meet(what, HERE);
    return wrong;
}

/* Threads. Libraries start some for the program (std::thread), so these stand before the library's
 * functions for all of them. */

static void thread_event(int tag, uint64_t handle, uintptr_t from) {
    if (!records_in_call()) return;
    struct parallax_site_ place = site(from, PARALLAX_AT_OTHER_, "");
    if (place.id) parallax_thread_event_(tag, &place, handle);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    if (!real) return ENOSYS;
    int wrong = real(thread, attributes, run, with);
    if (!wrong) thread_event(PARALLAX_STARTED_, (uint64_t)*thread, HERE);
    return wrong;
}
int pthread_join(pthread_t thread, void **result) {
    static int (*real)(pthread_t, void **);
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_join");
    if (!real) return ENOSYS;
    int wrong = real(thread, result);
    if (!wrong) thread_event(PARALLAX_JOINED_, (uint64_t)thread, HERE);
    return wrong;
}
REAL(int, thrd_create, thrd_t *, thrd_start_t, void *);
REAL(int, thrd_join, thrd_t, int *);
int __wrap_thrd_create(thrd_t *thread, thrd_start_t run, void *with) {
    int wrong = __real_thrd_create(thread, run, with);
    if (!wrong) thread_event(PARALLAX_STARTED_, (uint64_t)*thread, HERE);
    return wrong;
}
int __wrap_thrd_join(thrd_t thread, int *result) {
    int wrong = __real_thrd_join(thread, result);
    if (!wrong) thread_event(PARALLAX_JOINED_, (uint64_t)thread, HERE);
    return wrong;
}

#include "parallax_instrument_openmp.h"

/* At the end, the tool gives names to the addresses, while the program is as it was. */
__attribute__((destructor)) static void finish(void) {
    is_inside++;
    __real_pthread_mutex_lock(&parallax_lock_);
    int is_on = parallax_run_.state == PARALLAX_RECORDS_ && num_places > 0;
    parallax_run_.state = PARALLAX_STOPPED_;
    __real_pthread_mutex_unlock(&parallax_lock_);
    const char *namer = getenv("PARALLAX_NAMER");
#ifdef PARALLAX_TOOL
    if (!namer) namer = PARALLAX_TOOL;
#endif
    char file[64], path[4096];
    snprintf(file, sizeof file, "/proc/self/fd/%d", parallax_run_.file);
    ssize_t length = is_on ? readlink(file, path, sizeof path - 1) : -1;
    if (length <= 0 || !namer || !namer[0]) return;
    path[length] = 0;
    char *arguments[] = {(char *)namer, (char *)"instrument", (char *)"--names", path, NULL};
    pid_t child;
    int status = 1, wrong = posix_spawn(&child, namer, NULL, NULL, arguments, environ);
    if (!wrong && (waitpid(child, &status, 0) != child || status == 0)) return;
    fprintf(stderr, "parallax: %s has addresses and no names; `parallax instrument --names %s` adds them\n",
            path, path);
}
