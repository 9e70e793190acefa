/* dates.h - calendar dates as numbers of days. */
#ifndef TCT_READ_SCHEMA_DATES_H
#define TCT_READ_SCHEMA_DATES_H
#include <stdbool.h>
#include <stdint.h>

/* "2024-02-29", alone or before a time of day, to days since 1970-01-01; false for all else.  Years 1 to 9999. */
bool tct_date_parse(const char *text, int64_t length, double *days);
/* "31.1.2024", "01/31/24" and "20240131": dates, though none that are read. */
bool tct_date_other(const char *text);
typedef struct tct_date {
  int year, month, day;
} tct_date;
/* Of the Gregorian calendar, also before it was in use. */
tct_date tct_date_of(double days);
#endif
