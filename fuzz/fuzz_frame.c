/* fuzz_frame.c - data frames of any columns and any bytes in them, in buffers that are exactly as long as promised.
 *
 * What the interface cannot tell the library is kept true: the sizes of buffers, and ends of texts within their data.
 */
#include "../tests/frame_help.h"
#include "fuzz_check.h"

enum { MOST_COLUMNS = 4, MOST_ROWS = 8, WORDS = 5, TEXT = 24, VIEW = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct input {
  const uint8_t *at, *end;
  void *owned[MOST_COLUMNS * 8];
  int kept;
} input;

static uint8_t next(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* A buffer of that size, filled from the input; freed at the end. */
static void *filled(input *in, int64_t size) {
  uint8_t *buffer = malloc(size > 0 ? (size_t)size : 1);
  require(buffer != NULL);
  for (int64_t k = 0; k < size; k++) buffer[k] = next(in);
  return in->owned[in->kept++] = buffer;
}

static void *ends_of(input *in, int64_t values, size_t size) {
  char *ends = filled(in, 0);
  ends = realloc(ends, (size_t)(values + 1) * size);
  require(ends != NULL);
  in->owned[in->kept - 1] = ends;
  int64_t end = next(in) % 3;
  for (int64_t k = 0; k <= values; k++) {
    uint8_t step = next(in);
    end = step > 250 ? step - 253 : end + step % 4; /* at times backward, or below 0 */
    if (end > TEXT) end = TEXT;
    int32_t narrow = (int32_t)end;
    memcpy(ends + (size_t)k * size, size == 8 ? (const void *)&end : &narrow, size);
  }
  return ends;
}

static void fill(input *in, column *c, int64_t values) {
  static const char *const formats[] = {"n", "b", "c", "C", "s", "S", "i",  "I",   "l",
                                        "L", "e", "f", "g", "u", "U", "vu", "tdD", "+s"};
  static const int width[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  size_t form = next(in) % (sizeof formats / sizeof *formats);
  c->format = formats[form];
  c->length = values;
  c->nulls = -(next(in) & 1);
  c->buffer[0] = next(in) & 1 ? filled(in, values / 8 + 1) : NULL;
  c->buffers = 3;
  if (form < (sizeof width / sizeof *width))
    c->buffer[1] = filled(in, values * width[form] + 1);
  else if (form == 15)
    c->buffer[1] = filled(in, values * VIEW);
  else
    c->buffer[1] = ends_of(in, values, form == 14 ? 8 : 4);
  c->buffer[2] = filled(in, TEXT);
  if (form != 15) return;
  int64_t *sizes = malloc(sizeof *sizes);
  require(sizes != NULL);
  *sizes = TEXT;
  in->owned[in->kept++] = sizes;
  c->buffer[3] = sizes;
  c->buffers = 4;
}

static void try_columns(const tct_frame *frame) {
  int64_t rows, cols;
  tct_frame_shape(frame, &rows, &cols);
  for (int64_t j = 0; j < cols; j++) {
    int64_t code[2 * MOST_ROWS];
    double number[2 * MOST_ROWS];
    char *values = NULL;
    tct_error err;
    if (tct_frame_codes(frame, tct_frame_name(frame, j), code, &values, &err) != TCT_OK)
      require(strchr(err.text, ';') != NULL);
    tct_text_free(values);
    if (tct_frame_numbers(frame, tct_frame_name(frame, j), number, &err) != TCT_OK)
      require(strchr(err.text, ';') != NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const names[] = {"a", "k", "n", "y", "z"};
  static const char schema[] =
      "{\"missing_values\":[\"?\",\"7\"],\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,"
      "\"missing\":1},{\"name\":\"k\",\"type\":\"category\",\"values\":[\"a\",\"1\",\"true\"],\"other\":\"zero\","
      "\"missing\":\"a\"},{\"name\":\"n\",\"type\":\"ignore\"}]}";
  input in = {.at = bytes, .end = bytes + count};
  column columns[MOST_COLUMNS] = {{0}}, lists[MOST_COLUMNS] = {{0}};
  int64_t step;
  tct_read_options options = fuzz_options(next(&in), &step);
  source s = {.column = columns,
              .columns = 1 + next(&in) % MOST_COLUMNS,
              .rows = 1 + next(&in) % MOST_ROWS,
              .chunks = 1 + next(&in) % 2};
  s.next_fails = next(&in) % 8;
  s.lost = next(&in) == 255;
  for (int64_t j = 0; j < s.columns; j++) {
    fill(&in, &columns[j], s.rows * s.chunks);
    columns[j].name = names[(j + next(&in) % 4 / 3) % 5];
    if (next(&in) % 4 > 0) continue;
    fill(&in, &lists[j], WORDS);
    columns[j].dictionary = &lists[j];
  }
  options.label = "y";
  if (next(&in) & 1) options.schema_text = schema;
  if (next(&in) & 1) options.positive = "1";
  struct ArrowArrayStream stream = stream_of(&s);
  tct_error err;
  tct_frame *frame = tct_frame_take(&stream, &err);
  if (frame) try_columns(frame);
  if (frame) check_result(tct_data_read_frame(frame, &options, NULL, &err), &err);
  tct_frame_free(frame);
  require(!stream.release && s.live == 0);
  for (int k = 0; k < in.kept; k++) free(in.owned[k]);
  return 0;
}
