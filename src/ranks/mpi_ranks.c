/* mpi_ranks.c - the ranks of Open MPI, as a library of its own (libtacit_mpi.so).
 *
 * Every wait is a poll, for three reasons.  A wait can be cancelled.  Ranks that share processors hand them on instead
 * of spinning.  And a peer that is gone ends the wait. */
#include "core/stop.h"
#include "ranks/ranks.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>

/* Counts are ints in MPI: longer vectors go in pieces. */
enum { PIECE = 1 << 26, TAG = 1 };
/* After so many polls without an answer (about 20 microseconds) the processor is offered to others. */
enum { SPINS = 200 };
/* A cancelled rank waits this long for the others, which were asked to end at the same moment.  mpirun kills ranks one
 * second after it has asked them. */
static const double grace = 0.4;

/* Waits for the request; false: it is given up. */
static int settle(int started, MPI_Request *request, const tct_patience *patience) {
  int done = 0;
  double begin = 0, cancelled = INFINITY;
  if (started != MPI_SUCCESS) return TCT_TRANSPORT_FAILED;
  for (long polls = 0;; polls++) {
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return TCT_TRANSPORT_FAILED;
    if (done) return TCT_TRANSPORT_DONE;
    if (polls < SPINS) continue;
    double time = tct_clock();
    if (polls == SPINS) begin = time;
    if (isinf(cancelled) && patience->cancel && patience->cancel(patience->user)) cancelled = time;
    if (time - begin > patience->seconds || time - cancelled > grace) return TCT_TRANSPORT_LATE;
    sched_yield();
  }
}

static int open_ranks(int *rank, int *ranks) {
  int level;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return TCT_TRANSPORT_FAILED;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
  return TCT_TRANSPORT_DONE;
}

static int smallest(void *state, int32_t *x, const tct_patience *patience) {
  (void)state;
  MPI_Request request;
  int own = *x;
  return settle(MPI_Iallreduce(&own, x, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request), &request, patience);
}

static int reduce(double *x, int64_t n, MPI_Op op, const tct_patience *patience) {
  for (int64_t at = 0; at < n; at += PIECE) {
    MPI_Request request;
    int count = (int)(n - at < PIECE ? n - at : PIECE);
    int outcome = settle(MPI_Iallreduce(MPI_IN_PLACE, x + at, count, MPI_DOUBLE, op, MPI_COMM_WORLD, &request),
                         &request, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

static int sum(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)state;
  return reduce(x, n, MPI_SUM, patience);
}
static int largest(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)state;
  return reduce(x, n, MPI_MAX, patience);
}

static int sum_first(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)state;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int64_t at = 0; at < n; at += PIECE) {
    MPI_Request request;
    int count = (int)(n - at < PIECE ? n - at : PIECE);
    int started =
        MPI_Ireduce(rank == 0 ? MPI_IN_PLACE : x + at, x + at, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    int outcome = settle(started, &request, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

static int broadcast(void *state, void *bytes, int64_t size, int from, const tct_patience *patience) {
  (void)state;
  for (int64_t at = 0; at < size; at += PIECE) {
    MPI_Request request;
    int count = (int)(size - at < PIECE ? size - at : PIECE);
    int started = MPI_Ibcast((char *)bytes + at, count, MPI_BYTE, from, MPI_COMM_WORLD, &request);
    int outcome = settle(started, &request, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

static int gather(void *state, const void *own, void *all, int64_t size, const tct_patience *patience) {
  (void)state;
  MPI_Request request;
  if (size > PIECE) return TCT_TRANSPORT_FAILED; /* nobody gathers as much */
  return settle(MPI_Iallgather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD, &request), &request,
                patience);
}

static int send(void *state, int32_t to, const void *bytes, int64_t size, const tct_patience *patience) {
  (void)state;
  for (int64_t at = 0; at < size; at += PIECE) {
    MPI_Request request;
    int count = (int)(size - at < PIECE ? size - at : PIECE);
    int started = MPI_Isend((const char *)bytes + at, count, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    int outcome = settle(started, &request, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

static int receive(void *state, int32_t from, void *bytes, int64_t size, const tct_patience *patience) {
  (void)state;
  for (int64_t at = 0; at < size; at += PIECE) {
    MPI_Request request;
    int count = (int)(size - at < PIECE ? size - at : PIECE);
    int started = MPI_Irecv((char *)bytes + at, count, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    int outcome = settle(started, &request, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

static void close_ranks(void *state, int32_t clean) {
  (void)state;
  if (clean)
    MPI_Finalize();
  else
    MPI_Abort(MPI_COMM_WORLD, 1);
}

__attribute__((visibility("default"))) extern const tct_ranks tct_ranks_mpi;
const tct_ranks tct_ranks_mpi = {
    .version = TCT_RANKS_VERSION,
    .open = open_ranks,
    .calls =
        {
            .smallest = smallest,
            .sum = sum,
            .sum_first = sum_first,
            .largest = largest,
            .broadcast = broadcast,
            .gather = gather,
            .send = send,
            .receive = receive,
            .close = close_ranks,
        },
};
