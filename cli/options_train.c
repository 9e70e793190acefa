/* options_train.c - the options of tacit train; all tables but the last are of every verb that trains. */
#include "cli.h"

#include <stddef.h>

const cli_option cli_fit_options[] = {
    {"--loss", CLI_TEXT, offsetof(cli_args, config.loss), "SPEC",
     "what is minimised, and how labels are read (tacit components loss); auto: logistic or softmax",
     "none, it must be given", "logistic"},
    {"--penalty", CLI_TEXT, offsetof(cli_args, config.penalty), "SPEC",
     "added to the mean loss, lambda in units of the mean loss (tacit components penalty)", "none", "l2:lambda=1e-4"},
    {"--solver", CLI_TEXT, offsetof(cli_args, config.solver), "SPEC",
     "the algorithm and its settings (tacit components solver)", "auto: chosen by rule", "dpscd:batch=500,clip=0.5"},
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E",
     "total privacy loss of the whole run, above 0; inf trains without privacy and says so", "none, it must be given",
     "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D",
     "in [0, 1); a probability, well below 1 / number of records; 0: pure epsilon (objpert, adassp, dpfw, privgene)",
     "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "what is hidden: one record's presence or its content", "add_remove", "replace_one"},
    {"--row-norm", CLI_REAL, offsetof(cli_args, config.row_norm), "R",
     "every record's features, the intercept's 1 included, are brought to norm at most R; in units of the scaled "
     "features",
     "what the schema's bounds allow at most", "1"},
    {"--rows", CLI_CHOICE, offsetof(cli_args, rows), "clip|unit",
     "clip: longer records are shortened to R; unit: every record is scaled to exactly R", "clip", "unit"},
    {"--label-bound", CLI_REAL, offsetof(cli_args, config.label_bound), "Y",
     "real-valued labels, less their shift, are clipped to [-Y, Y]; in the label's unit", "by the schema's bounds",
     "10"},
    {"--label-shift", CLI_REAL, offsetof(cli_args, config.label_shift), "S",
     "public number taken off real-valued labels", "the middle of the schema's bounds, or 0 without an intercept",
     "50"},
    {"--no-intercept", CLI_OFF, offsetof(cli_args, config.intercept), NULL,
     "no constant feature of value 1; without this option there is one, and it counts in the record's norm",
     "there is one", NULL},
    {"--intercept", CLI_FLAG, offsetof(cli_args, config.intercept), NULL,
     "a constant feature of value 1, whose weight is the intercept", "on", NULL},
    {"--ledger", CLI_IN, offsetof(cli_args, config.ledger), "FILE",
     "budget ledger of the data set; a run beyond what is left is refused with exit code 4", "no ledger",
     "people.ledger"},
    {"--input-changed", CLI_TEXT, offsetof(cli_args, config.input_changed), "REASON",
     "with --ledger: why the rows are others than at its earlier runs (appended, corrected); kept in the ledger",
     "the rows must be the same", "corrected"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S",
     "repeatable noise, for tests: the model is marked reproducible and must not be published",
     "fresh noise from the operating system", "1"},
    {"--dry-run", CLI_FLAG, offsetof(cli_args, dry_run), NULL,
     "print the plan and its cost without opening the data; needs --schema and --records, or --shape", "off", NULL},
    {"--records", CLI_SIZE, offsetof(cli_args, records), "N",
     "for --dry-run with --schema, which has the features and their bounds: the public number of records",
     "none, --dry-run needs it or --shape", "50000"},
    {"--shape", CLI_TEXT, offsetof(cli_args, shape), "N,P",
     "for --dry-run without a schema: number of records and of features", "none", "50000,20"},
    {"--effect", CLI_TEXT, offsetof(cli_args, effect), "LIST",
     "for --dry-run with --errors: weights, by name, whose power is wanted; errors are then told of each weight",
     "none", "educ=0.05"},
    {"--assume", CLI_TEXT, offsetof(cli_args, assume), "LIST",
     "the same of a table whose columns have this mean and deviation, or shares of levels, each with R2 by the others "
     "or without, and whose label has this rate, deviation, or (counts, amounts) mean and deviation",
     "even columns", "age=45:12:0.2,died=0.3"},
    {"-o", CLI_OUT_LAST, offsetof(cli_args, output), "MODEL.json",
     "the model file, written whole or not at all; -: standard output, all else to standard error",
     "none, it must be given", "model.json"},
    {0},
};

const cli_option cli_fit_more_options[] = {
    {"--rows-per-person", CLI_SIZE, offsetof(cli_args, rows_per_person), "M",
     "with --person: of each person at most M rows count, drawn at random, and each 1/M times; what is promised is "
     "then promised to a person and not to a row",
     "none, --person needs it", "10"},
    {"--report", CLI_OUT, offsetof(cli_args, report), "FILE.html",
     "also write the page for people: what is protected and from whom, the cost, the noise (tacit report)", "no page",
     "model.html"},
    {0},
};

const cli_option cli_train_options[] = {
    {"--scale", CLI_CHOICE, offsetof(cli_args, config.scale), "none|max-abs|min-max|standard",
     "every scale but none is read off the data and goes unaccounted; for people's data use a schema", "none",
     "max-abs"},
    {"--label-scale", CLI_CHOICE, offsetof(cli_args, config.label_scale), "none|center",
     "center subtracts the mean label and is unaccounted", "none", "center"},
    {"--errors", CLI_CHOICE, offsetof(cli_args, config.errors), "none|model|robust",
     "standard errors for the weights, from a part of the same budget (tacit summary); robust: also where the model is "
     "not right",
     "none", "robust"},
    {"--estimate", CLI_TEXT, offsetof(cli_args, config.estimate), "KINDS:budget_fraction=F",
     "estimate bounds, missing and categories from a part of the budget: of columns with \"estimate\": true; bounds "
     "alone without a schema",
     "bounds must be given", "bounds"},
    {"--memory", CLI_BYTES, offsetof(cli_args, read.memory), "LIMIT",
     "bytes that the run may take in memory; records beyond it lie in a file without a name, which every pass reads; "
     "the "
     "model is the same",
     "no limit", "1G"},
    {"--scratch", CLI_TEXT, offsetof(cli_args, read.scratch), "DIR", "folder of that file", "$TMPDIR, else /tmp",
     "/var/tmp"},
    {0},
};
