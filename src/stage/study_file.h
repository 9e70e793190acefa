/* study_file.h - what the file of a study says of its plan. */
#ifndef TCT_STAGE_STUDY_FILE_H
#define TCT_STAGE_STUDY_FILE_H
#include "study/stage.h"

/* {"name", "kind", "part", "rows", "share", "counts", "events"}: of the plan, in the file and in a dry run. */
json_t *tct_stage_plan_json(const tct_stage *stage);
/* The file of a study that has run, the caller's; also written to `output`, if that is not NULL. */
char *tct_study_file(const tct_study *study, const char *output, tct_error *err);
/* Where a study reads: a file or a frame; read: NULL, or how. */
typedef struct tct_study_input {
  const char *path;
  const tct_frame *frame;
  const tct_read_options *read;
} tct_study_input;
/* tct_study_run of a study that was parsed. */
char *tct_study_carry(tct_study *study, const tct_study_input *input, const tct_config *config, char **warning,
                      tct_error *err);
#endif
