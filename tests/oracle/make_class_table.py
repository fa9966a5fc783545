"""Writes crates/sapwood-format/src/builtin/classes.txt anew: ROOT's own classes as ROOT describes them.

    python tests/oracle/make_class_table.py [FILE.root ...]

Current versions come from ROOT itself (`pip install --pre ROOT`), earlier ones from the given files. The table serves
files that do not describe a class: those that were never closed, and classes that older ROOT wrote by hand.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import uproot

TABLE = Path(__file__).parents[2] / "crates" / "sapwood-format" / "src" / "builtin" / "classes.txt"
CLASSES = """
TObject TNamed TObjString TAttAxis TAttFill TAttLine TAttMarker TAttText TAttPad TAttCanvas TAttBBox2D TAtt3D TQObject
TAxis TH1 TH1C TH1S TH1I TH1F TH1D TH1K TH2 TH2C TH2S TH2I TH2F TH2D TH2Poly TH2PolyBin TH3 TH3C TH3S TH3I TH3F TH3D
TH1L TH2L TH3L TProfile TProfile2D TProfile2Poly TProfile3D THnBase THnSparse THnSparseArrayChunk THStack
THnSparseT<TArrayC> THnSparseT<TArrayS> THnSparseT<TArrayI> THnSparseT<TArrayF> THnSparseT<TArrayD>
TGraph TGraphErrors TGraphAsymmErrors TGraphBentErrors TGraphMultiErrors TGraph2D TGraph2DErrors TMultiGraph TCutG
TEfficiency TF1 TF2 TF3 TF1Parameters TF1AbsComposition TF1Convolution TF1NormSum TFormula TSpline TSpline3 TSpline5
TSplinePoly TSplinePoly3 TSplinePoly5 TFractionFitter TFitResult TPad TVirtualPad TCanvas TBox TPave TPaveText
TPaveStats TPaveLabel TPaletteAxis TLine TLatex TText TLegend TLegendEntry TArrow TEllipse TMarker TPolyLine TPolyMarker
TGaxis TFrame TColor TStyle TGlobal TAxis3D TTree TNtuple TNtupleD TChain TChainElement TBranch TBranchElement
TBranchObject TBranchClones TBranchSTL TBranchRef TLeaf TLeafB TLeafC TLeafD TLeafD32 TLeafElement TLeafF TLeafF16
TLeafG TLeafI TLeafL TLeafO TLeafObject TLeafS TVirtualIndex TFriendElement TEntryList TEventList TEntryListArray
TRefTable TProcessID ROOT::TIOFeatures TParameter<bool> TParameter<int> TParameter<long> TParameter<Long64_t>
TParameter<float> TParameter<double> TMatrixTBase<float> TMatrixTBase<double> TMatrixT<float> TMatrixT<double>
TMatrixTSym<float> TMatrixTSym<double> TVectorT<float> TVectorT<double> TLorentzVector TVector2 TVector3 TRotation
TLorentzRotation TBits TUUID TTimeStamp TMacro TFolder TCut TRandom TRandom3 TRandom2 TRandom1 TQCommand
RooAbsArg RooAbsBinning RooAbsCache RooAbsCategory RooAbsCategoryLValue RooAbsCollection RooAbsData RooAbsDataStore
RooAbsLValue RooAbsPdf RooAbsProxy RooAbsReal RooAbsRealLValue RooAddPdf RooArgList RooArgProxy RooArgSet RooCategory
RooDataSet RooDirItem RooFitResult RooGaussian RooLinkedList RooListProxy RooNumIntConfig RooPrintable RooRealProxy
RooRealVar RooConstVar RooRealVarSharedProperties RooSetProxy RooSharedProperties RooUniformBinning RooBinning
RooVectorDataStore RooCurve RooHist RooPlot RooPlotable RooDataHist RooFormulaVar RooRefCountList RooExpensiveObjectCache
""".split()

MACRO = """
import sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kFatal
out = ROOT.TFile(sys.argv[1], "recreate")
for name in sys.argv[2:]:
    cls = ROOT.TClass.GetClass(name)
    if cls and cls.IsLoaded() and cls.GetClassVersion() > 0:
        info = cls.GetStreamerInfo()
        if info:
            info.ForceWriteInfo(out, True)
out.Close()
"""


def described(path):
    """The class descriptions of a file: {(class, version): lines}."""
    out = {}
    try:
        streamers = uproot.open(path).file.streamers
    except Exception as error:
        print(f"{path}: {error}", file=sys.stderr)
        return out
    for name, versions in streamers.items():
        if name not in CLASSES:
            continue
        for version, info in versions.items():
            lines = [f"{name}\t{version}\t{info.member('fCheckSum', none_if_missing=True) or 0:x}"]
            lines += ["\t" + "\t".join(element(e)).rstrip("\t") for e in info.elements]
            out[name, version] = lines
    return out


def element(e):
    """The fields of an element that a reader needs."""
    kind = e.classname.removeprefix("TStreamer")
    title = e.title or ""
    # a comment says something to a reader only when it begins with a range or names an owner
    if not (kind in ("BasicType", "BasicPointer") and title.lstrip().startswith("[") and "," in title):
        title = ""
    count = extents = special = ""
    get = lambda name: e.member(name, none_if_missing=True)
    if kind == "Base":
        special = str(get("fBaseVersion") or 0)
    if kind in ("BasicPointer", "Loop"):
        count = str(get("fCountName"))
    if kind in ("STL", "STLstring"):
        special = f"{get('fSTLtype')},{get('fCtype')}"
    if get("fArrayLength"):
        extents = ",".join(str(n) for n in get("fMaxIndex")[: get("fArrayDim")]) or str(get("fArrayLength"))
    return [kind, str(get("fType")), e.name, str(get("fTypeName")), count, extents, special, title]


def main():
    """Writes the table."""
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "classes.root")
        subprocess.run([sys.executable, "-W", "ignore", "-c", MACRO, path, *CLASSES], check=True)
        for source in [*sys.argv[1:], path]:
            table.update(described(source))
    lines = [
        "# ROOT's own classes: name, version, checksum; below, an element per line: kind, type code, name, C++ type,",
        "# counter, extents, base version or kind of collection, comment with a range.",
        "# Written by tests/oracle/make_class_table.py.",
    ]
    for key in sorted(table):
        lines += table[key]
    TABLE.write_text("\n".join(lines) + "\n")
    print(f"{len(table)} descriptions, {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
