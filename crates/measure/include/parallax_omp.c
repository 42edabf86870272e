/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parallax_omp.c: parallel regions of OpenMP, and threads, as regions of `parallax measure`, without
 * marks.
 *
 * `parallax measure --auto-regions` compiles it as a library and has the program load it first
 * (LD_PRELOAD). What gcc makes of `#pragma omp parallel` calls one of the functions below instead of
 * that of libgomp, with the function into which the body of the region was put. That function is the
 * id of the region; its file is the object with the address in it, after a byte that no name begins
 * with, and the tool finds the line (crates/sweep/src/automatic.rs).
 *
 * LLVM's runtime, which clang, flang and icx use, and whose functions take any number of arguments,
 * says itself where a region begins and ends (OMPT, OpenMP 5.0, chapter 4). The id of such a region
 * is the call that begins it.
 *
 * A thread that the program starts by pthread_create is a region, too, whose body is the function
 * with which it starts.
 *
 * Marks of pascalops.h in the program come here, too, so that both nest in each other. A thread that
 * works in a region of another one is inside of what that one had open when the region began.
 */
#define _GNU_SOURCE
#define PASCAL_IS_SINK_
/* Apart from the marks that do not come here: those of another language, or of an older header. */
#define PASCAL_FILE_ "parallel"
#define PASCAL_LONGEST_FILE_ 4000
#include "pascalops.h"

#include <dlfcn.h>
#include <link.h>

#define PUBLIC_ __attribute__((visibility("default")))

typedef void body_(void *);

/* The functions that have been seen: places in a table by their addresses, which are never taken
 * out. */
enum { PLACES_ = 1 << 14 };
struct place_ {
    uintptr_t body;
    const char *text;
};
static struct place_ places_[PLACES_];
static pthread_mutex_t places_lock_ = PTHREAD_MUTEX_INITIALIZER;

/* Where the body is in the table, or where it is to be put; NULL when there is no room. */
static struct place_ *slot_(uintptr_t body) {
    size_t at = (size_t)((body >> 2) * 0x9E3779B97F4A7C15u >> 40);
    for (size_t i = 0; i < PLACES_; i++) {
        struct place_ *slot = &places_[(at + i) % PLACES_];
        uintptr_t known = __atomic_load_n(&slot->body, __ATOMIC_ACQUIRE);
        if (known == body || known == 0) return slot;
    }
    return NULL;
}

static const char *known_place_(uintptr_t body) {
    struct place_ *slot = slot_(body);
    int is_known = slot && __atomic_load_n(&slot->body, __ATOMIC_ACQUIRE) == body;
    return is_known ? slot->text : NULL;
}

struct search_ {
    uintptr_t address, in_object;
    char path[3900];
    int is_found;
};

static int holds_(struct dl_phdr_info *object, size_t size, void *data) {
    struct search_ *search = (struct search_ *)data;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t offset = search->address - object->dlpi_addr - part->p_vaddr;
        if (part->p_type != PT_LOAD || offset >= part->p_memsz) continue;
        search->in_object = search->address - object->dlpi_addr;
        snprintf(search->path, sizeof search->path, "%s", object->dlpi_name);
        search->is_found = 1;
        return 1;
    }
    return 0;
}

/* The object that has the body, and its address there. */
static char *found_place_(uintptr_t body) {
    struct search_ search;
    search.address = body;
    search.is_found = 0;
    dl_iterate_phdr(holds_, &search);
    if (!search.is_found) return NULL;
    /* The program itself has no name there. */
    char *path = realpath(search.path[0] ? search.path : "/proc/self/exe", NULL);
    size_t room = strlen(path ? path : search.path) + 32;
    char *text = (char *)malloc(room);
    if (text) {
        snprintf(text, room, "\001%s+0x%lx", path ? path : search.path, (long)search.in_object);
    }
    free(path);
    return text;
}

static const char *place_(body_ *body) {
    uintptr_t address = (uintptr_t)body;
    const char *known = known_place_(address);
    if (__builtin_expect(known != NULL, 1)) return known;
    int error = errno;
    pthread_mutex_lock(&places_lock_);
    struct place_ *slot = slot_(address);
    if (slot && slot->body == 0) {
        slot->text = found_place_(address);
        if (slot->text) __atomic_store_n(&slot->body, address, __ATOMIC_RELEASE);
    }
    const char *text = slot && slot->body == address ? slot->text : NULL;
    pthread_mutex_unlock(&places_lock_);
    errno = error;
    return text;
}

/* A parallel region while it is executed. */
struct region_ {
    /* What libgomp is to call: the body, or `member_` of this. */
    body_ *called;
    void *argument;
    body_ *body;
    void *data;
    const char *place;
    struct pascal_thread_ *creator;
    /* What the creator has open, the region itself last. */
    uint32_t num_open;
    long open[PASCAL_DEPTH_];
};

/* The region of another thread in which this one works, until it has taken over what is open there;
 * and then what it had open itself. */
struct membership_ {
    const struct region_ *waiting;
    int is_inside;
    uint32_t depth, floor;
};
static __thread struct membership_ membership_;

/* Takes over what the creator of the region has open, before anything is recorded inside of it. */
static void take_over_(void) {
    struct membership_ *own = &membership_;
    const struct region_ *region = own->waiting;
    struct pascal_thread_ *self = &pascal_self_;
    if (!region || !pascal_room_(self, 64)) return;
    own->waiting = NULL;
    if (self->depth + region->num_open > PASCAL_DEPTH_) return;
    own->depth = self->depth;
    own->floor = self->floor;
    uint32_t parent = 0;
    for (uint32_t i = 0; i < region->num_open; i++) {
        long id = region->open[i];
        uint32_t node = self->num_nodes ? self->nodes[parent].first : 0;
        while (node && self->nodes[node].id != id) node = self->nodes[node].next;
        if (!node) node = pascal_define_(self, parent, id, known_place_((uintptr_t)id));
        if (!node) return;
        self->open[self->depth + i].node = node;
        parent = node;
    }
    self->depth += region->num_open;
    self->floor = self->depth;
    own->is_inside = 1;
}

static void member_(void *data);

/* A thread begins to work in a region. */
static void join_(const struct region_ *region) {
    struct pascal_thread_ *self = &pascal_self_;
    if (self == region->creator) return;
    if (membership_.is_inside) {
        self->depth = membership_.depth;
        self->floor = membership_.floor;
    }
    memset(&membership_, 0, sizeof membership_);
    /* Unless it is not recorded. */
    if (region->called == member_) membership_.waiting = region;
}

/* What each thread of a region calls instead of the body. Threads of libgomp do nothing but work in
 * regions, and execute tasks when the body has returned: they stay in a region until the next one.
 * The creator, to whose stack `region` belongs, waits until all tasks have ended. */
static void member_(void *data) {
    const struct region_ *region = (const struct region_ *)data;
    join_(region);
    region->body(region->data);
}

static void begin_(struct region_ *region, body_ *body, void *data) {
    region->called = region->body = body;
    region->argument = region->data = data;
    region->place = NULL;
    if (__atomic_load_n(&pascal_run_.state, __ATOMIC_RELAXED) == PASCAL_OFF_) return;
    region->place = place_(body);
    if (!region->place) return;
    take_over_();
    _pascal_start((long)(uintptr_t)body, 0, region->place);
    struct pascal_thread_ *self = &pascal_self_;
    region->num_open = 0;
    /* Unless it was not opened because nothing is recorded, or it lies too deep. */
    if (self->depth && self->nodes[self->open[self->depth - 1].node].id == (long)(uintptr_t)body) {
        uint32_t own = membership_.is_inside ? membership_.depth : 0;
        for (uint32_t i = own; i < self->depth; i++) {
            region->open[region->num_open++] = self->nodes[self->open[i].node].id;
        }
        region->creator = self;
        region->called = member_;
        region->argument = region;
    }
}

static void end_(const struct region_ *region) {
    if (region->place) _pascal_stop((long)(uintptr_t)region->body, 0, NULL);
}

/* The libgomp of a library that was loaded later is not among those that every object sees. */
static int is_libgomp_(struct dl_phdr_info *object, size_t size, void *data) {
    const char *name = strrchr(object->dlpi_name, '/');
    (void)size;
    if (!strstr(name ? name : object->dlpi_name, "libgomp")) return 0;
    snprintf((char *)data, 4096, "%s", object->dlpi_name);
    return 1;
}

static void *real_(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    char path[4096] = "libgomp.so.1";
    if (!found) {
        dl_iterate_phdr(is_libgomp_, path);
        void *library = dlopen(path, RTLD_LAZY);
        if (library) found = dlsym(library, name);
    }
    if (!found) {
        fprintf(stderr, "parallax: no libgomp has the function %s\n", name);
        abort();
    }
    return found;
}

#define PARALLEL_(name, parameters, arguments)                                                     \
    PUBLIC_ void name parameters;                                                                  \
    void name parameters {                                                                         \
        static void *known;                                                                        \
        void *found = __atomic_load_n(&known, __ATOMIC_RELAXED);                                   \
        if (!found) __atomic_store_n(&known, found = real_(#name), __ATOMIC_RELAXED);              \
        void(*real) parameters;                                                                    \
        memcpy(&real, &found, sizeof real);                                                        \
        struct region_ own;                                                                        \
        begin_(&own, body, data);                                                                  \
        real arguments;                                                                            \
        end_(&own);                                                                                \
    }

#define BODY_ body_ *body, void *data, unsigned threads
#define CALLED_ own.called, own.argument, threads
#define LOOP_ long start, long end, long increment

PARALLEL_(GOMP_parallel, (BODY_, unsigned flags), (CALLED_, flags))
PARALLEL_(GOMP_parallel_sections, (BODY_, unsigned count, unsigned flags), (CALLED_, count, flags))

#define CHUNKS_(name)                                                                              \
    PARALLEL_(name, (BODY_, LOOP_, long chunk, unsigned flags),                                    \
              (CALLED_, start, end, increment, chunk, flags))
CHUNKS_(GOMP_parallel_loop_static)
CHUNKS_(GOMP_parallel_loop_dynamic)
CHUNKS_(GOMP_parallel_loop_guided)
CHUNKS_(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKS_(GOMP_parallel_loop_nonmonotonic_guided)

#define CHOSEN_(name)                                                                              \
    PARALLEL_(name, (BODY_, LOOP_, unsigned flags), (CALLED_, start, end, increment, flags))
CHOSEN_(GOMP_parallel_loop_runtime)
CHOSEN_(GOMP_parallel_loop_nonmonotonic_runtime)
CHOSEN_(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* libgomp reads what `data` points to, so the body is called without anything between. */
PUBLIC_ unsigned GOMP_parallel_reductions(BODY_, unsigned flags);
unsigned GOMP_parallel_reductions(BODY_, unsigned flags) {
    static void *known;
    void *found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(&known, found = real_("GOMP_parallel_reductions"), __ATOMIC_RELAXED);
    unsigned (*real)(BODY_, unsigned flags);
    memcpy(&real, &found, sizeof real);
    struct region_ own;
    begin_(&own, body, data);
    unsigned team = real(body, data, threads, flags);
    end_(&own);
    return team;
}

/* ---- Runtimes that tell tools about regions ------------------------------------------------- */

/* As the standard has them; a machine with gcc alone has no omp-tools.h. */
typedef union ompt_data_t {
    uint64_t value;
    void *ptr;
} ompt_data_t;
typedef void (*ompt_function_)(void);
typedef struct ompt_start_tool_result_t {
    int (*initialize)(ompt_function_ (*lookup)(const char *), int device, ompt_data_t *);
    void (*finalize)(ompt_data_t *);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;
enum { PARALLEL_BEGIN_ = 3, PARALLEL_END_ = 4, IMPLICIT_TASK_ = 7, SCOPE_BEGIN_ = 1, INITIAL_ = 1 };

static void parallel_begins_(ompt_data_t *task, const void *frame, ompt_data_t *parallel,
                             unsigned wanted, int flags, const void *after) {
    struct region_ *region = (struct region_ *)malloc(sizeof *region);
    (void)task, (void)frame, (void)wanted, (void)flags;
    parallel->ptr = region;
    if (!region) return;
    /* What the call returns to is behind it. */
    uintptr_t call = (uintptr_t)after - 1;
    body_ *body;
    memcpy(&body, &call, sizeof body);
    begin_(region, body, NULL);
}

static void parallel_ends_(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *after) {
    struct region_ *region = (struct region_ *)parallel->ptr;
    (void)task, (void)flags, (void)after;
    parallel->ptr = NULL;
    if (region) end_(region);
    free(region);
}

static void implicit_task_(int scope, ompt_data_t *parallel, ompt_data_t *task, unsigned team,
                           unsigned index, int flags) {
    (void)task, (void)team;
    if (scope != SCOPE_BEGIN_ || index == 0 || (flags & INITIAL_)) return;
    if (parallel && parallel->ptr) join_((const struct region_ *)parallel->ptr);
}

static int initialize_(ompt_function_ (*lookup)(const char *), int device, ompt_data_t *data) {
    typedef int set_(int, ompt_function_);
    set_ *set = (set_ *)lookup("ompt_set_callback");
    (void)device, (void)data;
    if (!set) return 0;
    set(PARALLEL_BEGIN_, (ompt_function_)parallel_begins_);
    set(PARALLEL_END_, (ompt_function_)parallel_ends_);
    set(IMPLICIT_TASK_, (ompt_function_)implicit_task_);
    return 1;
}

static void finalize_(ompt_data_t *data) { (void)data; }

PUBLIC_ ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start_tool_result_t result = {initialize_, finalize_, {0}};
    const char *folder = getenv("PARALLAX_REGIONS");
    (void)version, (void)runtime;
    return folder && folder[0] ? &result : NULL;
}

/* A thread of the program. */
struct thread_ {
    void *(*start)(void *);
    void *argument;
    const char *place;
};

/* Also when the thread is cancelled, or calls pthread_exit. */
static void thread_ends_(void *start) { _pascal_stop((long)(uintptr_t)start, 0, NULL); }

static void *thread_(void *data) {
    struct thread_ own = *(struct thread_ *)data;
    void *result;
    int state;
    free(data);
    /* Cancelled while it records, it would end with a lock that others need. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    _pascal_start((long)(uintptr_t)own.start, 0, own.place);
    pthread_cleanup_push(thread_ends_, (void *)(uintptr_t)own.start);
    pthread_setcancelstate(state, NULL);
    result = own.start(own.argument);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_pop(1);
    return result;
}

/* Threads of runtimes of OpenMP live as long as the program, and work in regions that are seen. */
static int is_runtime_(const char *place) {
    const char *name = strrchr(place, '/');
    name = name ? name + 1 : place;
    return !strncmp(name, "libgomp", 7) || !strncmp(name, "libomp", 6) || !strncmp(name, "libiomp", 7);
}

PUBLIC_ int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*start)(void *), void *argument) {
    static void *known;
    void *found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(&known, found = dlsym(RTLD_NEXT, "pthread_create"), __ATOMIC_RELAXED);
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    memcpy(&real, &found, sizeof real);
    /* A C library in which threads are apart, and which the program does not load. */
    if (!real) return ENOSYS;
    struct thread_ *own = NULL;
    const char *place = NULL;
    if (__atomic_load_n(&pascal_run_.state, __ATOMIC_RELAXED) != PASCAL_OFF_) {
        body_ *body;
        memcpy(&body, &start, sizeof body);
        place = place_(body);
    }
    if (place && !is_runtime_(place)) own = (struct thread_ *)malloc(sizeof *own);
    if (!own) return real(thread, attributes, start, argument);
    own->start = start;
    own->argument = argument;
    own->place = place;
    int failed = real(thread, attributes, thread_, own);
    if (failed) free(own);
    return failed;
}

static void start_(long id, int line, const char *file) {
    take_over_();
    _pascal_start(id, line, file);
}

static void stop_(long id, int line, const char *file) { _pascal_stop(id, line, file); }

static const struct pascal_sink_ sink_ = {start_, stop_};

__attribute__((constructor)) static void begins_(void) {
    const char *folder = getenv("PARALLAX_REGIONS");
    char text[64];
    if (!folder || !folder[0]) return;
    snprintf(text, sizeof text, "%llx:%llx", (unsigned long long)pascal_execution_(),
             (unsigned long long)(uintptr_t)&sink_);
    setenv(PASCAL_SINK_VARIABLE_, text, 1);
}
