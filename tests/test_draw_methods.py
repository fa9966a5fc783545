"""Methods of objects in draws against ROOT's TTree::Draw, on trees that methods.C writes."""

from __future__ import annotations

import pytest
from draw_with_root import Root
from test_draw_names_and_counts import made, same

import sapwood

LORENTZ = "X Y Z T Px Py Pz E Energy Perp2 Perp Pt P Rho M2 Mag2 M Mag Mt2 Mt Et2 Et Phi Theta CosTheta"
LORENTZ += " Rapidity Beta Gamma Plus Minus"
METHODS = {
    "p4": LORENTZ + " Eta PseudoRapidity",
    "list": LORENTZ + " Eta PseudoRapidity",
    "p3": "X Y Z Px Py Pz Perp2 Perp Pt Mag2 Mag Phi Theta CosTheta PseudoRapidity Eta",
    "p2": "X Y Px Py Mod2 Mod Phi",
    "e4": "Px Py Pz E X Y Z T Pt pt Perp2 P2 P M2 Phi phi",
    "m4": "Pt pt Eta eta Phi phi M mass",
    "v3": "X Y Z x y z Rho Perp2 Mag2 R Phi phi",
    "time": "GetSec GetNanoSec AsDouble",
}
OTHERS = ["p4.fP.Mag()", "p4->Pt()", "2*p4.Pt()+p3.Mag()", "list[1].Pt()", "list[0].fP.Perp()", "Max$(list.Pt())"]
OTHERS += [("p4.Pt()", "p4.M()>2 && abs(p4.Eta())<1.5"), ("list.Pt()", "list.E()>30"), "s.length()+0.5", "s.size()+0.5"]
OTHERS += ["TMath::ATan2(p2.fY,-p2.fX)", "atan2(p2.fY,-p2.fX)", ("n", 'strstr(s.c_str(),"muon")'), "Sum$(list.E()>30)"]


@pytest.fixture(scope="module")
def file(public, macro):
    folder = public / "methods"
    folder.mkdir()
    macro("methods.C", folder)
    return folder / "methods.root"


@pytest.fixture(scope="module")
def root(root_here):
    root = Root()
    yield root
    root.stop()


@pytest.mark.parametrize("tree", ["whole", "split"])
def test_methods_give_the_values_of_root(root, file, tree):
    cases = [f"{name}.{method}()" for name, methods in METHODS.items() for method in methods.split()] + OTHERS
    if tree == "whole":
        # a TClonesArray in a TBranchObject cannot be read
        cases = [c for c in cases if "list" not in str(c)]
    cases = [c if isinstance(c, tuple) else (c, "") for c in cases]
    answers = root.draw(file, tree, cases)
    opened = sapwood.open(file)[tree]
    wrong = []
    for case, roots in zip(cases, answers, strict=True):
        try:
            ours = made(opened, *case)
        except Exception as e:  # every case is shown, not the first alone
            wrong.append((case, str(e).splitlines()[0], roots is not None))
            continue
        if roots is None or not same(ours, roots):
            wrong.append((case, ours, roots))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("p4.Boost()", "Boost() of TLorentzVector is not supported; these methods are: X(), Y()"),
        ("p5.Pt()", "the tree has no branch p5 for the method Pt(); did you mean p2, p3, p4"),
        ("n.Pt()", "n is not an object and has no method Pt()"),
        ("s.find(1)", "find() of the string s is not supported; these methods are: Length()"),
        ("p4.Pt(1)", "takes no arguments"),
    ],
)
def test_refusals_list_the_methods_there_are(file, expression, message):
    with pytest.raises(Exception, match="column") as e:
        sapwood.open(file)["whole"].draw(expression)
    assert message in str(e.value)


def test_at_is_an_index(file):
    tree = sapwood.open(file)["whole"]
    # ROOT refuses this one
    assert made(tree, "numbers.at(1)") == made(tree, "numbers[1]")
