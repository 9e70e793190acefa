/* number.h - decimal texts to doubles, correctly rounded, independent of the locale; a public sequence; halvings; the
 * normal law. */
#ifndef TCT_CORE_NUMBER_H
#define TCT_CORE_NUMBER_H
#include <locale.h>
#include <math.h>
#include <stdint.h>

typedef enum tct_number_status {
  TCT_NUMBER_OK = 0,
  TCT_NUMBER_BAD = 1,   /* not a decimal number (nan, inf, hexadecimal and words are none) */
  TCT_NUMBER_RANGE = 2, /* beyond the largest double, or longer than TCT_NUMBER_LENGTH */
} tct_number_status;

/* The exact decimal text of a double needs at most 1077 characters; longer texts are refused. */
enum { TCT_NUMBER_LENGTH = 1100 };

/* text[length] need not end in NUL; blanks and tabs around the number are allowed.
 * c: a locale whose decimal point is '.', used for the rare texts that the exact path cannot take. */
tct_number_status tct_number_parse(const char *text, int64_t length, locale_t c, double *out);
/* The same with a comma before the fraction.  A point is then no part of a number: it may part thousands. */
tct_number_status tct_number_parse_comma(const char *text, int64_t length, locale_t c, double *out);

/* A public sequence, for invented tables and public splits.  It protects nothing; noise comes from rng/.
 * The step is 2^64 over the golden ratio. */
#define TCT_SPLIT_MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

/* The next 64 bits (Steele, Lea and Flood 2014, SplitMix64). */
static inline uint64_t tct_split_mix(uint64_t *state) {
  uint64_t z = *state += TCT_SPLIT_MIX_STEP;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Bisection of the doubles [low, high] while `more` holds, a condition on the number of halvings so far.  The middle
 * becomes the upper end where `enough` holds for it, else the lower end. */
#define TCT_HALVE(more, low, high, middle, enough) \
  for (int halving = 0; more; halving++) {         \
    double middle = 0.5 * (low + high);            \
    *((enough) ? &high : &low) = middle;           \
  }

/* A signed time: above 0 an event, below 0 a follow-up that ended without one, as it does at the horizon for all. */
static inline double tct_follow_up(double y, double horizon) { return y > horizon ? -horizon : fmax(y, -horizon); }

/* The normal law below z. */
static inline double tct_normal_below(double z) { return 0.5 * erfc(-z * M_SQRT1_2); }

/* For qsort of doubles. */
static inline int tct_ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
#endif
