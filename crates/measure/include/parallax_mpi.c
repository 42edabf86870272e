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
 *     8 bytes "PLXMPI\r\n", process, thread (4 bytes each), bytes written so far (8), 40 zeros
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

/* A function of MPI: what is done after the real one has returned, where something is recorded. */
#define FUNCTION_(name, parameters, arguments, before, after)                                      \
    PUBLIC_ int name parameters {                                                                  \
        REAL_(name);                                                                               \
        struct thread_ *self = recording_by_parallax_();                                                           \
        before;                                                                                    \
        int result = real_##name arguments;                                                        \
        uint64_t now = self ? nanos_() : 0;                                                        \
        after;                                                                                     \
        leave_(self, now);                                                                         \
        return result;                                                                             \
    }

FUNCTION_(MPI_Init, (int *count, char ***words), (count, words), check_(),
          if (result == MPI_SUCCESS) begun_(self))
FUNCTION_(MPI_Init_thread, (int *count, char ***words, int wanted, int *provided),
          (count, words, wanted, provided), check_(), if (result == MPI_SUCCESS) begun_(self))
FUNCTION_(MPI_Finalize, (void), (), run_.is_ready = 0, )

#define ENVELOPE_ int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm
#define SENDS_(name)                                                                               \
    FUNCTION_(name, (const void *data, ENVELOPE_), (data, count, type, rank, tag, comm),           \
              if (self) sent_(self, comm, rank, tag, bytes_(type, count)), )
SENDS_(MPI_Send)
SENDS_(MPI_Bsend)
SENDS_(MPI_Ssend)
SENDS_(MPI_Rsend)

#define POSTS_SEND_(name, is_persistent)                                                           \
    FUNCTION_(name, (const void *data, ENVELOPE_, MPI_Request *request),                           \
              (data, count, type, rank, tag, comm, request), ,                                     \
              if (self && result == MPI_SUCCESS) posted_(self, *request, comm, 1, rank, tag,       \
                                                         bytes_(type, count), is_persistent))
POSTS_SEND_(MPI_Isend, 0)
POSTS_SEND_(MPI_Ibsend, 0)
POSTS_SEND_(MPI_Issend, 0)
POSTS_SEND_(MPI_Irsend, 0)
POSTS_SEND_(MPI_Send_init, 1)
POSTS_SEND_(MPI_Bsend_init, 1)
POSTS_SEND_(MPI_Ssend_init, 1)
POSTS_SEND_(MPI_Rsend_init, 1)

#define POSTS_RECEIVE_(name, is_persistent)                                                        \
    FUNCTION_(name, (void *data, ENVELOPE_, MPI_Request *request),                                 \
              (data, count, type, rank, tag, comm, request), ,                                     \
              if (self && result == MPI_SUCCESS)                                                   \
                  posted_(self, *request, comm, 0, rank, tag, 0, is_persistent))
POSTS_RECEIVE_(MPI_Irecv, 0)
POSTS_RECEIVE_(MPI_Recv_init, 1)

/* The status that the program asks for, or one of our own. */
#define OWN_STATUS_                                                                                \
    MPI_Status own_status;                                                                         \
    MPI_Status *seen = status == MPI_STATUS_IGNORE ? &own_status : status

FUNCTION_(MPI_Recv, (void *data, ENVELOPE_, MPI_Status *status),
          (data, count, type, rank, tag, comm, seen), OWN_STATUS_,
          if (result == MPI_SUCCESS) received_(self, comm, seen, now))

FUNCTION_(MPI_Sendrecv,
          (const void *data, int count, MPI_Datatype type, int to, int tag, void *into, int room,
           MPI_Datatype kind, int from, int wanted, MPI_Comm comm, MPI_Status *status),
          (data, count, type, to, tag, into, room, kind, from, wanted, comm, seen), OWN_STATUS_;
          if (self) sent_(self, comm, to, tag, bytes_(type, count)),
          if (result == MPI_SUCCESS) received_(self, comm, seen, now))

FUNCTION_(MPI_Sendrecv_replace,
          (void *data, int count, MPI_Datatype type, int to, int tag, int from, int wanted,
           MPI_Comm comm, MPI_Status *status),
          (data, count, type, to, tag, from, wanted, comm, seen), OWN_STATUS_;
          if (self) sent_(self, comm, to, tag, bytes_(type, count)),
          if (result == MPI_SUCCESS) received_(self, comm, seen, now))

FUNCTION_(MPI_Probe, (int rank, int tag, MPI_Comm comm, MPI_Status *status),
          (rank, tag, comm, status), , )
FUNCTION_(MPI_Iprobe, (int rank, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
          (rank, tag, comm, flag, status), , )
FUNCTION_(MPI_Mrecv,
          (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
          (data, count, type, message, status), , )

FUNCTION_(MPI_Start, (MPI_Request *request), (request), started_(self, *request), )
FUNCTION_(MPI_Startall, (int count, MPI_Request *requests), (count, requests),
          for (int i = 0; self && i < count; i++) started_(self, requests[i]), )
FUNCTION_(MPI_Cancel, (MPI_Request *request), (request), , )
FUNCTION_(MPI_Request_free, (MPI_Request *request), (request), MPI_Request freed = *request,
          if (result == MPI_SUCCESS) freed_(self, freed))

/* ---- Completion ----------------------------------------------------------------------------- */

FUNCTION_(MPI_Wait, (MPI_Request *request, MPI_Status *status), (request, seen), OWN_STATUS_;
          MPI_Request handle = *request,
          if (result == MPI_SUCCESS) completed_(self, handle, seen, now))

FUNCTION_(MPI_Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, seen),
          OWN_STATUS_;
          MPI_Request handle = *request,
          if (result == MPI_SUCCESS && *flag) completed_(self, handle, seen, now))

/* Copies of handles, which MPI replaces, and statuses. */
struct several_ {
    MPI_Request few_handles[32], *handles;
    MPI_Status few_statuses[32], *statuses, *own;
};

static void several_(struct several_ *all, const struct thread_ *self, int count,
                     const MPI_Request *requests, MPI_Status *statuses) {
    size_t room = count > 0 ? (size_t)count : 0;
    all->handles = NULL;
    all->own = NULL;
    all->statuses = statuses;
    if (!self) return;
    all->handles = room <= 32 ? all->few_handles : (MPI_Request *)malloc(room * sizeof *requests);
    if (all->handles) memcpy(all->handles, requests, room * sizeof *requests);
    if (statuses != MPI_STATUSES_IGNORE) return;
    all->own = room <= 32 ? all->few_statuses : (MPI_Status *)malloc(room * sizeof *statuses);
    if (all->own) all->statuses = all->own;
}

static void forget_(struct several_ *all) {
    if (all->handles != all->few_handles) free(all->handles);
    if (all->own != all->few_statuses) free(all->own);
}

static void all_completed_(struct several_ *all, struct thread_ *self, int count, uint64_t now) {
    int has_statuses = all->statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; self && all->handles && has_statuses && i < count; i++) {
        if (all->handles[i] != run_.no_request) completed_(self, all->handles[i], &all->statuses[i], now);
    }
}

static void some_completed_(struct several_ *all, struct thread_ *self, int count, const int *which,
                            uint64_t now) {
    int has_statuses = all->statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; self && all->handles && has_statuses && count != MPI_UNDEFINED && i < count; i++) {
        completed_(self, all->handles[which[i]], &all->statuses[i], now);
    }
}

FUNCTION_(MPI_Waitall, (int count, MPI_Request *requests, MPI_Status *statuses),
          (count, requests, all.statuses), struct several_ all;
          several_(&all, self, count, requests, statuses),
          if (result == MPI_SUCCESS) all_completed_(&all, self, count, now);
          forget_(&all))
FUNCTION_(MPI_Testall, (int count, MPI_Request *requests, int *flag, MPI_Status *statuses),
          (count, requests, flag, all.statuses), struct several_ all;
          several_(&all, self, count, requests, statuses),
          if (result == MPI_SUCCESS && *flag) all_completed_(&all, self, count, now);
          forget_(&all))
FUNCTION_(MPI_Waitsome, (int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses),
          (count, requests, done, which, all.statuses), struct several_ all;
          several_(&all, self, count, requests, statuses),
          if (result == MPI_SUCCESS) some_completed_(&all, self, *done, which, now);
          forget_(&all))
FUNCTION_(MPI_Testsome, (int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses),
          (count, requests, done, which, all.statuses), struct several_ all;
          several_(&all, self, count, requests, statuses),
          if (result == MPI_SUCCESS) some_completed_(&all, self, *done, which, now);
          forget_(&all))
FUNCTION_(MPI_Waitany, (int count, MPI_Request *requests, int *which, MPI_Status *status),
          (count, requests, which, seen), OWN_STATUS_;
          struct several_ all; several_(&all, self, count, requests, seen),
          if (result == MPI_SUCCESS && *which != MPI_UNDEFINED && all.handles)
              completed_(self, all.handles[*which], seen, now);
          forget_(&all))
FUNCTION_(MPI_Testany, (int count, MPI_Request *requests, int *which, int *flag, MPI_Status *status),
          (count, requests, which, flag, seen), OWN_STATUS_;
          struct several_ all; several_(&all, self, count, requests, seen),
          if (result == MPI_SUCCESS && *flag && *which != MPI_UNDEFINED && all.handles)
              completed_(self, all.handles[*which], seen, now);
          forget_(&all))

/* ---- Collective operations ------------------------------------------------------------------ */

#define TOGETHER_(operation, root, sent, received)                                                 \
    if (self && result == MPI_SUCCESS) together_(self, comm, operation, root, sent, received, now)
#define SENT_DATA_ const void *data, int count, MPI_Datatype type
#define INTO_ void *into, int room, MPI_Datatype kind
/* What is sent in place is as much as what is received there. */
#define OUT_(times) (data == MPI_IN_PLACE ? IN_(times) : bytes_(type, (int64_t)count * (times)))
#define IN_(times) bytes_(kind, (int64_t)room * (times))

FUNCTION_(MPI_Barrier, (MPI_Comm comm), (comm), , TOGETHER_(BARRIER_, -1, 0, 0))
FUNCTION_(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
          (data, count, type, root, comm), ,
          TOGETHER_(BCAST_, root, IS_ROOT_(comm, root) ? bytes_(type, count) : 0,
                    IS_ROOT_(comm, root) ? 0 : bytes_(type, count)))
FUNCTION_(MPI_Gather, (SENT_DATA_, INTO_, int root, MPI_Comm comm),
          (data, count, type, into, room, kind, root, comm), ,
          TOGETHER_(GATHER_, root, OUT_(1), IS_ROOT_(comm, root) ? IN_(RANKS_(comm)) : 0))
FUNCTION_(MPI_Gatherv,
          (SENT_DATA_, void *into, const int *rooms, const int *places, MPI_Datatype kind, int root,
           MPI_Comm comm),
          (data, count, type, into, rooms, places, kind, root, comm), ,
          TOGETHER_(GATHERV_, root, data == MPI_IN_PLACE ? 0 : bytes_(type, count),
                    IS_ROOT_(comm, root) ? bytes_(kind, sum_(rooms, RANKS_(comm))) : 0))
FUNCTION_(MPI_Scatter, (SENT_DATA_, INTO_, int root, MPI_Comm comm),
          (data, count, type, into, room, kind, root, comm), ,
          TOGETHER_(SCATTER_, root,
                    IS_ROOT_(comm, root) ? bytes_(type, (int64_t)count * RANKS_(comm)) : 0,
                    into == MPI_IN_PLACE ? 0 : IN_(1)))
FUNCTION_(MPI_Scatterv,
          (const void *data, const int *counts, const int *places, MPI_Datatype type, INTO_, int root,
           MPI_Comm comm),
          (data, counts, places, type, into, room, kind, root, comm), ,
          TOGETHER_(SCATTERV_, root,
                    IS_ROOT_(comm, root) ? bytes_(type, sum_(counts, RANKS_(comm))) : 0,
                    into == MPI_IN_PLACE ? 0 : IN_(1)))
FUNCTION_(MPI_Allgather, (SENT_DATA_, INTO_, MPI_Comm comm), (data, count, type, into, room, kind, comm),
          , TOGETHER_(ALLGATHER_, -1, OUT_(1), IN_(RANKS_(comm))))
FUNCTION_(MPI_Allgatherv,
          (SENT_DATA_, void *into, const int *rooms, const int *places, MPI_Datatype kind,
           MPI_Comm comm),
          (data, count, type, into, rooms, places, kind, comm), ,
          TOGETHER_(ALLGATHERV_, -1,
                    data == MPI_IN_PLACE ? bytes_(kind, OWN_(comm, rooms)) : bytes_(type, count),
                    bytes_(kind, sum_(rooms, RANKS_(comm)))))
FUNCTION_(MPI_Alltoall, (SENT_DATA_, INTO_, MPI_Comm comm), (data, count, type, into, room, kind, comm), ,
          TOGETHER_(ALLTOALL_, -1, OUT_(RANKS_(comm)), IN_(RANKS_(comm))))
FUNCTION_(MPI_Alltoallv,
          (const void *data, const int *counts, const int *from, MPI_Datatype type, void *into,
           const int *rooms, const int *places, MPI_Datatype kind, MPI_Comm comm),
          (data, counts, from, type, into, rooms, places, kind, comm), ,
          TOGETHER_(ALLTOALLV_, -1,
                    data == MPI_IN_PLACE ? bytes_(kind, sum_(rooms, RANKS_(comm)))
                                         : bytes_(type, sum_(counts, RANKS_(comm))),
                    bytes_(kind, sum_(rooms, RANKS_(comm)))))

static uint64_t sum_of_types_(const int *counts, const MPI_Datatype *types, int size) {
    uint64_t all = 0;
    for (int i = 0; i < size; i++) all += bytes_(types[i], counts[i]);
    return all;
}

FUNCTION_(MPI_Alltoallw,
          (const void *data, const int *counts, const int *from, const MPI_Datatype *types, void *into,
           const int *rooms, const int *places, const MPI_Datatype *kinds, MPI_Comm comm),
          (data, counts, from, types, into, rooms, places, kinds, comm), ,
          TOGETHER_(ALLTOALLW_, -1,
                    data == MPI_IN_PLACE ? sum_of_types_(rooms, kinds, RANKS_(comm))
                                         : sum_of_types_(counts, types, RANKS_(comm)),
                    sum_of_types_(rooms, kinds, RANKS_(comm))))

#define REDUCES_ const void *data, void *into, int count, MPI_Datatype type, MPI_Op op
FUNCTION_(MPI_Reduce, (REDUCES_, int root, MPI_Comm comm), (data, into, count, type, op, root, comm), ,
          TOGETHER_(REDUCE_, root, bytes_(type, count),
                    IS_ROOT_(comm, root) ? bytes_(type, count) : 0))
#define REDUCES_ALL_(name, operation)                                                              \
    FUNCTION_(name, (REDUCES_, MPI_Comm comm), (data, into, count, type, op, comm), ,              \
              TOGETHER_(operation, -1, bytes_(type, count), bytes_(type, count)))
REDUCES_ALL_(MPI_Allreduce, ALLREDUCE_)
REDUCES_ALL_(MPI_Scan, SCAN_)
REDUCES_ALL_(MPI_Exscan, EXSCAN_)
FUNCTION_(MPI_Reduce_scatter,
          (const void *data, void *into, const int *counts, MPI_Datatype type, MPI_Op op,
           MPI_Comm comm),
          (data, into, counts, type, op, comm), ,
          TOGETHER_(REDUCE_SCATTER_, -1, bytes_(type, sum_(counts, RANKS_(comm))),
                    bytes_(type, OWN_(comm, counts))))
FUNCTION_(MPI_Reduce_scatter_block, (REDUCES_, MPI_Comm comm), (data, into, count, type, op, comm), ,
          TOGETHER_(REDUCE_SCATTER_BLOCK_, -1, bytes_(type, (int64_t)count * RANKS_(comm)),
                    bytes_(type, count)))

/* ---- Communicators -------------------------------------------------------------------------- */

#define CREATED_ if (result == MPI_SUCCESS && folder_) created_(*made)
FUNCTION_(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), , CREATED_)
FUNCTION_(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made), ,
          CREATED_)
FUNCTION_(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), ,
          CREATED_)
FUNCTION_(MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
          (comm, group, tag, made), , CREATED_)
FUNCTION_(MPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made),
          (comm, colour, key, made), , CREATED_)
FUNCTION_(MPI_Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
          (comm, kind, key, info, made), , CREATED_)
FUNCTION_(MPI_Cart_create,
          (MPI_Comm comm, int dimensions, const int *sizes, const int *periods, int reorder,
           MPI_Comm *made),
          (comm, dimensions, sizes, periods, reorder, made), , CREATED_)
FUNCTION_(MPI_Cart_sub, (MPI_Comm comm, const int *remain, MPI_Comm *made), (comm, remain, made), ,
          CREATED_)
FUNCTION_(MPI_Graph_create,
          (MPI_Comm comm, int nodes, const int *index, const int *edges, int reorder, MPI_Comm *made),
          (comm, nodes, index, edges, reorder, made), , CREATED_)
FUNCTION_(MPI_Dist_graph_create_adjacent,
          (MPI_Comm comm, int in, const int *from, const int *inner, int out, const int *to,
           const int *outer, MPI_Info info, int reorder, MPI_Comm *made),
          (comm, in, from, inner, out, to, outer, info, reorder, made), , CREATED_)
FUNCTION_(MPI_Intercomm_merge, (MPI_Comm comm, int is_high, MPI_Comm *made), (comm, is_high, made), ,
          CREATED_)

/* ---- The start ------------------------------------------------------------------------------ */

__attribute__((constructor)) static void begins_(void) {
    const char *folder = getenv("PARALLAX_MPI");
    if (!folder || !folder[0]) return;
    folder_ = strdup(folder);
    has_key_ = pthread_key_create(&key_, thread_ends_) == 0;
    pthread_atfork(NULL, NULL, forked_);
}
