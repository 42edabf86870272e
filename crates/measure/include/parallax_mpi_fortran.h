/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The subroutines of MPI for Fortran (`mpif.h`, `use mpi`, and `use mpi_f08` of Open MPI) that
 * parallax_mpi.c stands in front of, by the names that gfortran, ifx and flang give them. The real
 * ones get what the program passes; handles are converted only to say what is sent. */

typedef MPI_Fint fint_;

/* As MPI has them, where these are functions; others have macros. */
#ifdef OPEN_MPI
static MPI_Comm comm_(fint_ handle) {
    REAL_(MPI_Comm_f2c);
    return real_MPI_Comm_f2c(handle);
}
static MPI_Datatype type_(fint_ handle) {
    REAL_(MPI_Type_f2c);
    return real_MPI_Type_f2c(handle);
}
static MPI_Request request_(fint_ handle) {
    REAL_(MPI_Request_f2c);
    return real_MPI_Request_f2c(handle);
}
#else
static MPI_Comm comm_(fint_ handle) { return MPI_Comm_f2c(handle); }
static MPI_Datatype type_(fint_ handle) { return MPI_Type_f2c(handle); }
static MPI_Request request_(fint_ handle) { return MPI_Request_f2c(handle); }
#endif

/* Integers of a status, or more. */
enum { STATUS_INTS_ = 32 };

/* Whether an address is that of a constant of Fortran, which is a variable with one of four names. */
static int is_constant_(const void *address, const char *const names[4]) {
    for (int i = 0; i < 4; i++) {
        if (address == dlsym(RTLD_DEFAULT, names[i])) return 1;
    }
    return 0;
}

static int is_in_place_(const void *data) {
    static const char *const names[4] = {"mpi_fortran_in_place_", "mpi_fortran_in_place",
                                         "MPI_FORTRAN_IN_PLACE", "mpi_fortran_in_place__"};
    return data && is_constant_(data, names);
}

static int ignores_(const fint_ *status) {
    static const char *const names[4] = {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
                                         "MPI_FORTRAN_STATUS_IGNORE",
                                         "mpi_fortran_status_ignore__"};
    fint_ **known = (fint_ **)dlsym(RTLD_DEFAULT, "MPI_F_STATUS_IGNORE");
    return (known && *known == status) || is_constant_(status, names);
}

static int ignores_all_(const fint_ *statuses) {
    static const char *const names[4] = {"mpi_fortran_statuses_ignore_",
                                         "mpi_fortran_statuses_ignore",
                                         "MPI_FORTRAN_STATUSES_IGNORE",
                                         "mpi_fortran_statuses_ignore__"};
    fint_ **known = (fint_ **)dlsym(RTLD_DEFAULT, "MPI_F_STATUSES_IGNORE");
    return (known && *known == statuses) || is_constant_(statuses, names);
}

static MPI_Status status_(const fint_ *status) {
    REAL_(MPI_Status_f2c);
    MPI_Status own;
    real_MPI_Status_f2c(status, &own);
    return own;
}

/* Integers from one status to the next in an array. */
static size_t status_size_(void) { return sizeof(MPI_Status) / sizeof(fint_); }

/* A subroutine: as FUNCTION_, with an error in place of a result. The module mpi_f08 of Open MPI has
 * one of the same parameters: its handles are structures of one integer, its statuses have the integers
 * of the others, and the error may be left out. */
#define SUBROUTINE_(name, parameters, arguments, before, after)                                    \
    SUBROUTINE_AS_(name, "p" #name, parameters, arguments, before, after)                          \
    SUBROUTINE_AS_(name##f08_, "p" #name "f08_", parameters, arguments, before, after)

#define SUBROUTINE_AS_(name, real_name, parameters, arguments, before, after)                      \
    PUBLIC_ void name parameters;                                                                  \
    void name parameters {                                                                         \
        static void *known;                                                                        \
        void *found = real_(&known, real_name);                                                    \
        void(*real) parameters;                                                                    \
        memcpy(&real, &found, sizeof real);                                                        \
        fint_ own_error = MPI_SUCCESS;                                                             \
        if (!error) error = &own_error;                                                            \
        struct thread_ *self = recording_by_parallax_();                                           \
        before;                                                                                    \
        real arguments;                                                                            \
        int result = *error;                                                                       \
        uint64_t now = self ? nanos_() : 0;                                                        \
        after;                                                                                     \
        (void)result;                                                                              \
        leave_(self, now);                                                                         \
    }

#define DONE_ if (self && result == MPI_SUCCESS)

SUBROUTINE_(mpi_init_, (fint_ * error), (error), check_(), if (result == MPI_SUCCESS) begun_(self))
SUBROUTINE_(mpi_init_thread_, (fint_ * wanted, fint_ *provided, fint_ *error),
            (wanted, provided, error), check_(), if (result == MPI_SUCCESS) begun_(self))
SUBROUTINE_(mpi_finalize_, (fint_ * error), (error), run_.is_ready = 0, )

#define F_ENVELOPE_ fint_ *count, fint_ *type, fint_ *rank, fint_ *tag, fint_ *comm
#define F_SENDS_(name)                                                                             \
    SUBROUTINE_(name, (void *data, F_ENVELOPE_, fint_ *error),                                     \
                (data, count, type, rank, tag, comm, error),                                       \
                if (self) sent_(self, comm_(*comm), *rank, *tag, bytes_(type_(*type), *count)), )
F_SENDS_(mpi_send_)
F_SENDS_(mpi_bsend_)
F_SENDS_(mpi_ssend_)
F_SENDS_(mpi_rsend_)

#define F_POSTS_SEND_(name, is_persistent)                                                         \
    SUBROUTINE_(name, (void *data, F_ENVELOPE_, fint_ *request, fint_ *error),                     \
                (data, count, type, rank, tag, comm, request, error), ,                            \
                DONE_ posted_(self, request_(*request), comm_(*comm), 1, *rank, *tag,              \
                              bytes_(type_(*type), *count), is_persistent))
F_POSTS_SEND_(mpi_isend_, 0)
F_POSTS_SEND_(mpi_ibsend_, 0)
F_POSTS_SEND_(mpi_issend_, 0)
F_POSTS_SEND_(mpi_irsend_, 0)
F_POSTS_SEND_(mpi_send_init_, 1)
F_POSTS_SEND_(mpi_bsend_init_, 1)
F_POSTS_SEND_(mpi_ssend_init_, 1)
F_POSTS_SEND_(mpi_rsend_init_, 1)

#define F_POSTS_RECEIVE_(name, is_persistent)                                                      \
    SUBROUTINE_(name, (void *data, F_ENVELOPE_, fint_ *request, fint_ *error),                     \
                (data, count, type, rank, tag, comm, request, error), ,                            \
                DONE_ posted_(self, request_(*request), comm_(*comm), 0, *rank, *tag, 0,           \
                              is_persistent))
F_POSTS_RECEIVE_(mpi_irecv_, 0)
F_POSTS_RECEIVE_(mpi_recv_init_, 1)

/* The status that the program asks for, or one of our own. */
#define F_OWN_STATUS_                                                                              \
    fint_ own_status[STATUS_INTS_] = {0};                                                          \
    fint_ *seen = self && ignores_(status) ? own_status : status
#define F_RECEIVED_(handle)                                                                        \
    DONE_ {                                                                                        \
        MPI_Status found = status_(seen);                                                          \
        received_(self, comm_(handle), &found, now);                                               \
    }

SUBROUTINE_(mpi_recv_, (void *data, F_ENVELOPE_, fint_ *status, fint_ *error),
            (data, count, type, rank, tag, comm, seen, error), F_OWN_STATUS_, F_RECEIVED_(*comm))
SUBROUTINE_(mpi_sendrecv_,
            (void *data, fint_ *count, fint_ *type, fint_ *to, fint_ *tag, void *into, fint_ *room,
             fint_ *kind, fint_ *from, fint_ *wanted, fint_ *comm, fint_ *status, fint_ *error),
            (data, count, type, to, tag, into, room, kind, from, wanted, comm, seen, error),
            F_OWN_STATUS_;
            if (self) sent_(self, comm_(*comm), *to, *tag, bytes_(type_(*type), *count)),
            F_RECEIVED_(*comm))
SUBROUTINE_(mpi_sendrecv_replace_,
            (void *data, fint_ *count, fint_ *type, fint_ *to, fint_ *tag, fint_ *from,
             fint_ *wanted, fint_ *comm, fint_ *status, fint_ *error),
            (data, count, type, to, tag, from, wanted, comm, seen, error), F_OWN_STATUS_;
            if (self) sent_(self, comm_(*comm), *to, *tag, bytes_(type_(*type), *count)),
            F_RECEIVED_(*comm))
SUBROUTINE_(mpi_probe_, (fint_ * rank, fint_ *tag, fint_ *comm, fint_ *status, fint_ *error),
            (rank, tag, comm, status, error), , )
SUBROUTINE_(mpi_iprobe_,
            (fint_ * rank, fint_ *tag, fint_ *comm, fint_ *flag, fint_ *status, fint_ *error),
            (rank, tag, comm, flag, status, error), , )

SUBROUTINE_(mpi_start_, (fint_ * request, fint_ *error), (request, error),
            started_(self, request_(*request)), )
SUBROUTINE_(mpi_startall_, (fint_ * count, fint_ *requests, fint_ *error), (count, requests, error),
            for (fint_ i = 0; self && i < *count; i++) started_(self, request_(requests[i])), )
SUBROUTINE_(mpi_cancel_, (fint_ * request, fint_ *error), (request, error), , )
SUBROUTINE_(mpi_request_free_, (fint_ * request, fint_ *error), (request, error),
            MPI_Request freed = self ? request_(*request) : run_.no_request,
            DONE_ freed_(self, freed))

static void f_completed_(struct thread_ *self, MPI_Request handle, const fint_ *status,
                         uint64_t now) {
    MPI_Status found = status_(status);
    completed_(self, handle, &found, now);
}

SUBROUTINE_(mpi_wait_, (fint_ * request, fint_ *status, fint_ *error), (request, seen, error),
            F_OWN_STATUS_;
            MPI_Request handle = self ? request_(*request) : run_.no_request,
            DONE_ f_completed_(self, handle, seen, now))
SUBROUTINE_(mpi_test_, (fint_ * request, fint_ *flag, fint_ *status, fint_ *error),
            (request, flag, seen, error), F_OWN_STATUS_;
            MPI_Request handle = self ? request_(*request) : run_.no_request,
            DONE_ if (*flag) f_completed_(self, handle, seen, now))

/* Handles as they were, and statuses; without room for them nothing is known of the requests. */
struct f_several_ {
    MPI_Request *handles;
    fint_ *statuses, *own;
};

static struct f_several_ f_several_(const struct thread_ *self, fint_ count, const fint_ *requests,
                                    fint_ *statuses) {
    struct f_several_ all = {NULL, statuses, NULL};
    size_t room = count > 0 ? (size_t)count : 0;
    if (!self || !room) return all;
    all.handles = (MPI_Request *)malloc(room * sizeof *all.handles);
    for (size_t i = 0; all.handles && i < room; i++) all.handles[i] = request_(requests[i]);
    if (!ignores_all_(statuses)) return all;
    all.own = (fint_ *)calloc(room, STATUS_INTS_ * sizeof *all.own);
    if (all.own) {
        all.statuses = all.own;
    } else {
        free(all.handles);
        all.handles = NULL;
    }
    return all;
}

static void f_forget_(struct f_several_ *all) {
    free(all->handles);
    free(all->own);
}

static void f_all_completed_(struct f_several_ *all, struct thread_ *self, fint_ count,
                             uint64_t now) {
    for (fint_ i = 0; self && all->handles && i < count; i++) {
        if (all->handles[i] == run_.no_request) continue;
        f_completed_(self, all->handles[i], all->statuses + (size_t)i * status_size_(), now);
    }
}

static void f_some_completed_(struct f_several_ *all, struct thread_ *self, fint_ count,
                              const fint_ *which, uint64_t now) {
    /* Places count from 1. */
    for (fint_ i = 0; self && all->handles && count != MPI_UNDEFINED && i < count; i++) {
        f_completed_(self, all->handles[which[i] - 1], all->statuses + (size_t)i * status_size_(), now);
    }
}

#define F_SEVERAL_ struct f_several_ all = f_several_(self, *count, requests, statuses)
SUBROUTINE_(mpi_waitall_, (fint_ * count, fint_ *requests, fint_ *statuses, fint_ *error),
            (count, requests, all.statuses, error), F_SEVERAL_,
            DONE_ f_all_completed_(&all, self, *count, now);
            f_forget_(&all))
SUBROUTINE_(mpi_testall_,
            (fint_ * count, fint_ *requests, fint_ *flag, fint_ *statuses, fint_ *error),
            (count, requests, flag, all.statuses, error), F_SEVERAL_,
            DONE_ if (*flag) f_all_completed_(&all, self, *count, now);
            f_forget_(&all))
SUBROUTINE_(mpi_waitsome_,
            (fint_ * count, fint_ *requests, fint_ *done, fint_ *which, fint_ *statuses,
             fint_ *error),
            (count, requests, done, which, all.statuses, error), F_SEVERAL_,
            DONE_ f_some_completed_(&all, self, *done, which, now);
            f_forget_(&all))
SUBROUTINE_(mpi_testsome_,
            (fint_ * count, fint_ *requests, fint_ *done, fint_ *which, fint_ *statuses,
             fint_ *error),
            (count, requests, done, which, all.statuses, error), F_SEVERAL_,
            DONE_ f_some_completed_(&all, self, *done, which, now);
            f_forget_(&all))
#define F_ANY_                                                                                     \
    F_OWN_STATUS_;                                                                                 \
    struct f_several_ all = f_several_(self, *count, requests, own_status)
SUBROUTINE_(mpi_waitany_,
            (fint_ * count, fint_ *requests, fint_ *which, fint_ *status, fint_ *error),
            (count, requests, which, seen, error), F_ANY_,
            DONE_ if (all.handles && *which != MPI_UNDEFINED)
                f_completed_(self, all.handles[*which - 1], seen, now);
            f_forget_(&all))
SUBROUTINE_(mpi_testany_,
            (fint_ * count, fint_ *requests, fint_ *which, fint_ *flag, fint_ *status,
             fint_ *error),
            (count, requests, which, flag, seen, error), F_ANY_,
            DONE_ if (*flag && all.handles && *which != MPI_UNDEFINED)
                f_completed_(self, all.handles[*which - 1], seen, now);
            f_forget_(&all))

#define F_TOGETHER_(operation, root, sent, received)                                               \
    DONE_ together_(self, comm_(*comm), operation, root, sent, received, now)
#define F_SENT_ void *data, fint_ *count, fint_ *type
#define F_INTO_ void *into, fint_ *room, fint_ *kind
#define F_IN_(times) bytes_(type_(*kind), (int64_t)*room * (times))
#define F_OUT_(times)                                                                              \
    (is_in_place_(data) ? F_IN_(times) : bytes_(type_(*type), (int64_t)*count * (times)))
#define F_ALL_ RANKS_(comm_(*comm))
#define F_IS_ROOT_ IS_ROOT_(comm_(*comm), *root)
#define F_SUM_(kind, counts) bytes_(type_(*(kind)), sum_(counts, F_ALL_))

SUBROUTINE_(mpi_barrier_, (fint_ * comm, fint_ *error), (comm, error), ,
            F_TOGETHER_(BARRIER_, -1, 0, 0))
SUBROUTINE_(mpi_bcast_, (F_SENT_, fint_ *root, fint_ *comm, fint_ *error),
            (data, count, type, root, comm, error), ,
            F_TOGETHER_(BCAST_, *root, F_IS_ROOT_ ? bytes_(type_(*type), *count) : 0,
                        F_IS_ROOT_ ? 0 : bytes_(type_(*type), *count)))
SUBROUTINE_(mpi_gather_, (F_SENT_, F_INTO_, fint_ *root, fint_ *comm, fint_ *error),
            (data, count, type, into, room, kind, root, comm, error), ,
            F_TOGETHER_(GATHER_, *root, F_OUT_(1), F_IS_ROOT_ ? F_IN_(F_ALL_) : 0))
SUBROUTINE_(mpi_gatherv_,
            (F_SENT_, void *into, fint_ *rooms, fint_ *places, fint_ *kind, fint_ *root, fint_ *comm,
             fint_ *error),
            (data, count, type, into, rooms, places, kind, root, comm, error), ,
            F_TOGETHER_(GATHERV_, *root, is_in_place_(data) ? 0 : bytes_(type_(*type), *count),
                        F_IS_ROOT_ ? F_SUM_(kind, rooms) : 0))
SUBROUTINE_(mpi_scatter_, (F_SENT_, F_INTO_, fint_ *root, fint_ *comm, fint_ *error),
            (data, count, type, into, room, kind, root, comm, error), ,
            F_TOGETHER_(SCATTER_, *root,
                        F_IS_ROOT_ ? bytes_(type_(*type), (int64_t)*count * F_ALL_) : 0,
                        is_in_place_(into) ? 0 : F_IN_(1)))
SUBROUTINE_(mpi_scatterv_,
            (void *data, fint_ *counts, fint_ *places, fint_ *type, F_INTO_, fint_ *root, fint_ *comm,
             fint_ *error),
            (data, counts, places, type, into, room, kind, root, comm, error), ,
            F_TOGETHER_(SCATTERV_, *root, F_IS_ROOT_ ? F_SUM_(type, counts) : 0,
                        is_in_place_(into) ? 0 : F_IN_(1)))
SUBROUTINE_(mpi_allgather_, (F_SENT_, F_INTO_, fint_ *comm, fint_ *error),
            (data, count, type, into, room, kind, comm, error), ,
            F_TOGETHER_(ALLGATHER_, -1, F_OUT_(1), F_IN_(F_ALL_)))
SUBROUTINE_(mpi_allgatherv_,
            (F_SENT_, void *into, fint_ *rooms, fint_ *places, fint_ *kind, fint_ *comm,
             fint_ *error),
            (data, count, type, into, rooms, places, kind, comm, error), ,
            F_TOGETHER_(ALLGATHERV_, -1,
                        is_in_place_(data) ? bytes_(type_(*kind), OWN_(comm_(*comm), rooms))
                                           : bytes_(type_(*type), *count),
                        F_SUM_(kind, rooms)))
SUBROUTINE_(mpi_alltoall_, (F_SENT_, F_INTO_, fint_ *comm, fint_ *error),
            (data, count, type, into, room, kind, comm, error), ,
            F_TOGETHER_(ALLTOALL_, -1, F_OUT_(F_ALL_), F_IN_(F_ALL_)))
SUBROUTINE_(mpi_alltoallv_,
            (void *data, fint_ *counts, fint_ *from, fint_ *type, void *into, fint_ *rooms,
             fint_ *places, fint_ *kind, fint_ *comm, fint_ *error),
            (data, counts, from, type, into, rooms, places, kind, comm, error), ,
            F_TOGETHER_(ALLTOALLV_, -1,
                        is_in_place_(data) ? F_SUM_(kind, rooms) : F_SUM_(type, counts),
                        F_SUM_(kind, rooms)))
#define F_REDUCES_ void *data, void *into, fint_ *count, fint_ *type, fint_ *op
#define F_REDUCED_ bytes_(type_(*type), *count)
SUBROUTINE_(mpi_reduce_, (F_REDUCES_, fint_ *root, fint_ *comm, fint_ *error),
            (data, into, count, type, op, root, comm, error), ,
            F_TOGETHER_(REDUCE_, *root, F_REDUCED_, F_IS_ROOT_ ? F_REDUCED_ : 0))
#define F_REDUCES_ALL_(name, operation)                                                            \
    SUBROUTINE_(name, (F_REDUCES_, fint_ *comm, fint_ *error),                                     \
                (data, into, count, type, op, comm, error), ,                                      \
                F_TOGETHER_(operation, -1, F_REDUCED_, F_REDUCED_))
F_REDUCES_ALL_(mpi_allreduce_, ALLREDUCE_)
F_REDUCES_ALL_(mpi_scan_, SCAN_)
F_REDUCES_ALL_(mpi_exscan_, EXSCAN_)
SUBROUTINE_(mpi_reduce_scatter_,
            (void *data, void *into, fint_ *counts, fint_ *type, fint_ *op, fint_ *comm,
             fint_ *error),
            (data, into, counts, type, op, comm, error), ,
            F_TOGETHER_(REDUCE_SCATTER_, -1, F_SUM_(type, counts),
                        bytes_(type_(*type), OWN_(comm_(*comm), counts))))
SUBROUTINE_(mpi_reduce_scatter_block_, (F_REDUCES_, fint_ *comm, fint_ *error),
            (data, into, count, type, op, comm, error), ,
            F_TOGETHER_(REDUCE_SCATTER_BLOCK_, -1,
                        bytes_(type_(*type), (int64_t)*count * F_ALL_), F_REDUCED_))

#define F_CREATED_ if (result == MPI_SUCCESS && folder_) created_(comm_(*made))
SUBROUTINE_(mpi_comm_dup_, (fint_ * comm, fint_ *made, fint_ *error), (comm, made, error), ,
            F_CREATED_)
SUBROUTINE_(mpi_comm_create_, (fint_ * comm, fint_ *group, fint_ *made, fint_ *error),
            (comm, group, made, error), , F_CREATED_)
SUBROUTINE_(mpi_comm_split_, (fint_ * comm, fint_ *colour, fint_ *key, fint_ *made, fint_ *error),
            (comm, colour, key, made, error), , F_CREATED_)
SUBROUTINE_(mpi_comm_split_type_,
            (fint_ * comm, fint_ *kind, fint_ *key, fint_ *info, fint_ *made, fint_ *error),
            (comm, kind, key, info, made, error), , F_CREATED_)
SUBROUTINE_(mpi_cart_create_,
            (fint_ * comm, fint_ *dimensions, fint_ *sizes, fint_ *periods, fint_ *reorder,
             fint_ *made, fint_ *error),
            (comm, dimensions, sizes, periods, reorder, made, error), , F_CREATED_)
SUBROUTINE_(mpi_cart_sub_, (fint_ * comm, fint_ *remain, fint_ *made, fint_ *error),
            (comm, remain, made, error), , F_CREATED_)
