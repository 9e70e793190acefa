#!/usr/bin/env python3
"""mutate.py - changes the sources that a privacy claim rests on, one small change at a time, and asks the tests.

usage: mutate.py BUILD [--count N] [--seed N] [--minutes M] [--jobs N] [--only PREFIX]... [--again] [--fresh]
                 [--page FILE] [--named] [--kind KIND]...

BUILD is a release build made with Ninja.  A mutant is one change of one operator, constant, statement, condition or
pair of arguments inside a function.  Those are the usual kinds.  A row of tests/privacy/mutants.map can name others:
release (a term longer than the plan says, or another release's noise), clean (what goes on is the sum before its noise),
bound (a number is not cut or rounded), choice (one of two values always), check (what an if asks is never or always so),
comparison (the same of a call that compares), operand (left out), name (a constant of the file halved or doubled).
--named asks for the rows that name kinds, --kind for this kind alone.  All mutants of a source file go into one object: the function of each has a copy
with the change, and the variable TCT_MUTANT says which copy is called.  So a file is compiled once, and linked once
with each test that tests/privacy/mutants.map names for it.

The sample is the same for the same seed and sources, and every file and kind of change has its share.  A mutant is
caught if a test fails, or needs far more processor time than without it.  Survivors go to BUILD/mutants/survivors.txt.
Those that tests/privacy/equivalent.txt argues for are counted as argued; any other makes the exit status 1.
--again runs the survivors of the last run only.  Every verdict goes to BUILD/mutants/done.jsonl as it falls, so a
run can be cut and taken up.  A caught mutant is not run again while its source is the same; a survivor is, once a
test of its file has changed.  --minutes 0 says what is known.  --fresh forgets them all.  --page writes the table by folder.
"""
import argparse, collections, concurrent.futures, hashlib, json, math, os, random, re, resource, signal, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAP = os.path.join(ROOT, "tests/privacy/mutants.map")
ARGUED = os.path.join(ROOT, "tests/privacy/equivalent.txt")

RELATIONAL = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
              "&&": ("||",), "||": ("&&",)}
ARITHMETIC = {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",), "+=": ("-=",), "-=": ("+=",),
              "*=": ("/=",), "/=": ("*=",), "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "|=": ("&=",),
              "&=": ("|=",), "++": ("--",), "--": ("++",)}
PRECEDENCE = {"*": 9, "/": 9, "%": 9, "+": 8, "-": 8, "<<": 7, ">>": 7, "<": 6, "<=": 6, ">": 6, ">=": 6, "==": 5, "!=": 5,
              "&": 4, "^": 3, "|": 2, "&&": 1, "||": 0}
# Of a call that plans a release, clips or draws: how which of its arguments is changed, counted from 0, so that a term is
# longer than its noise is made for, or the noise another's.  Then the calls that cut or round, and those that compare.
RELEASE = {"tct_release_sum": {2: "* 2", 3: "/ 2"}, "tct_release_choice": {3: "* 2", 4: "/ 2"},
           "tct_release_draw": {3: "/ 2", 5: "/ 2"}, "tct_release_joint": {2: "/ 2"}, "tct_mech_set_clip": {2: "/ 2"},
           "tct_mech_release": {1: "+ 1"}, "tct_mech_draw": {1: "+ 1"}, "tct_mech_choose": {1: "+ 1"},
           "tct_gradient_factor_max": {0: "* 2"}, "tct_clip_rows": {4: "* 2"}, "tct_clip_slopes": {4: "* 2"},
           "tct_row_add_lattice": {2: "* 2"}}
BOUND = re.compile(r"(tct_)?(fmin|fmax|min|max|\w*clip\w*|\w*lattice_part|trunc|floor|ceil|rint|between|unit)")
COMPARISON = re.compile(r"\w*cmp|isnan|isfinite|differ|\w*(same|equal)\w*")
WORDS = {"true": "false", "false": "true", "fmin": "fmax", "fmax": "fmin", "tct_min": "tct_max", "tct_max": "tct_min"}
USUAL = {"relation", "arithmetic", "word", "constant", "condition", "arguments", "statement"}
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "case", "else", "do"}
TOKEN = re.compile(r"[A-Za-z_]\w*|0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?[uUlLfF]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*"
                   r"|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S")
# Comments, strings, characters and preprocessor lines, which nothing is changed in.
OPAQUE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)

Mutant = collections.namedtuple("Mutant", "file line kind start end new shown")
Function = collections.namedtuple("Function", "name start body end")


def blanked(text):
    text = OPAQUE.sub(lambda m: re.sub(r"[^\n]", "\x01" if m.group()[0] in "\"'" else " ", m.group()), text)
    for point in re.finditer(r"\bTCT_POINT\(", text):  # its last argument is a fault, and no part of the library
        depth, end, comma = 1, point.end(), None
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            comma = end if text[end] == "," and depth == 1 else comma
            end += 1
        text = text[: comma + 1] + re.sub(r"[^\n]", "\x01", text[comma + 1 : end - 1]) + text[end - 1 :]
    return text


def functions(plain):
    """The functions of a file in the style of this project: they begin in column 0 and end with a brace there."""
    head = re.compile(r"^(?!typedef|struct|enum|union|#|\}|\s)[^;{}=]*?\b(\w+)\(", re.M)
    at = 0
    while True:
        found = head.search(plain, at)
        if not found:
            return
        depth, k = 1, found.end()
        while depth and k < len(plain):
            depth += {"(": 1, ")": -1}.get(plain[k], 0)
            k += 1
        brace = re.compile(r"\s*\{").match(plain, k)
        if not brace or "__attribute__" == found.group(1):
            at = plain.find("\n", found.end()) + 1 if not brace else found.end()
            continue
        depth, end = 1, brace.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(plain[end], 0)
            end += 1
        yield Function(found.group(1), found.start(), brace.end() - 1, end)
        at = end


def arguments(tokens, k):
    """Of the call whose opening parenthesis is token k: spans of its arguments, and the index of the closing one."""
    spans, depth, first = [], 0, k + 1
    for i in range(k, len(tokens)):
        word = tokens[i].group()
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word, 0)
        if depth == 0 or (depth == 1 and word == ","):
            if i > first:
                spans.append((tokens[first].start(), tokens[i - 1].end()))
            first = i + 1
        if depth == 0:
            return spans, i
    return spans, len(tokens) - 1


def operand_end(tokens, k, least, step):
    """Of the operator at token k: the last token of its operand to the right (step 1) or left (-1).  The operand ends
    before an operator that binds less than `least`."""
    depth, i = 0, k + step
    while 0 < i < len(tokens) - 1:
        word, before = tokens[i].group(), tokens[i - 1].group()
        depth += step * {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word, 0)
        binary = re.match(r"[\w)\]\x01]", before[-1:]) and before not in KEYWORDS
        ends = word in ",;?:" or word in KEYWORDS or (word[-1] == "=" and PRECEDENCE.get(word) is None) or \
            (binary and PRECEDENCE.get(word, 99) < least)
        if depth < 0 or (depth == 0 and ends):
            return i - step
        i += step
    return i - step  # the braces of the function are no operand


def branch_end(tokens, k):
    """The token after the branch of a choice that begins behind token k."""
    depth, choices = 0, 0
    for i in range(k + 1, len(tokens)):
        word = tokens[i].group()
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word, 0)
        if depth < 0 or (depth == 0 and (word in ",;" or (word == ":" and choices == 0))):
            return i
        choices += {"?": 1, ":": -1}.get(word, 0) if depth == 0 else 0
    return len(tokens) - 1


def privacy_changes(text, tokens, k, operand, names):
    """(kind, start, end, new) at token k, of the kinds that a row of the map can name."""
    word, start, end = tokens[k].group(), tokens[k].start(), tokens[k].end()
    after = tokens[k + 1].group() if k + 1 < len(tokens) else ""
    said = lambda span: text[span[0]:span[1]]
    if after == "(" and word in ("if", "while"):
        _, close = arguments(tokens, k + 1)
        span = (tokens[k + 1].start(), tokens[close].end())
        if "status" in said(span) or text[span[1]:].lstrip().startswith("return tct_fail_memory"):
            return  # how an error goes on; tests/fault has these
        yield "check", *span, f"(0 && {said(span)})"
        if word == "if":
            yield "check", *span, f"(1 || {said(span)})"
    elif word == "follows" and [t.group() for t in tokens[k + 1:k + 3]] == ["=", "true"]:
        release = said((tokens[k - 2].start(), tokens[k - 1].end()))
        yield "release", tokens[k + 2].start(), tokens[k + 2].end(), f"true, {release}ratio *= 0.5"
    elif after == "(" and re.match(r"[A-Za-z_]", word) and word not in KEYWORDS:
        spans, close = arguments(tokens, k + 1)
        call = (start, tokens[close].end())
        for i, how in RELEASE.get(word, {}).items():
            yield "release", *spans[i], f"({said(spans[i])}) {how}"
        if word == "tct_mech_release":  # what goes on is the sum before its noise
            value, size = said(spans[2]), f"(size_t)({said(spans[3])}) * sizeof *clean_"
            yield "clean", *call, (f"({{ double *clean_ = __builtin_memcpy(__builtin_malloc({size}), {value}, {size}); int kept_ = "
                                   f"{said(call)}; __builtin_memcpy({value}, clean_, {size}); (tct_status)kept_; }})")
        for span in spans if BOUND.fullmatch(word) else ():
            yield "bound", *call, f"({said(span)})"
        if COMPARISON.fullmatch(word):
            yield "comparison", *call, "0"
            yield "comparison", *call, "1"
    elif word == "?":
        first, colon = operand_end(tokens, k, -1, -1), branch_end(tokens, k)
        whole = (tokens[first].start(), tokens[branch_end(tokens, colon) - 1].end())
        yield "choice", *whole, said((tokens[k + 1].start(), tokens[colon - 1].end()))
        yield "choice", *whole, said((tokens[colon + 1].start(), whole[1]))
    elif word in ("*", "/", "+", "-", "&&", "||") and operand:
        last = operand_end(tokens, k, PRECEDENCE[word] + 1, 1)
        yield "operand", start, tokens[last].end(), ""
        if word not in "/-":
            first = operand_end(tokens, k, PRECEDENCE[word], -1)
            yield "operand", tokens[first].start(), end, ""
    elif word in ("-", "!"):
        yield "operand", start, end, ""
    elif word == "clip" and tokens[k - 1].group() == "->" and tokens[k - 2].group() in names["release"]:
        yield "release", start, end, "clip * 2"
    elif word in names["name"]:
        yield "name", start, end, f"({word} * 2)"
        yield "name", start, end, f"({word} / 2)"


def changes(text, plain, f):
    """(kind, start, end, new) for every change inside function f."""
    tokens = list(TOKEN.finditer(plain, f.body, f.end))
    names = {"name": re.findall(r"(?:^static const \w+|^enum \{|^ +|,) ?([A-Z][A-Z_0-9]+) = ", plain, re.M),
             "release": re.findall(r"\btct_release \*(\w+)", plain)}
    depth, begins = 0, True
    for k, token in enumerate(tokens):
        word, start, end = token.group(), token.start(), token.end()
        before = tokens[k - 1].group() if k else ""
        operand = bool(re.match(r"[\w)\]\x01]", before[-1:])) and before not in KEYWORDS
        after = tokens[k + 1].group() if k + 1 < len(tokens) else ""
        yield from privacy_changes(text, tokens, k, operand, names)
        if word in RELATIONAL:
            for new in RELATIONAL[word]:
                yield "relation", start, end, new
        elif word in ARITHMETIC and (operand or len(word) == 2):
            for new in ARITHMETIC[word]:
                yield "arithmetic", start, end, new
        elif word in WORDS:
            yield "word", start, end, WORDS[word]
        elif re.match(r"\.?\d", word):
            whole = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*", word)
            yield "constant", start, end, f"({word} + 1)"
            if not whole or int(whole.group(1), 0):
                yield "constant", start, end, f"({word} * 2)"
                yield "constant", start, end, f"({word} - 1)" if whole else f"({word} / 2)"
        elif word in ("if", "while") and after == "(":
            spans, close = arguments(tokens, k + 1)
            yield "condition", tokens[k + 1].start(), tokens[close].end(), \
                "(!" + text[tokens[k + 1].start():tokens[close].end()] + ")"
        if after == "(" and re.match(r"[A-Za-z_]", word) and word not in KEYWORDS:
            spans, _ = arguments(tokens, k + 1)
            for a, b in zip(spans, spans[1:]):
                one, two = text[a[0]:a[1]], text[b[0]:b[1]]
                if one != two and "\x01" not in plain[a[0]:b[1]]:
                    yield "arguments", a[0], b[1], two + ", " + one
        if begins and depth == 0 and re.match(r"[A-Za-z_*+(-]", word) and word not in KEYWORDS | {"break", "continue"}:
            yield from deletion(text, tokens, k)
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(word, 0)
        begins = word in ";{}:" or word == "else" or (word == ")" and depth == 0)


def deletion(text, tokens, k):
    """The statement that token k begins, unless it declares something."""
    if re.match(r"[A-Za-z_]", tokens[k].group()) and re.match(r"[A-Za-z_*:]", tokens[k + 1].group()):
        return
    depth = 0
    for token in tokens[k:]:
        word = token.group()
        if word in "{}":
            return
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(word, 0)
        if word == ";" and depth == 0:
            yield "statement", tokens[k].start(), token.end(), ";"
            return


def mutants_of(file):
    text = open(os.path.join(ROOT, file)).read()
    plain, out = blanked(text), []
    for f in functions(plain):
        if "..." in plain[f.start:f.body]:
            continue
        for kind, start, end, new in changes(text, plain, f):
            first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            changed = text[first:start] + new + text[end:last] if kind != "statement" else "deleted: " + text[start:end]
            shown = " ".join(changed.split())
            out.append(Mutant(file, text.count("\n", 0, start) + 1, kind, start, end, new, shown))
    return out


def sample(mutants, seed):
    """All of them in an order whose every beginning has about the same part of each file and kind."""
    strata = collections.defaultdict(list)
    for m in mutants:
        strata[m.file, m.kind].append(m)
    keyed = []
    for name in sorted(strata):
        chance = random.Random(f"{seed} {name}")
        chance.shuffle(strata[name])
        shift = chance.random()
        keyed += [((i + shift) / len(strata[name]), name, m) for i, m in enumerate(strata[name])]
    return [m for _, _, m in sorted(keyed, key=lambda k: k[:2])]


def parameters(text):
    inside = text[text.index("(") + 1:text.rindex(")")]
    names, depth, part = [], 0, ""
    for c in inside + ",":
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            pointer = re.search(r"\(\*(\w+)\)", part)
            plain = re.search(r"(\w+)\s*(\[[^]]*\])*\s*$", part)
            names.append(pointer.group(1) if pointer else plain.group(1))
            part = ""
        else:
            part += c
    return [] if names == ["void"] else names


def switched(file, chosen):
    """The source with all chosen mutants, and the first line of each copy; chosen: {number: mutant}."""
    text = open(os.path.join(ROOT, file)).read()
    plain = blanked(text)
    pieces, at, lines = [], 0, []
    start_line = lambda: sum(p.count("\n") for p in pieces) + 1
    prologue = ("extern char *getenv(const char *);\nextern int atoi(const char *);\nstatic int tct_mutant;\n"
                "__attribute__((constructor)) static void tct_mutant_choose(void) {\n"
                "  const char *number = getenv(\"TCT_MUTANT\");\n  tct_mutant = number ? atoi(number) : 0;\n}\n")
    pieces.append(prologue) # it includes nothing, so that a file's feature macros still come before its headers
    for f in functions(plain):
        own = {n: m for n, m in chosen.items() if f.body < m.start < f.end}
        pieces.append(text[at:f.start])
        head = text[f.start:f.body]
        at = f.end
        if not own:
            pieces.append(text[f.start:f.end])
            continue
        name = re.compile(r"\b%s\(" % f.name)
        prefix = plain[f.start:f.start + name.search(plain[f.start:f.body]).start()]
        bare = re.sub(r"__attribute__\(\(\w+\)\)|\b(TCT_WIDE|static|inline)\b", "", prefix).split()
        call = parameters(plain[f.start + len(prefix):f.body])
        pieces.append(head.rstrip() + ";\n")
        for n, m in sorted(own.items()):
            copy = name.sub(f"{f.name}__{n}(", head[len(prefix):], 1)
            lines.append((start_line(), n))
            pieces.append("static " + " ".join(bare) + " " + copy + text[f.body:m.start] + m.new + text[m.end:f.end] + "\n")
        lines.append((start_line(), 0))
        pieces.append(head + "{\n  switch (tct_mutant) {\n")
        for n in sorted(own):
            go = f"{f.name}__{n}({', '.join(call)})"
            pieces.append(f"    case {n}: {go + '; return' if bare == ['void'] else 'return ' + go};\n")
        pieces.append("  }\n" + text[f.body + 1:f.end])
    pieces.append(text[at:])
    return "".join(pieces), lines


class Build:
    def __init__(self, folder):
        self.folder, self.work = folder, os.path.join(folder, "mutants")
        os.makedirs(self.work, exist_ok=True)
        commands = subprocess.run(["ninja", "-C", folder, "-t", "commands"], capture_output=True, text=True, check=True)
        if "-fsanitize" in commands.stdout:
            sys.exit("mutate.py: a build with sanitizers is too slow for this; give the release build")
        self.compiles, self.links = {}, {}
        for line in commands.stdout.splitlines():
            if "-DTCT_POINTS" in line:  # the library with the fault points is compiled a second time
                continue
            source, program = re.search(r" -c (\S+)$", line), re.search(r" -o tests/test_(\S+) ", line)
            if source:
                self.compiles.setdefault(os.path.relpath(source.group(1), ROOT), line)
            if program:
                self.links[program.group(1)] = line

    def compile(self, source, path, include, out, check):
        line = re.sub(r"^(.*ccache )?(\S+)", rf"\2 -I{include}", self.compiles[source], count=1)
        line = re.sub(r" -MD| -MT \S+| -MF \S+| -Werror\S*| -W[a-z-]+(?=\s)", "", line)
        line = re.sub(r" -c \S+$", f" -c {path}", line)
        wanted = "-fsyntax-only -fmax-errors=0" if check else "-O1"
        strict = "-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration"
        line = re.sub(r" -o \S+", f" {strict} {wanted} -o {out}", line, count=1)
        return subprocess.run(line, shell=True, cwd=self.folder, capture_output=True, text=True)

    def invalid(self, file, chosen):
        """The numbers of those mutants that are no C."""
        text, lines = switched(file, chosen)
        path = self.place(file, text)
        done = self.compile(file, path, self.include(file), "/dev/null", True)
        bad, pending = set(), False # an error inside a macro is reported at the macro, and its place is in a note
        for line in done.stderr.splitlines():
            place = re.match(re.escape(path) + r":(\d+):\d+: (error|note: in expansion)", line)
            pending |= ": error: " in line
            if not place or not pending:
                continue
            pending = False
            owner = [n for first, n in lines if first <= int(place.group(1))]
            if owner and owner[-1]:
                bad.add(owner[-1])
        if done.returncode and not bad:
            sys.exit(f"mutate.py: {file} with its switch does not compile:\n{done.stderr[:2000]}")
        return bad

    def include(self, file):
        return os.path.join(self.work, file.replace("/", "_"))

    def place(self, file, text):
        path = os.path.join(self.include(file), file.split("/", 1)[1])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        return path

    def programs(self, file, chosen, tests):
        """The tests of a file, each linked with its mutants: [(test, program)]."""
        path, folder, out = self.place(file, switched(file, chosen)[0]), self.include(file), []
        done = self.compile(file, path, folder, f"{folder}/all.o", False)
        if done.returncode:
            sys.exit(f"mutate.py: {file} with its mutants does not compile:\n{done.stderr[:2000]}")
        for test in tests:
            program = f"{folder}/{test.split('/')[0]}"
            if program in (linked for _, linked in out):  # the same test for another solver
                out.append((test, program))
                continue
            own, link, added = source_of(test), self.links[os.path.basename(program)], f"{folder}/all.o"
            if f'#include "{file.split("/", 1)[1]}"' in open(os.path.join(ROOT, own)).read():
                if self.compile(own, os.path.join(ROOT, own), folder, f"{folder}/own.o", False).returncode:
                    sys.exit(f"mutate.py: {own} with the mutants of {file} does not compile")
                link, added = re.sub(rf" \S+/{os.path.basename(own)}\.o ", f" {folder}/own.o ", link), ""
            link = link.replace(f" -o tests/test_{os.path.basename(program)} ", f" {added} -o {program} ")
            done = subprocess.run(link, shell=True, cwd=self.folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"mutate.py: {test} does not link with the mutants of {file}:\n{done.stderr[:2000]}")
            out.append((test, program))
        os.remove(f"{folder}/all.o")
        return out


def watch(process, ended):
    """Ends a program that sleeps and does nothing for half a minute: it waits for what will never come."""
    before, idle = None, 0
    while not ended.wait(3):
        try:
            words = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            return
        idle = idle + 1 if words[0] == "S" and words[11:13] == before else 0
        before = words[11:13]
        if idle >= 10:
            process.kill()


def run(program, test, number, seconds):
    """(exit status or None for a run without end, processor time)."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    env = dict(os.environ, TCT_MUTANT=str(number), OMP_NUM_THREADS="1", TACIT_MATRIX="1", CMOCKA_TEST_ABORT="1")
    if "/" in test:
        env["TACIT_TEST_SOLVER"] = test.split("/")[1]
    process = subprocess.Popen([program], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=limits)
    ended = threading.Event()
    threading.Thread(target=watch, args=(process, ended), daemon=True).start()
    _, status, usage = os.wait4(process.pid, 0)
    ended.set()
    process.returncode = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    endless = process.returncode == -signal.SIGXCPU or process.returncode == -signal.SIGKILL
    return (None if endless else process.returncode), used


def rule_of(file, rules):
    """The words of the longest prefix in the map."""
    best = max((p for p in rules if file.startswith(p)), key=len, default=None)
    return rules[best] if best else []


def tests_of(file, rules):
    """A test is DIR_NAME, or DIR_NAME/SOLVER."""
    return [word for word in rule_of(file, rules) if "_" in word]


def kinds_of(file, rules):
    """The kinds of change that the map asks for; none: all."""
    return {word for word in rule_of(file, rules) if "_" not in word}


def source_of(test):
    return "tests/" + test.split("/")[0].replace("_", "/test_", 1) + ".c"


def read_map():
    rules = {}
    for line in open(MAP):
        words = line.split("#")[0].split()
        if words:
            rules[words[0]] = words[1:]
    return rules


def read_argued():
    """{(file, changed line): sentence}"""
    argued = {}
    if os.path.exists(ARGUED):
        for line in open(ARGUED):
            parts = [p.strip() for p in line.split(" :: ")]
            if len(parts) == 3 and not line.startswith("#"):
                argued[parts[0], parts[1]] = parts[2]
    return argued


def choose(build, order, count):
    """The first `count` mutants of the order that are C: {file: {number: mutant}}."""
    chosen, files, number, valid, at = {}, collections.defaultdict(dict), 0, 0, 0
    dropped = 0
    while valid < count and at < len(order):
        fresh = collections.defaultdict(dict)
        for m in order[at:at + count - valid]:
            number += 1
            fresh[m.file][number] = m
        at += count - valid
        for file, new in fresh.items():
            bad = build.invalid(file, new)
            dropped += len(bad)
            files[file].update({n: m for n, m in new.items() if n not in bad})
            valid += len(new) - len(bad)
    return files, dropped


class Verdicts:
    """What is known of mutants from runs before, in a file that grows by a line for each."""

    def __init__(self, path, rules, fresh):
        self.path, self.rules, self.known, self.digests, self.lock = path, rules, {}, {}, threading.Lock()
        if fresh and os.path.exists(path):
            os.remove(path)
        if os.path.exists(path):
            for line in open(path):
                one = json.loads(line)
                self.known[one["mutant"]] = one

    def digest(self, *files):
        if files not in self.digests:
            texts = [open(os.path.join(ROOT, f), "rb").read() for f in files]
            self.digests[files] = hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]
        return self.digests[files]

    def tests(self, file):
        return self.digest(*(source_of(t) for t in tests_of(file, self.rules)))

    def get(self, m):
        """(known, the test that caught it or None)"""
        one = self.known.get(f"{m.file}:{m.start}:{m.end}:{m.new}")
        if not one or one["source"] != self.digest(m.file):
            return False, None
        if one["caught"]:
            return one["caught"].split()[0] in tests_of(m.file, self.rules), one["caught"]
        return one["tests"] == self.tests(m.file), None

    def limit(self, file, test, program):
        """Seconds of processor time that a test may use on a mutant; None: it cannot run here."""
        key = f"{file} {test}"
        one = self.known.get(key)
        if not one or one["source"] != self.digest(file) or one["tests"] != self.tests(file):
            status, used = run(program, test, 0, 300)
            if status not in (0, 77):
                sys.exit(f"mutate.py: {test} fails by itself ({status}); mend it first")
            one = {"mutant": key, "source": self.digest(file), "tests": self.tests(file),
                   "caught": 4 + math.ceil(6 * used) if status == 0 else None}
            self.known[key] = one
            self.write(one)
        return one["caught"]

    def write(self, one):
        with self.lock, open(self.path, "a") as out:
            out.write(json.dumps(one) + "\n")

    def put(self, m, caught):
        one = {"mutant": f"{m.file}:{m.start}:{m.end}:{m.new}", "source": self.digest(m.file),
               "tests": self.tests(m.file), "caught": caught}
        self.write(one)


PAGE = """# Mutants: would a test notice?

`tools/mutate.py` changes one operator, constant, condition, statement or pair of arguments in the sources that a
privacy claim rests on, and runs the tests that `tests/privacy/mutants.map` names for that source. The sample is
stratified by file and by kind of change. A mutant is *caught* if a test fails or does not end. It is *argued* if
`tests/privacy/equivalent.txt` says in a sentence why no promise changes. The rest is *left*. Made by

    make mutants

"""


def write_page(path, table, everything, files, seed):
    columns = ("caught", "argued", "left", "not run")
    everyone = sum(table.values(), collections.Counter())
    with open(path, "w") as out:
        out.write(PAGE)
        out.write(f"{sum(everyone.values())} of the {everything} mutants of {files} files, drawn with seed {seed}.\n\n")
        out.write("| folder | " + " | ".join(columns) + " |\n| --- |" + " --- |" * len(columns) + "\n")
        for folder in sorted(table) + ["all"]:
            counts = everyone if folder == "all" else table[folder]
            out.write(f"| {folder} | " + " | ".join(str(counts[c]) for c in columns) + " |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--page")
    options = parser.parse_args()
    build, rules, argued, began = Build(os.path.abspath(options.build)), read_map(), read_argued(), time.time()
    prefixes = tuple(options.only) or tuple(rules)
    files = sorted(f for f in build.compiles if f.startswith(("src/", "extra/")) and f.startswith(prefixes) and tests_of(f, rules)
                   and (options.only or bool(kinds_of(f, rules)) == options.named))
    everything = [m for f in files for m in mutants_of(f) if m.kind in (options.kind or kinds_of(f, rules) or USUAL)]
    order = sample(everything, options.seed)
    survivors_file = os.path.join(build.work, "survivors.txt")
    if options.again:
        last = {tuple(line.rstrip("\n").split(" :: ")[:2]) for line in open(survivors_file)}
        order = [m for m in order if (m.file, m.shown) in last]
    chosen, dropped = choose(build, order, min(options.count, len(order)))
    total, verdicts = sum(map(len, chosen.values())), Verdicts(os.path.join(build.work, "done.jsonl"), rules, options.fresh)
    print(f"{len(everything)} mutants of {len(files)} files; {total} of them run, {dropped} drawn that are no C", flush=True)
    table, survivors, log = collections.defaultdict(collections.Counter), [], open(os.path.join(build.work, "log.txt"), "w")

    def one(file):
        known = [(m, verdicts.get(m)) for _, m in sorted(chosen[file].items())]
        if all(found for _, (found, _) in known):
            return file, [(m, caught) for m, (_, caught) in known]
        if time.time() - began > 60 * options.minutes:
            return file, [(m, caught) for m, (found, caught) in known if found]
        programs = build.programs(file, chosen[file], tests_of(file, rules))
        results = []
        for number, m in sorted(chosen[file].items()):
            found, caught = verdicts.get(m)
            if not found and time.time() - began > 60 * options.minutes:
                continue
            for test, program in [] if found else programs:
                limit = verdicts.limit(file, test, program)
                status, _ = run(program, test, number, limit) if limit else (0, 0)
                if status != 0:
                    caught = test + (" (no end)" if status is None else "")
                    break
            if not found:
                verdicts.put(m, caught)
            results.append((m, caught))
        for program in {program for _, program in programs}:
            os.remove(program)
        return file, results

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(one, f) for f in sorted(chosen, key=lambda f: random.Random(f"{options.seed} {f}").random())]
        for done in concurrent.futures.as_completed(work):
            file, results = done.result()
            for m, caught in results or []:
                folder = "/".join(file.split("/")[:2])
                kind = "caught" if caught else "argued" if (m.file, m.shown) in argued else "left"
                table[folder][kind] += 1
                log.write(f"{kind} {m.file}:{m.line} [{m.kind}] {m.shown}  {caught or ''}\n")
                if not caught:
                    survivors.append((m, kind))
            log.flush()
            table["/".join(file.split("/")[:2])]["not run"] += len(chosen[file]) - len(results or [])
    if not options.again:
        with open(survivors_file, "w") as out:
            for m, kind in sorted(survivors):
                out.write(f"{m.file} :: {m.shown} :: line {m.line}, {m.kind}, {kind}\n")
    for m, kind in sorted(survivors):
        if kind == "left":
            print(f"SURVIVED {m.file}:{m.line} [{m.kind}] {m.shown}")
    columns = ("caught", "argued", "left", "not run")
    print(f"{'folder':<16}" + "".join(f"{c:>9}" for c in columns))
    for folder in sorted(table):
        print(f"{folder:<16}" + "".join(f"{table[folder][c]:>9}" for c in columns))
    if options.page:
        write_page(options.page, table, len(everything), len(files), options.seed)
    everyone = sum(table.values(), collections.Counter())
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{'all':<16}" + "".join(f"{everyone[c]:>9}" for c in columns) + f"   in {time.time() - began:.0f} s, "
          f"{spent.ru_utime + spent.ru_stime:.0f} s of processor time")
    sys.exit(1 if everyone["left"] or everyone["not run"] else 0)


if __name__ == "__main__":
    main()
