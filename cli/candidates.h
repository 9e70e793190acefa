/* candidates.h - the settings that tacit search tries. */
#ifndef TCT_CLI_CANDIDATES_H
#define TCT_CLI_CANDIDATES_H
#include "cli.h"

/* Reads a file of candidates: *list gets one object of settings for each, the caller's to free, also on failure.  0, or
 * an exit code after one sentence. */
int cli_candidates_read(const char *file, json_t **list);
/* Is each of them a run that could be planned, with labels of one kind?  0, or an exit code after one sentence. */
int cli_candidates_check(const cli_args *args, const json_t *list);
/* *config <- base with the candidate's settings, whose texts it borrows. */
void cli_candidate_config(const tct_config *base, const json_t *candidate, tct_config *config);
#endif
