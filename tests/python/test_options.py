"""Signatures match the table of options in the extension module."""

import inspect
import re

import pytest

import covshift
import covshift.plot
from covshift import _core, _methods, _options
from covshift._options import _TYPES

TABLES = _core.options()
# Parameters that are not in the table: data and callbacks.
OWN = {"X", "X_target", "progress", "feature", "model", "y", "scoring", "truth", "n_jobs", "verbose"}
OWN |= {"class_weight"}


def as_text(value):
    """A default of a signature as written in the table."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(f"{x:g}" for x in value)
    return value if isinstance(value, (str, bool)) else float(value)


@pytest.mark.parametrize("name", TABLES)
def test_signatures_match_the_table(name):
    parameters = inspect.signature(getattr(covshift, name)).parameters
    assert set(parameters) - OWN == set(TABLES[name])
    for option, (default, values, sentence) in TABLES[name].items():
        ours = as_text(parameters[option].default)
        assert sentence and not sentence.endswith("."), option
        if isinstance(ours, bool):
            assert str(ours) == default, option
        elif isinstance(ours, float):
            assert ours == float(default), option
        else:
            # threads: None is all cores, which the program writes as 0
            assert ours == ("" if option == "threads" else default), option


@pytest.mark.parametrize("name", TABLES)
def test_docstrings_have_every_parameter(name):
    thing = getattr(covshift, name)
    section = thing.__doc__.split("----------")[1]
    for option, parameter in inspect.signature(thing).parameters.items():
        first = next(line for line in section.splitlines() if line.startswith(f"    {option} : "))
        if parameter.default is not inspect.Parameter.empty:
            assert first.endswith(f"default={parameter.default!r}".replace("'", '"')), first
        for value in TABLES[name].get(option, ("", "", ""))[1].split("|"):
            for word in [] if value in _TYPES else value.split(","):
                assert f'"{word}"' in first, first


def test_rulsif_has_one_default(shifted):
    X, y, X_target, _ = shifted
    named = covshift.RobustClassifier(ratio="rulsif", lam=0.1).fit(X, y, X_target)
    given = covshift.RobustClassifier(ratio=covshift.ULSIF(alpha=0.1), lam=0.1).fit(X, y, X_target)
    assert (named.log_ratio(X) == given.log_ratio(X)).all()


def test_methods_follow_the_table():
    for name, loss, generalize, summary in _core.methods():
        name = name.replace("-", "_")
        method = getattr(covshift, name)
        assert name in covshift.__all__ and method.__name__ == name
        assert method.__doc__.lower().startswith(f"{summary.lower()}.")
        defaults = {k: p.default for k, p in inspect.signature(method).parameters.items()}
        assert (defaults.pop("loss"), defaults.pop("generalize")) == (loss, generalize)
        assert method("hinge", lam=0.3).get_params() == {
            **defaults, "loss": "hinge", "generalize": generalize, "lam": 0.3}
    with pytest.raises(TypeError, match="lamda"):
        covshift.robust(lamda=0.1)


def test_a_row_of_the_table_suffices(monkeypatch):
    rows = [*_core.methods(), ("new-01", "zero-one", "train", "one more, of zero-one loss")]
    monkeypatch.setattr(_core, "methods", lambda: rows)
    module = {"lr": covshift.lr, "__all__": []}
    monkeypatch.setitem(_methods._OPTIONS, "new_01", {"loss": "zero-one", "generalize": "train"})
    _methods.add_untyped(module)
    assert module["lr"] is covshift.lr and "lr" not in module["__all__"]
    assert "new_01" in module["__all__"] and module["new_01"].__doc__.startswith("One more, of zero-one loss.")
    model = module["new_01"](lam=0.1)
    assert (model.loss, model.generalize, model.lam) == ("zero-one", "train", 0.1)


def test_threads_and_n_jobs(monkeypatch):
    monkeypatch.setattr(_options, "cores", lambda: 4)
    count = _options.thread_count
    assert [count(None), count(3), count(None, 3), count(None, -1), count(None, -3)] == [4, 3, 3, 4, 2]
    assert count(None, -9) == 1
    with pytest.raises(ValueError, match="one of them"):
        count(2, 2)
    for wrong in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="n_jobs"):
            count(None, wrong)


def documented_things():
    for module in (covshift, covshift.plot):
        for thing in vars(module).values():
            if getattr(thing, "__module__", "").startswith("covshift") and callable(thing):
                yield thing
                if inspect.isclass(thing):
                    yield from (m for n, m in inspect.getmembers(thing, inspect.isroutine) if n[0] != "_")


def test_docstrings_are_filled_in():
    """Paragraphs that several docstrings share stand in for a name in braces."""
    things = list(documented_things())
    assert len(things) > 60
    for thing in things:
        assert not re.search(r"^\s*\{\w+\}\s*$", thing.__doc__ or "", re.MULTILINE), thing
    for method in ("predict", "predict_proba", "decision_function", "log_ratio"):
        assert "X : as for ``fit``" in getattr(covshift.RobustClassifier, method).__doc__
    assert "X_target : like X" in covshift.compare.__doc__
    assert "\n        ax : matplotlib Axes, default=None\n" in covshift.Comparison.plot.__doc__


def test_help_lists_every_option_and_attribute(shifted):
    X, y, X_target, _ = shifted
    text = covshift.RobustClassifier.__doc__
    model = covshift.RobustClassifier(loss="abstain:0.3", lam=0.1).fit(X, y, X_target)
    fitted = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    assert len(fitted) > 15
    for name in [*model.get_params(), *fitted, "coef_", "intercept_"]:
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* : ", text, re.MULTILINE), name


def test_flags_become_arguments():
    told = {"a": ["compare with --ratio ulsif or gaussian.", 1.5], "b": "--caution 1 moves them all the way", "c": "1--2"}
    assert _options.in_python(told) == {
        "a": ["compare with ratio='ulsif' or gaussian.", 1.5], "b": "caution=1 moves them all the way", "c": "1--2"}
    assert _options.in_python("robust with --generalize temper:auto, --ratio-lambda 0.5") == (
        "robust with generalize='temper:auto', ratio_lam=0.5")
