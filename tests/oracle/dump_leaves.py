"""What ROOT reads of all branches of all trees of files: dump_leaves.py < a line of the classes in them, then paths.

A line each: [path, tree, branch, facts], as round_trip_corpus.py makes them from awkward arrays (of maps keys and values
apart); null for branches of classes, of which there is no dictionary. Plain leaves have one run of numbers for all entries."""

import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import ROOT

sys.path.insert(0, str(Path(__file__).parent.parent))
from compare_corpus import digest
from dictionaries import compiler_and_dictionary

ROOT.gInterpreter.Declare(r"""
#include <TTree.h>
#include <TLeaf.h>
#include <string>
#include <vector>
#include <map>
namespace sapwood {
struct Out {
   std::vector<std::vector<Long64_t>> counts;
   std::string data;
};
template <class T> struct Put {
   static void put(const T &x, Out &out, size_t) { out.data.append(reinterpret_cast<const char *>(&x), sizeof x); }
};
template <> struct Put<std::string> {
   static void put(const std::string &x, Out &out, size_t level)
   {
      if (out.counts.size() <= level) out.counts.resize(level + 1);
      out.counts[level].push_back(x.size());
      out.data += x;
   }
};
template <class T> struct Put<std::vector<T>> {
   static void put(const std::vector<T> &x, Out &out, size_t level)
   {
      if (out.counts.size() <= level) out.counts.resize(level + 1);
      out.counts[level].push_back(x.size());
      for (const auto &item : x) {
         T one = item;
         Put<T>::put(one, out, level + 1);
      }
   }
};
template <class T> Out object(TTree *tree, const char *name)
{
   Out out;
   T *value = nullptr;
   tree->SetBranchAddress(name, &value);
   auto *branch = tree->GetBranch(name);
   for (Long64_t i = 0; i < tree->GetEntries(); ++i) {
      branch->GetEntry(i);
      Put<T>::put(*value, out, 0);
   }
   tree->ResetBranchAddresses();
   return out;
}
template <class T> struct Pair;
template <class K, class V> struct Pair<std::map<K, V>> {
   using Key = K;
   using Value = V;
};
template <class T> std::vector<Out> maps(TTree *tree, const char *name)
{
   std::vector<Out> out(3);
   T *value = nullptr;
   tree->SetBranchAddress(name, &value);
   out[0].counts.resize(1);
   for (Long64_t i = 0; i < tree->GetEntries(); ++i) {
      tree->GetEntry(i);
      out[0].counts[0].push_back(value->size());
      for (const auto &[key, item] : *value) {
         Put<typename Pair<T>::Key>::put(key, out[1], 0);
         Put<typename Pair<T>::Value>::put(item, out[2], 0);
      }
   }
   tree->ResetBranchAddresses();
   return out;
}
Out leaf(TTree *tree, const char *name)
{
   Out out;
   auto *leaf = static_cast<TLeaf *>(tree->GetBranch(name)->GetListOfLeaves()->At(0));
   for (Long64_t i = 0; i < tree->GetEntries(); ++i) {
      if (auto *counter = leaf->GetLeafCount()) counter->GetBranch()->GetEntry(i);
      leaf->GetBranch()->GetEntry(i);
      out.data.append(static_cast<char *>(leaf->GetValuePointer()), size_t(leaf->GetLen()) * leaf->GetLenType());
   }
   return out;
}
} // namespace sapwood
""")

TYPES = {
    "Bool_t": "u1", "bool": "u1", "Char_t": "u1", "char": "u1", "UChar_t": "u1", "unsigned char": "u1",
    "Short_t": "i2", "short": "i2", "UShort_t": "u2", "unsigned short": "u2", "Int_t": "i4", "int": "i4",
    "UInt_t": "u4", "unsigned int": "u4", "Long64_t": "i8", "long": "i8", "ULong64_t": "u8", "unsigned long": "u8",
    "Float_t": "f4", "float": "f4", "Double_t": "f8", "double": "f8",
}  # fmt: skip


def numbers(data, kind):
    return np.frombuffer(data, kind)


def facts(tree, branch):
    name, kind = branch.GetName(), branch.GetClassName()
    if not kind:
        out = ROOT.sapwood.leaf(tree, name)
        dtype = TYPES[branch.GetListOfLeaves().At(0).GetTypeName()]
        return [tree.GetEntries(), [[dtype, digest(numbers(bytes(out.data), dtype))]]]
    if not KNOWN and NESTS.search(kind):
        return None
    cpp = re.sub(r"\b(vector|map|string)\b", r"std::\1", kind)
    entries = tree.GetEntries()
    if kind.startswith("map<"):
        types = re.fullmatch(r"map<([^,<>]+),(.*?) ?>", kind)
        if types is None or not all(inner_of(t) for t in types.groups()):
            return None
        counts, keys, values = ROOT.sapwood.maps[cpp](tree, name)
        first = ["list", digest(np.array(counts.counts[0], "i8"))]
        return [entries, [first, *read(keys, types[1]), *read(values, types[2])]]
    if not inner_of(kind):
        return None
    return [entries, read(ROOT.sapwood.object[cpp](tree, name), kind)]


def inner_of(kind):
    """What vectors of any depth hold: text, or one of TYPES; none for anything else."""
    inner = re.sub(r"vector<|std::|[ >]|,allocator<.*", "", kind) if kind != "string" else kind
    inner = {"unsignedchar": "unsigned char", "unsignedshort": "unsigned short", "unsignedint": "unsigned int",
             "unsignedlong": "unsigned long"}.get(inner, inner)  # fmt: skip
    return inner if inner == "string" or inner in TYPES else None


def read(out, kind):
    """The facts of values of a type."""
    inner = inner_of(kind)
    counts = [np.array(level, "i8") for level in out.counts]
    # levels below lists that are all empty were never reached
    levels = kind.count("vector<") + (inner == "string")
    counts.extend(np.zeros(0, "i8") for _ in range(levels - len(counts)))
    data = bytes(out.data)
    if inner == "string":
        last = ["text", digest(counts.pop()) + digest(numbers(data, "u1"))]
    else:
        last = [TYPES[inner], digest(numbers(data, TYPES[inner]))]
    return [*(["list", digest(level)] for level in counts), last]


# vectors of vectors and maps want dictionaries
NESTS = re.compile("vector<.*vector<|map<")
NESTED = sorted({kind for kind in json.loads(sys.stdin.readline()) if NESTS.search(kind)})
KNOWN = not NESTED
if NESTED:
    with tempfile.TemporaryDirectory() as folder:
        header = "#include <map>\n#include <string>\n#include <vector>\n"
        if library := compiler_and_dictionary(folder, header, NESTED):
            KNOWN = ROOT.gSystem.Load(str(library)) == 0

for line in sys.stdin:
    path = line.rstrip("\n")
    file = ROOT.TFile.Open(path)
    for key in file.GetListOfKeys():
        tree = key.ReadObj()
        for branch in tree.GetListOfBranches():
            print("ANSWER", json.dumps([path, tree.GetName(), branch.GetName(), facts(tree, branch)]), flush=True)
    file.Close()
