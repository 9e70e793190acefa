"""A description of a table as a study's file has it: rows to look at, as a frame and as a page."""

from __future__ import annotations

import html
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from ._native import Facts, Path
from ._schema import Schema
from ._study import Study

HEAD = ("column", "level", "figure", "value", "lower", "upper", "small")


def _cell(column: str, level: str, cell: Facts) -> Iterator[Tuple[Any, ...]]:
    for what in ("count", "share"):
        yield (column, level, what, cell[what]["value"], cell[what]["lower"], cell[what]["upper"], cell["small"])


def _rows(table: Facts) -> Iterator[Tuple[Any, ...]]:
    for column in table["columns"]:
        figures = [(what, column[what]) for what in ("told", "missing", "mean", "deviation") if what in column]
        figures += [(f"quantile {each['at']:g}", each) for each in column.get("quantiles", ())]
        for what, figure in figures:
            yield (column["name"], "", what, figure["value"], figure["lower"], figure["upper"], False)
        for level in column.get("levels", ()):
            yield from _cell(column["name"], level["name"], level)
    for pair in table["cross"]:
        for row, cells in zip(pair["rows"], pair["cells"]):
            for column, cell in zip(pair["columns"], cells):
                yield from _cell(" x ".join(pair["of"]), f"{row}, {column}", cell)


class Description:
    """A private table of what each column is like: one row for each figure, with its interval of 95 %.

    Attributes
    ----------
    table : dict
        As the file of the study has it (docs/reference/format/study.md).
    rows : list of tuple
        (column, level, figure, value, lower, upper, small); shares lie between 0 and 1.  small: the cell cannot be
        told from an empty one.
    study : Study or None
        What it comes from; ``study.write`` keeps its file, which ``verify`` takes.
    """

    def __init__(self, table: Facts, study: Optional[Study] = None) -> None:
        self.table, self.study = table, study
        self.rows: List[Tuple[Any, ...]] = list(_rows(table))

    def frame(self) -> Any:
        """The rows as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(HEAD))

    def __getitem__(self, column: str) -> Facts:
        """What the file has of one column."""
        for each in self.table["columns"]:
            if each["name"] == column:
                return each  # type: ignore[no-any-return]
        raise KeyError(column)

    def __repr__(self) -> str:
        return "\n".join(" ".join(cells) for cells in self._texts())

    def _texts(self) -> Iterator[Tuple[str, ...]]:
        for column, level, what, value, lower, upper, small in self.rows:
            told = f"below {upper:.5g}" if small else f"{value:.5g} ({lower:.5g} to {upper:.5g})"
            yield (f"{column:20}", f"{level:24}", f"{what:14}", told)

    def _repr_html_(self) -> str:
        lines = ("".join(f"<td>{html.escape(cell.strip())}</td>" for cell in cells) for cells in self._texts())
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def describe(
    data: Any,
    schema: Schema,
    *,
    epsilon: float,
    delta: float,
    cross: Sequence[Sequence[str]] = (),
    features: Optional[Sequence[str]] = None,
    estimate: Optional[str] = None,
    sampling: bool = True,
    neighbours: str = "add_remove",
    person: Optional[str] = None,
    rows_per_person: Optional[int] = None,
    ledger: Any = None,
    output: Optional[Path] = None,
    random_state: Any = None,
) -> Description:
    """Describes a table: counts, gaps, means, deviations, quantiles, shares and cross-tables, with intervals.

    Parameters
    ----------
    data : path or frame
        A file, or a pandas, polars or Arrow table.
    schema : Schema or dict
        The columns, with bounds and lists.
    epsilon, delta : float
        Of the whole description.
    cross : list of pairs, optional
        Pairs of columns of categories to count together.
    features : list of str, optional
        None: all columns.  Fewer columns have less noise.
    estimate : str, optional
        What the schema leaves open is estimated first, within the same budget: ``"bounds"``, ``"bounds,categories"``.
    sampling : bool, optional
        False: intervals are about the table itself, and count the noise alone.
    neighbours : str, optional
        ``"add_remove"`` or ``"replace_one"``.
    person, rows_per_person : str, int, optional
        A file's column that says whose a row is, and how many rows of a person count: persons are protected then.
    ledger, output, random_state : optional
        As ``Study.run`` has them.
    """
    stage: Facts = {"name": "table", "kind": "describe", "sampling": bool(sampling)}
    if cross:
        stage["cross"] = [list(pair) for pair in cross]
    if features is not None:
        stage["features"] = list(features)
    bounds = [] if estimate is None else [{"name": "bounds", "kind": "estimate", "what": estimate}]
    asked: Facts = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours, "stages": [*bounds, stage]}
    asked["schema"] = schema.json if isinstance(schema, Schema) else schema
    asked.update({k: v for k, v in (("person", person), ("rows_per_person", rows_per_person)) if v is not None})
    study = Study(asked).run(data, ledger=ledger, output=output, random_state=random_state)
    return Description(study.description(), study)
