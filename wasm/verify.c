/* verify.c - the program of the page: the command line's `tacit verify`, with or without --json. */
#include "cli.h"
#include "core/lanes.h"
#include "core/processors.h"
#include "la/matrix/lattice.h"
#include "la/matrix/paged.h"
#include "la/matrix/rows_table.h"

#include <string.h>

const cli_option cli_common_options[] = {{0}}; /* no command line is read here */

/* One processor, one thread.  All else that is absent (left_out.txt) ends the program where it is called. */
int tct_processors(void) { return 1; }
int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
int sodium_init(void) { return 0; }
int madvise(void *start, size_t length, int advice) { return (void)start, (void)length, (void)advice, 0; }
void tct_paged_free(tct_pager *pager) { (void)pager; }

/* Loops of plain vectors alone: no table is read. */
#define TARGET
#define VALUE double
#define LOAD8 TCT_LOAD8_00
#define INDEX int32_t
#define LOOP(name) name##_000
#include "la/matrix/rows_body.h"
const tct_row_loops *tct_row_loops_at(int level, int value_type, int index_type) {
  if (level || value_type != TCT_F64 || index_type != TCT_I32) __builtin_trap();
  return &loops_000;
}

int main(int argc, char **argv) {
  cli_args args = {.json = argc > 2 && !strcmp(argv[2], "--json"), .operand = argv + 1, .operands = 1};
  return argc < 2 ? CLI_USAGE : cli_verify.run(&args);
}
