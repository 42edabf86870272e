/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* parallax_instrument_openmp.h: a part of parallax_instrument.c.
 *
 * What orders the threads of OpenMP happens in libgomp, which is compiled without hooks. Here is what
 * gcc calls there: each makes the events of locks that say the same. All that the library's threads
 * do for the program is in `run_share` and `run_task`.
 */

static inline void order_event(int tag, const volatile void *at, uintptr_t from) {
    if (!records_in_call()) return;
    struct parallax_site_ place = site(from, PARALLAX_AT_OTHER_, "order of threads");
    if (place.id) parallax_at_(tag, &place, at);
}
/* Who hears at this address later comes after what this thread did: a lock that is given back and was
 * not taken orders in one direction only. */
static inline void tell(const volatile void *at, uintptr_t from) {
    order_event(PARALLAX_RELEASES_, at, from);
}
static inline void hear(const volatile void *at, uintptr_t from) {
    order_event(PARALLAX_ACQUIRED_, at, from);
    order_event(PARALLAX_RELEASES_, at, from);
}

/* What orders the threads of a parallel region, each by its address. */
struct order {
    char starts, ends, tasks, copies, ordered, barriers[2];
};
enum { TASKS_APART = 256, NESTED_LOCKS = 8 };
static struct order_of_thread {
    struct order regions[16];
    /* Tasks that were made long ago share an address with new ones: an order too many. */
    char tasks[TASKS_APART];
} *orders;
static uint32_t num_orders;
enum { MOST_ORDERS = 1024 };
/* Where no region is, or too many are. */
static struct order no_region;

/* What a thread is in; a share of a region is a task as well. */
struct position {
    struct order *order;
    const char *task;
    uint32_t barriers, level;
    uintptr_t place;
};
static __thread struct position here_;
static __thread struct order_of_thread *own_orders_;
static __thread uint32_t num_tasks_;

static struct order_of_thread *own_orders(void) {
    if (!own_orders_) {
        is_inside++;
        __real_pthread_mutex_lock(&parallax_lock_);
        if (!orders) orders = fresh(MOST_ORDERS * sizeof *orders);
        if (orders) own_orders_ = &orders[num_orders++ % MOST_ORDERS];
        __real_pthread_mutex_unlock(&parallax_lock_);
        is_inside--;
    }
    return own_orders_;
}

static int enter_region(const char *name, uintptr_t from) {
    if (!records()) return 0;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    forget_below(stack);
    enter(PARALLAX_AT_REGION_, from | IS_REGION, name, stack, 0);
    return 1;
}
static void leave_region(void) {
    if (!records()) return;
    forget_below((uintptr_t)__builtin_frame_address(0));
    if (parallax_self_.depth > 0) leave();
}

struct share {
    void (*run)(void *);
    void *with;
    struct position at;
};
static __attribute__((noinline)) void run_share(void *shared) {
    struct share *share = shared;
    struct position before = here_;
    struct order_of_thread *own = own_orders();
    here_ = share->at;
    here_.task = own ? &own->tasks[num_tasks_++ % TASKS_APART] : &here_.order->tasks;
    int is_in = enter_region("parallel region", here_.place);
    hear(&here_.order->starts, here_.place);
    share->run(share->with);
    tell(&here_.order->ends, here_.place);
    if (is_in) leave_region();
    here_ = before;
}
static struct share share_of(void (*run)(void *), void *with, uintptr_t from) {
    struct order_of_thread *own = own_orders();
    uint32_t level = here_.level + 1;
    struct order *order = own && level < 16 ? &own->regions[level] : &no_region;
    struct share share = {run, with, {order, NULL, 0, level, from}};
    tell(&order->starts, from);
    return share;
}
static void share_ends(const struct share *share, uintptr_t from) {
    hear(&share->at.order->ends, from);
    hear(&share->at.order->tasks, from);
}

#define PARALLEL(name, parameters, arguments)                                                      \
    extern void __real_##name parameters __attribute__((weak));                                    \
    void __wrap_##name parameters {                                                                \
        struct share share = share_of(run, with, HERE);                                            \
        run = run_share, with = &share;                                                            \
        __real_##name arguments;                                                                   \
        share_ends(&share, HERE);                                                                  \
    }
#define PARALLEL_LOOP(name)                                                                        \
    PARALLEL(name,                                                                                 \
             (void (*run)(void *), void *with, unsigned threads, long from, long to, long by,      \
              long chunk, unsigned flags),                                                         \
             (run, with, threads, from, to, by, chunk, flags))
#define PARALLEL_LOOP_WHOLE(name)                                                                  \
    PARALLEL(name,                                                                                 \
             (void (*run)(void *), void *with, unsigned threads, long from, long to, long by,      \
              unsigned flags),                                                                     \
             (run, with, threads, from, to, by, flags))
PARALLEL(GOMP_parallel, (void (*run)(void *), void *with, unsigned threads, unsigned flags),
         (run, with, threads, flags))
PARALLEL(GOMP_parallel_sections,
         (void (*run)(void *), void *with, unsigned threads, unsigned count, unsigned flags),
         (run, with, threads, count, flags))
PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
PARALLEL_LOOP_WHOLE(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_WHOLE(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_WHOLE(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
REAL(unsigned, GOMP_parallel_reductions, void (*)(void *), void *, unsigned, unsigned);
unsigned __wrap_GOMP_parallel_reductions(void (*run)(void *), void *with, unsigned threads, unsigned flags) {
    struct share share = share_of(run, with, HERE);
    unsigned count = __real_GOMP_parallel_reductions(run_share, &share, threads, flags);
    share_ends(&share, HERE);
    return count;
}

/* A thread that is late out of one barrier must not hear who is in the next one already. */
static char *barrier_begins(uintptr_t from) {
    if (!here_.order) return NULL;
    char *barrier = &here_.order->barriers[here_.barriers++ % 2];
    tell(barrier, from);
    return barrier;
}
static void barrier_ends(const char *barrier, uintptr_t from) {
    if (!barrier) return;
    hear(barrier, from);
    hear(&here_.order->tasks, from);
}
#define BARRIER(name)                                                                              \
    REAL(void, name, void);                                                                        \
    void __wrap_##name(void) {                                                                     \
        char *barrier = barrier_begins(HERE);                                                      \
        __real_##name();                                                                           \
        barrier_ends(barrier, HERE);                                                               \
    }
#define BARRIER_OR_CANCEL(name)                                                                    \
    REAL(_Bool, name, void);                                                                       \
    _Bool __wrap_##name(void) {                                                                    \
        char *barrier = barrier_begins(HERE);                                                      \
        _Bool is_cancelled = __real_##name();                                                      \
        barrier_ends(barrier, HERE);                                                               \
        return is_cancelled;                                                                       \
    }
BARRIER(GOMP_barrier)
BARRIER_OR_CANCEL(GOMP_barrier_cancel)
BARRIER(GOMP_loop_end)
BARRIER_OR_CANCEL(GOMP_loop_end_cancel)
BARRIER(GOMP_sections_end)
BARRIER_OR_CANCEL(GOMP_sections_end_cancel)
REAL(void *, GOMP_single_copy_start, void);
REAL(void, GOMP_single_copy_end, void *);
void *__wrap_GOMP_single_copy_start(void) {
    void *copied = __real_GOMP_single_copy_start();
    if (copied && here_.order) hear(&here_.order->copies, HERE);
    return copied;
}
void __wrap_GOMP_single_copy_end(void *copied) {
    if (here_.order) tell(&here_.order->copies, HERE);
    __real_GOMP_single_copy_end(copied);
}

/* Locks. */
static char critical_, atomic_;
#define OPENS(name, parameter, arguments, lock)                                                    \
    extern void __real_##name(parameter) __attribute__((weak));                                    \
    void __wrap_##name(parameter) {                                                               \
        __real_##name(arguments);                                                                  \
        lock_event(PARALLAX_ACQUIRED_, lock, HERE);                                                \
    }
#define CLOSES(name, parameter, arguments, lock)                                                   \
    extern void __real_##name(parameter) __attribute__((weak));                                    \
    void __wrap_##name(parameter) {                                                               \
        lock_event(PARALLAX_RELEASES_, lock, HERE);                                                \
        __real_##name(arguments);                                                                  \
    }
OPENS(GOMP_critical_start, void, , &critical_)
CLOSES(GOMP_critical_end, void, , &critical_)
OPENS(GOMP_critical_name_start, void **at, at, at)
CLOSES(GOMP_critical_name_end, void **at, at, at)
OPENS(GOMP_atomic_start, void, , &atomic_)
CLOSES(GOMP_atomic_end, void, , &atomic_)
OPENS(GOMP_ordered_start, void, , here_.order ? &here_.order->ordered : &critical_)
CLOSES(GOMP_ordered_end, void, , here_.order ? &here_.order->ordered : &critical_)
OPENS(omp_set_lock, void *lock, lock, lock)
CLOSES(omp_unset_lock, void *lock, lock, lock)
REAL(int, omp_test_lock, void *);
int __wrap_omp_test_lock(void *lock) {
    int is_taken = __real_omp_test_lock(lock);
    if (is_taken) lock_event(PARALLAX_ACQUIRED_, lock, HERE);
    return is_taken;
}
/* Locks that their owner may take again are taken and given back once. */
static __thread struct {
    void *lock;
    uint32_t times;
} nested_[NESTED_LOCKS];
static uint32_t *times_of(void *lock) {
    for (int i = 0; i < NESTED_LOCKS; i++) {
        if (nested_[i].times == 0) nested_[i].lock = lock;
        if (nested_[i].lock == lock) return &nested_[i].times;
    }
    return NULL;
}
static void nest_taken(void *lock, uintptr_t from) {
    uint32_t *times = times_of(lock);
    if (!times || (*times)++ == 0) lock_event(PARALLAX_ACQUIRED_, lock, from);
}
REAL(void, omp_set_nest_lock, void *);
REAL(void, omp_unset_nest_lock, void *);
REAL(int, omp_test_nest_lock, void *);
void __wrap_omp_set_nest_lock(void *lock) {
    __real_omp_set_nest_lock(lock);
    nest_taken(lock, HERE);
}
void __wrap_omp_unset_nest_lock(void *lock) {
    uint32_t *times = times_of(lock);
    if (!times || *times == 0 || --*times == 0) lock_event(PARALLAX_RELEASES_, lock, HERE);
    __real_omp_unset_nest_lock(lock);
}
int __wrap_omp_test_nest_lock(void *lock) {
    int times = __real_omp_test_nest_lock(lock);
    if (times) nest_taken(lock, HERE);
    return times;
}

/* Tasks. Their data gets a head, where libgomp writes the range of a task loop. */
enum { DEPEND = 1 << 3, NO_GROUP = 1 << 11, MOST_DEPENDS = 8 };
struct task {
    long range[2];
    void (*run)(void *);
    struct position at;
    /* Who waits for the task looks at it, and at those of its kind. */
    const char *made_by;
    /* What it depends on: those that it writes come first. */
    const char *on[MOST_DEPENDS];
    int num_written, num_on, is_loop;
    long room;
};
struct new_task {
    struct task head;
    void (*copy)(void *, void *);
    void *data;
    long bytes;
};
static void copy_task(void *to, void *from) {
    const struct new_task *made = from;
    struct task *head = to;
    void *data = (char *)to + made->head.room;
    *head = made->head;
    if (made->copy) made->copy(data, made->data);
    else __real_memcpy(data, made->data, made->bytes);
    struct order_of_thread *own = own_orders();
    if (own) head->at.task = &own->tasks[num_tasks_++ % TASKS_APART];
    tell(head->at.task, head->at.place);
}
static __attribute__((noinline)) void run_task(void *with) {
    struct task *head = with;
    void *data = (char *)with + head->room;
    struct position before = here_;
    here_ = head->at;
    uintptr_t from = here_.place;
    int is_in = enter_region("task", from);
    hear(here_.task, from);
    for (int i = 0; i < head->num_on; i++) {
        hear(head->on[i], from);
        if (i < head->num_written) hear(head->on[i] + 1, from);
    }
    if (head->is_loop) __real_memcpy(data, head->range, sizeof head->range);
    head->run(data);
    for (int i = 0; i < head->num_on; i++) tell(head->on[i] + (i >= head->num_written), from);
    tell(head->made_by, from);
    tell(&here_.order->tasks, from);
    if (is_in) leave_region();
    here_ = before;
}
static struct new_task task_of(void (*run)(void *), void *data, void (*copy)(void *, void *), long bytes,
                               long *alignment, uintptr_t from) {
    struct new_task made = {{{0, 0}, run, here_, NULL, {NULL}, 0, 0, 0, 0}, copy, data, bytes};
    if (*alignment < 16) *alignment = 16;
    made.head.room = ((long)sizeof(struct task) + *alignment - 1) / *alignment * *alignment;
    made.head.at.place = from;
    if (!made.head.at.order) made.head.at.order = &no_region;
    made.head.made_by = here_.task ? here_.task : &no_region.ends;
    made.head.at.task = made.head.made_by;
    return made;
}
extern void __real_GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, _Bool,
                             unsigned, void **, int, void *) __attribute__((weak));
void __wrap_GOMP_task(void (*run)(void *), void *data, void (*copy)(void *, void *), long bytes,
                      long alignment, _Bool is_deferred, unsigned flags, void **depends, int priority,
                      void *detach) {
    struct new_task made = task_of(run, data, copy, bytes, &alignment, HERE);
    if (flags & DEPEND && depends) {
        /* How many there are, and how many of them are written; or 0, and then that. */
        uintptr_t *told = (uintptr_t *)depends, count = told[0] ? told[0] : told[1];
        uintptr_t written = told[0] ? told[1] : told[2] + told[3];
        void **on = depends + (told[0] ? 2 : 5);
        made.head.num_on = count < MOST_DEPENDS ? (int)count : MOST_DEPENDS;
        made.head.num_written = written < MOST_DEPENDS ? (int)written : MOST_DEPENDS;
        for (int i = 0; i < made.head.num_on; i++) made.head.on[i] = on[i];
    }
    __real_GOMP_task(run_task, &made, copy_task, made.head.room + bytes, alignment, is_deferred, flags,
                     depends, priority, detach);
}
#define TASK_LOOP(name, type)                                                                      \
    REAL(void, name, void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,     \
         unsigned long, int, type, type, type);                                                    \
    void __wrap_##name(void (*run)(void *), void *data, void (*copy)(void *, void *), long bytes,  \
                       long alignment, unsigned flags, unsigned long count, int priority,          \
                       type from, type to, type by) {                                              \
        struct new_task made = task_of(run, data, copy, bytes, &alignment, HERE);                  \
        made.head.is_loop = 1;                                                                     \
        const char *made_by = made.head.made_by;                                                   \
        __real_##name(run_task, &made, copy_task, made.head.room + bytes, alignment, flags, count, \
                      priority, from, to, by);                                                     \
        if (!(flags & NO_GROUP)) hear(made_by, HERE);                                              \
    }
TASK_LOOP(GOMP_taskloop, long)
TASK_LOOP(GOMP_taskloop_ull, unsigned long long)
REAL(void, GOMP_taskwait, void);
REAL(void, GOMP_taskwait_depend, void **);
REAL(void, GOMP_taskgroup_end, void);
void __wrap_GOMP_taskwait(void) {
    __real_GOMP_taskwait();
    hear(here_.task ? here_.task : &no_region.ends, HERE);
}
void __wrap_GOMP_taskwait_depend(void **depends) {
    __real_GOMP_taskwait_depend(depends);
    hear(here_.task ? here_.task : &no_region.ends, HERE);
}
void __wrap_GOMP_taskgroup_end(void) {
    __real_GOMP_taskgroup_end();
    hear(here_.order ? &here_.order->tasks : &no_region.tasks, HERE);
}
