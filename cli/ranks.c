/* ranks.c - ranks without mpirun: processes that meet at an address. */
#include "cli.h"

#include <stddef.h>

const cli_option cli_rank_options[] = {
    {"--meet", CLI_TEXT, offsetof(cli_args, sockets.address), "HOST:PORT",
     "ranks without mpirun: where rank 0 listens, and the others connect to; every rank is started by hand, or by an "
     "engine",
     "one process, or the ranks of mpirun", "node1:7000"},
    {"--rank", CLI_COUNT, offsetof(cli_args, rank), "R", "with --meet: the number of this one, from 0",
     "none, --meet needs it", "0"},
    {"--ranks", CLI_SIZE, offsetof(cli_args, ranks), "N", "with --meet: how many ranks there are",
     "none, --meet needs it", "3"},
    {"--secret", CLI_IN, offsetof(cli_args, sockets.secret_path), "FILE",
     "with --meet: at least 32 bytes that only the ranks have; what passes between them is encrypted with keys from it",
     "none, --meet needs it", "ranks.secret"},
    {"--meet-timeout", CLI_REAL, offsetof(cli_args, sockets.timeout), "SECONDS",
     "with --meet: until when all must have come, and how long a host may be out of reach", "60", "600"},
    {0},
};

int cli_rank_begin(cli_args *args, tct_team **team) {
  tct_error err = {0};
  tct_sockets *s = &args->sockets;
  if (args->help) s->address = s->secret_path = NULL, args->rank = -1, args->ranks = 0;
  if (!s->address && (args->rank >= 0 || args->ranks || s->secret_path))
    return cli_fail(CLI_USAGE, "--rank, --ranks and --secret are for ranks that meet; give --meet HOST:PORT");
  if (s->address && (args->rank < 0 || !args->ranks || !s->secret_path))
    return cli_fail(CLI_USAGE, "--meet needs --rank, --ranks and --secret; give all three");
  if (s->address && (args->ranks > 1024 || args->rank >= args->ranks))
    return cli_fail(CLI_USAGE, "--rank lies from 0 to one less than --ranks, which is at most 1024; correct them");
  s->rank = (int32_t)(s->address ? args->rank : 0);
  s->ranks = (int32_t)args->ranks;
  *team = s->address ? tct_team_sockets(s, &err) : tct_team_new(&err);
  return *team ? 0 : cli_fail_error(&err);
}
