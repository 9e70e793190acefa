/* number.c - decimal texts to doubles, correctly rounded, independent of the locale.
 *
 * Nearly all numbers in tables have at most 19 digits and a small exponent: digits * 10^e.  Two exact
 * paths take those:
 *
 *   digits <= 2^53, |e| <= 22: both are doubles, so one multiplication or division rounds once
 *     (Clinger 1990, "How to read floating point numbers accurately").
 *   digits <  2^64, |e| <= 27: digits and 5^|e| < 2^63 are 64-bit integers.  Their 128-bit product, or a
 *     quotient of at least 63 bits, is cut to one word whose lowest bit is set if anything was cut off.  That word lies
 *     on the same side of every half-way point between doubles as the exact value.  So its conversion to double is the
 *     one rounding.  The power of two is exact.
 *
 * Everything else goes to strtod in the C locale. */
#define _GNU_SOURCE /* strtod_l */
#include "core/number.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double power10[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t power5[28] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

__extension__ typedef unsigned __int128 wide;

/* 2^exponent for |exponent| < 1022. */
static double power2(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* digits * 10^exponent for digits > 0 and |exponent| <= 27. */
static double round_once(uint64_t digits, int exponent) {
  if (exponent < 0) {
    uint64_t divisor = power5[-exponent];
    int up = __builtin_clzll(digits), up_divisor = __builtin_clzll(divisor);
    wide dividend = (wide)(digits << up) << 63;
    divisor <<= up_divisor;
    uint64_t quotient = (uint64_t)(dividend / divisor), rest = (uint64_t)(dividend % divisor);
    return (double)(quotient | (rest != 0)) * power2(exponent - up + up_divisor - 63);
  }
  wide product = (wide)digits * power5[exponent];
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if (high == 0) return (double)low * power2(exponent);
  int up = __builtin_clzll(high);
  product <<= up;
  uint64_t cut = (uint64_t)product != 0;
  return (double)((uint64_t)(product >> 64) | cut) * power2(exponent + 64 - up);
}

static tct_number_status parse_slowly(const char *text, int64_t length, locale_t c, double *out) {
  char copy[TCT_NUMBER_LENGTH + 1];
  if (length > TCT_NUMBER_LENGTH) return TCT_NUMBER_RANGE;
  memcpy(copy, text, (size_t)length);
  copy[length] = 0;
  double value = strtod_l(copy, NULL, c);
  if (!isfinite(value)) return TCT_NUMBER_RANGE;
  *out = value;
  return TCT_NUMBER_OK;
}

/* What the grammar [+-] digits [. digits] [e [+-] digits] says about a text. */
typedef struct decimal {
  uint64_t digits;  /* the significant digits as one number */
  int64_t exponent; /* value = digits * 10^exponent */
  int count;        /* significant digits; more than 19 do not fit */
  int negative;
} decimal;

static const char *scan_exponent(const char *at, const char *end, decimal *d) {
  if (at == end || (*at | 0x20) != 'e') return at;
  int negative = 0;
  int64_t exponent = 0;
  if (++at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  const char *first = at;
  for (; at < end && (unsigned)(*at - '0') < 10; at++) {
    if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
  }
  if (at == first) return NULL;
  d->exponent += negative ? -exponent : exponent;
  return at;
}

/* Digits from `at` on join those of d; returns where they end. */
static inline const char *scan_digits(const char *at, const char *end, decimal *d) {
  uint64_t digits = d->digits;
  int count = d->count;
  for (unsigned digit; at < end && (digit = (unsigned)(*at - '0')) < 10; at++) {
    digits = digits * 10 + digit;
    count += digits != 0;
  }
  d->digits = digits;
  d->count = count;
  return at;
}

/* Returns where the number ends, or NULL if there is none. */
static const char *scan(const char *at, const char *end, decimal *d) {
  if (at < end && (*at == '-' || *at == '+')) d->negative = *at++ == '-';
  const char *first = at;
  at = scan_digits(at, end, d);
  bool seen = at > first;
  if (at < end && *at == '.') {
    const char *point = ++at;
    at = scan_digits(at, end, d);
    seen |= at > point;
    d->exponent = point - at;
  }
  return seen ? scan_exponent(at, end, d) : NULL;
}

tct_number_status tct_number_parse(const char *text, int64_t length, locale_t c, double *out) {
  const char *end = text + length;
  decimal d = {0, 0, 0, 0};
  while (text < end && (*text == ' ' || *text == '\t')) text++;
  while (end > text && (end[-1] == ' ' || end[-1] == '\t')) end--;
  if (scan(text, end, &d) != end || text == end) return TCT_NUMBER_BAD;
  if (d.count > 19) return parse_slowly(text, end - text, c, out);
  double value = 0;
  if (d.digits <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22) {
    value = (double)d.digits;
    value = d.exponent < 0 ? value / power10[-d.exponent] : value * power10[d.exponent];
  } else if (d.digits != 0 && d.exponent >= -27 && d.exponent <= 27) {
    value = round_once(d.digits, (int)d.exponent);
  } else if (d.digits != 0) {
    return parse_slowly(text, end - text, c, out);
  }
  *out = d.negative ? -value : value;
  return TCT_NUMBER_OK;
}

tct_number_status tct_number_parse_comma(const char *text, int64_t length, locale_t c, double *out) {
  char own[TCT_NUMBER_LENGTH];
  if (length > TCT_NUMBER_LENGTH) return TCT_NUMBER_RANGE;
  if (length > 0 && memchr(text, '.', (size_t)length)) return TCT_NUMBER_BAD;
  memcpy(own, text, (size_t)length);
  char *comma = memchr(own, ',', (size_t)length);
  if (comma) *comma = '.';
  return tct_number_parse(own, length, c, out);
}
