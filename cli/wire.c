/* wire.c - how server and party meet: the options that both verbs have, and the choice between network and ranks. */
#include "cli.h"

#include <stddef.h>

const cli_option cli_wire_options[] = {
    {"--cert", CLI_IN, offsetof(cli_args, session.certificate), "FILE.pem",
     "own certificate; its common name is the party's name, the server's names its host",
     "none, it must be given, but under mpirun", "ward.pem"},
    {"--private-key", CLI_IN, offsetof(cli_args, session.private_key), "FILE.pem", "the certificate's private key",
     "none, it must be given, but under mpirun", "ward.key.pem"},
    {"--ca", CLI_IN, offsetof(cli_args, session.authority), "FILE.pem",
     "the authority that signed the certificates of all who take part", "none, it must be given, but under mpirun",
     "authority.pem"},
    {"--crl", CLI_IN, offsetof(cli_args, session.revoked), "FILE.pem",
     "the authority's list of revoked certificates; a peer whose certificate is on it is refused, and so are all once "
     "the list is out of date",
     "no list is looked at", "revoked.pem"},
    {"--timeout", CLI_REAL, offsetof(cli_args, session.timeout), "SECONDS",
     "how long to wait for the others to come, and for each message; in seconds, at most 1000000", "600", "60"},
    {0},
};

int cli_wire_check(const cli_args *args) {
  if (!(args->session.timeout > 0 && args->session.timeout <= 1e6))
    return cli_fail(CLI_USAGE, "--timeout must be from 0 to 1000000 seconds; give e.g. --timeout 600");
  if (!args->session.address || (args->session.certificate && args->session.private_key && args->session.authority))
    return 0;
  return cli_fail(CLI_USAGE, "--cert, --private-key and --ca are needed: both ends show certificates");
}

int cli_wire_begin(cli_args *args, const char *option, tct_team **team) {
  tct_error err = {0};
  *team = NULL;
  int code = cli_wire_check(args);
  if (code || args->session.address) return code;
  *team = tct_team_new(&err);
  if (!*team) return cli_fail_error(&err);
  args->session.team = *team;
  int ranks;
  tct_team_rank(*team, &ranks);
  if (ranks > 1) return 0;
  tct_team_free(*team);
  *team = NULL;
  return cli_fail(CLI_USAGE, "%s HOST:PORT is missing, and this is no run of mpirun; give the address", option);
}
