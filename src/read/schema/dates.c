/* dates.c - calendar dates as numbers of days.
 *
 * Years are counted from March on, so that the leap day is the last of a year.  400 years have 146,097 days. */
#include "read/schema/dates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EPOCH = 719468, ERA = 146097 }; /* days from 0000-03-01 to 1970-01-01; days of 400 years */

static int64_t day_number(int year, int month, int day) {
  int64_t y = year - (month < 3), in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return 365 * y + y / 4 - y / 100 + y / 400 + in_year - EPOCH;
}

tct_date tct_date_of(double days) {
  int64_t z = (int64_t)floor(days) + EPOCH, era = z / ERA, rest = z % ERA;
  int64_t year = (rest - rest / 1460 + rest / 36524 - rest / (ERA - 1)) / 365;
  int64_t day = rest - (365 * year + year / 4 - year / 100), month = (5 * day + 2) / 153;
  int number = (int)(month < 10 ? month + 3 : month - 9);
  return (tct_date){(int)(year + 400 * era) + (number < 3), number, (int)(day - (153 * month + 2) / 5) + 1};
}

static bool digits(const char *text, int count, int *value) {
  *value = 0;
  for (int k = 0; k < count; k++) {
    if (text[k] < '0' || text[k] > '9') return false;
    *value = 10 * *value + (text[k] - '0');
  }
  return true;
}

bool tct_date_parse(const char *text, int64_t length, double *days) {
  int year, month, day;
  if (length < 10 || !digits(text, 4, &year) || !digits(text + 5, 2, &month) || !digits(text + 8, 2, &day))
    return false;
  if (text[4] != '-' || text[7] != '-' || year < 1 || month < 1 || month > 12 || day < 1) return false;
  if (length > 10 && text[10] != 'T' && text[10] != ' ') return false;
  for (int64_t k = 11; k < length; k++)
    if (!memchr("0123456789:.+-Z", text[k], 15)) return false;
  *days = (double)day_number(year, month, day);
  tct_date again = tct_date_of(*days);
  return again.year == year && again.month == month && again.day == day; /* no 30th of February */
}

bool tct_date_other(const char *text) {
  char iso[11];
  int end = 0;
  double day;
  if (strlen(text) == 8 && (*text == '1' || *text == '2')) {
    snprintf(iso, sizeof iso, "%.4s-%.2s-%.2s", text, text + 4, text + 6);
    if (tct_date_parse(iso, 10, &day)) return true;
  }
  sscanf(text, "%*4[0-9]%*1[./-]%*2[0-9]%*1[./-]%*4[0-9]%n", &end);
  return end >= 8 && (!text[end] || text[end] == ' ');
}
