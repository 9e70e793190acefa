#!/usr/bin/env python3
"""check_abi.py - a program that was built with an earlier tacit.h runs with the library of today.

    tests/abi/check_abi.py BUILD_DIR

Until 0.2 is released, the earlier header is today's whose structs end where each was first published (TCT_SIZED in the
sources has the member).  A release then adds its header here, which is never edited.  TACIT_0.symbols lists what the
library exports under that version: from a release on, lines are only added.  The checks are then asked about planted
changes, each of which they must see.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEW = ROOT / "include" / "tacit.h"
SYMBOLS = HERE / "TACIT_0.symbols"


def text_of(compiler, header):
    """The header without comments and macros, on one line."""
    command = [*compiler, "-E", "-P", "-x", "c", str(header)]
    return " ".join(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def earlier(text):
    """The header whose structs end where they did when they were first published."""
    sources = [path.read_text() for folder in ("src", "extra") for path in (ROOT / folder).rglob("*.c")]
    for name, last in re.findall(r"= TCT_SIZED\((tct_\w+), (\w+),", "".join(sources)):
        struct = re.search(rf"typedef struct {name} \{{.*?\n\}} {name};", text, re.S)
        end = struct and re.search(rf"\n[^\n;]*\b{last}\b[^;]*;", struct.group())
        if not end:
            sys.exit(f"{name}: has no member {last}")
        text = text.replace(struct.group(), struct.group()[: end.end()] + f"\n}} {name};")
    return text


def structs(text):
    """{struct: its fields} of those whose members the header shows."""
    found = {}
    for name, body in re.findall(r"typedef struct (tct_\w+) \{([^}]*)\}", text):
        body = re.sub(r"\(\* ?(\w+)\)\([^;]*", r"\1", body)  # a pointer to a function
        found[name] = [re.sub(r"\[.*", "", part).split()[-1].lstrip("*") for line in body.split(";")
                       for part in line.split(",") if part.split()]
    return found


def enumerators(text):
    return [word for _, body in re.findall(r"typedef enum (tct_\w+) \{([^}]*)\}", text)
            for word in re.findall(r"\bTCT_\w+", body)]


def declarations(text):
    return re.findall(r'__attribute__\(\(visibility\("default"\)\)\) ([^;{]*;)', text)


def compiled(compiler, spot, name, lines):
    source = spot / f"{name}.c"
    source.write_text("\n".join(lines) + "\n")
    return subprocess.run([*compiler, "-std=c11", "-w", "-o", spot / name, source], capture_output=True, text=True)


def layout(compiler, spot, header, fields, words):
    """Where each field lies and what each enumerator is worth, as the compiler has it; None: something is not there."""
    lines = ["#include <stdio.h>", f'#include "{header}"', "int main(void) {"]
    for struct, names in fields.items():
        lines += [f'printf("{struct}.{f} %zu %zu\\n", offsetof({struct}, {f}), sizeof((({struct} *)0)->{f}));' for f in names]
    lines += [f'printf("{word} %d\\n", (int){word});' for word in words]
    if compiled(compiler, spot, "layout", [*lines, "return 0; }"]).returncode:
        return None
    return subprocess.run([spot / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()


def header_faults(compiler, spot, old, new):
    """What a program of `old` would find changed in `new`."""
    text, faults = text_of(compiler, old), []
    fields, words = structs(text), enumerators(text)
    before, after = (layout(compiler, spot, header, fields, words) for header in (old, new))
    if before is None:
        sys.exit(f"{old}: does not compile")
    if after is None:
        faults.append("a struct, a field or an enumerator is gone")
    else:
        faults += [f"{a} is now {b}" for a, b in zip(before, after) if a != b]
    again = [f'#include "{new}"', *declarations(text), "int main(void) { return 0; }"]
    errors = compiled(compiler, spot, "declared", again).stderr.splitlines()
    faults += [line.split("error: ")[1] for line in errors if "error: " in line]
    gone = {re.search(r"(\w+)\(", d).group(1) for d in declarations(text)}
    gone -= {re.search(r"(\w+)\(", d).group(1) for d in declarations(text_of(compiler, new))}
    return faults + [f"{name}: no longer declared" for name in sorted(gone)]


def symbol_faults(listed, library):
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[-1] for line in lines if " A " not in line}
    faults = [f"{name}: no longer exported; programs that call it would not start" for name in sorted(listed - exported)]
    return faults + [f"{name}: exported and not in {SYMBOLS.name}; add it" for name in sorted(exported - listed)]


def run_consumer(compiler, spot, header, build):
    """The same program with the structs of `header`; its output."""
    program, folder = spot / "consumer", spot / "files"
    folder.mkdir(exist_ok=True)
    macro = f'-DHEADER="{header}"'
    subprocess.run([*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", macro, HERE / "consumer.c", "-o", program,
                    f"-L{build}", "-ltacit", "-lm"], check=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(build))
    done = subprocess.run([program, folder], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the program of {header.name} fails: {done.stderr.strip()}")
    return done.stdout.strip()


# (what is planted, a line of the header, what stands there instead)
PLANTED = [
    ("a function that is gone", "TCT_API void tct_plan_free(tct_plan *plan);", ""),
    ("another parameter type", "tct_labels labels, const char *const *names,", "double labels, const char *const *names,"),
    ("one parameter more", "TCT_API void tct_model_free(tct_model *model);", "TCT_API void tct_model_free(tct_model *model, int x);"),
    ("a field in front of others", "  double epsilon;          /* total", "  double more;\n  double epsilon;          /* total"),
    ("a wider field", "  int32_t intercept; ", "  int64_t intercept; "),
    ("another value of a word", "TCT_REPLACE_ONE = 1,", "TCT_REPLACE_ONE = 2,"),
]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cache = (build / "CMakeCache.txt").read_text()
    if re.search(r"^TCT_SANITIZE:STRING=.+", cache, re.M):
        print("skipped: a sanitizer's library serves only programs built with that sanitizer")
        return 77
    compiler = [re.search(r"^CMAKE_C_COMPILER:\w+=(.*)", cache, re.M).group(1)]
    library, listed = build / "libtacit.so", set(SYMBOLS.read_text().split())
    with tempfile.TemporaryDirectory() as folder:
        spot = pathlib.Path(folder)
        old = spot / "earlier.h"
        old.write_text(earlier(NEW.read_text()))
        faults = symbol_faults(listed, library) + header_faults(compiler, spot, old, NEW)
        if faults:
            sys.exit("\n".join(faults))
        before, now = (run_consumer(compiler, spot, header, build) for header in (old, NEW))
        print(f"before: {before}\nnow:    {now}")
        if before.split(":")[1] != now.split(":")[1]:
            sys.exit("a program of the earlier header gets another model")
        if before.split(":")[0] == now.split(":")[0]:
            sys.exit("the earlier header has the structs of today: it tests nothing")
        for what, line, instead in PLANTED:
            changed, source = spot / "tacit.h", NEW.read_text()
            if line not in source:
                sys.exit(f"cannot plant {what}: tacit.h has no such line")
            changed.write_text(source.replace(line, instead, 1))
            if not header_faults(compiler, spot, old, changed):
                sys.exit(f"not seen: {what}")
        if not symbol_faults(listed | {"tct_gone@@TACIT_0"}, library) or not symbol_faults(
                {name.replace("@@TACIT_0", "@@TACIT_1") for name in listed}, library):
            sys.exit("not seen: a symbol that is gone, or one of another version")
    print(f"{len(listed)} symbols of TACIT_0, {len(PLANTED) + 2} planted changes seen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
