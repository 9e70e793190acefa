/* session.c - what server and party share in a session: JSON messages, opening the wire, the transcript. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/sized.h"
#include "model/json.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tct_sized SIZED = TCT_SIZED(tct_session, team, "call tct_session_default first");
static const tct_session DEFAULTS = {.size = sizeof(tct_session), .timeout = 600};

void tct_session_default_sized(tct_session *options, size_t size) {
  tct_sized_default(&SIZED, options, size, &DEFAULTS);
}

tct_status tct_session_options(const tct_session *given, tct_session *own, tct_error *err) {
  *own = DEFAULTS;
  return tct_sized_take(&SIZED, given, own, err);
}

tct_status tct_session_say(tct_wire *wire, int to, int type, json_t *object, tct_error *err) {
  char *text = tct_json_text(object, err);
  if (!text) return TCT_E_MEMORY;
  tct_status status = tct_wire_send(wire, to, type, text, strlen(text), err);
  tct_text_free(text);
  return status;
}

tct_status tct_session_hear(tct_wire *wire, int from, int type, json_t **object, tct_error *err) {
  void *text = NULL;
  size_t size = 0;
  TCT_TRY(tct_wire_receive_any(wire, from, type, TCT_SESSION_MOST, &text, &size, err));
  *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  tct_free(text);
  if (json_is_object(*object)) return TCT_OK;
  json_decref(*object);
  *object = NULL;
  return tct_fail(err, TCT_E_RUN, "the peer sent something unreadable; check that both ends run the same version");
}

void tct_session_add(tct_error *err, const char *outcome) {
  size_t room = sizeof err->text - strlen(outcome) - 3, end = strlen(err->text);
  if (err->status == TCT_E_CANCELLED)
    end = strlen(strcpy(err->text, "cancelled")); /* not the sentence of one process */
  if (end > room) end = room;
  snprintf(err->text + end, sizeof err->text - end, "; %s", outcome); /* the marks behind the sentence stay */
}

static tct_status check_files(const tct_session *o, tct_error *err) {
  if (o->certificate && o->private_key && o->authority) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "both ends show certificates; give the own one, its private key and the authority that signs the peers");
}

tct_tls_terms tct_session_files(const tct_session *o) {
  return (tct_tls_terms){o->certificate, o->private_key, o->authority, o->revoked};
}

tct_status tct_session_open(const tct_session *o, bool serves, tct_wire *wire, tct_error *err) {
  const tct_tls_terms files = tct_session_files(o);
  if (!(o->timeout > 0 && o->timeout <= 1e6))
    return tct_fail(err, TCT_E_USAGE, "the timeout must be from 0 to 1000000 seconds; give e.g. 600");
  if (!o->address) return tct_wire_ranks(o->team, o->timeout, wire, err);
  TCT_TRY(check_files(o, err));
  if (!serves) return tct_wire_connect(&files, o->address, o->timeout, wire, err);
  if (o->parties < 1 || o->parties > TCT_PARTIES_MAX)
    return tct_fail(err, TCT_E_USAGE, "the number of parties must be from 1 to %d; say how many will come",
                    TCT_PARTIES_MAX);
  TCT_TRY(tct_wire_listen(&files, o->address, o->parties, o->timeout, wire, err));
  tct_status status = tct_wire_accept(wire, err);
  if (status != TCT_OK) tct_wire_close(wire);
  return status;
}

tct_status tct_session_describe(const tct_plan *plan, tct_model *m, tct_error *err) {
  TCT_TRY(tct_fit_describe(plan, m, err));
  m->labels = plan->facts.loss.kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
  m->label_shift = plan->config.label_shift;
  m->row_norm = NAN; /* each party bounded its own part of a record */
  return tct_model_certify(plan, m, err);
}

/* ---- the transcript ---- */

static const char *type_name(int type) {
  switch (type) {
    case TCT_SAY_CHOICE: return "choice";
    case TCT_SAY_SCORE: return "score";
    case TCT_SAY_COLUMN: return "column";
    case TCT_SAY_HELLO: return "hello";
    case TCT_SAY_ACCEPT: return "accept";
    case TCT_SAY_RESERVED: return "reserved";
    case TCT_SAY_PROOF: return "proof";
    case TCT_RING_PUBLIC: return "key";
    case TCT_RING_COLUMNS: return "masked_columns";
    case TCT_RING_SEED: return "seed";
    case TCT_RING_SHARE: return "masked_share";
    case TCT_FRAME_FAILURE: return "failure";
    default: return "unknown";
  }
}

static tct_status write_frame(void *user, int to, const void *frame, size_t size, tct_error *err) {
  const unsigned char *at = frame;
  const tct_transcript *log = user;
  FILE *file = log->file;
  (void)to;
  fprintf(file, "{\"to\":%d,\"type\":\"%s\",\"bytes\":%zu,\"frame\":\"", log->to + 1, type_name(at[4] | at[5] << 8),
          size);
  for (size_t i = 0; i < size; i++) fprintf(file, "%02x", at[i]);
  fprintf(file, "\"}\n");
  if (fflush(file) == 0 && !ferror(file)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the transcript cannot be written; free the disk or choose another file");
}

tct_status tct_transcript_open(const tct_session *o, const tct_inputs *read, tct_wire *wire, tct_transcript *out,
                               tct_error *err) {
  const char *const own[] = {o->secret, o->certificate, o->private_key, o->authority, o->revoked};
  tct_inputs inputs = {0};
  tct_outfile log;
  *out = (tct_transcript){.to = TCT_SERVER};
  if (!o->transcript) return TCT_OK;
  tct_status status = tct_inputs_copy(&inputs, read, err);
  for (size_t k = 0; k < sizeof own / sizeof *own && status == TCT_OK; k++)
    status = tct_inputs_add(&inputs, own[k], err);
  if (status == TCT_OK) status = tct_outfile_open(&log, o->transcript, TCT_OUT_LOG, tct_inputs_list(&inputs), err);
  tct_inputs_free(&inputs);
  TCT_TRY(status);
  out->file = log.file;
  log.file = NULL; /* it has its name */
  tct_outfile_abandon(&log);
  wire->log = write_frame;
  wire->log_user = out;
  return TCT_OK;
}

void tct_transcript_join(const tct_transcript *first, tct_transcript *log, int to, tct_wire *wire) {
  *log = (tct_transcript){.file = first->file, .to = to};
  if (!log->file) return;
  wire->log = write_frame;
  wire->log_user = log;
}

tct_status tct_transcript_close(tct_transcript *transcript, tct_error *err) {
  int bad = transcript->file && fclose(transcript->file) != 0;
  transcript->file = NULL;
  return bad ? tct_fail(err, TCT_E_RUN, "the transcript could not be written to its end; free the disk") : TCT_OK;
}
