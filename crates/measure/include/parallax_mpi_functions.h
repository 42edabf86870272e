/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The functions of MPI for C that parallax_mpi.c stands in front of. */

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
