/* flags.c - the spellings of true and false. */
#include "read/schema/flags.h"

#include <string.h>

const char *const tct_flag_words[2][TCT_FLAG_WORDS] = {{"false", "False", "FALSE", "0"}, {"true", "True", "TRUE", "1"}};

int tct_flag_of(const char *text, int64_t length) {
  if (length < 4 || length > 5) return -1;
  for (int value = 0; value < 2; value++) {
    for (int w = 0; w < TCT_FLAG_WORDS - 1; w++) {
      const char *word = tct_flag_words[value][w];
      if ((int64_t)strlen(word) == length && memcmp(word, text, (size_t)length) == 0) return value;
    }
  }
  return -1;
}
