/* ledger.h - the budget ledger of a data set: what every run promised, on disk before its first noise.
 *
 * A ledger is one SQLite file (docs/reference/format/ledger.md).  The rows of meta, runs, events and notes form one
 * chain.  Each carries the hash of the row before it together with its own columns.  The head row holds the last hash.
 * A run is charged in one transaction, fully synced, before anything is drawn; there is no function that takes a charge
 * back.  The tables secret and prints hold a key and the fingerprints of the input under it.  They are secret like the
 * input and in no export, and no hash of the chain depends on them.
 *
 * PERMISSION  One filter, chosen when the ledger is made and never changed:
 *   mixed  mu^2 of Gaussian events, and epsilon and delta of others, beside each other (account/mixed.c).  Every run
 *          has such a form.  The default.
 *   sum    the plain sum of the runs' (epsilon, delta); every run has this form.
 *   zcdp   the sum of rho of all events; gdp: the sum of mu^2 of Gaussian events; rdp: the Renyi costs at fixed
 *          orders.  A run with an event that has no such cost is refused.
 * Why not the best of the four at each step? Runs are chosen after looking at earlier results, so the filter that
 * happens to permit the list depends on the outputs.  Split the outputs S by the filter k that permits them, S_k.  On
 * S_k the runs are those of the strategy that filter k would have stopped.  So P[S_k] <= e^epsilon Q[S_k] + delta for
 * each k, and the sum over k filters is e^epsilon Q[S] + k*delta.  The k is real: each filter may spend its delta where
 * the others have stopped.  So one filter is fixed; and the rdp filter, which permits a list where any of its three
 * fixed orders does, shares delta out among them, by the same argument. */
#ifndef TCT_LEDGER_LEDGER_H
#define TCT_LEDGER_LEDGER_H
#include "account/account.h"
#include "account/mixed.h"
#include "core/digest.h"
#include "ledger/fingerprint.h"
#include "model/model.h"

#include <sqlite3.h>

enum { TCT_LEDGER_VERSION = 2, TCT_LEDGER_ID = 33, TCT_LEDGER_TEXT = 500 };
/* How the digest of what was asked for begins, and the room that it takes. */
#define TCT_LEDGER_ASKED_WORD "asked:"
enum { TCT_LEDGER_ASKED = sizeof TCT_LEDGER_ASKED_WORD - 1 + TCT_DIGEST_HEX };

/* One charged run.  Texts are owned. */
typedef struct tct_ledger_run {
  int64_t seq; /* place in the chain */
  char id[TCT_LEDGER_ID];
  char *time, *what; /* UTC, ISO 8601; solver spec or the caller's words */
  double epsilon, delta;
  char plan[TCT_LEDGER_ASKED]; /* as of tct_ledger_asked_digest; of earlier programs another hash; or "" */
  int64_t promised;            /* number of event rows that follow */
  tct_events events;
  char head[TCT_DIGEST_HEX]; /* the chain's hash after the last of its rows */
  int seeded;                /* its noise can be reproduced; only in ledgers for tests */
  char *unaccounted[TCT_UNACCOUNTED + 1];
  char input[16]; /* "first" | "known" | "part" | "changed"; "": no rows were shown */
} tct_ledger_run;

/* A changed input or a lost anchor, and why. */
typedef struct tct_ledger_change {
  char *time, *reason;
  int anchor; /* 1: an anchor was lost */
} tct_ledger_change;

/* A fingerprint that the ledger keeps; declared: the caller said that it is a part of the table. */
typedef struct tct_ledger_print {
  tct_print print;
  int declared;
} tct_ledger_print;

/* What a reservation has become; an open one refuses others until its end. */
typedef enum tct_ledger_fate {
  TCT_RESERVATION_OPEN,
  TCT_RESERVATION_CHARGED,
  TCT_RESERVATION_RELEASED
} tct_ledger_fate;

/* A part of the budget that is kept for a run which has not begun. */
typedef struct tct_ledger_reservation {
  char *text; /* owned; the words below lie in it */
  const char *id, *time, *end, *what;
  double epsilon, delta;
  tct_events events;
  tct_ledger_fate fate;
} tct_ledger_reservation;

/* A ledger read and verified.  `db` stays open, in a transaction. */
typedef struct tct_ledger {
  sqlite3 *db;
  char *name, *created;
  tct_filter_kind filter;
  tct_neighbours neighbours;
  double epsilon, delta; /* the whole budget */
  tct_ledger_run *runs;  /* [len] */
  int64_t len, cap;
  int64_t seq; /* last place of the chain */
  char head[TCT_DIGEST_HEX];
  char first[TCT_DIGEST_HEX]; /* the chain's first hash; two ledgers made in one second may share it */
  char id[TCT_DIGEST_HEX];    /* which ledger this is: a hash under its key, public */
  int version, made;          /* of the tables, and of the first row: 1 is read, and brought to 2 by its next charge */
  int unit;                   /* -1 until its note is read; 1: a person, 0: a record */
  int for_tests;              /* takes reproducible noise */
  char *people, *anchor;      /* NULL: none */
  tct_ledger_change *changes;
  int64_t changed;
  tct_ledger_reservation *reservations; /* [reserved] */
  int64_t reserved;
  int has_key;
  tct_key key;
  tct_ledger_print *prints;
  int64_t printed;
} tct_ledger;

/* What was asked for, as a model file says it under these keys; texts, NULL: there is none. */
typedef struct tct_ledger_asked {
  const char *fits, *choice, *estimate;
} tct_ledger_asked;

typedef struct tct_ledger_promise {
  const tct_events *events;
  double epsilon, delta;
  tct_neighbours neighbours;
  const char *what;          /* solver spec, or words */
  tct_ledger_asked asked;    /* without fits nothing of it is recorded */
  int persons;               /* the unit of the claim is a person */
  int seeded;                /* the noise can be reproduced */
  char *const *unaccounted;  /* what no event pays for, ended by NULL; or NULL */
  const tct_print *print;    /* of the rows under `key`; NULL: none are shown */
  const unsigned char *key;  /* as tct_ledger_identify gave it */
  int declared_part;         /* the caller says that the rows are a part of the ledger's table */
  const char *input_changed; /* why the rows are others than before, or NULL */
  double reserve;            /* above 0: not charged, but reserved for so many seconds, a day at most */
  const char *reserved;      /* the reservation that becomes this charge, or NULL */
} tct_ledger_promise;

/* What a charge leaves with the model; texts are owned by the caller. */
typedef struct tct_ledger_receipt {
  char *head, *run; /* the chain's hash after this run, and the id of the run, or of the reservation */
  int for_tests;
  char *warning; /* what could not be done after the charge, or NULL */
} tct_ledger_receipt;

/* Writes the promise durably, or fails and leaves the ledger as it was: TCT_E_BUDGET when the filter or a rule says no.
 * What would refuse the charge refuses the reservation. */
tct_status tct_ledger_promise_run(const char *path, const tct_ledger_promise *promise, tct_ledger_receipt *receipt,
                                  tct_error *err);

/* Ends a reservation before its end; one that has become a charge stays one. */
tct_status tct_ledger_release(const char *path, const char *id, tct_error *err);

/* Which ledger this is, and the key for its fingerprints.  Refuses at once what its next charge would refuse whatever
 * is left: an edited file, an anchor that it has fallen behind. */
tct_status tct_ledger_identify(const char *path, char id[TCT_DIGEST_HEX], tct_key key, tct_error *err);

/* Is the model's run in this ledger as the model tells it?  text[size] becomes a sentence either way.
 * An error: the ledger cannot be read at all. */
tct_status tct_ledger_entry(const char *path, const tct_model *model, int *told, char *text, size_t size,
                            tct_error *err);
/* why[size] becomes "", or a sentence where it is not. */
void tct_ledger_find_entry(const tct_ledger *ledger, const tct_model *model, char *why, size_t size);
/* What binds a model file to its charge besides events and budget: settings as asked, releases, composition, whose
 * privacy, and whether the noise can be reproduced. */
tct_status tct_ledger_asked_digest(const tct_ledger_asked *asked, int persons, int seeded, char text[TCT_LEDGER_ASKED],
                                   tct_error *err);

/* ---- ledger_store.c: the file -------------------------------------------------------------- */

/* Opens, begins a transaction (writes: takes the write lock, waiting while other runs move on), reads every row and
 * verifies the chain.  On failure everything is closed again. */
tct_status tct_ledger_open(const char *path, int writes, tct_ledger *out, tct_error *err);
/* Ends the transaction without a change, and closes; a zeroed struct is fine. */
void tct_ledger_close(tct_ledger *ledger);
/* Creates the tables and the first row of the chain in a new or empty file. */
tct_status tct_ledger_create(const char *path, const tct_ledger *settings, tct_error *err);
/* Appends the run with its events and notes, moves the head, commits; fills id[].  input: as in tct_ledger_run. */
tct_status tct_ledger_append(tct_ledger *ledger, const tct_ledger_promise *promise, const char *input,
                             char id[TCT_LEDGER_ID], tct_error *err);
/* Appends a note about the ledger, moves the head, commits. */
tct_status tct_ledger_append_note(tct_ledger *ledger, const char *kind, const char *text, tct_error *err);
/* Appends where its anchor is from now on, and why the one of before was lost (NULL: it was not); commits. */
tct_status tct_ledger_append_anchor(tct_ledger *ledger, const char *lost, tct_error *err);
/* The chain's hash after its row `seq`; "": there is no such row. */
tct_status tct_ledger_hash_at(tct_ledger *ledger, int64_t seq, char hash[TCT_DIGEST_HEX], tct_error *err);

/* A column's value: i, r, t of `types` stand for int64_t, double and text. */
typedef union tct_ledger_value {
  int64_t i;
  double r;
  const char *t;
} tct_ledger_value;
/* Runs one statement with values[] bound in their order. */
tct_status tct_ledger_execute(sqlite3 *db, const char *sql, const char *types, const tct_ledger_value *values,
                              tct_error *err);
/* SQLite's own look at the file's structure; why[size] becomes "" or its first complaint. */
tct_status tct_ledger_integrity(tct_ledger *ledger, char *why, size_t size, tct_error *err);
/* The failure that SQLite reports, told apart: no memory, the machine's (TCT_E_RUN), or the file's (TCT_E_DATA). */
tct_status tct_ledger_failed(sqlite3 *db, const char *what, tct_error *err);

/* ---- ledger_file.c: what lies at a ledger's place, beside it, and elsewhere ----------------------- */

int tct_ledger_is_there(const char *path); /* 1 also where that cannot be found out */
/* Removes the file and its journal, as far as they are there. */
void tct_ledger_remove(const char *path);
/* TCT_E_RUN where SQLite would open something else than a regular file as the ledger or beside it. */
tct_status tct_ledger_check_files(const char *path, tct_error *err);
/* SQLite asks for the count-th time whether to go on waiting for the ledger: 1, after a moment, or 0. */
int tct_ledger_wait(void *db, int count);
/* Opens a regular file without waiting, with mode 0600 where the flags make it; -1: none can be opened (errno). */
int tct_plain_open(const char *path, int flags);

/* ---- ledger_chain.c: rows in order, each hash recomputed ---------------------------------------- */

/* Reads all rows into the ledger and verifies them.  TCT_E_DATA: a row was edited, removed or added. */
tct_status tct_ledger_read_chain(tct_ledger *ledger, tct_error *err);
/* The hash of the statement's current row: of `previous`, the table's name, and all columns but the last. */
void tct_ledger_row_hash(sqlite3_stmt *row, const char *table, const char *previous, char hex[TCT_DIGEST_HEX]);
/* "mixed" ..., and back (-1: none). */
const char *tct_ledger_filter_name(tct_filter_kind kind);
int tct_ledger_filter_find(const char *name);

/* ---- ledger_notes.c: what a run or the ledger says beside its numbers ------------------------------ */

/* Takes a note that was read: run is the `seq` of its run, or 0 for the ledger.  0: no such note can be here. */
int tct_ledger_take_note(tct_ledger *ledger, int64_t run, const char *kind, const char *text, tct_error *err);
/* Does the ledger take a run of this kind at all?  *input: as in tct_ledger_run, static. */
tct_status tct_ledger_accept(const tct_ledger *ledger, const tct_ledger_promise *promise, const char **input,
                             tct_error *err);

/* ---- ledger_reserve.c: reservations ------------------------------------------------------------- */

/* The time in so many seconds, UTC, ISO 8601: such texts are in order as their times are. */
void tct_ledger_time(int64_t later, char out[32]);
/* Takes the text of a note that was read.  0: it is none. */
int tct_ledger_take_reservation(tct_ledger *ledger, const char *text, tct_error *err);
/* 0: no reservation of this id is open. */
int tct_ledger_close_reservation(tct_ledger *ledger, const char *id, tct_ledger_fate fate);
void tct_ledger_free_reservations(tct_ledger *ledger);
/* Is it open, and its end still to come? */
int tct_ledger_is_reserved(const tct_ledger_reservation *reservation);
/* Appends it, moves the head, commits; fills id[]. */
tct_status tct_ledger_reserve(tct_ledger *ledger, const tct_ledger_promise *promise, char id[TCT_LEDGER_ID],
                              tct_error *err);
/* Is the reservation that is to become a charge open?  id NULL: none is to. */
tct_status tct_ledger_check_reserved(const tct_ledger *ledger, const char *id, tct_error *err);

/* ---- ledger_secret.c: the key and the fingerprints ------------------------------------------------ */

/* Writes a key that was drawn for this ledger; fills its id. */
tct_status tct_ledger_write_key(tct_ledger *ledger, const tct_key key, tct_error *err);
tct_status tct_ledger_write_print(tct_ledger *ledger, int64_t run, const tct_print *print, int declared,
                                  tct_error *err);
/* The public name of the ledger that has this key. */
void tct_ledger_id(const tct_key key, char id[TCT_DIGEST_HEX]);
/* Reads both tables; TCT_E_DATA: a row was edited, removed or added. */
tct_status tct_ledger_read_secret(tct_ledger *ledger, tct_error *err);

/* ---- ledger_filter.c: permission ---------------------------------------------------------------- */

/* Where the budget stands under the ledger's filter. */
typedef struct tct_ledger_state {
  tct_filter filter;          /* all but sum and mixed */
  tct_mixed mixed;            /* mixed */
  long double epsilon, delta; /* plain sums over the runs */
  int overspent;              /* a recorded run does not fit: nothing is left */
} tct_ledger_state;
tct_status tct_ledger_state_of(const tct_ledger *ledger, tct_ledger_state *state, tct_error *err);
/* Charges the promise in `state`, or TCT_E_BUDGET with the sentence for the user: also where it does not fit beside
 * what is reserved for others. */
tct_status tct_ledger_permit(const tct_ledger *ledger, const tct_ledger_promise *promise, tct_ledger_state *state,
                             tct_error *err);

typedef struct tct_ledger_account {
  const char *unit;      /* "epsilon" | "rho" | "mu_squared" | "renyi" */
  double budget, spent;  /* in that unit; renyi: at the order with the largest share left */
  double order;          /* renyi: that order; else NAN */
  double epsilon, delta; /* what the recorded runs amount to */
  double left;           /* beside runs and reservations, in that unit, with: */
  double epsilon_left, delta_left;
  int64_t more; /* runs like the last one that fit at least, beside runs and reservations, up to 2^40; -1: there is no
                   run */
} tct_ledger_account;
tct_status tct_ledger_account_of(const tct_ledger *ledger, tct_ledger_account *out, tct_error *err);
#endif
