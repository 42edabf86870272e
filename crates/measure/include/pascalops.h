/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pascalops.h: times of regions inside a program, for `parallax measure`.
 *
 * Programs that were marked for PaScal Analyzer compile with it unchanged; there is no library to
 * link. Include it, mark regions by numbers, compile with gcc or clang (C11 or C++17), and measure
 * the program with `parallax measure`. Run in any other way, the marks do nothing.
 *
 *     pascal_start(1);
 *     ...
 *     pascal_stop(1);
 *
 *     { pascal::region inside(2); ... }        C++: until the end of the block
 *
 * Region 2 that starts inside of region 1 is region 1.2. Each thread has its own nesting. With
 * `-DPASCAL_OFF` all marks vanish. docs/sweep.md says more; crates/sweep/src/regions.rs reads the
 * files.
 */
#ifndef PASCALOPS_H
#define PASCALOPS_H

/* `parallax measure` runs on Linux; elsewhere the marks do nothing. */
#if !defined(PASCAL_OFF) && !(defined(__GNUC__) && defined(__linux__))
#define PASCAL_OFF
#endif

#ifdef PASCAL_OFF

#define pascal_start(id) ((void)0)
#define pascal_stop(id) ((void)0)

#else

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever includes this header has the same definitions; the linker keeps one of each. */
#define PASCAL_SHARED_ __attribute__((weak))

enum { PASCAL_NOT_OPEN_ = 0, PASCAL_ON_ = 1, PASCAL_OFF_ = 2 };
enum { PASCAL_DEFINITION_ = 1, PASCAL_ENTRY_ = 2 };

/* A file begins with a page of its own: from byte 8 on the wall clock and the monotonic clock in
 * nanoseconds, and the process id; at 32 whether records are missing; at 40 the ticks at the time
 * of these clocks, at 48 ticks and monotonic clock of a later time. Behind it are blocks of this
 * size, each of one thread: the number of the thread in 8 bytes, then records in the order in which
 * they were written, up to the first that is 0. Numbers are those of the machine. */
#define PASCAL_PAGE_ 65536
#define PASCAL_BLOCK_ (256u << 10)
#define PASCAL_DEPTH_ 128
#ifndef PASCAL_LONGEST_FILE_
#define PASCAL_LONGEST_FILE_ 255
#endif
/* The end of the name of a process's file. */
#ifndef PASCAL_FILE_
#define PASCAL_FILE_ "regions"
#endif

/* A region by its path: the number of a thread's own. */
struct pascal_node_ {
    long id;
    uint32_t parent, first, next;
};

/* An open region. */
struct pascal_open_ {
    uint64_t start;
    uint32_t node, line;
};

struct pascal_thread_ {
    unsigned char *at, *end, *block;
    uint64_t run, number;
    struct pascal_node_ *nodes;
    /* What is open below `floor` was opened by another thread, around this one. */
    uint32_t num_nodes, room, depth, beyond, floor;
    struct pascal_open_ open[PASCAL_DEPTH_];
};

struct pascal_run_ {
    int state, file, has_ticks;
    uint64_t length, limit, threads, run;
    unsigned char *head;
    pthread_key_t key;
    int has_key;
};

/* What takes the marks of this process instead: the library of `parallax measure --auto-regions`,
 * whose own regions these are to nest with. */
struct pascal_sink_ {
    void (*start)(long id, int line, const char *file);
    void (*stop)(long id, int line, const char *file);
};
#define PASCAL_SINK_VARIABLE_ "PARALLAX_REGIONS_SINK"

PASCAL_SHARED_ const struct pascal_sink_ *pascal_sink_;
PASCAL_SHARED_ pthread_mutex_t pascal_lock_ = PTHREAD_MUTEX_INITIALIZER;
PASCAL_SHARED_ struct pascal_run_ pascal_run_;
PASCAL_SHARED_ __thread struct pascal_thread_ pascal_self_;

/* Functions of POSIX that <time.h> and <fcntl.h> hide from strict C11. */
extern int pascal_clock_gettime_(int clock, struct timespec *now) __asm__("clock_gettime");
extern int pascal_fallocate_(int file, off_t from, off_t bytes) __asm__("posix_fallocate");
enum { PASCAL_WALL_CLOCK_ = 0, PASCAL_MONOTONIC_ = 1 };

static inline uint64_t pascal_nanos_(int clock) {
    struct timespec now;
    pascal_clock_gettime_(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time stamp counter where the system itself counts by it, which is faster than its clock. */
static inline uint64_t pascal_ticks_(void) {
#if defined(__x86_64__)
    if (__builtin_expect(pascal_run_.has_ticks, 1)) return __builtin_ia32_rdtsc();
#endif
    return pascal_nanos_(PASCAL_MONOTONIC_);
}

static inline int pascal_counts_ticks_(void) {
    char source[4] = {0};
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY);
    if (file < 0) return 0;
    int is_read = read(file, source, 3) == 3;
    close(file);
    return is_read && strcmp(source, "tsc") == 0;
}

/* Keeps how far ticks and clock have come. With the lock held, or at the end. */
static inline void pascal_keep_clock_(void) {
    uint64_t times[2];
    times[0] = pascal_ticks_();
    times[1] = pascal_nanos_(PASCAL_MONOTONIC_);
    memcpy(pascal_run_.head + 48, times, sizeof times);
}

PASCAL_SHARED_ __attribute__((destructor)) void pascal_ends_(void) {
    if (pascal_run_.state == PASCAL_ON_) pascal_keep_clock_();
}

static inline void pascal_lock_all_(void) { pthread_mutex_lock(&pascal_lock_); }
static inline void pascal_unlock_all_(void) { pthread_mutex_unlock(&pascal_lock_); }

/* A child has a file of its own; what its parent's threads have open is the parent's. */
PASCAL_SHARED_ void pascal_forked_(void) {
    if (pascal_run_.state == PASCAL_ON_) close(pascal_run_.file);
    pascal_run_.state = PASCAL_NOT_OPEN_;
    pascal_run_.threads = 0;
    pascal_run_.run++;
    pthread_mutex_unlock(&pascal_lock_);
}

/* A thread ends: its records are in the file already. */
static inline void pascal_thread_ends_(void *thread) {
    struct pascal_thread_ *self = (struct pascal_thread_ *)thread;
    if (self->block) munmap(self->block, PASCAL_BLOCK_);
    free(self->nodes);
    memset(self, 0, sizeof *self);
    self->run = (uint64_t)-1;
}

/* A number that this execution of the program has, and no other one: the kernel draws it. */
static inline uint64_t pascal_execution_(void) {
    const unsigned char *drawn = (const unsigned char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t number = 1469598103934665603u;
    for (int i = 0; drawn && i < 16; i++) number = (number ^ drawn[i]) * 1099511628211u;
    return number;
}

/* Whether something takes the marks: a variable has its address and the execution that it is of,
 * because a program that was started by this one inherits the variable, too. */
static inline int pascal_find_sink_(void) {
    const char *text = getenv(PASCAL_SINK_VARIABLE_);
    char *end = NULL;
    if (!text || strtoull(text, &end, 16) != pascal_execution_() || *end != ':') return 0;
    const void *found = (const void *)(uintptr_t)strtoull(end + 1, NULL, 16);
    __atomic_store_n(&pascal_sink_, (const struct pascal_sink_ *)found, __ATOMIC_RELEASE);
    return found != NULL;
}

static inline void pascal_end_(const char *why) {
    __atomic_store_n(&pascal_run_.state, PASCAL_OFF_, __ATOMIC_RELAXED);
    if (pascal_run_.head) memset(pascal_run_.head + 32, 1, 1);
    fprintf(stderr, "parallax: regions are no longer recorded: %s\n", why);
}

/* Makes the file. With the lock held. */
static inline void pascal_open_run_(void) {
    struct pascal_run_ *run = &pascal_run_;
    const char *folder = getenv("PARALLAX_REGIONS");
    int is_wanted = folder && folder[0];
    run->head = NULL;
#ifndef PASCAL_IS_SINK_
    is_wanted = is_wanted && !pascal_find_sink_();
#endif
    if (!is_wanted) {
        __atomic_store_n(&run->state, PASCAL_OFF_, __ATOMIC_RELAXED);
        return;
    }
    /* Until the end of this, other threads wait for the lock: their first marks are recorded, too. */
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld." PASCAL_FILE_, folder, (long)getpid());
    const char *limit = getenv("PARALLAX_LIMIT_MB");
    run->limit = (limit ? strtoull(limit, NULL, 10) : 1024) << 20;
    run->file = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (run->file >= 0) fcntl(run->file, F_SETFD, FD_CLOEXEC);
    int wrong = run->file < 0 ? errno : pascal_fallocate_(run->file, 0, PASCAL_PAGE_);
    if (wrong) {
        pascal_end_(strerror(wrong));
        return;
    }
    void *mapped = mmap(NULL, PASCAL_PAGE_, PROT_READ | PROT_WRITE, MAP_SHARED, run->file, 0);
    if (mapped == MAP_FAILED) {
        pascal_end_(strerror(errno));
        return;
    }
    run->head = (unsigned char *)mapped;
    run->has_ticks = pascal_counts_ticks_();
    uint64_t times[5] = {0};
    times[0] = pascal_nanos_(PASCAL_WALL_CLOCK_);
    times[1] = pascal_nanos_(PASCAL_MONOTONIC_);
    times[2] = (uint64_t)getpid();
    times[4] = pascal_ticks_();
    memcpy(run->head + 8, times, sizeof times);
    /* Long enough for three digits of a process that is killed before it knows better. */
    while (run->has_ticks && pascal_nanos_(PASCAL_MONOTONIC_) - times[1] < 200000) continue;
    pascal_keep_clock_();
    memcpy(run->head, "PLXREGN1", 8);
    run->length = PASCAL_PAGE_;
    run->state = PASCAL_ON_;
    if (!run->has_key) {
        run->has_key = 1;
        pthread_key_create(&run->key, pascal_thread_ends_);
        pthread_atfork(pascal_lock_all_, pascal_unlock_all_, pascal_forked_);
    }
}

/* Gives the thread a new block; 0 when nothing is recorded. */
PASCAL_SHARED_ __attribute__((noinline)) int pascal_next_block_(struct pascal_thread_ *self) {
    struct pascal_run_ *run = &pascal_run_;
    if (__atomic_load_n(&run->state, __ATOMIC_RELAXED) == PASCAL_OFF_) return 0;
    int error = errno;
    pthread_mutex_lock(&pascal_lock_);
    if (run->state == PASCAL_NOT_OPEN_) pascal_open_run_();
    if (run->state == PASCAL_ON_) {
        int is_new = self->run != run->run + 1 || !self->block;
        if (self->block) munmap(self->block, PASCAL_BLOCK_);
        pascal_keep_clock_();
        if (is_new) {
            /* What was open before a fork has its definitions in the parent's file. */
            free(self->nodes);
            memset(self, 0, sizeof *self);
            self->run = run->run + 1;
            self->number = run->threads++;
            pthread_setspecific(run->key, self);
        }
        self->block = self->at = self->end = NULL;
        int wrong = 0;
        void *mapped = MAP_FAILED;
        if (run->length + PASCAL_BLOCK_ > run->limit) {
            pascal_end_("they take as much as PARALLAX_LIMIT_MB allows");
        } else if ((wrong = pascal_fallocate_(run->file, (off_t)run->length, PASCAL_BLOCK_)) != 0) {
            pascal_end_(strerror(wrong));
        } else {
            mapped = mmap(NULL, PASCAL_BLOCK_, PROT_READ | PROT_WRITE, MAP_SHARED, run->file,
                          (off_t)run->length);
            if (mapped == MAP_FAILED) pascal_end_(strerror(errno));
        }
        if (mapped != MAP_FAILED) {
            run->length += PASCAL_BLOCK_;
            self->block = (unsigned char *)mapped;
            memcpy(self->block, &self->number, 8);
            self->at = self->block + 8;
            self->end = self->block + PASCAL_BLOCK_;
        }
    }
    pthread_mutex_unlock(&pascal_lock_);
    errno = error;
    return self->at != NULL;
}

/* Whether a record of so many bytes can be written; 0 when nothing is recorded. */
static inline int pascal_room_(struct pascal_thread_ *self, size_t bytes) {
    if (__builtin_expect(self->run == pascal_run_.run + 1 && (size_t)(self->end - self->at) > bytes, 1)) {
        return pascal_run_.state == PASCAL_ON_;
    }
    return pascal_next_block_(self);
}

/* The number of region `id` below `parent`, which is defined if it is new; 0 without memory. */
PASCAL_SHARED_ __attribute__((noinline)) uint32_t pascal_define_(struct pascal_thread_ *self,
                                                                 uint32_t parent, long id,
                                                                 const char *file) {
    if (self->num_nodes + 1 >= self->room) {
        uint32_t room = self->room ? 2 * self->room : 64;
        void *nodes = realloc(self->nodes, room * sizeof *self->nodes);
        if (!nodes) return 0;
        self->nodes = (struct pascal_node_ *)nodes;
        if (!self->room) memset(self->nodes, 0, sizeof *self->nodes);
        self->room = room;
    }
    size_t length = file ? strlen(file) : 0;
    if (length > PASCAL_LONGEST_FILE_) {
        file += length - PASCAL_LONGEST_FILE_;
        length = PASCAL_LONGEST_FILE_;
    }
    size_t bytes = 24 + ((length + 7) & ~(size_t)7);
    if (!pascal_room_(self, bytes)) return 0;
    uint32_t node = ++self->num_nodes, words[4];
    struct pascal_node_ *own = &self->nodes[node];
    own->id = id;
    own->parent = parent;
    own->first = 0;
    own->next = self->nodes[parent].first;
    self->nodes[parent].first = node;
    words[0] = PASCAL_DEFINITION_;
    words[1] = node;
    words[2] = parent;
    words[3] = (uint32_t)length;
    int64_t number = id;
    memcpy(self->at + 16, &number, 8);
    if (length) memcpy(self->at + 24, file, length);
    memcpy(self->at, words, 16);
    self->at += bytes;
    return node;
}

static inline void _pascal_start(long id, int line, const char *file) {
    struct pascal_thread_ *self = &pascal_self_;
    if (__atomic_load_n(&pascal_run_.state, __ATOMIC_RELAXED) == PASCAL_OFF_ || !pascal_room_(self, 64)) {
        const struct pascal_sink_ *sink = __atomic_load_n(&pascal_sink_, __ATOMIC_ACQUIRE);
        if (sink) sink->start(id, line, file);
        return;
    }
    if (self->depth >= PASCAL_DEPTH_) {
        self->beyond++;
        return;
    }
    uint32_t parent = self->depth ? self->open[self->depth - 1].node : 0, node = 0;
    if (self->num_nodes) {
        node = self->nodes[parent].first;
        while (node && self->nodes[node].id != id) node = self->nodes[node].next;
    }
    if (!node) {
        node = pascal_define_(self, parent, id, file);
        if (!node) return;
    }
    struct pascal_open_ *open = &self->open[self->depth++];
    open->node = node;
    open->line = (uint32_t)line;
    open->start = pascal_ticks_();
}

static inline void _pascal_stop(long id, int line, const char *file) {
    struct pascal_thread_ *self = &pascal_self_;
    if (__atomic_load_n(&pascal_run_.state, __ATOMIC_RELAXED) != PASCAL_ON_) {
        const struct pascal_sink_ *sink = __atomic_load_n(&pascal_sink_, __ATOMIC_ACQUIRE);
        if (sink) sink->stop(id, line, file);
        return;
    }
    uint64_t stop = pascal_ticks_();
    if (self->run != pascal_run_.run + 1) return;
    if (self->beyond) {
        self->beyond--;
        return;
    }
    uint32_t depth = self->depth;
    while (depth > self->floor && self->nodes[self->open[depth - 1].node].id != id) depth--;
    /* Stopped without a start, it is no region; regions inside that were not stopped are none. */
    if (depth <= self->floor) return;
    struct pascal_open_ open = self->open[depth - 1];
    if (!pascal_room_(self, 32)) return;
    self->depth = depth - 1;
    uint32_t words[4];
    words[0] = PASCAL_ENTRY_;
    words[1] = open.node;
    words[2] = open.line;
    words[3] = (uint32_t)line;
    uint64_t times[2];
    times[0] = open.start;
    times[1] = stop;
    memcpy(self->at + 16, times, 16);
    memcpy(self->at, words, 16);
    self->at += 32;
}

#define pascal_start(id) _pascal_start((id), __LINE__, __FILE__)
#define pascal_stop(id) _pascal_stop((id), __LINE__, __FILE__)

#ifdef __cplusplus
}
#endif

#endif /* PASCAL_OFF */

#ifdef __cplusplus
namespace pascal {

/* A region until the end of the block, however it is left. */
class region {
  public:
#ifdef PASCAL_OFF
    explicit region(long) {}
#else
    explicit region(long id, int line = __builtin_LINE(), const char *file = __builtin_FILE())
        : id_(id), line_(line), file_(file) {
        _pascal_start(id, line, file);
    }
    ~region() { _pascal_stop(id_, line_, file_); }

  private:
    long id_;
    int line_;
    const char *file_;

  public:
#endif
    region(const region &) = delete;
    region &operator=(const region &) = delete;
};

} /* namespace pascal */
#endif

#endif /* PASCALOPS_H */
