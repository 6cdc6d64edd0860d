/* SPDX-License-Identifier: MIT */
#include "tests/clients/libgearman/bed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static char server_host[64];
static in_port_t server_port;

static bool find_server(void)
{
    const char *address = getenv("GEARMAN_ADDRESS");
    const char *colon = address ? strrchr(address, ':') : NULL;

    if (!colon || (size_t)(colon - address) >= sizeof(server_host))
        return false;
    memcpy(server_host, address, (size_t)(colon - address));
    server_port = (in_port_t)strtoul(colon + 1, NULL, 10);
    return true;
}

gearman_client_st *bed_client(void)
{
    gearman_client_st *client = gearman_client_create(NULL);

    assert_non_null(client);
    gearman_client_set_timeout(client, FOREVER_MS);
    assert_int_equal(gearman_client_add_server(client, server_host, server_port), GEARMAN_SUCCESS);
    return client;
}

int bed_open(void **state)
{
    static unsigned count;
    struct bed *bed = find_server() ? calloc(1, sizeof(*bed)) : NULL;

    if (!bed)
        return -1;
    count++;
    snprintf(bed->function, sizeof(bed->function), "libgearman-%d-%u", (int)getpid(), count);
    snprintf(bed->other, sizeof(bed->other), "%s-other", bed->function);
    bed->client = bed_client();
    bed->second = bed_client();
    *state = bed;
    return 0;
}

int bed_close(void **state)
{
    struct bed *bed = *state;

    for (size_t i = 0; i < bed->worker_count; i++)
        worker_stop(&bed->workers[i]);
    gearman_client_free(bed->client);
    gearman_client_free(bed->second);
    free(bed);
    return 0;
}

struct worker *bed_worker(struct bed *bed)
{
    struct worker *worker = &bed->workers[bed->worker_count++];

    assert_true(bed->worker_count <= BED_WORKERS);
    worker->gearman = gearman_worker_create(NULL);
    assert_non_null(worker->gearman);
    assert_int_equal(gearman_worker_add_server(worker->gearman, server_host, server_port),
                     GEARMAN_SUCCESS);
    return worker;
}

void worker_can_do(struct worker *worker, const char *function, gearman_function_fn *work,
                   uint32_t limit_ms, void *context)
{
    assert_int_equal(gearman_worker_define_function(worker->gearman, function, strlen(function),
                                                    gearman_function_create(work), limit_ms,
                                                    context),
                     GEARMAN_SUCCESS);
}

static void *run(void *argument)
{
    struct worker *worker = argument;

    while (gearman_worker_work(worker->gearman) != GEARMAN_SHUTDOWN)
        ;
    return NULL;
}

void worker_start(struct worker *worker)
{
    assert_int_equal(pthread_create(&worker->thread, NULL, run, worker), 0);
    worker->runs = true;
}

struct worker *bed_start(struct bed *bed, gearman_function_fn *work, void *context)
{
    struct worker *worker = bed_worker(bed);

    worker_can_do(worker, bed->function, work, 0, context);
    worker_start(worker);
    return worker;
}

void worker_stop(struct worker *worker)
{
    if (worker->runs) {
        gearman_kill(gearman_worker_id(worker->gearman), GEARMAN_KILL);
        pthread_join(worker->thread, NULL);
    }
    worker->runs = false;
    gearman_worker_free(worker->gearman);
    worker->gearman = NULL;
}

void bed_cut(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int fd = 0; fd < (int)limit.rlim_cur && fd < FD_SETSIZE; fd++) {
        struct sockaddr_in peer;
        socklen_t len = sizeof(peer);

        if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == server_port)
            assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
    }
}

gearman_return_t work_echo(gearman_job_st *job, void *context)
{
    (void)context;
    return gearman_job_send_complete(job, gearman_job_workload(job),
                                     gearman_job_workload_size(job));
}

gearman_return_t work_nothing(gearman_job_st *job, void *context)
{
    (void)context;
    return gearman_job_send_complete(job, NULL, 0);
}

gearman_return_t work_fail(gearman_job_st *job, void *context)
{
    (void)context;
    return gearman_job_send_fail(job);
}

void expect_done(gearman_client_st *client, const char *function, const char *text,
                 const char *expected)
{
    size_t size = 0;
    gearman_return_t code = GEARMAN_MAX_RETURN;
    char *result = gearman_client_do(client, function, NULL, text, strlen(text), &size, &code);

    assert_int_equal(code, GEARMAN_SUCCESS);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(result, expected, size);
    free(result);
}

void submit(gearman_client_st *client, const char *function, const char *key, const char *text,
            gearman_job_handle_t handle)
{
    assert_int_equal(
        gearman_client_do_background(client, function, key, text, strlen(text), handle),
        GEARMAN_SUCCESS);
}

struct told told_by_handle(gearman_client_st *client, const gearman_job_handle_t handle)
{
    bool is_known, is_running;
    uint32_t numerator, denominator;

    assert_int_equal(
        gearman_client_job_status(client, handle, &is_known, &is_running, &numerator, &denominator),
        GEARMAN_SUCCESS);
    return (struct told){.is_known = is_known,
                         .is_running = is_running,
                         .numerator = numerator,
                         .denominator = denominator};
}

struct told told_by_key(gearman_client_st *client, const char *key)
{
    gearman_status_t status = gearman_client_unique_status(client, key, strlen(key));

    return (struct told){.is_known = gearman_status_is_known(status),
                         .is_running = gearman_status_is_running(status),
                         .numerator = gearman_status_numerator(status),
                         .denominator = gearman_status_denominator(status),
                         .clients = status.status_.mesg_.client_count};
}
