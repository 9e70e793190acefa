/* source.c - a byte stream from a file, standard input or memory, decompressed on the way.
 *
 * gzip is told by its first two bytes and undone by zlib.  Everything else goes through libarchive, which
 * tells the compression by content; its `raw` format hands the bytes of whatever is inside.  Only the
 * compressions that are wanted are switched on: others would run external programs. */
#include "read/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "read/source/unpack.h"

enum { BLOCK = 1 << 18 };

static tct_status cannot_read(const tct_source *source, tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err);
  return tct_fail(err, TCT_E_RUN, "cannot read %s to its end; check the disk", source->name);
}

static tct_status archive_failed(const tct_source *source, tct_error *err) {
  if (source->input.failed) return cannot_read(source, err);
  return tct_fail_at(err, source->name, 0, 0,
                     "the compressed file is truncated or damaged; fetch it again, or test it with its own tool");
}

static tct_status open_file(tct_source *source, const char *path, tct_error *err) {
  source->input.file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
  if (source->input.file < 0) {
    return tct_fail(err, TCT_E_RUN, "cannot open %s (%s); check the name and the permissions", path, strerror(errno));
  }
  struct stat status;
  if (fstat(source->input.file, &status) == 0 && S_ISDIR(status.st_mode)) {
    return tct_fail(err, TCT_E_RUN, "%s is a directory; name a file", path);
  }
  return TCT_OK;
}

/* libarchive asks for the next block of the file. */
static la_ssize_t next_block(struct archive *archive, void *data, const void **block) {
  tct_input *input = data;
  (void)archive;
  if (!tct_input_fill(input)) return input->failed ? -1 : 0;
  *block = input->block + input->at;
  la_ssize_t count = input->have - input->at;
  input->at = input->have;
  return count;
}

/* The next entry of an archive that is no directory. */
static int next_file(const tct_unpack *lib, struct archive *archive, struct archive_entry **entry) {
  int found;
  do found = lib->archive_read_next_header(archive, entry);
  while (found == ARCHIVE_OK && lib->archive_entry_filetype(*entry) == AE_IFDIR);
  return found;
}

/* NumPy's own archives hold arrays, each a file with the ending npy. */
static void take_array(const char *file, char *name, size_t size) {
  bool known = file && (strcmp(file, "X.npy") == 0 || strcmp(file, "y.npy") == 0);
  snprintf(name, size, "%.1s", known ? file : "");
}

static bool is_array(const char *file) {
  size_t length = file ? strlen(file) : 0;
  return length > 4 && strcmp(file + length - 4, ".npy") == 0;
}

/* A spreadsheet is an archive of XML files. */
static tct_status check_entry(const tct_source *source, const char *name, tct_error *err) {
  static const char *const sheets[] = {"[Content_Types].xml", "_rels/", "xl/", "docProps/", "mimetype"};
  for (size_t k = 0; name && k < sizeof sheets / sizeof *sheets; k++)
    if (strncmp(name, sheets[k], strlen(sheets[k])) == 0)
      return tct_fail_at(err, source->name, 0, 0, "this is a spreadsheet (XLSX or ODS); save its table as CSV");
  return TCT_OK;
}

static tct_status open_archive(tct_source *source, tct_error *err) {
  const tct_unpack *lib = tct_unpack_load();
  if (!lib) return tct_fail(err, TCT_E_RUN, "%s cannot be loaded; install libarchive", TCT_ARCHIVE_LIBRARY);
  struct archive *archive = lib->archive_read_new();
  struct archive_entry *entry;
  source->archive = archive;
  if (!archive) return tct_fail_memory(err);
  int bad = lib->archive_read_support_filter_xz(archive) | lib->archive_read_support_filter_zstd(archive) |
            lib->archive_read_support_filter_bzip2(archive) | lib->archive_read_support_format_raw(archive) |
            lib->archive_read_support_format_zip(archive) | lib->archive_read_support_format_empty(archive);
  if (bad) {
    return tct_fail(err, TCT_E_RUN, "libarchive lacks xz, zstd, bzip2 or zip; install a complete libarchive");
  }
  if (lib->archive_read_open(archive, &source->input, NULL, next_block, NULL) != ARCHIVE_OK) {
    return archive_failed(source, err);
  }
  int found = next_file(lib, archive, &entry);
  if (found == ARCHIVE_EOF) {
    source->ended = true;
    return TCT_OK;
  }
  if (found != ARCHIVE_OK) return archive_failed(source, err);
  const char *name = lib->archive_entry_pathname(entry);
  take_array(name, source->array, sizeof source->array);
  source->of_arrays = is_array(name);
  return check_entry(source, name, err);
}

/* Behind the table of an archive there is nothing but the other one of the arrays X and y: it would go unread. */
static tct_status end_archive(tct_source *source, tct_error *err) {
  const tct_unpack *lib = tct_unpack_load();
  struct archive_entry *entry;
  source->ended = true;
  int found = next_file(lib, source->archive, &entry);
  bool rest = lib->archive_format(source->archive) == ARCHIVE_FORMAT_RAW &&
              lib->archive_filter_bytes(source->archive, -1) < source->input.total; /* bzip2 says nothing of it */
  if (found == ARCHIVE_EOF) return rest ? archive_failed(source, err) : TCT_OK;
  if (found != ARCHIVE_OK) return archive_failed(source, err);
  take_array(lib->archive_entry_pathname(entry), source->next_array, sizeof source->next_array);
  if (source->array[0] && source->next_array[0]) return TCT_OK;
  return tct_fail_at(
      err, source->name, 0, 0, "%s",
      source->of_arrays
          ? "the archive holds other arrays than X and y; save it as numpy.savez(file, X=records, y=labels)"
          : "the archive holds several files; unpack it and give the table alone");
}

void tct_source_next_array(tct_source *source) {
  memcpy(source->array, source->next_array, sizeof source->array);
  source->next_array[0] = 0;
  source->begin = source->end = 0;
  source->ended = false;
}

tct_status tct_source_open(tct_source *source, const char *path, tct_error *err) {
  memset(source, 0, sizeof *source);
  source->input.file = -1;
  source->name = path;
  source->limits = tct_limits_default;
  TCT_TRY(open_file(source, path, err));
  tct_input *input = &source->input;
  input->size = BLOCK;
  input->block = tct_alloc(BLOCK, 1);
  if (!input->block) return tct_fail_memory(err);
  tct_input_begin(input);
  if (input->failed) return cannot_read(source, err);
  if (input->have < 2 || input->block[0] != 0x1f || input->block[1] != 0x8b) return open_archive(source, err);
  source->gunzip = tct_gunzip_new();
  return source->gunzip ? TCT_OK : tct_fail_memory(err);
}

void tct_source_memory(tct_source *source, const char *name, const void *bytes, int64_t count, int64_t step) {
  memset(source, 0, sizeof *source);
  source->input.file = -1;
  source->name = name;
  source->limits = tct_limits_default;
  source->memory = bytes;
  source->memory_left = count;
  source->memory_step = step;
}

static tct_status make_room(tct_source *source, int64_t bytes, tct_error *err) {
  int64_t unread = source->end - source->begin;
  if (source->begin > 0 && unread > 0) memmove(source->buffer, source->buffer + source->begin, (size_t)unread);
  source->begin = 0;
  source->end = unread;
  if (unread + bytes <= source->size) return TCT_OK;
  int64_t size = source->size * 2 > unread + bytes ? source->size * 2 : unread + bytes;
  char *grown = tct_grow(source->buffer, unread, size, 1);
  if (!grown) return tct_fail_memory(err);
  source->buffer = grown;
  source->size = size;
  return TCT_OK;
}

tct_status tct_source_append(tct_source *source, const void *bytes, int64_t count, tct_error *err) {
  TCT_TRY(make_room(source, count, err));
  memcpy(source->buffer + source->end, bytes, (size_t)count);
  source->end += count;
  return TCT_OK;
}

static tct_status more_memory(tct_source *source, tct_error *err) {
  int64_t count = source->memory_left < source->memory_step ? source->memory_left : source->memory_step;
  if (count == 0) {
    source->ended = true;
    return TCT_OK;
  }
  TCT_TRY(tct_source_append(source, source->memory, count, err));
  source->memory += count;
  source->memory_left -= count;
  return TCT_OK;
}

static tct_status more_plain(tct_source *source, tct_error *err) {
  int64_t want = source->plain_left < BLOCK ? source->plain_left : BLOCK;
  TCT_TRY(make_room(source, BLOCK, err));
  int64_t got = want > 0 ? tct_input_read(source->input.file, source->buffer + source->end, want) : 0;
  if (got < 0) return cannot_read(source, err);
  if (got == 0) source->ended = true;
  source->end += got;
  source->plain_left -= got;
  return TCT_OK;
}

tct_status tct_source_jump(tct_source *source, int64_t header, int64_t from, int64_t to, tct_error *err) {
  if (lseek(source->input.file, from, SEEK_SET) < 0) return cannot_read(source, err);
  source->begin = source->end = 0;
  source->ended = false;
  source->plain = true;
  source->plain_left = to - from;
  source->skipped_from = header;
  source->skipped_to = from;
  return TCT_OK;
}

tct_status tct_source_more(tct_source *source, tct_error *err) {
  if (source->ended) return TCT_OK;
  if (source->maker) return source->maker->more(source->made_by, source, err);
  if (source->plain) return more_plain(source, err);
  if (source->input.file < 0) return more_memory(source, err);
  TCT_TRY(make_room(source, BLOCK, err));
  char *to = source->buffer + source->end;
  int64_t got = source->gunzip ? tct_gunzip_read(source->gunzip, &source->input, to, BLOCK)
                               : tct_unpack_load()->archive_read_data(source->archive, to, BLOCK);
  if (got < 0) return archive_failed(source, err);
  if (got == 0) source->ended = true;
  source->end += got;
  if (got == 0 && source->archive) return end_archive(source, err);
  source->unpacked += got;
  return tct_limits_unpacked(&source->limits, source->name, source->unpacked, source->input.total, err);
}

tct_status tct_source_want(tct_source *source, int64_t count, tct_error *err) {
  while (source->end - source->begin < count && !source->ended) TCT_TRY(tct_source_more(source, err));
  return TCT_OK;
}

/* A file's own size is taken at once: a buffer that doubles would take up to three times as much. */
tct_status tct_source_all(tct_source *source, int64_t most, tct_bytes *all, tct_error *err) {
  static const char *const why =
      "the file is read into memory as a whole, which is more than the limit; raise {memory}, "
      "or save the table as CSV";
  int64_t stored = tct_source_stored(source);
  if (stored > most) return tct_fail(err, TCT_E_USAGE, "{%s}", why);
  if (stored > 0) TCT_TRY(make_room(source, stored - (source->end - source->begin) + BLOCK, err));
  while (!source->ended && source->end - source->begin <= most) TCT_TRY(tct_source_more(source, err));
  if (source->end - source->begin > most) return tct_fail(err, TCT_E_USAGE, "{%s}", why);
  TCT_TRY(make_room(source, 0, err)); /* unread bytes are at the beginning now */
  *all = (tct_bytes){source->buffer, source->end, source->size};
  source->buffer = NULL;
  source->begin = source->end = source->size = 0;
  return TCT_OK;
}

void tct_source_make(tct_source *source, const tct_maker *maker, void *self) {
  source->maker = maker;
  source->made_by = self;
  source->ended = false;
}

int64_t tct_source_stored(const tct_source *source) {
  struct stat status;
  if (source->input.file < 0 || fstat(source->input.file, &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return status.st_size;
}

void tct_source_close(tct_source *source) {
  if (source->maker) source->maker->free(source->made_by);
  if (source->archive) tct_unpack_load()->archive_read_free(source->archive);
  tct_gunzip_free(source->gunzip);
  if (source->input.file >= 0) close(source->input.file);
  tct_wipe_free(source->input.block, source->input.size, 1);
  tct_wipe_free(source->buffer, source->size, 1);
  memset(source, 0, sizeof *source);
  source->input.file = -1;
}
