/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parallax_mpi.c: calls of MPI with their messages and collective operations, for
 * `parallax record --mpi`.
 *
 * The tool compiles it as a library and has the program load it first (LD_PRELOAD). Each function
 * below stands for the one of MPI, writes down when it is entered and left, from where it is called,
 * and what it sends and receives, and calls the real one by its other name, which the standard
 * provides for tools (PMPI_, MPI 4.1, section 15.2).
 *
 * Each thread has a file of its own in the folder that PARALLAX_MPI names, which the tool reads while
 * the program runs. It consists of windows; the first begins with a header:
 *
 *     8 bytes "PLXMPI\r\n", process, thread (4 bytes each), bytes written so far (8), 1 where the
 *     thread stopped to record before its end (8), 32 zeros
 *
 * and holds records: a word of 8 bytes with the kind and, in its upper half, the number of words
 * that follow. A record of kind 0 has nothing behind it: what follows is in the next window.
 *
 * Nothing here refers to a symbol of MPI when it is loaded, so that programs without MPI, which a
 * launcher or a script is, load it as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#define PUBLIC_ __attribute__((visibility("default")))

/* As crates/record/src/mpi.rs has them. */
enum { WINDOW_ = 1 << 18, HEADER_ = 64, DEPTH_ = 128 };
/* Call paths that a thread has at hand. */
enum { PATHS_ = 256 };
enum kind_ {
    NEXT_WINDOW_,
    STACK_,
    ENTER_,
    LEAVE_,
    RANK_,
    SEND_,
    RECEIVE_,
    POST_SEND_,
    POST_RECEIVE_,
    SENT_,
    RECEIVED_,
    CANCELLED_,
    COLLECTIVE_
};

/* Operations as OTF2 numbers them. */
enum operation_ {
    BARRIER_,
    BCAST_,
    GATHER_,
    GATHERV_,
    SCATTER_,
    SCATTERV_,
    ALLGATHER_,
    ALLGATHERV_,
    ALLTOALL_,
    ALLTOALLV_,
    ALLTOALLW_,
    ALLREDUCE_,
    REDUCE_,
    REDUCE_SCATTER_,
    SCAN_,
    EXSCAN_,
    REDUCE_SCATTER_BLOCK_
};

/* What stands for a rank that is none. */
#define NOBODY_ UINT32_MAX
/* The number of communicators with one rank. */
#define ALONE_ 0u

static const char *folder_;

/* ---- The file of a thread ------------------------------------------------------------------- */

/* A call path, and where on the stack each return address of it lies: while these are there, the
 * path is the same, and need not be found again. */
struct path_ {
    uintptr_t frame, from;
    uint64_t hash;
    uint32_t count;
    int is_checked;
    uintptr_t returns[DEPTH_];
    const uintptr_t *slots[DEPTH_];
};

struct thread_ {
    int file;
    int is_off;
    /* How many functions of this file are open. */
    int depth;
    uint64_t entered;
    uint64_t *window, *at, *end;
    uint64_t *length;
    uint64_t from;
    /* Call paths that the file has: their hashes. */
    uint64_t *stacks;
    size_t num_stacks, room;
    struct path_ *paths;
};
static __thread struct thread_ self_;
static pthread_key_t key_;
static int has_key_;

static uint64_t nanos_(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void stop_(struct thread_ *self, const char *why) {
    if (why) fprintf(stderr, "parallax: calls of MPI are not recorded any further: %s\n", why);
    self->is_off = 1;
    if (self->length) __atomic_store_n(self->length + 1, 1, __ATOMIC_RELEASE);
}

static uint64_t *map_(struct thread_ *self, uint64_t from) {
    int failed = posix_fallocate(self->file, (off_t)from, WINDOW_);
    void *at = MAP_FAILED;
    if (!failed) {
        at = mmap(NULL, WINDOW_, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, (off_t)from);
        if (at == MAP_FAILED) failed = errno;
    }
    if (failed) {
        stop_(self, strerror(failed));
        return NULL;
    }
    return (uint64_t *)at;
}

static int open_(struct thread_ *self) {
    char path[4096];
    long tid = syscall(SYS_gettid);
    snprintf(path, sizeof path, "%s/%ld.%ld", folder_, (long)getpid(), tid);
    self->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (self->file < 0) {
        /* On another machine there is no such folder, and nothing that would read it. */
        stop_(self, errno == ENOENT ? NULL : strerror(errno));
        return 0;
    }
    uint64_t *window = map_(self, 0);
    if (!window) return 0;
    uint32_t who[2] = {(uint32_t)getpid(), (uint32_t)tid};
    memcpy(window + 1, who, sizeof who);
    memcpy(window, "PLXMPI\r\n", 8);
    self->length = window + 2;
    self->window = window;
    self->from = 0;
    self->at = window + HEADER_ / 8;
    self->end = window + WINDOW_ / 8;
    __atomic_store_n(self->length, (uint64_t)HEADER_, __ATOMIC_RELEASE);
    if (has_key_) pthread_setspecific(key_, self);
    return 1;
}

static void publish_(struct thread_ *self) {
    uint64_t length = self->from + (uint64_t)(self->at - self->window) * 8;
    __atomic_store_n(self->length, length, __ATOMIC_RELEASE);
}

static void write_(struct thread_ *self, enum kind_ kind, const uint64_t *words, uint32_t count) {
    if (self->is_off) return;
    /* A word is kept for the record that leads to the next window. */
    if (self->end - self->at < (long)count + 2) {
        *self->at = NEXT_WINDOW_;
        self->at = self->end;
        uint64_t *window = map_(self, self->from + WINDOW_);
        if (!window) return;
        /* The first one stays: it has the length. */
        if (self->from) munmap(self->window, WINDOW_);
        self->from += WINDOW_;
        self->window = self->at = window;
        self->end = window + WINDOW_ / 8;
    }
    *self->at = (uint64_t)kind | (uint64_t)count << 32;
    memcpy(self->at + 1, words, count * sizeof *words);
    self->at += 1 + count;
    publish_(self);
}
#define WRITE_(self, kind, ...)                                                                    \
    do {                                                                                           \
        const uint64_t words[] = {__VA_ARGS__};                                                    \
        write_(self, kind, words, sizeof words / sizeof *words);                                   \
    } while (0)

static void thread_ends_(void *data) {
    struct thread_ *self = (struct thread_ *)data;
    self->is_off = 1;
    if (self->from) munmap(self->window, WINDOW_);
    munmap((char *)self->length - 16, WINDOW_);
    close(self->file);
    free(self->stacks);
    free(self->paths);
}

/* The child's files are its own. */
static void forked_(void) { memset(&self_, 0, sizeof self_); }

/* Whether the file has this call path; it is taken as there from now on. */
static int knows_(struct thread_ *self, uint64_t hash) {
    if (self->num_stacks * 2 >= self->room) {
        size_t room = self->room ? self->room * 2 : 256;
        uint64_t *stacks = (uint64_t *)calloc(room, sizeof *stacks);
        if (!stacks) return 0;
        for (size_t i = 0; i < self->room; i++) {
            size_t at = self->stacks[i];
            if (!at) continue;
            while (stacks[at % room]) at++;
            stacks[at % room] = self->stacks[i];
        }
        free(self->stacks);
        self->stacks = stacks;
        self->room = room;
    }
    size_t at = hash;
    while (self->stacks[at % self->room] && self->stacks[at % self->room] != hash) at++;
    if (self->stacks[at % self->room] == hash) return 1;
    self->stacks[at % self->room] = hash;
    self->num_stacks++;
    return 0;
}

static _Unwind_Reason_Code frame_(struct _Unwind_Context *context, void *data) {
    struct path_ *path = (struct path_ *)data;
    uintptr_t address = _Unwind_GetIP(context);
    if (path->count == DEPTH_ || !address) return _URC_END_OF_STACK;
    /* Below where the stack was before the call, on most processors. */
    const uintptr_t *slot = (const uintptr_t *)_Unwind_GetCFA(context) - 1;
    path->returns[path->count] = address;
    path->slots[path->count] = slot;
    /* The first is this file's own, in which nothing has been called yet. */
    if (path->count > 0 && *slot != address) path->is_checked = 0;
    path->count++;
    return _URC_NO_REASON;
}

static int is_same_(const struct path_ *path, uintptr_t frame, uintptr_t from) {
    if (path->frame != frame || path->from != from || !path->is_checked) return 0;
    for (uint32_t i = 1; i < path->count; i++) {
        if (*path->slots[i] != path->returns[i]) return 0;
    }
    return 1;
}

/* The hash of the call path of `frame`, a frame of this file that was called from `from`. The file of
 * the thread has the path when this returns. */
static uint64_t path_(struct thread_ *self, uintptr_t frame, uintptr_t from) {
    struct path_ own, *path = &own;
    if (!self->paths) self->paths = (struct path_ *)calloc(PATHS_, sizeof *self->paths);
    if (self->paths) {
        uint64_t place = (frame ^ from << 7) * 0x9E3779B97F4A7C15u;
        path = &self->paths[place >> 40 & (PATHS_ - 1)];
        if (is_same_(path, frame, from)) return path->hash;
    }
    path->frame = frame;
    path->from = from;
    path->count = 0;
    path->is_checked = 1;
    _Unwind_Backtrace(frame_, path);
    uint64_t words[DEPTH_ + 1];
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t kept = 0;
    /* From the function of MPI on. */
    for (uint32_t i = 0; i < path->count; i++) {
        if (!kept && path->returns[i] != from) continue;
        words[++kept] = path->returns[i];
        hash = (hash ^ words[kept]) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    words[0] = path->hash = hash |= 1;
    if (!knows_(self, hash)) write_(self, STACK_, words, kept + 1);
    return hash;
}

/* Enters a function of MPI; NULL where nothing is to be recorded. Those that MPI calls itself are
 * no calls of the program. What this takes is a part of the call; samples show it under this name. */
__attribute__((noinline)) static struct thread_ *recording_by_parallax_(void) {
    struct thread_ *self = &self_;
    if (self->depth++ || !folder_ || self->is_off) return NULL;
    int error = errno;
    if (!self->length && !open_(self)) {
        errno = error;
        return NULL;
    }
    self->entered = nanos_();
    uint64_t hash = path_(self, (uintptr_t)__builtin_frame_address(0),
                          (uintptr_t)__builtin_return_address(0));
    WRITE_(self, ENTER_, self->entered, hash);
    errno = error;
    return self->is_off ? NULL : self;
}

static void leave_(struct thread_ *self, uint64_t now) {
    self_.depth--;
    if (self) WRITE_(self, LEAVE_, now);
}

/* ---- The real functions --------------------------------------------------------------------- */

static int is_mpi_(struct dl_phdr_info *object, size_t size, void *data) {
    const char *name = strrchr(object->dlpi_name, '/');
    (void)size;
    name = name ? name + 1 : object->dlpi_name;
    if (strncmp(name, "libmpi", 6)) return 0;
    void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void **wanted = (void **)data;
    if (library) wanted[1] = dlsym(library, (const char *)wanted[0]);
    return wanted[1] != NULL;
}

/* A symbol of MPI, also where the library was loaded for some other library alone. */
static void *symbol_(const char *name) {
    void *wanted[2] = {(void *)(uintptr_t)name, dlsym(RTLD_DEFAULT, name)};
    if (!wanted[1]) dl_iterate_phdr(is_mpi_, wanted);
    if (!wanted[1]) {
        fprintf(stderr, "parallax: no library of MPI has %s\n", name);
        abort();
    }
    return wanted[1];
}

static void *real_(void **known, const char *name) {
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(known, found = symbol_(name), __ATOMIC_RELAXED);
    return found;
}

/* The real function, as a variable of that name. */
#define REAL_(name)                                                                                \
    static void *known_##name;                                                                     \
    void *found_##name = real_(&known_##name, "P" #name);                                          \
    __typeof__(&name) real_##name;                                                                 \
    memcpy(&real_##name, &found_##name, sizeof found_##name)

/* Open MPI's handles are addresses of what its library has. */
#ifdef OPEN_MPI
#define CONSTANT_(type, symbol, value) ((type)symbol_(#symbol))
#else
#define CONSTANT_(type, symbol, value) (value)
#endif

/* ---- Who communicates ----------------------------------------------------------------------- */

struct communicator_ {
    uint64_t id;
    int is_inter, is_ordered;
    int own, size;
    /* Ranks in MPI_COMM_WORLD of those to whom messages go; NULL where these are the same. */
    int *world;
};

static struct {
    int is_ready, keyval, rank, size;
    uint64_t created;
    MPI_Comm world, none;
    MPI_Group group;
    MPI_Request no_request;
    MPI_Datatype byte;
} run_;

static int not_copied_(MPI_Comm from, int keyval, void *extra, void *value, void *copy, int *flag) {
    (void)from, (void)keyval, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int forgotten_(MPI_Comm communicator, int keyval, void *value, void *extra) {
    struct communicator_ *own = (struct communicator_ *)value;
    (void)communicator, (void)keyval, (void)extra;
    free(own->world);
    free(own);
    return MPI_SUCCESS;
}

/* A hash of who is in a group, for communicators that appear without a call that creates them. */
static uint64_t group_hash_(const int *ranks, int count) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < count; i++) hash = (hash ^ (uint32_t)ranks[i]) * 0x100000001b3u;
    return hash;
}

static int *in_world_(MPI_Group group, int count) {
    REAL_(MPI_Group_translate_ranks);
    int *own = (int *)malloc(2 * sizeof *own * (size_t)(count ? count : 1));
    if (!own) return NULL;
    int *numbers = own + count;
    for (int i = 0; i < count; i++) numbers[i] = i;
    real_MPI_Group_translate_ranks(group, count, numbers, run_.group, own);
    return own;
}

static struct communicator_ *make_(MPI_Comm communicator) {
    REAL_(MPI_Comm_rank);
    REAL_(MPI_Comm_size);
    REAL_(MPI_Comm_test_inter);
    REAL_(MPI_Comm_group);
    REAL_(MPI_Comm_remote_group);
    REAL_(MPI_Group_size);
    REAL_(MPI_Group_free);
    REAL_(MPI_Comm_set_attr);
    struct communicator_ *own = (struct communicator_ *)calloc(1, sizeof *own);
    if (!own) return NULL;
    real_MPI_Comm_rank(communicator, &own->own);
    real_MPI_Comm_size(communicator, &own->size);
    real_MPI_Comm_test_inter(communicator, &own->is_inter);
    MPI_Group group;
    real_MPI_Comm_group(communicator, &group);
    own->world = in_world_(group, own->size);
    if (own->world) own->id = group_hash_(own->world, own->size);
    own->is_ordered = 1;
    for (int i = 1; own->world && i < own->size; i++) {
        own->is_ordered &= own->world[i - 1] < own->world[i];
    }
    real_MPI_Group_free(&group);
    if (own->is_inter) {
        int count = 0;
        free(own->world);
        real_MPI_Comm_remote_group(communicator, &group);
        real_MPI_Group_size(group, &count);
        own->world = in_world_(group, count);
        if (own->world) own->id ^= group_hash_(own->world, count);
        real_MPI_Group_free(&group);
    }
    own->id |= 1ull << 63;
    if (own->size == 1 && !own->is_inter) own->id = ALONE_;
    real_MPI_Comm_set_attr(communicator, run_.keyval, own);
    return own;
}

static const struct communicator_ *known_(MPI_Comm communicator) {
    REAL_(MPI_Comm_get_attr);
    struct communicator_ *own = NULL;
    int is_known = 0;
    if (!run_.is_ready) return NULL;
    real_MPI_Comm_get_attr(communicator, run_.keyval, &own, &is_known);
    return is_known ? own : make_(communicator);
}

/* All its ranks have created a communicator: the first of them numbers it. */
static void created_(MPI_Comm communicator) {
    REAL_(MPI_Bcast);
    if (!run_.is_ready || communicator == run_.none) return;
    struct communicator_ *own = make_(communicator);
    if (!own || own->is_inter || own->size == 1) return;
    uint64_t id = (uint64_t)(run_.rank + 1) << 32 | __atomic_add_fetch(&run_.created, 1, __ATOMIC_RELAXED);
    real_MPI_Bcast(&id, sizeof id, run_.byte, 0, communicator);
    own->id = id;
}

static uint32_t world_(const struct communicator_ *own, int rank) {
    if (!own || rank < 0) return NOBODY_;
    if (!own->world) return (uint32_t)rank;
    return own->world[rank] < 0 ? NOBODY_ : (uint32_t)own->world[rank];
}

static uint64_t bytes_(MPI_Datatype type, int64_t count) {
    REAL_(MPI_Type_size);
    int size = 0;
    if (real_MPI_Type_size(type, &size) != MPI_SUCCESS || size < 0 || count < 0) return 0;
    return (uint64_t)size * (uint64_t)count;
}

static uint64_t received_bytes_(const MPI_Status *status) {
    REAL_(MPI_Get_count);
    int count = 0;
    if (real_MPI_Get_count(status, run_.byte, &count) != MPI_SUCCESS || count < 0) return 0;
    return (uint64_t)count;
}

/* Handles of Open MPI are no handles of the others: nothing that is passed on would be right. */
static void check_(void) {
    int is_open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL;
    if (!is_open_mpi) {
        void *wanted[2] = {(void *)(uintptr_t) "ompi_mpi_comm_world", NULL};
        dl_iterate_phdr(is_mpi_, wanted);
        is_open_mpi = wanted[1] != NULL;
    }
#ifdef OPEN_MPI
    if (is_open_mpi) return;
    fprintf(stderr, "parallax: the program does not use Open MPI, for which mpicc compiles; ");
#else
    if (!is_open_mpi) return;
    fprintf(stderr, "parallax: the program uses Open MPI, for which mpicc does not compile; ");
#endif
    fprintf(stderr, "name the mpicc of the program in MPICC\n");
    exit(1);
}

static void begun_(struct thread_ *self) {
    REAL_(MPI_Comm_rank);
    REAL_(MPI_Comm_size);
    REAL_(MPI_Comm_group);
    REAL_(MPI_Comm_create_keyval);
    REAL_(MPI_Bcast);
    if (run_.is_ready || !folder_) return;
    run_.world = CONSTANT_(MPI_Comm, ompi_mpi_comm_world, MPI_COMM_WORLD);
    run_.none = CONSTANT_(MPI_Comm, ompi_mpi_comm_null, MPI_COMM_NULL);
    run_.no_request = CONSTANT_(MPI_Request, ompi_request_null, MPI_REQUEST_NULL);
    run_.byte = CONSTANT_(MPI_Datatype, ompi_mpi_byte, MPI_BYTE);
    real_MPI_Comm_rank(run_.world, &run_.rank);
    real_MPI_Comm_size(run_.world, &run_.size);
    real_MPI_Comm_group(run_.world, &run_.group);
    real_MPI_Comm_create_keyval(not_copied_, forgotten_, &run_.keyval, NULL);
    /* Tells apart what several launchers start. */
    uint64_t job = nanos_() << 22 | ((uint64_t)getpid() & 0x3fffff);
    real_MPI_Bcast(&job, sizeof job, run_.byte, 0, run_.world);
    run_.is_ready = 1;
    if (self) {
        WRITE_(self, RANK_, nanos_(), (uint64_t)run_.rank, (uint64_t)run_.size, job);
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* A send or receive that does not block. */
struct request_ {
    uint64_t handle;
    uint64_t number, id, bytes;
    int64_t tag;
    MPI_Comm communicator;
    uint32_t to;
    char is_used, is_send, is_persistent, is_active;
};
static struct request_ *requests_;
static size_t num_requests_, room_;
static uint64_t numbers_;
static pthread_mutex_t requests_lock_ = PTHREAD_MUTEX_INITIALIZER;

static uint64_t handle_(MPI_Request request) {
    uint64_t handle = 0;
    memcpy(&handle, &request, sizeof request);
    return handle;
}

static size_t place_(uint64_t handle) { return (size_t)(handle * 0x9E3779B97F4A7C15u >> 20); }

/* With the lock held. */
static struct request_ *find_(uint64_t handle) {
    if (!room_) return NULL;
    size_t at = place_(handle) & (room_ - 1);
    for (; requests_[at].is_used; at = (at + 1) & (room_ - 1)) {
        if (requests_[at].handle == handle) return &requests_[at];
    }
    return NULL;
}

static void put_(const struct request_ *request) {
    size_t at = place_(request->handle) & (room_ - 1);
    while (requests_[at].is_used && requests_[at].handle != request->handle) at = (at + 1) & (room_ - 1);
    num_requests_ += !requests_[at].is_used;
    requests_[at] = *request;
}

static void keep_(const struct request_ *request) {
    if (num_requests_ * 2 >= room_) {
        size_t before = room_, room = room_ ? room_ * 2 : 256;
        struct request_ *all = (struct request_ *)calloc(room, sizeof *all), *old = requests_;
        if (!all) return;
        requests_ = all;
        room_ = room;
        num_requests_ = 0;
        for (size_t i = 0; i < before; i++) {
            if (old[i].is_used) put_(&old[i]);
        }
        free(old);
    }
    put_(request);
}

/* Takes it out and closes the gap. */
static void drop_(struct request_ *request) {
    size_t gap = (size_t)(request - requests_), at = gap, mask = room_ - 1;
    requests_[gap].is_used = 0;
    num_requests_--;
    for (;;) {
        at = (at + 1) & mask;
        if (!requests_[at].is_used) return;
        size_t home = place_(requests_[at].handle) & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        requests_[gap] = requests_[at];
        requests_[at].is_used = 0;
        gap = at;
    }
}

static void activate_(struct thread_ *self, struct request_ *request, uint64_t now) {
    request->is_active = 1;
    request->number = ++numbers_;
    if (request->is_send) {
        WRITE_(self, POST_SEND_, now, request->id, request->to, (uint64_t)request->tag, request->bytes,
               request->number);
    } else {
        WRITE_(self, POST_RECEIVE_, now, request->number);
    }
}

static void posted_(struct thread_ *self, MPI_Request handle, MPI_Comm communicator, int is_send,
                    int rank, int tag, uint64_t bytes, int is_persistent) {
    if (!self || rank == MPI_PROC_NULL) return;
    const struct communicator_ *own = known_(communicator);
    if (!own) return;
    struct request_ request;
    memset(&request, 0, sizeof request);
    request.handle = handle_(handle);
    request.id = own->id;
    request.communicator = communicator;
    request.to = world_(own, rank);
    request.tag = tag;
    request.bytes = bytes;
    request.is_used = 1;
    request.is_send = (char)is_send;
    request.is_persistent = (char)is_persistent;
    pthread_mutex_lock(&requests_lock_);
    if (!is_persistent) activate_(self, &request, self->entered);
    keep_(&request);
    pthread_mutex_unlock(&requests_lock_);
}

static void started_(struct thread_ *self, MPI_Request handle) {
    if (!self) return;
    pthread_mutex_lock(&requests_lock_);
    struct request_ *request = find_(handle_(handle));
    if (request) activate_(self, request, self->entered);
    pthread_mutex_unlock(&requests_lock_);
}

static void completed_(struct thread_ *self, MPI_Request handle, const MPI_Status *status,
                       uint64_t now) {
    REAL_(MPI_Test_cancelled);
    if (!self) return;
    pthread_mutex_lock(&requests_lock_);
    struct request_ *found = find_(handle_(handle));
    struct request_ request;
    int is_known = found && found->is_active;
    if (is_known) {
        request = *found;
        found->is_active = 0;
        if (!request.is_persistent) drop_(found);
    }
    pthread_mutex_unlock(&requests_lock_);
    if (!is_known) return;
    int is_cancelled = 0;
    real_MPI_Test_cancelled(status, &is_cancelled);
    if (is_cancelled) {
        WRITE_(self, CANCELLED_, now, request.number);
    } else if (request.is_send) {
        WRITE_(self, SENT_, now, request.number);
    } else {
        const struct communicator_ *own = known_(request.communicator);
        WRITE_(self, RECEIVED_, now, request.id, world_(own, status->MPI_SOURCE),
               (uint64_t)(int64_t)status->MPI_TAG, received_bytes_(status), request.number);
    }
}

static void freed_(struct thread_ *self, MPI_Request handle) {
    if (!self) return;
    pthread_mutex_lock(&requests_lock_);
    struct request_ *request = find_(handle_(handle));
    if (request) drop_(request);
    pthread_mutex_unlock(&requests_lock_);
}

/* ---- Records of calls ----------------------------------------------------------------------- */

static void sent_(struct thread_ *self, MPI_Comm communicator, int rank, int tag, uint64_t bytes) {
    if (!self || rank == MPI_PROC_NULL) return;
    const struct communicator_ *own = known_(communicator);
    if (!own) return;
    WRITE_(self, SEND_, self->entered, own->id, world_(own, rank), (uint64_t)(int64_t)tag, bytes);
}

static void received_(struct thread_ *self, MPI_Comm communicator, const MPI_Status *status,
                      uint64_t now) {
    if (!self || status->MPI_SOURCE == MPI_PROC_NULL) return;
    const struct communicator_ *own = known_(communicator);
    if (!own) return;
    WRITE_(self, RECEIVE_, now, own->id, world_(own, status->MPI_SOURCE),
           (uint64_t)(int64_t)status->MPI_TAG, received_bytes_(status));
}

static void together_(struct thread_ *self, MPI_Comm communicator, enum operation_ operation,
                      int root, uint64_t sent, uint64_t received, uint64_t now) {
    if (!self) return;
    const struct communicator_ *own = known_(communicator);
    /* Between two groups there is no order of all. */
    if (!own || own->is_inter) return;
    uint64_t place = root < 0 ? NOBODY_ : (uint64_t)root;
    if (root >= 0 && !own->is_ordered && own->world) {
        /* Ranks are counted in the order of MPI_COMM_WORLD there. */
        place = 0;
        for (int i = 0; i < own->size; i++) place += own->world[i] < own->world[root];
    }
    WRITE_(self, COLLECTIVE_, self->entered, now, operation, own->id, place, sent, received);
}

/* Of two groups nothing is counted: whose numbers count there depends on the operation. */
static const struct communicator_ *group_(MPI_Comm communicator) {
    const struct communicator_ *own = known_(communicator);
    return own && !own->is_inter ? own : NULL;
}
#define RANKS_(communicator) (group_(communicator) ? group_(communicator)->size : 0)
#define IS_ROOT_(communicator, root) (group_(communicator) && group_(communicator)->own == (root))
#define OWN_(communicator, counts) (group_(communicator) ? (counts)[group_(communicator)->own] : 0)

static int64_t sum_(const int *counts, int size) {
    int64_t all = 0;
    for (int i = 0; counts && i < size; i++) all += counts[i];
    return all;
}

#include "parallax_mpi_functions.h"
#include "parallax_mpi_fortran.h"

/* ---- The start ------------------------------------------------------------------------------ */

__attribute__((constructor)) static void begins_(void) {
    const char *folder = getenv("PARALLAX_MPI");
    if (!folder || !folder[0]) return;
    folder_ = strdup(folder);
    has_key_ = pthread_key_create(&key_, thread_ends_) == 0;
    pthread_atfork(NULL, NULL, forked_);
}
