/* disk.c - what the disk under a folder does in a second, measured with a file without a name. */
#define _GNU_SOURCE
#include "cli.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Long enough for a rate, short enough to wait for: a second at 128 MiB/s. */
enum { BYTES = 1 << 26, BLOCK = 1 << 20 };

/* Bytes a second of one direction; NAN: it failed.  What is read comes from the disk, as far as the system forgets. */
static double rate(int file, char *block, bool reads) {
  double start = cli_seconds();
  if (reads) (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  for (off_t at = 0; at < BYTES; at += BLOCK) {
    ssize_t done = reads ? pread(file, block, BLOCK, at) : pwrite(file, block, BLOCK, at);
    if (done != BLOCK) return NAN;
  }
  if (!reads && fdatasync(file) != 0) return NAN;
  return BYTES / (cli_seconds() - start);
}

cli_disk cli_disk_measure(const char *folder) {
  cli_disk disk = {NAN, NAN, NAN};
  struct statvfs room;
  if (statvfs(folder, &room) == 0) disk.free = (double)room.f_bavail * (double)room.f_frsize;
  int file = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  char *block = malloc(BLOCK);
  if (file >= 0 && block) {
    for (size_t k = 0; k < BLOCK; k++) block[k] = (char)(k * 2654435761u >> 13); /* some disks pack zeros away */
    disk.write = rate(file, block, false);
    disk.read = rate(file, block, true);
  }
  free(block);
  if (file >= 0) close(file);
  return disk;
}

const char *cli_scratch_folder(const char *given) {
  const char *usual = getenv("TMPDIR");
  if (given) return given;
  return usual && *usual ? usual : "/tmp";
}
