"""A study: several analyses of the same people within one budget.  The library plans, charges, runs and writes it."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Optional, Sequence, Union

from . import _arrow, _native
from ._callbacks import Callbacks
from ._model import Model, config_of, run_settings
from ._native import Facts, Path
from ._schema import Schema


class Study:
    """Several analyses of the same people, planned, charged and run as one.

    Parameters
    ----------
    plan : dict
        The budget and the list of stages (docs/guide/study.md has the words of it).
    schema : Schema, optional
        Takes the place of the plan's own.
    """

    def __init__(self, plan: Facts, schema: Optional[Schema] = None) -> None:
        self.asked: Facts = {**plan, **({} if schema is None else {"schema": schema.json})}
        self.text: Optional[str] = None

    def _asked(self) -> Optional[bytes]:
        return _native.text(json.dumps(self.asked))

    def plan(self, rows: int) -> Facts:
        """What every stage may spend of so many records, without data.

        Parameters
        ----------
        rows : int
            The public number of records.
        """
        return _native.call_json("tct_study_plan_json", self._asked(), int(rows))

    def run(
        self,
        data: Any,
        *,
        ledger: Any = None,
        output: Optional[Path] = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> "Study":
        """Charges the ledger once, and runs all stages in order.

        Parameters
        ----------
        data : path or frame
            A file, or a pandas, polars or Arrow table.
        ledger : Ledger or path, optional
        output : path, optional
            The file of the study, written whole or not at all.
        random_state : int, optional
            Reproducible noise, for tests; such a study must not be published.
        progress : callable or bool, optional
        """
        callbacks, warning = Callbacks(progress), ctypes.c_void_p()
        config = config_of({**run_settings(ledger, random_state), "output": output}, None, callbacks)
        frame = _arrow.frame(data, set()) if _arrow.is_frame(data) else None
        with callbacks.watching():
            given = (_native.text(data), None) if frame is None else (None, frame.handle)
            ends = map(ctypes.byref, (config, warning))
            self.text = _native.call_text("tct_study_run", self._asked(), *given, None, *ends)
        if warning.value:
            _native.tell(ctypes.string_at(warning.value).decode("utf-8", "replace"), stacklevel=3)
            _native.lib.tct_text_free(warning)
        return self

    @property
    def file(self) -> Facts:
        """The file of the study, as JSON; before it has run there is none."""
        if self.text is None:
            raise ValueError("the study has not run; call run first")
        return json.loads(self.text)  # type: ignore[no-any-return]

    def write(self, path: Path) -> None:
        """Writes the file of the study: whole, or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write.
        """
        self.file
        _native.write_file(path, self.text)

    def model(self, stage: Optional[str] = None) -> Model:
        """The model of a stage, under the claim of the whole.

        Parameters
        ----------
        stage : str, optional
            None: the main one.
        """
        self.file
        return Model(_native.call("tct_model_read", None, _native.text(self.text), _native.text(stage)))

    def scores(self, stage: str) -> Facts:
        """The figures that a stage of the kind score has released.

        Parameters
        ----------
        stage : str
        """
        said = self._released("scores", stage, f"no stage {stage!r} has released scores; name one of the kind score")
        return said["figures"]  # type: ignore[no-any-return]

    def description(self, stage: Optional[str] = None) -> Facts:
        """What a stage of the kind describe has released (docs/reference/format/study.md).

        Parameters
        ----------
        stage : str, optional
            None: the first that describes.
        """
        why = "no stage of this name has described the table; name one of the kind describe"
        return self._released("description", stage, why)

    def _released(self, what: str, stage: Optional[str], why: str) -> Facts:
        for each in self.file.get("stages", ()):
            if stage in (None, each["name"]) and what in each:
                return each[what]  # type: ignore[no-any-return]
        raise ValueError(why)


def _formula(text: str) -> Facts:
    """What is asked by "y ~ a + b", or by the outcome alone."""
    label, _, right = (side.strip() for side in text.partition("~"))
    return {"label": label} if right in ("", ".") else {"label": label, "features": [each.strip() for each in right.split("+")]}


def lm(
    moments: Union[Study, Path],
    label: Optional[str] = None,
    features: Optional[Sequence[str]] = None,
    *,
    stage: Optional[str] = None,
    beside: Sequence[Union[str, Facts]] = (),
    **asked: Any,
) -> Facts:
    """A linear model from released moments, with errors, on the original scale; it costs no privacy.

    Parameters
    ----------
    moments : Study or path
        A study with a stage of the kind moments, or its file.
    label : str, optional
        The outcome, or a formula: ``"bmi ~ age + sex"``.  None: means and correlations.
    features : list of str, optional
        None: all columns but the outcome's.
    stage : str, optional
        Which, where there are several.
    beside : list, optional
        More models of the release, as formulas or as ``{"label", "features", "ridge"}``: the answer has their
        ``beside``, the ``differences`` of slopes, and the ``joint`` covariance of all weights.
    asked : optional
        ridge, best, without, level, covariance: docs/guide/moments.md has them.
    """
    asked.update(_formula(label) if label and features is None else {"label": label, "features": features})
    asked = {key: value for key, value in asked.items() if value is not None}
    if beside:
        asked["beside"] = [_formula(each) if isinstance(each, str) else each for each in beside]
    own = isinstance(moments, Study) and moments.file and moments.text
    path, text = (None, own) if own else (os.fspath(moments), None)  # type: ignore[arg-type]
    return _native.call_json("tct_lm_json", *map(_native.text, (path, text, stage, json.dumps(asked))))
