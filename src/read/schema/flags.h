/* flags.h - the spellings of true and false: a text means what the listed one of its spellings means. */
#ifndef TCT_READ_SCHEMA_FLAGS_H
#define TCT_READ_SCHEMA_FLAGS_H
#include <stdint.h>

enum { TCT_FLAG_WORDS = 4 };
/* [false, true][spelling]: the usual one first, the number last. */
extern const char *const tct_flag_words[2][TCT_FLAG_WORDS];
/* 1: a word for true; 0: one for false; -1: neither, as the numbers are. */
int tct_flag_of(const char *text, int64_t length);
#endif
