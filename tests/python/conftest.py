import os
import subprocess

import numpy as np
import pytest


@pytest.fixture(scope="session")
def shifted():
    """X, y, X_target, y_target: two classes separated by a line, with noise; the inputs shift."""
    rng = np.random.default_rng(0)

    def draw(n, mean):
        X = rng.normal(size=(n, 4)) + mean
        return X, (X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)

    X, y = draw(150, 0.0)
    X_target, y_target = draw(120, 0.5)
    return X, y, X_target, y_target


@pytest.fixture(scope="session")
def program():
    """Runs the program with arguments and returns its standard output."""
    path = os.environ.get("COVSHIFT")
    if not path:
        pytest.fail("COVSHIFT must name the program")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
