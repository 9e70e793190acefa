"""file_edits.py - edits of one field of a file's JSON, for the scripts that ask verify about each."""
import copy, re

def fields(value, items, path=()):
    """(path, value) of the whole and of all in it; of a list the first `items`."""
    yield path, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from fields(each, items, path + (key,))
    if isinstance(value, list):
        for i, each in enumerate(value[:items]):
            yield from fields(each, items, path + (i,))

def edits(value):
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        for other in (value * 1.5, value * 0.5, value + 1, value - 1):
            yield round(other) if isinstance(value, int) else other
        yield None
    elif isinstance(value, str):
        yield value + "x"
        yield ""
        yield 5
        numbers = "=[0.]*[1-9]" if value.startswith("selection:") else "[1-9]" # of a search's plan every one
        for leading in list(re.finditer(numbers, value))[: None if "=" in numbers else 1]:
            at = leading.end() - 1
            yield value[:at] + str(int(value[at]) % 9 + 1) + value[at + 1:]
    elif isinstance(value, list) and value:
        yield value[:-1]
        yield value + value[-1:]
    elif value is None:
        yield 1.0

def placed(root, path, new):
    """The whole with another value at the path; what lies beside the path is shared, not copied."""
    if not path:
        return new
    out = copy.copy(root)
    out[path[0]] = placed(out[path[0]], path[1:], new)
    return out

def removed(root, path):
    out = copy.copy(root)
    if len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = removed(out[path[0]], path[1:])
    return out
