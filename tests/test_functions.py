"""Functions of expressions beside ROOT and, for special functions, beside mpmath."""

import csv
import io
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from root_answers import ask

import sapwood

HERE = Path(__file__).parent

ONE = [
    "Abs",
    "Sq",
    "Sqrt",
    "Exp",
    "Log",
    "Log10",
    "Log2",
    "Sin",
    "Cos",
    "Tan",
    "ASin",
    "ACos",
    "ATan",
    "SinH",
    "CosH",
    "TanH",
    "ASinH",
    "ACosH",
    "ATanH",
    "Floor",
    "Ceil",
    "Odd",
    "Even",
    "SignBit",
    "IsNaN",
    "Finite",
    "Erf",
    "Erfc",
    "Freq",
    "Gamma",
    "LnGamma",
    "DiLog",
    "BesselI0",
    "BesselI1",
    "BesselK0",
    "BesselK1",
    "BesselJ0",
    "BesselJ1",
    "BesselY0",
    "BesselY1",
    "StruveH0",
    "StruveH1",
    "Gaus",
    "Landau",
    "LandauI",
    "BreitWigner",
    "CauchyDist",
    "LaplaceDist",
    "LaplaceDistI",
    "KolmogorovProb",
    "Factorial",
    "Nint",
    "FloorNint",
    "CeilNint",
]
TWO = [
    "ATan2",
    "Power",
    "Hypot",
    "Min",
    "Max",
    "Sign",
    "Binomial",
    "Gamma",
    "Beta",
    "BesselI",
    "BesselK",
    "Gaus",
    "Landau",
    "BreitWigner",
    "CauchyDist",
    "LaplaceDist",
    "LaplaceDistI",
    "Poisson",
    "PoissonI",
    "Prob",
    "Student",
    "StudentI",
    "LogNormal",
    "GammaDist",
]
THREE = [
    "Range",
    "Gaus",
    "Landau",
    "BreitWigner",
    "BreitWignerRelativistic",
    "CauchyDist",
    "LaplaceDist",
    "LaplaceDistI",
    "Voigt",
    "FDist",
    "FDistI",
    "LogNormal",
    "GammaDist",
]
PLAIN = [
    "abs",
    "fabs",
    "sq",
    "sqrt",
    "exp",
    "log",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sign",
    "int",
    "ceil",
    "floor",
    "round",
    "trunc",
    "cbrt",
    "exp2",
    "expm1",
    "log1p",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
]
#: Where ROOT itself is right to only this many digits, as a comparison with mpmath shows.
ROUGH = {
    "Bessel": 3e-6,
    "Struve": 1e-8,
    "Landau": 3e-7,
    "Voigt": 2e-3,
    "Kolmogorov": 2e-9,
    "BetaDist": 1e-12,
    "Quantile": 1e-6,
}

ZEROS = {"DiLog": 1e-15, "Quantile": 1e-9, "Phi_": 1e-9, "Struve": 1e-8, "Bessel": 1e-7}


def cases():
    for name in ONE:
        yield f"TMath::{name}(a)", "abs(a)<50 && abs(a)>1e-4"
    for names, arguments in ((TWO, "a,b"), (THREE, "a,b,c")):
        cut = "&&".join(f"{x}>0.05&&{x}<30" for x in arguments.split(","))
        yield from ((f"TMath::{name}({arguments})", cut) for name in names)
    yield from ((f"{name}(a)", "abs(a)<1e300") for name in PLAIN)
    positive = "a>0.05&&a<0.95&&b>0.5&&b<20&&c>0.5&&c<20"
    yield from ((f"TMath::{name}(a,b,c)", positive) for name in ("BetaDist", "BetaDistI", "BetaIncomplete"))
    yield "TMath::ChisquareQuantile(a,b)", positive
    # ROOT's is wrong in the second digit for few degrees of freedom
    yield "TMath::StudentQuantile(a,b)", positive + "&&b>4"
    yield from ((f"TVector2::{name}(a)", "abs(a)<1e5") for name in ("Phi_mpi_pi", "Phi_0_2pi"))
    yield from ((f"{name}(a,b)", "abs(a)<1e5&&abs(b)<1e5") for name in ("atan2", "fmod", "pow", "hypot", "min", "max"))
    yield from ((f"TMath::{name}()", "") for name in ("Pi", "C", "Hbar", "K", "Na", "R", "Qe", "E", "RadToDeg"))


def values_of(command, path, expression, cut):
    """Values by row."""
    ran = subprocess.run(
        [command, "scan", path, f"{expression}:row", cut, "--format", "csv"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return {int(float(line[-1])): float(line[-2]) for line in list(csv.reader(io.StringIO(ran.stdout)))[1:]}


def test_functions_give_what_root_gives(command, public, tmp_path):
    pytest.importorskip("ROOT")
    asked, path = list(cases()), str(tmp_path / "arguments.root")
    answers = ask(HERE / "functions_with_root.py", asked, path)
    wrong = []
    for (expression, cut), roots in zip(asked, answers, strict=True):
        assert roots, expression
        ours = values_of(command, path, expression, cut)
        assert set(ours) == {row for row, _ in roots}, expression
        limit = next((limit for name, limit in ROUGH.items() if name in expression), 3e-13)
        for row, value in roots:
            own = ours[row]
            if own == value or (math.isnan(own) and math.isnan(value)):
                continue
            # near a zero, what is lost is of the size of the terms
            floor = next((floor for name, floor in ZEROS.items() if name in expression), 1e-300)
            if not math.isclose(own, value, rel_tol=limit, abs_tol=floor):
                wrong.append((expression, row, own, value))
    assert not wrong, wrong[:20]


def test_special_functions_are_right(command, tmp_path):
    mp = pytest.importorskip("mpmath")
    mp.mp.dps = 30
    functions = {
        "BesselI0(a)": lambda a, b, c, d: mp.besseli(0, a),
        "BesselI1(a)": lambda a, b, c, d: mp.besseli(1, a),
        "BesselI(3,a)": lambda a, b, c, d: mp.besseli(3, a),
        "BesselK0(b)": lambda a, b, c, d: mp.besselk(0, b),
        "BesselK(4,b)": lambda a, b, c, d: mp.besselk(4, b),
        "BesselJ1(a)": lambda a, b, c, d: mp.besselj(1, a),
        "BesselY0(b)": lambda a, b, c, d: mp.bessely(0, b),
        "StruveH0(b)": lambda a, b, c, d: mp.struveh(0, b),
        "StruveL1(b)": lambda a, b, c, d: mp.struvel(1, b),
        "Gamma(b,c)": lambda a, b, c, d: mp.gammainc(b, 0, c, regularized=True),
        "Beta(b,c)": lambda a, b, c, d: mp.beta(b, c),
        "BetaIncomplete(d,b,c)": lambda a, b, c, d: mp.betainc(b, c, 0, d, regularized=True),
        "Erfc(a)": lambda a, b, c, d: mp.erfc(a),
        "ErfInverse(d)": lambda a, b, c, d: mp.erfinv(d),
        "Freq(a)": lambda a, b, c, d: mp.ncdf(a),
        "NormQuantile(d)": lambda a, b, c, d: mp.sqrt(2) * mp.erfinv(2 * d - 1),
        "DiLog(d)": lambda a, b, c, d: mp.re(mp.polylog(2, d)),
        "Prob(b,3)": lambda a, b, c, d: mp.gammainc(mp.mpf(3) / 2, b / 2, mp.inf, regularized=True),
        "Poisson(b,c)": lambda a, b, c, d: mp.exp(b * mp.log(c) - mp.loggamma(b + 1) - c),
    }
    random = np.random.default_rng(5)
    rows = [random.uniform(-20, 20, 25), random.uniform(0.05, 20, 25), random.uniform(0.1, 20, 25), random.random(25)]
    path = str(tmp_path / "special.root")
    with sapwood.recreate(path) as out:
        out["t"] = dict(zip("abcd", rows, strict=True)) | {"row": np.arange(25)}
    for name, of in functions.items():
        ours = values_of(command, path, f"TMath::{name}", "")
        for row, arguments in enumerate(zip(*rows, strict=True)):
            expected = of(*map(mp.mpf, arguments))
            assert math.isclose(ours[row], float(expected), rel_tol=2e-13, abs_tol=1e-300), (name, arguments)


def test_random_numbers_depend_on_entry_and_place_only(tmp_path):
    path = tmp_path / "random.root"
    with sapwood.recreate(path) as out:
        out["t"] = {"n": np.arange(20_000)}
    tree = sapwood.open(path)["t"]
    whole = tree.draw("rndm", bins=(50, 0, 1)).values()
    assert whole.sum() == 20_000
    assert abs(whole - 400).max() < 6 * math.sqrt(400)
    parts = tree.draw("rndm", bins=(50, 0, 1), entry_stop=7001).values()
    parts += tree.draw("rndm", bins=(50, 0, 1), entry_start=7001).values()
    assert (parts == whole).all()
    # two in one expression are independent
    assert tree.draw("rndm-rndm", bins=(2, -1, 1)).values().min() > 9000


def test_numbers_that_are_not_finite(command, tmp_path):
    path = str(tmp_path / "odd.root")
    with sapwood.recreate(path) as out:
        out["t"] = {"x": np.array([math.nan, math.inf, -math.inf, 800.0, -800.0]), "row": np.arange(5)}
    held = values_of(command, path, "exp(x)", "")
    assert math.isnan(held[0])
    assert [held[row] for row in (1, 2, 3, 4)] == [math.exp(700), 0, math.exp(700), 0]
    # ROOT does not come back from an angle that is infinite
    turned = values_of(command, path, "TVector2::Phi_mpi_pi(x)", "")
    assert not any(math.isfinite(turned[row]) for row in (0, 1, 2))
