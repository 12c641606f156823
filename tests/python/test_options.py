"""Signatures match the table of options in the extension module."""

import inspect

import pytest

import covshift
from covshift import _core

TABLES = _core.options()
# Parameters that are not in the table: data and callbacks.
OWN = {"X", "X_target", "progress", "feature", "model", "y", "scoring", "truth"}


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


def test_docstrings_have_every_option():
    for name, table in TABLES.items():
        if inspect.isclass(getattr(covshift, name)):
            for option, (_, values, _) in table.items():
                assert f"    {option} : {values}" in getattr(covshift, name).__doc__


def test_rulsif_has_one_default(shifted):
    X, y, X_target, _ = shifted
    named = covshift.RobustClassifier(ratio="rulsif", lam=0.1).fit(X, y, X_target)
    given = covshift.RobustClassifier(ratio=covshift.ULSIF(alpha=0.1), lam=0.1).fit(X, y, X_target)
    assert (named.log_ratio(X) == given.log_ratio(X)).all()


def test_unknown_names_are_not_methods():
    assert "robust_view" in dir(covshift) and "robust_view" in covshift.__all__
    assert covshift.robust_view.__name__ == "robust_view"
    with pytest.raises(AttributeError, match="robust_views"):
        covshift.robust_views  # noqa: B018
