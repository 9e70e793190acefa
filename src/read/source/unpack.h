/* unpack.h - the functions of libarchive that are used, loaded when a file is first opened through it. */
#ifndef TCT_READ_SOURCE_UNPACK_H
#define TCT_READ_SOURCE_UNPACK_H
#include <archive.h>
#include <archive_entry.h>

/* Linking with libarchive would load it and what it needs in turn (XML, Unicode tables, C++) into every process,
 * which takes longer than most accounting queries. */
#define TCT_UNPACK_FUNCTIONS(X)        \
  X(archive_read_new)                  \
  X(archive_read_support_filter_xz)    \
  X(archive_read_support_filter_zstd)  \
  X(archive_read_support_filter_bzip2) \
  X(archive_read_support_format_raw)   \
  X(archive_read_support_format_zip)   \
  X(archive_read_support_format_empty) \
  X(archive_read_open)                 \
  X(archive_read_next_header)          \
  X(archive_read_data)                 \
  X(archive_filter_bytes)              \
  X(archive_format)                    \
  X(archive_read_free)                 \
  X(archive_entry_pathname)            \
  X(archive_entry_filetype)

typedef struct tct_unpack {
#define TCT_UNPACK_MEMBER(name) __typeof__(name) *name;
  TCT_UNPACK_FUNCTIONS(TCT_UNPACK_MEMBER)
#undef TCT_UNPACK_MEMBER
} tct_unpack;

/* NULL: the library is not there, or lacks a function. */
const tct_unpack *tct_unpack_load(void);
#endif
