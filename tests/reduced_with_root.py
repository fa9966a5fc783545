"""ROOT's values of the fields x and l of ntuples called n: reduced_with_root.py < {"files": [...], "type": "float"}."""

import json
import sys

import ROOT
from root_answers import tell

ROOT.gErrorIgnoreLevel = ROOT.kError
asked = json.load(sys.stdin)
ROOT.gInterpreter.Declare(
    """
#include <ROOT/RNTupleReader.hxx>
using Number = TYPE;
void read(const char *path, std::vector<double> &x, std::vector<std::vector<double>> &l) {
    auto reader = ROOT::RNTupleReader::Open("n", path);
    auto numbers = reader->GetView<Number>("x");
    auto lists = reader->GetView<std::vector<Number>>("l");
    for (auto i : reader->GetEntryRange()) {
        x.push_back(numbers(i));
        const auto &list = lists(i);
        l.emplace_back(list.begin(), list.end());
    }
}
""".replace("TYPE", asked["type"])
)
answers = {}
for path in asked["files"]:
    x, lists = ROOT.std.vector["double"](), ROOT.std.vector[ROOT.std.vector["double"]]()
    ROOT.read(path, x, lists)
    answers[path] = [list(x), [list(numbers) for numbers in lists]]
tell(answers)
