/* session.h - the session around a solver between parties: who is there, whether their records match, terms, the model.
 */
#ifndef TCT_SESSION_SESSION_H
#define TCT_SESSION_SESSION_H
#include "core/json_text.h"
#include "tls/secret.h"
#include "train/plan.h"
#include "wire/ring_share.h"
#include "wire/wire_gate.h"

/* The messages of a session, in order: S server, P party.  All but the hashes of hello are JSON of public facts.
 *   S welcome  {version, nonce}
 *   P hello    {version, name, rows, features[], loss, keys, labels, key_column, reproducible, unaccounted[], address}
 *   S terms    {loss, penalty, solver, epsilon, delta, neighbours, row_norm, rows_rule, label_bound, label_shift, rows,
 *               columns, index, parties[], reproducible, plan}   plan: the digest of what the server has resolved
 *   P accept   {}            the plan is within what this party agrees to
 *   S go       {}            all parties have accepted
 *   P proof    between parties, where the solver wants them connected (session/peers.h)
 *   P reserved {}            kept for this run in this party's ledger, not charged
 *   S begin    {}            all parties have reserved
 *   the rounds (session/rounds.h); a party is charged before the first of its frames that needs its records
 *   S model    the model file, which the server has written: the receipt of every party */
enum {
  TCT_SAY_WELCOME = TCT_SAY_SESSION,
  TCT_SAY_HELLO,
  TCT_SAY_TERMS,
  TCT_SAY_ACCEPT,
  TCT_SAY_GO,
  TCT_SAY_RESERVED,
  TCT_SAY_MODEL,
  TCT_SAY_PROOF,
  TCT_SAY_BEGIN
};
enum { TCT_SESSION_MOST = 1 << 28, TCT_NONCE_HEX = 65, TCT_SESSION_LINE = 400 };

tct_status tct_session_say(tct_wire *wire, int to, int type, json_t *object, tct_error *err); /* takes object */
tct_status tct_session_hear(tct_wire *wire, int from, int type, json_t **object, tct_error *err);
/* Adds to the sentence of a failure what has come of the session. */
void tct_session_add(tct_error *err, const char *outcome);
/* The caller's options, of whatever size.  TCT_E_USAGE: see core/sized.h. */
tct_status tct_session_options(const tct_session *given, tct_session *own, tct_error *err);
tct_tls_terms tct_session_files(const tct_session *options); /* borrowed */
/* Opens the wire of either role. */
tct_status tct_session_open(const tct_session *options, bool serves, tct_wire *wire, tct_error *err);

/* How records are matched: each party sorts its keys.  All hash the sorted list, and the labels in its order, under the
 * run's nonce and the secret that the server lacks.  The server learns whether the lists are equal, no more. */
typedef struct tct_alignment {
  int64_t *order;            /* [rows] place of record i among the sorted keys; NULL: by position */
  char keys[65], labels[65]; /* labels: "" of a party that brings none */
} tct_alignment;
tct_status tct_align(const tct_data *data, const tct_secret *secret, const char *nonce, tct_alignment *out,
                     tct_error *err);
void tct_alignment_free(tct_alignment *alignment);

/* What both ends say of the model before it is there: the plan's settings and its claim. */
tct_status tct_session_describe(const tct_plan *plan, tct_model *model, tct_error *err);
/* How a fact that reading took at a party stands in the model. */
void tct_session_unaccounted(const char *party, const char *text, char *line, size_t size);

/* What a party knows by itself when the server's model comes. */
typedef struct tct_own_part {
  const tct_plan *plan; /* of all parties together */
  const tct_data *data; /* its own columns */
  int index;            /* its number */
  bool has_seed;
  const double *w; /* [plan->cols], where the rounds ended */
} tct_own_part;
/* Reads the server's model if it is the one that this party expects in every key, else says where it differs. */
tct_status tct_session_take(const tct_own_part *own, const char *text, tct_model **out, tct_error *err);

/* Each frame that leaves a party, as one JSON line. */
typedef struct tct_transcript {
  void *file; /* NULL: nobody wants to see */
  int to;     /* TCT_SERVER, or a party's number */
} tct_transcript;
/* read: the files of this party's data, which the transcript is none of. */
tct_status tct_transcript_open(const tct_session *options, const tct_inputs *read, tct_wire *wire, tct_transcript *out,
                               tct_error *err);
/* The same file sees what leaves over another wire, to party `to`; it is closed with the first. */
void tct_transcript_join(const tct_transcript *first, tct_transcript *log, int to, tct_wire *wire);
tct_status tct_transcript_close(tct_transcript *transcript, tct_error *err); /* NULL file: nothing */
#endif
