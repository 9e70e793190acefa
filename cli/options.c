/* options.c - the options that several verbs have. */
#include "cli.h"

#include <stddef.h>

const cli_option cli_read_options[] = {
    {"--label", CLI_TEXT, offsetof(cli_args, read.label), "NAME|INDEX", "label column, by name or number from 1",
     "the schema's label, or the first token of LIBSVM lines", "income"},
    {"--time", CLI_TEXT, offsetof(cli_args, read.label), "NAME", "column of a follow-up time; another name of --label",
     "the schema's", "days"},
    {"--event", CLI_TEXT, offsetof(cli_args, read.event), "NAME",
     "column of the event that ends a follow-up: 0 or 1, or --positive", "the schema's", "died"},
    {"--horizon", CLI_REAL, offsetof(cli_args, read.horizon), "H", "end of follow-up, public", "the schema's", "3650"},
    {"--weights", CLI_TEXT, offsetof(cli_args, read.weights), "COLUMN", "column of weights, no feature", "the schema's",
     "w"},
    {"--weight-cap", CLI_REAL, offsetof(cli_args, read.weight_cap), "C", "public cap of the weights", "the schema's",
     "5"},
    {"--positive", CLI_TEXT, offsetof(cli_args, read.positive), "VALUE",
     "label text that counts as +1, all others as -1; it must be among the schema's values, or occur where none are "
     "listed",
     "the schema's, else 1 is +1 and 0 or -1 is -1", "yes"},
    {"--classes", CLI_TEXT, offsetof(cli_args, classes), "A,B,C",
     "all labels that can occur, public knowledge, in the order that the model keeps; of two the second counts as +1; "
     "a label outside the list is bad data",
     "the schema's values", "low,middle,high"},
    {"--schema", CLI_IN, offsetof(cli_args, read.schema_path), "FILE.json",
     "public knowledge of the columns: bounds, categories, label (see tacit schema)",
     "no schema: numbers are taken as they are", "people.schema.json"},
    {"--invalid", CLI_CHOICE, offsetof(cli_args, invalid), "refuse|zero",
     "a malformed record stops the run (refuse) or contributes nothing (zero)", "refuse", "zero"},
    {"--format", CLI_CHOICE, offsetof(cli_args, read.format), "csv|jsonl|libsvm|npy|dta", "of the table",
     "by its first bytes", "libsvm"},
    {"--delimiter", CLI_TEXT, offsetof(cli_args, read.delimiter), "CHAR", "CSV: the character between fields, or tab",
     "the one of , ; tab | that the first line holds most often", "tab"},
    {"--multiline", CLI_FLAG, offsetof(cli_args, read.multiline), NULL, "CSV: quoted fields may go over line ends",
     "they end with their line", NULL},
    {"--decimal", CLI_CHOICE, offsetof(cli_args, read.decimal), ".|,", "CSV: the mark before a number's fraction", ".",
     ","},
    {"--cols", CLI_SIZE, offsetof(cli_args, read.cols), "P", "LIBSVM: number of features",
     "the largest index found, which is unaccounted", "100"},
    {"--max-cols", CLI_SIZE, offsetof(cli_args, read.max_cols), "P", "most columns that a file may set", "1048576",
     "2000000"},
    {"--max-header", CLI_BYTES, offsetof(cli_args, read.max_header), "BYTES",
     "longest CSV header; K, M, G, T: powers of 1024", "16M", "64M"},
    {"--max-line", CLI_BYTES, offsetof(cli_args, read.max_line), "BYTES", "longest line or record of text", "32M",
     "128M"},
    {"--max-expansion", CLI_SIZE, offsetof(cli_args, read.max_expansion), "TIMES", "most that a packed file may grow",
     "250", "1000"},
    {"--f32", CLI_FLAG, offsetof(cli_args, f32), NULL, "single precision: half the memory", "double, or NPY's", NULL},
    {0},
};

const cli_option cli_page_options[] = {
    {"--title", CLI_TEXT, offsetof(cli_args, page.title), "TEXT", "of the page: stands over it", "what was trained",
     "Income and education"},
    {"--purpose", CLI_TEXT, offsetof(cli_args, page.purpose), "TEXT",
     "of the page: why the model was trained, and what it is for", "not said", "Study 12/2026"},
    {"--contact", CLI_TEXT, offsetof(cli_args, page.contact), "TEXT", "of the page: whom a reader may ask", "not said",
     "data@registry.example"},
    {0},
};

const cli_option cli_person_options[] = {
    {"--person", CLI_TEXT, offsetof(cli_args, read.key), "COLUMN", "column that says whose record a row is; no feature",
     "a row is a person", "patient_id"},
    {0},
};

const cli_option cli_common_options[] = {
    {"--threads", CLI_COUNT, offsetof(cli_args, threads), "N",
     "processors to use, at most 4096; 0 is all; results do not depend on it", "0: all", "2"},
    {"--json", CLI_FLAG, offsetof(cli_args, json), NULL, "one JSON object on standard output and nothing else",
     "text for people", NULL},
    {"--help", CLI_FLAG, offsetof(cli_args, help), NULL, "this text", "", NULL},
    {0},
};
