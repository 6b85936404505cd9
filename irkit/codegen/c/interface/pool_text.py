"""Text of the pool of threads of a model's library, whose prefix is ``NAME``.

Its threads start with the first loop that has work enough, and end when the last model of the
library is destroyed. One loop uses the pool at a time; another one that comes meanwhile runs on the
thread that calls, so there are never more threads at work than those that call and those of the
pool. Without a number of the host's, a pool has no more threads than processors that no pool of
another such library has taken. A child process after a fork has no threads and starts its own.
"""

BEGIN = """\
#if !defined(IRKIT_NO_THREADS) && !defined(_OPENMP) && !defined(_WIN32)
#define IRKIT_THREADS
/* For the processors that this process may use; before all includes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE 1
#endif
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <dirent.h>
#include <sched.h>
#include <sys/prctl.h>
#endif
#endif
"""
"""The first lines of the file of a model."""

OWN_POOL = """\
#ifdef IRKIT_THREADS
enum { IRKIT_MOST_WORKERS = 256 };
static const char irkit_worker_name[] = "irkit-pool";

/* What `lock` guards, but for `next`, and the loop, which does not change while it runs. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    pthread_t workers[IRKIT_MOST_WORKERS];
    int32_t count, models, wanted, inside, free_processors;
    int busy, ending, at_forks;
    uint64_t round;
    irkit_body body;
    void *data;
    int64_t begin, size, longer, parts;
    _Atomic int64_t next;
    _Atomic int status;
} irkit_own = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .start = PTHREAD_COND_INITIALIZER,
               .end = PTHREAD_COND_INITIALIZER};

/* Run parts of the loop until none is left. */
static void irkit_parts(void) {
    for (;;) {
        const int64_t part = atomic_fetch_add(&irkit_own.next, 1);
        if (part >= irkit_own.parts) return;
        const int64_t longer = part < irkit_own.longer ? part : irkit_own.longer;
        const int64_t first = irkit_own.begin + part * irkit_own.size + longer;
        const int64_t last = first + irkit_own.size + (part < irkit_own.longer);
        const int status = irkit_own.body(irkit_own.data, first, last);
        if (status) atomic_store(&irkit_own.status, status);
    }
}

static void *irkit_work(void *given) {
    const int32_t number = (int32_t)(intptr_t)given;
    uint64_t seen = 0;
#ifdef __linux__
    prctl(PR_SET_NAME, irkit_worker_name);
#endif
    pthread_mutex_lock(&irkit_own.lock);
    while (!irkit_own.ending) {
        if (irkit_own.round == seen || number >= irkit_own.wanted) {
            pthread_cond_wait(&irkit_own.start, &irkit_own.lock);
            continue;
        }
        seen = irkit_own.round;
        ++irkit_own.inside;
        pthread_mutex_unlock(&irkit_own.lock);
        irkit_parts();
        pthread_mutex_lock(&irkit_own.lock);
        if (!--irkit_own.inside) pthread_cond_signal(&irkit_own.end);
    }
    pthread_mutex_unlock(&irkit_own.lock);
    return NULL;
}

/* Count the processors that this process may use and no pool of such a library has taken. */
static int32_t irkit_count_processors(void) {
    int32_t found = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed)) found = CPU_COUNT(&allowed);
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *each; tasks && (each = readdir(tasks));) {
        char path[64], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", each->d_name);
        FILE *const file = fopen(path, "r");
        if (!file) continue;
        const int is_worker = fgets(name, sizeof name, file) &&
                              !strncmp(name, irkit_worker_name, sizeof irkit_worker_name - 1);
        fclose(file);
        found -= is_worker;
    }
    if (tasks) closedir(tasks);
#endif
    return found < 1 ? 1 : found;
}

static void irkit_before_fork(void) { pthread_mutex_lock(&irkit_own.lock); }
static void irkit_in_parent(void) { pthread_mutex_unlock(&irkit_own.lock); }

/* The threads are not in the child, nor is the loop that one of them ran. */
static void irkit_in_child(void) {
    pthread_mutex_init(&irkit_own.lock, NULL);
    pthread_cond_init(&irkit_own.start, NULL);
    pthread_cond_init(&irkit_own.end, NULL);
    irkit_own.count = irkit_own.wanted = irkit_own.inside = 0;
    irkit_own.busy = irkit_own.ending = 0;
}

/* Start threads until there are enough for a loop, and return how many workers it gets. */
static int32_t irkit_workers(int32_t threads) {
    if (!irkit_own.count) irkit_own.free_processors = irkit_count_processors();
    int32_t wanted = (threads > 0 ? threads : irkit_own.free_processors) - 1;
    if (wanted > IRKIT_MOST_WORKERS) wanted = IRKIT_MOST_WORKERS;
    if (wanted > irkit_own.count) {
        if (!irkit_own.at_forks) {
            irkit_own.at_forks =
                !pthread_atfork(irkit_before_fork, irkit_in_parent, irkit_in_child);
        }
        if (!irkit_own.at_forks) return 0;
        sigset_t all, before;
        sigfillset(&all); /* Signals are for the threads of the host. */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (irkit_own.count < wanted &&
               !pthread_create(&irkit_own.workers[irkit_own.count], NULL, irkit_work,
                               (void *)(intptr_t)irkit_own.count)) {
            ++irkit_own.count;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return wanted < irkit_own.count ? wanted : irkit_own.count;
}

/* Run a loop on the pool; `context` is the number of threads that it may use, 0 for all. */
static int irkit_own_run(void *context, int64_t begin, int64_t end, irkit_body body, void *data) {
    const int32_t threads = *(const int32_t *)context;
    const int64_t count = end - begin;
    if (count < 1) return 0;
    pthread_mutex_lock(&irkit_own.lock);
    int32_t workers = 0;
    if (!irkit_own.busy && !irkit_own.ending && irkit_own.models && count > 1 && threads != 1) {
        workers = irkit_workers(threads);
    }
    if (!workers) {
        pthread_mutex_unlock(&irkit_own.lock);
        return body(data, begin, end);
    }
    const int64_t most = 4 * ((int64_t)workers + 1);
    irkit_own.parts = count < most ? count : most;
    irkit_own.size = count / irkit_own.parts;
    irkit_own.longer = count % irkit_own.parts;
    irkit_own.begin = begin;
    irkit_own.body = body;
    irkit_own.data = data;
    irkit_own.busy = 1;
    irkit_own.wanted = workers;
    ++irkit_own.round;
    atomic_store(&irkit_own.next, 0);
    atomic_store(&irkit_own.status, 0);
    pthread_cond_broadcast(&irkit_own.start);
    pthread_mutex_unlock(&irkit_own.lock);
    irkit_parts();
    pthread_mutex_lock(&irkit_own.lock);
    irkit_own.wanted = 0; /* Who has not come yet stays out. */
    while (irkit_own.inside) pthread_cond_wait(&irkit_own.end, &irkit_own.lock);
    const int status = atomic_load(&irkit_own.status);
    irkit_own.busy = 0;
    pthread_mutex_unlock(&irkit_own.lock);
    return status;
}

static void irkit_one_more(void) {
    pthread_mutex_lock(&irkit_own.lock);
    ++irkit_own.models;
    pthread_mutex_unlock(&irkit_own.lock);
}

/* End the threads with the last model. */
static void irkit_one_less(void) {
    pthread_mutex_lock(&irkit_own.lock);
    const int32_t count = --irkit_own.models || irkit_own.ending ? 0 : irkit_own.count;
    if (count) irkit_own.ending = 1;
    pthread_cond_broadcast(&irkit_own.start);
    pthread_mutex_unlock(&irkit_own.lock);
    for (int32_t each = 0; each < count; ++each) pthread_join(irkit_own.workers[each], NULL);
    if (!count) return;
    pthread_mutex_lock(&irkit_own.lock);
    irkit_own.count = irkit_own.ending = 0;
    pthread_mutex_unlock(&irkit_own.lock);
}

int NAME_parallel(void *context, int64_t begin, int64_t end,
                  int (*body)(void *data, int64_t begin, int64_t end), void *data) {
    int32_t all = 0;
    return irkit_own_run(context ? context : &all, begin, end, body, data);
}
#else
static void irkit_one_more(void) {}
static void irkit_one_less(void) {}

int NAME_parallel(void *context, int64_t begin, int64_t end,
                  int (*body)(void *data, int64_t begin, int64_t end), void *data) {
    (void)context;
    return begin < end ? body(data, begin, end) : 0;
}
#endif
"""
