/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parallax.h: records single calls, loops, iterations, accesses and threads of a program.
 *
 * One file, no library: include it, mark what matters, compile with gcc or clang (C11 or C++17,
 * `-pthread`), run. The recording is `parallax-run.plxm`, or what PARALLAX_OUT names (`%p` is the
 * process id; empty: nothing is recorded). PARALLAX_LIMIT_MB bounds its size (2048). With
 * `-DPARALLAX_OFF` all marks vanish.
 *
 *     PARALLAX_FUNCTION();                     this function, until it returns
 *     PARALLAX_REGION("name");                 from here to the end of the block
 *     PARALLAX_LOOP() for (...) {              the loop that follows
 *         PARALLAX_ITERATION();                this iteration, until its end
 *     }
 *     PARALLAX_READ(x); PARALLAX_WRITE(x);     x is read, is written
 *     PARALLAX_UPDATE(x);                      x is read and then written, as `x += 1` does
 *     PARALLAX_READ_OF(pointer, bytes, "name"); PARALLAX_WRITE_OF(pointer, bytes, "name");
 *     PARALLAX_ALLOCATED(pointer, bytes, "name"); PARALLAX_RELEASED(pointer);
 *     PARALLAX_LOCAL(x);                       x lives until the end of the block
 *     PARALLAX_THREAD_STARTED(handle); PARALLAX_THREAD_JOINED(handle);
 *     PARALLAX_LOCK_ACQUIRED(&lock); PARALLAX_LOCK_RELEASES(&lock);
 *
 * STARTED, JOINED, ALLOCATED and ACQUIRED come after what they are about; RELEASED and RELEASES
 * before it. docs/measure.md says more, and FORMAT.md of crates/formats/src/plxm has the bytes.
 */
#ifndef PARALLAX_H
#define PARALLAX_H

#ifdef PARALLAX_OFF

#define PARALLAX_FUNCTION() ((void)0)
#define PARALLAX_REGION(name) ((void)0)
#define PARALLAX_LOOP()
#define PARALLAX_ITERATION() ((void)0)
#define PARALLAX_READ(x) ((void)0)
#define PARALLAX_WRITE(x) ((void)0)
#define PARALLAX_UPDATE(x) ((void)0)
#define PARALLAX_READ_OF(pointer, bytes, name) ((void)0)
#define PARALLAX_WRITE_OF(pointer, bytes, name) ((void)0)
#define PARALLAX_ALLOCATED(pointer, bytes, name) ((void)0)
#define PARALLAX_RELEASED(pointer) ((void)0)
#define PARALLAX_LOCAL(x) ((void)0)
#define PARALLAX_THREAD_STARTED(handle) ((void)0)
#define PARALLAX_THREAD_JOINED(handle) ((void)0)
#define PARALLAX_LOCK_ACQUIRED(lock) ((void)0)
#define PARALLAX_LOCK_RELEASES(lock) ((void)0)

#else

#if !defined(__GNUC__) || defined(_WIN32)
#error "parallax.h wants gcc or clang on a Unix; define PARALLAX_OFF to compile without it"
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever includes this header has the same definitions; the linker keeps one of each. */
#define PARALLAX_SHARED_ __attribute__((weak))

/* Tags of records, and kinds of sites; see FORMAT.md. */
enum {
    PARALLAX_CALL_ = 1,
    PARALLAX_LOOP_ = 2,
    PARALLAX_ITERATION_ = 3,
    PARALLAX_LEAVE_ = 4,
    PARALLAX_READ_ = 5,
    PARALLAX_WRITE_ = 6,
    PARALLAX_ALLOCATED_ = 7,
    PARALLAX_RELEASED_ = 8,
    PARALLAX_STARTED_ = 9,
    PARALLAX_JOINED_ = 10,
    PARALLAX_ACQUIRED_ = 11,
    PARALLAX_RELEASES_ = 12
};
enum { PARALLAX_AT_FUNCTION_ = 1, PARALLAX_AT_REGION_ = 2, PARALLAX_AT_LOOP_ = 3, PARALLAX_AT_OTHER_ = 4 };
enum { PARALLAX_STACK_ = 1, PARALLAX_HEAP_ = 2 };
enum { PARALLAX_NAMES_ = 1, PARALLAX_EVENTS_ = 2 };
enum { PARALLAX_NOT_OPEN_ = 0, PARALLAX_RECORDS_ = 1, PARALLAX_STOPPED_ = 2 };

/* No record is longer. */
#define PARALLAX_ROOM_ 64
#define PARALLAX_HEADER_ 64
#define PARALLAX_LARGEST_ (256u << 10)
#define PARALLAX_LONGEST_NAME_ 1000

/* A place in the source. */
struct parallax_site_ {
    const char *name, *file, *function;
    uint32_t kind, line;
    /* 0 until it is in the recording. */
    uint32_t id;
};

/* Where a thread writes: the rest of its chunk, which is a part of the file in memory. */
struct parallax_thread_ {
    unsigned char *at, *end, *chunk;
    uint64_t chunk_bytes, ticks, address, number;
    uint32_t depth, parts;
    int is_known;
};

struct parallax_run_ {
    int state, file;
    uint32_t sites, name_parts;
    uint64_t threads, page, length, limit;
    unsigned char *names_at, *names_end;
    pthread_key_t key;
};

/* From entering to leaving. */
struct parallax_scope_ {
    uint32_t depth;
    int is_open;
};

PARALLAX_SHARED_ pthread_mutex_t parallax_lock_ = PTHREAD_MUTEX_INITIALIZER;
PARALLAX_SHARED_ struct parallax_run_ parallax_run_;
PARALLAX_SHARED_ __thread struct parallax_thread_ parallax_self_;

uint32_t parallax_define_(struct parallax_site_ *site);
int parallax_next_chunk_(struct parallax_thread_ *self);

static inline uint64_t parallax_nanos_(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t parallax_ticks_(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return parallax_nanos_();
#endif
}

/* Seven bits a byte, the lowest first; the highest bit says that more follow. */
static inline unsigned char *parallax_number_(unsigned char *at, uint64_t number) {
    while (number >= 0x80) {
        *at++ = (unsigned char)(number | 0x80);
        number >>= 7;
    }
    *at++ = (unsigned char)number;
    return at;
}

static inline unsigned char *parallax_fixed_(unsigned char *at, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(number >> (8 * i));
    return at;
}

static inline unsigned char *parallax_text_(unsigned char *at, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (length > PARALLAX_LONGEST_NAME_) length = PARALLAX_LONGEST_NAME_;
    at = parallax_number_(at, length);
    if (length) memcpy(at, text, length);
    return at + length;
}

static inline void parallax_stop_(const char *what) {
    parallax_run_.state = PARALLAX_STOPPED_;
    fprintf(stderr, "parallax: recording ends: %s\n", what);
}

/* Adds zeros to the end of the file, so that a full disk is known here and not when a page is
 * written back. With the lock held. */
static inline int parallax_extend_(uint64_t bytes) {
    static const unsigned char zeros[4096] = {0};
    while (bytes > 0) {
        ssize_t written = write(parallax_run_.file, zeros, bytes < sizeof zeros ? bytes : sizeof zeros);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return 0;
        bytes -= (uint64_t)written;
        parallax_run_.length += (uint64_t)written;
    }
    return 1;
}

/* A new chunk at the end of the file, in memory. With the lock held; 0 when there is none. */
static inline unsigned char *parallax_chunk_(uint64_t bytes, uint32_t kind, uint32_t part,
                                             uint64_t thread, uint64_t handle, uint64_t ticks) {
    uint64_t from = parallax_run_.length;
    if (from + bytes > parallax_run_.limit) {
        parallax_stop_("it is as large as PARALLAX_LIMIT_MB allows");
        if (parallax_run_.names_at) *parallax_run_.names_at = 2;
        return NULL;
    }
    if (!parallax_extend_(bytes)) {
        parallax_stop_(strerror(errno));
        return NULL;
    }
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, parallax_run_.file, (off_t)from);
    if (mapped == MAP_FAILED) {
        parallax_stop_(strerror(errno));
        return NULL;
    }
    unsigned char *chunk = (unsigned char *)mapped, *at = chunk + 8;
    at = parallax_fixed_(at, bytes, 8);
    at = parallax_fixed_(at, kind, 4);
    at = parallax_fixed_(at, part, 4);
    at = parallax_fixed_(at, thread, 8);
    at = parallax_fixed_(at, handle, 8);
    parallax_fixed_(at, ticks, 8);
    memcpy(chunk, "PLXCHUNK", 8);
    return chunk;
}

/* Only the thread that forks lives on in the child, and the file is its parent's. */
PARALLAX_SHARED_ void parallax_forked_(void) {
    parallax_run_.state = PARALLAX_STOPPED_;
    parallax_self_.at = parallax_self_.end = NULL;
    pthread_mutex_unlock(&parallax_lock_);
}

static inline void parallax_lock_all_(void) { pthread_mutex_lock(&parallax_lock_); }
static inline void parallax_unlock_all_(void) { pthread_mutex_unlock(&parallax_lock_); }

/* A thread ends: its bytes are in the file already. */
static inline void parallax_thread_ends_(void *thread) {
    struct parallax_thread_ *self = (struct parallax_thread_ *)thread;
    if (self->chunk) munmap(self->chunk, self->chunk_bytes);
    self->at = self->end = self->chunk = NULL;
}

/* `%p` becomes the process id. */
static inline void parallax_path_(char *out, size_t size) {
    const char *path = getenv("PARALLAX_OUT");
    if (!path) path = "parallax-run.plxm";
    size_t used = 0;
    for (; *path && used + 24 < size; path++) {
        if (path[0] == '%' && path[1] == 'p') {
            used += (size_t)snprintf(out + used, size - used, "%ld", (long)getpid());
            path++;
        } else {
            out[used++] = *path;
        }
    }
    out[used] = 0;
}

/* Ticks in a second, and the time of the wall clock at a tick. */
static inline uint64_t parallax_rate_(uint64_t *ticks, uint64_t *nanos) {
    *nanos = parallax_nanos_();
    *ticks = parallax_ticks_();
#if defined(__aarch64__)
    uint64_t rate;
    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
#elif defined(__x86_64__) || defined(__i386__)
    for (;;) {
        uint64_t ns = parallax_nanos_() - *nanos, passed = parallax_ticks_() - *ticks;
        /* Long enough for four digits. */
        if (ns > 2000000) return (uint64_t)((double)passed * 1e9 / (double)ns);
    }
#else
    return 1000000000u;
#endif
}

/* Makes the file. With the lock held. */
static inline void parallax_open_(void) {
    struct parallax_run_ *run = &parallax_run_;
    char path[4096], program[PARALLAX_LONGEST_NAME_ + 1] = {0};
    parallax_path_(path, sizeof path);
    if (!path[0]) {
        run->state = PARALLAX_STOPPED_;
        return;
    }
    const char *limit = getenv("PARALLAX_LIMIT_MB");
    run->limit = (limit ? strtoull(limit, NULL, 10) : 2048) << 20;
    /* A file of an earlier run, or of another process, is replaced and not written over. */
    unlink(path);
    run->file = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (run->file < 0) {
        parallax_stop_(strerror(errno));
        return;
    }
    int about = open("/proc/self/cmdline", O_RDONLY);
    if (about >= 0) {
        if (read(about, program, PARALLAX_LONGEST_NAME_) < 0) program[0] = 0;
        close(about);
    }
    run->page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t ticks, nanos, rate = parallax_rate_(&ticks, &nanos);
    unsigned char header[2048] = {0}, *at = header;
    memcpy(at, "PLXM\r\n\x1a\n", 8);
    at = parallax_fixed_(at + 8, 1, 4);
    at = parallax_fixed_(at, run->page, 4);
    at = parallax_fixed_(at, rate, 8);
    at = parallax_fixed_(at, ticks, 8);
    at = parallax_fixed_(at, nanos, 8);
    at = parallax_fixed_(at, (uint64_t)getpid(), 8);
    parallax_text_(at, program);
    ssize_t written = write(run->file, header, sizeof header);
    run->length = written > 0 ? (uint64_t)written : 0;
    if (written != (ssize_t)sizeof header || !parallax_extend_(run->page - sizeof header)) {
        parallax_stop_(strerror(errno));
        return;
    }
    run->state = PARALLAX_RECORDS_;
    pthread_key_create(&run->key, parallax_thread_ends_);
    pthread_atfork(parallax_lock_all_, parallax_unlock_all_, parallax_forked_);
}

/* Gives the thread a new chunk; 0 when nothing is recorded. */
PARALLAX_SHARED_ __attribute__((noinline)) int parallax_next_chunk_(struct parallax_thread_ *self) {
    struct parallax_run_ *run = &parallax_run_;
    if (__atomic_load_n(&run->state, __ATOMIC_RELAXED) == PARALLAX_STOPPED_) {
        self->at = self->end = NULL;
        return 0;
    }
    int error = errno;
    pthread_mutex_lock(&parallax_lock_);
    if (run->state == PARALLAX_NOT_OPEN_) parallax_open_();
    unsigned char *chunk = NULL;
    uint64_t bytes = 0;
    if (run->state == PARALLAX_RECORDS_) {
        if (!self->is_known) {
            self->is_known = 1;
            self->number = run->threads++;
        }
        bytes = self->chunk_bytes * 2;
        if (bytes < run->page) bytes = run->page;
        if (bytes > PARALLAX_LARGEST_ && bytes > run->page) bytes = self->chunk_bytes;
        self->ticks = parallax_ticks_();
        self->address = 0;
        chunk = parallax_chunk_(bytes, PARALLAX_EVENTS_, self->parts++, self->number,
                                (uint64_t)(uintptr_t)pthread_self(), self->ticks);
    }
    pthread_mutex_unlock(&parallax_lock_);
    if (self->chunk) munmap(self->chunk, self->chunk_bytes);
    self->chunk = self->at = self->end = chunk;
    if (chunk) {
        self->chunk_bytes = bytes;
        self->at = chunk + PARALLAX_HEADER_;
        self->end = chunk + bytes;
        pthread_setspecific(run->key, self);
    }
    errno = error;
    return chunk != NULL;
}

/* Where the next record of names is written; its tag comes last, so that what is there is whole.
 * With the lock held; NULL when nothing is recorded. */
static inline unsigned char *parallax_names_(void) {
    struct parallax_run_ *run = &parallax_run_;
    const uint64_t wanted = 3 * (PARALLAX_LONGEST_NAME_ + 2) + PARALLAX_ROOM_;
    if ((uint64_t)(run->names_end - run->names_at) < wanted) {
        uint64_t bytes = run->page > 2 * wanted ? run->page : 4 * run->page;
        unsigned char *chunk =
            parallax_chunk_(bytes, PARALLAX_NAMES_, run->name_parts++, 0, 0, parallax_ticks_());
        run->names_at = chunk ? chunk + PARALLAX_HEADER_ : NULL;
        run->names_end = chunk ? chunk + bytes : NULL;
    }
    return run->names_at;
}

/* Writes down what a site is, before its first use; its number. */
PARALLAX_SHARED_ __attribute__((noinline)) uint32_t parallax_define_(struct parallax_site_ *site) {
    struct parallax_run_ *run = &parallax_run_;
    pthread_mutex_lock(&parallax_lock_);
    uint32_t id = site->id;
    if (id == 0 && run->state == PARALLAX_RECORDS_) {
        unsigned char *at = parallax_names_();
        if (at) {
            id = ++run->sites;
            at = parallax_number_(at + 1, id);
            at = parallax_number_(at, site->kind);
            at = parallax_number_(at, site->line);
            at = parallax_text_(at, site->name);
            at = parallax_text_(at, site->file);
            at = parallax_text_(at, site->function);
            *run->names_at = 1;
            run->names_at = at;
            __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&parallax_lock_);
    return id;
}

/* The thread, with room for a record; NULL when nothing is recorded. */
static inline struct parallax_thread_ *parallax_room_(void) {
    struct parallax_thread_ *self = &parallax_self_;
    if (__builtin_expect(self->end - self->at < PARALLAX_ROOM_, 0) && !parallax_next_chunk_(self))
        return NULL;
    return self;
}

static inline uint32_t parallax_id_(struct parallax_site_ *site) {
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
    return __builtin_expect(id != 0, 1) ? id : parallax_define_(site);
}

static inline unsigned char *parallax_time_(struct parallax_thread_ *self, unsigned char *at) {
    uint64_t now = parallax_ticks_();
    /* A clock that goes back stands still. */
    uint64_t passed = now > self->ticks ? now - self->ticks : 0;
    self->ticks += passed;
    return parallax_number_(at, passed);
}

/* The distance to the last address: steps forward even, steps back odd. */
static inline unsigned char *parallax_place_(struct parallax_thread_ *self, unsigned char *at,
                                             const volatile void *pointer) {
    uint64_t address = (uint64_t)(uintptr_t)pointer, step = address - self->address;
    self->address = address;
    return parallax_number_(at, (step << 1) ^ (0 - (step >> 63)));
}

static inline struct parallax_scope_ parallax_enter_(int tag, struct parallax_site_ *site) {
    struct parallax_scope_ scope = {parallax_self_.depth, 1};
    struct parallax_thread_ *self = parallax_room_();
    parallax_self_.depth = scope.depth + 1;
    if (self) {
        unsigned char *at = self->at;
        *at = (unsigned char)tag;
        at = parallax_number_(at + 1, scope.depth);
        if (site) at = parallax_number_(at, parallax_id_(site));
        self->at = parallax_time_(self, at);
    }
    return scope;
}

static inline void parallax_leave_(struct parallax_scope_ *scope) {
    struct parallax_thread_ *self = parallax_room_();
    parallax_self_.depth = scope->depth;
    if (self) {
        unsigned char *at = self->at;
        *at = PARALLAX_LEAVE_;
        at = parallax_number_(at + 1, scope->depth);
        self->at = parallax_time_(self, at);
    }
}

static inline void parallax_access_(int tag, struct parallax_site_ *site,
                                    const volatile void *pointer, uint64_t bytes) {
    struct parallax_thread_ *self = parallax_room_();
    if (self) {
        unsigned char *at = self->at;
        *at = (unsigned char)tag;
        at = parallax_number_(at + 1, parallax_id_(site));
        at = parallax_place_(self, at, pointer);
        self->at = parallax_number_(at, bytes);
    }
}

static inline void parallax_update_(struct parallax_site_ *site, const volatile void *pointer,
                                    uint64_t bytes) {
    parallax_access_(PARALLAX_READ_, site, pointer, bytes);
    parallax_access_(PARALLAX_WRITE_, site, pointer, bytes);
}

static inline void parallax_allocated_(struct parallax_site_ *site, const volatile void *pointer,
                                       uint64_t bytes, unsigned storage) {
    struct parallax_thread_ *self = parallax_room_();
    if (self) {
        unsigned char *at = self->at;
        *at = PARALLAX_ALLOCATED_;
        at = parallax_number_(at + 1, parallax_id_(site));
        at = parallax_place_(self, at, pointer);
        at = parallax_number_(at, bytes);
        at = parallax_number_(at, storage);
        self->at = parallax_time_(self, at);
    }
}

/* What has a place and a time: memory given back, a lock. */
static inline void parallax_at_(int tag, struct parallax_site_ *site, const volatile void *pointer) {
    struct parallax_thread_ *self = parallax_room_();
    if (self) {
        unsigned char *at = self->at;
        *at = (unsigned char)tag;
        at = parallax_number_(at + 1, parallax_id_(site));
        at = parallax_place_(self, at, pointer);
        self->at = parallax_time_(self, at);
    }
}

static inline void parallax_thread_event_(int tag, struct parallax_site_ *site, uint64_t handle) {
    struct parallax_thread_ *self = parallax_room_();
    if (self) {
        unsigned char *at = self->at;
        *at = (unsigned char)tag;
        at = parallax_number_(at + 1, parallax_id_(site));
        at = parallax_number_(at, handle);
        self->at = parallax_time_(self, at);
    }
}

/* A local variable, until the end of its block. */
struct parallax_local_ {
    struct parallax_site_ *site;
    const volatile void *pointer;
};

static inline struct parallax_local_ parallax_local_begins_(struct parallax_site_ *site,
                                                            const volatile void *pointer,
                                                            uint64_t bytes) {
    struct parallax_local_ local = {site, pointer};
    parallax_allocated_(site, pointer, bytes, PARALLAX_STACK_);
    return local;
}

static inline void parallax_local_ends_(struct parallax_local_ *local) {
    parallax_at_(PARALLAX_RELEASED_, local->site, local->pointer);
}

#ifdef __cplusplus
}
#endif

#define PARALLAX_GLUE_(a, b) a##b
#define PARALLAX_NAMED_(a, b) PARALLAX_GLUE_(a, b)
#define PARALLAX_SITE_(kind, name)                                                                \
    (__extension__({                                                                              \
        static struct parallax_site_ parallax_here_ = {name, __FILE__, __func__, kind, __LINE__, 0}; \
        &parallax_here_;                                                                          \
    }))
/* C++ runs the clean-up when an exception passes, too. */
#define PARALLAX_SCOPE_(tag, site)                                                                \
    struct parallax_scope_ PARALLAX_NAMED_(parallax_scope_, __LINE__)                             \
        __attribute__((cleanup(parallax_leave_), unused)) = parallax_enter_(tag, site)
#define PARALLAX_OTHER_(name) PARALLAX_SITE_(PARALLAX_AT_OTHER_, name)

#define PARALLAX_FUNCTION() PARALLAX_SCOPE_(PARALLAX_CALL_, PARALLAX_SITE_(PARALLAX_AT_FUNCTION_, ""))
#define PARALLAX_REGION(name) PARALLAX_SCOPE_(PARALLAX_CALL_, PARALLAX_SITE_(PARALLAX_AT_REGION_, name))
#define PARALLAX_LOOP()                                                                           \
    for (PARALLAX_SCOPE_(PARALLAX_LOOP_, PARALLAX_SITE_(PARALLAX_AT_LOOP_, ""));                  \
         PARALLAX_NAMED_(parallax_scope_, __LINE__).is_open;                                      \
         PARALLAX_NAMED_(parallax_scope_, __LINE__).is_open = 0)
#define PARALLAX_ITERATION() PARALLAX_SCOPE_(PARALLAX_ITERATION_, (struct parallax_site_ *)0)
#define PARALLAX_READ(x) parallax_access_(PARALLAX_READ_, PARALLAX_OTHER_(#x), &(x), sizeof(x))
#define PARALLAX_WRITE(x) parallax_access_(PARALLAX_WRITE_, PARALLAX_OTHER_(#x), &(x), sizeof(x))
#define PARALLAX_UPDATE(x) parallax_update_(PARALLAX_OTHER_(#x), &(x), sizeof(x))
#define PARALLAX_READ_OF(pointer, bytes, name)                                                    \
    parallax_access_(PARALLAX_READ_, PARALLAX_OTHER_(name), pointer, bytes)
#define PARALLAX_WRITE_OF(pointer, bytes, name)                                                   \
    parallax_access_(PARALLAX_WRITE_, PARALLAX_OTHER_(name), pointer, bytes)
#define PARALLAX_ALLOCATED(pointer, bytes, name)                                                  \
    parallax_allocated_(PARALLAX_OTHER_(name), pointer, bytes, PARALLAX_HEAP_)
#define PARALLAX_RELEASED(pointer) parallax_at_(PARALLAX_RELEASED_, PARALLAX_OTHER_(#pointer), pointer)
#define PARALLAX_LOCAL(x)                                                                         \
    struct parallax_local_ PARALLAX_NAMED_(parallax_local_, __LINE__)                             \
        __attribute__((cleanup(parallax_local_ends_), unused)) =                                  \
            parallax_local_begins_(PARALLAX_OTHER_(#x), &(x), sizeof(x))
#define PARALLAX_THREAD_STARTED(handle)                                                           \
    parallax_thread_event_(PARALLAX_STARTED_, PARALLAX_OTHER_(#handle), (uint64_t)(uintptr_t)(handle))
#define PARALLAX_THREAD_JOINED(handle)                                                            \
    parallax_thread_event_(PARALLAX_JOINED_, PARALLAX_OTHER_(#handle), (uint64_t)(uintptr_t)(handle))
#define PARALLAX_LOCK_ACQUIRED(lock) parallax_at_(PARALLAX_ACQUIRED_, PARALLAX_OTHER_(#lock), lock)
#define PARALLAX_LOCK_RELEASES(lock) parallax_at_(PARALLAX_RELEASES_, PARALLAX_OTHER_(#lock), lock)

#endif
#endif
