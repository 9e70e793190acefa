/* estimated.c - the end of what a table's estimated bounds cost. */
#include "read/table/estimated.h"

#include "core/alloc.h"

void tct_estimated_free(tct_estimated *estimated) {
  if (!estimated) return;
  tct_free(estimated->certificate);
  tct_free(estimated->ledger_head);
  tct_free(estimated->run);
  tct_free(estimated->warning);
  tct_free(estimated);
}
