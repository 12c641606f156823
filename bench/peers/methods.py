"""covshift and its peers, each behind the same few calls.

A method has a knob (a tolerance or a limit of iterations) and a ladder of its values, from fast and coarse
to slow and exact. All solve the problem of objective.py, without an intercept; `weights` returns T.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .objective import one_vector, penalty_c


class Method:
    package = ""  # as the index of packages has it
    losses: tuple[str, ...] = ()
    knob = "tol"
    ladder: tuple[float, ...] = ()
    default: float | None = None  # the package's own value of the knob, where it counts whatever it reaches
    single_threaded = False

    def refusal(self, data, loss) -> str | None:
        """Why this method cannot solve the problem; None if it can."""
        return None if loss in self.losses else f"has no {loss} loss"

    def prepare(self, data) -> None:
        """Brings the data into the package's own form: not timed, but its memory counts."""

    def fit(self, data, loss, lam, value, threads):
        raise NotImplementedError

    def weights(self) -> np.ndarray:
        raise NotImplementedError

    def claims(self) -> dict:
        """What the method says of its answer, for the record."""
        return {}

    def predict(self, X):
        return self.model.predict(X)


class Covshift(Method):
    package = "covshift"
    losses = ("log", "hinge", "zero-one")
    ladder = (2e-1, 5e-2, 1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

    def fit(self, data, loss, lam, value, threads):
        import covshift

        self.loss = loss
        self.model = covshift.RobustClassifier(
            loss=loss, generalize="none", lam=lam, scale="none", bias="none", tol=value, threads=threads
        ).fit(data.X, data.y)
        return self

    def weights(self):
        return self.model.coef_scaled_.T

    def claims(self):
        certificate = self.model.certificate_
        return {"objective": certificate.game_value, "gap": certificate.gap,
                "iterations": self.model.n_iter_, "status": self.model.status_}

    def predict(self, X):
        return self.model.predict(X) if self.loss == "hinge" else self.model.predict_proba(X)


class CovshiftOneThread(Covshift):
    single_threaded = True


class ScikitLogistic(Method):
    package = "scikit-learn"
    losses = ("log",)

    def __init__(self, solver, knob, ladder):
        self.solver, self.knob, self.ladder = solver, knob, ladder

    def refusal(self, data, loss):
        if loss == "log" and self.solver == "liblinear" and data.classes > 2:
            return "solves one class against the rest, not the multinomial problem"
        if loss == "log" and self.solver == "newton-cholesky":
            side = data.X.shape[1] * (1 if data.classes == 2 else data.classes)
            if side > 20_000:
                return f"forms the Hessian: {side:,} x {side:,} is {8 * side**2 / 2**30:,.0f} GiB"
        return super().refusal(data, loss)

    def estimator(self):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression

    def fit(self, data, loss, lam, value, threads):
        limits = {"tol": 1e-14, "max_iter": 1_000_000, self.knob: value}
        limits["max_iter"] = int(limits["max_iter"])
        self.model = self.estimator()(
            C=penalty_c(lam, len(data.y), data.classes == 2), solver=self.solver,
            fit_intercept=False, random_state=0, **limits,
        ).fit(data.X, data.y)
        return self

    def weights(self):
        coef = self.model.coef_
        return one_vector(coef[0]) if len(coef) == 1 else coef.T

    def predict(self, X):
        return self.model.predict_proba(X)


class IntelexLogistic(ScikitLogistic):
    package = "scikit-learn-intelex"

    def estimator(self):
        from sklearnex.linear_model import LogisticRegression

        return LogisticRegression


class ScikitCrammerSinger(Method):
    package = "scikit-learn"
    losses = ("hinge",)
    ladder = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    single_threaded = True

    def fit(self, data, loss, lam, value, threads):
        from sklearn.svm import LinearSVC

        self.model = LinearSVC(
            multi_class="crammer_singer", C=penalty_c(lam, len(data.y), False), tol=value,
            fit_intercept=False, max_iter=1_000_000, random_state=0,
        ).fit(data.X, data.y)
        return self

    def weights(self):
        coef = self.model.coef_
        # For two classes scikit-learn keeps only the difference of the two vectors, which are
        # each other's negative at every step of this solver.
        return one_vector(coef[0]) if len(coef) == 1 else coef.T


class Liblinear(Method):
    package = "liblinear-official"
    knob = "-e"
    ladder = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    single_threaded = True

    def __init__(self, kind, losses):
        self.kind, self.losses = kind, losses

    def refusal(self, data, loss):
        if loss == "log" and "log" in self.losses and data.classes > 2:
            return "solves one class against the rest, not the multinomial problem"
        return super().refusal(data, loss)

    def prepare(self, data):
        from liblinear.liblinear import problem

        self.problem = problem(data.y.astype(float), sp.csr_matrix(data.X))

    def fit(self, data, loss, lam, value, threads):
        from liblinear.liblinearutil import train

        self.cols = data.X.shape[1]
        c = penalty_c(lam, len(data.y), loss == "log")
        self.model = train(self.problem, f"-s {self.kind} -c {c!r} -e {value!r} -B -1 -q")
        return self

    def weights(self):
        labels = self.model.get_labels()
        vectors = 1 if len(labels) == 2 and self.kind != 4 else len(labels)
        w = np.ctypeslib.as_array(self.model.w, (self.model.nr_feature * vectors,))
        # Columns at the end that no row uses are not in the model.
        W = np.zeros((self.cols, vectors))
        W[: self.model.nr_feature] = w.reshape(-1, vectors)
        if vectors == 1:
            return one_vector(W[:, 0], positive=labels[0])
        T = np.empty_like(W)
        T[:, labels] = W
        return T

    def predict(self, X):
        from liblinear.liblinearutil import predict

        return predict([], sp.csr_matrix(X), self.model, "-q" if self.kind == 4 else "-b 1 -q")


class Cmrc(Method):
    """MRCpy's minimax risk classifier with the marginal fixed to the training rows. Its objective,

        1/n sum_i max over sets S of classes (sum over S of psi_i[y] + |S| - 1) / |S|
            - 1/n sum_i psi_i[y_i] + sum_j lambda_j |mu_j|,    lambda = s std(Phi) / sqrt(n),

    is the mean of the adversarial zero-one loss with another penalty. With s = 0 there is none.
    """

    package = "MRCpy"
    losses = ("zero-one",)
    knob = "max_iters"
    single_threaded = True

    def __init__(self, solver, ladder, default):
        self.solver, self.ladder, self.default = solver, ladder, default

    def prepare(self, data):
        from MRCpy.phi import BasePhi
        from sklearn.base import BaseEstimator

        # MRCpy 3.0 with scikit-learn 1.7 or later: its own map of features lacks a base class.
        class Linear(BasePhi, BaseEstimator):
            pass

        self.phi = Linear(data.classes, fit_intercept=False)

    def fit(self, data, loss, lam, value, threads):
        from MRCpy import CMRC

        self.shape = data.X.shape[1], data.classes
        self.model = CMRC(loss="0-1", s=0, phi=self.phi, fit_intercept=False, solver=self.solver,
                          max_iters=int(value), random_state=0).fit(data.X, data.y)
        return self

    def weights(self):
        mu = np.asarray(self.model.mu_, dtype=float)
        cols, classes = self.shape
        if classes == 2:  # phi(x, 0) = x, phi(x, 1) = -x
            return np.column_stack([mu, -mu])
        return mu.reshape(classes, cols).T

    def predict(self, X):
        return self.model.predict_proba(X)


ITERATIONS = (5, 10, 20, 40, 80, 160, 320, 640, 1280)
EPOCHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

METHODS: dict[str, Method] = {
    "covshift": Covshift(),
    "covshift, 1 thread": CovshiftOneThread(),
    "scikit-learn lbfgs": ScikitLogistic("lbfgs", "max_iter", ITERATIONS),
    "scikit-learn newton-cg": ScikitLogistic("newton-cg", "tol", TOLERANCES),
    "scikit-learn newton-cholesky": ScikitLogistic("newton-cholesky", "tol", TOLERANCES),
    "scikit-learn sag": ScikitLogistic("sag", "max_iter", EPOCHS),
    "scikit-learn saga": ScikitLogistic("saga", "max_iter", EPOCHS),
    "scikit-learn liblinear": ScikitLogistic("liblinear", "tol", TOLERANCES),
    "scikit-learn-intelex lbfgs": IntelexLogistic("lbfgs", "max_iter", ITERATIONS),
    "scikit-learn-intelex newton-cg": IntelexLogistic("newton-cg", "tol", TOLERANCES),
    "scikit-learn LinearSVC crammer_singer": ScikitCrammerSinger(),
    "LIBLINEAR -s 0": Liblinear(0, ("log",)),
    "LIBLINEAR -s 7": Liblinear(7, ("log",)),
    "LIBLINEAR -s 4": Liblinear(4, ("hinge",)),
    "MRCpy CMRC adam": Cmrc("adam", (300, 1000, 5000, 20_000), 5000),
    "MRCpy CMRC sgd": Cmrc("sgd", (1000, 10_000, 100_000), 100_000),
    "MRCpy CMRC cvx": Cmrc("cvx", (1,), 1),
}
for name in ("scikit-learn sag", "scikit-learn saga", "scikit-learn liblinear"):
    METHODS[name].single_threaded = True


def make(name: str) -> Method:
    return METHODS[name]
