/* curve.h - tacit account --curve. */
#ifndef TCT_CLI_CURVE_H
#define TCT_CLI_CURVE_H
#include "cli.h"

/* Writes the curve of the operands' events to args->curve; returns the exit code. */
int cli_curve(const cli_args *args);
#endif
