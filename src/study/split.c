/* split.c - which records are held out: a public function of their numbers alone. */
#include "core/number.h"
#include "study/study.h"

#include <math.h>

int64_t tct_search_split(int64_t rows, double share, unsigned char *held) {
  uint64_t state = 20210; /* which records are kept is public: any fixed sequence does */
  if (rows < 2 || !(share > 0 && share < 1)) return -1;
  double want = nearbyint(share * (double)rows);
  int64_t count = want < 1 ? 1 : want > (double)(rows - 1) ? rows - 1 : (int64_t)want;
  int64_t left = count;
  for (int64_t i = 0; held && i < rows; i++) { /* selection sampling: `left` of the rows - i that are still to come */
    held[i] = tct_split_mix(&state) % (uint64_t)(rows - i) < (uint64_t)left;
    left -= held[i];
  }
  return count;
}
