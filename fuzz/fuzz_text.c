/* fuzz_text.c - any text as an event and as a spec: what is read prints as what reads the same. */
#include "event/event.h"
#include "fuzz_check.h"

#include "core/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void as_event(const char *text) {
  tct_event event, again;
  tct_error err = {0};
  char printed[400];
  if (tct_event_parse(text, &event, NULL, &err) != TCT_OK) {
    require(err.status != TCT_OK && err.text[0] != 0);
    return;
  }
  require(tct_event_check(&event, NULL) == TCT_OK && event.count >= 1);
  tct_event_print(&event, printed, sizeof printed);
  require(tct_event_parse(printed, &again, NULL, NULL) == TCT_OK);
  require(tct_event_same(&event, &again) && event.count == again.count);
}

static void as_spec(const char *text) {
  tct_spec spec, again;
  tct_error err = {0};
  char printed[8192], twice[8192];
  if (tct_spec_parse(text, "solver", &spec, &err) != TCT_OK) {
    require(err.status != TCT_OK && err.text[0] != 0);
    return;
  }
  require(spec.items >= 0 && spec.items <= TCT_SPEC_ITEMS && spec.name[0] != 0);
  tct_spec_print(&spec, printed, sizeof printed);
  require(tct_spec_parse(printed, "solver", &again, NULL) == TCT_OK && again.items == spec.items);
  tct_spec_print(&again, twice, sizeof twice);
  require(!strcmp(printed, twice));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  char *text = malloc(count + 1);
  require(text != NULL);
  memcpy(text, bytes, count);
  text[count] = 0;
  as_event(text);
  as_spec(text);
  free(text);
  return 0;
}
