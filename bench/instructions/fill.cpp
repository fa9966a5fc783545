// ROOT fills an object of the user's from every entry of a branch, between marks for callgrind.
//     fill FILE BRANCH
#include <TBranch.h>
#include <TFile.h>
#include <TTree.h>
#include <valgrind/callgrind.h>

#include <string>
#include <vector>

#include "ten.h"

static void read(TBranch* branch, Long64_t stop) {
    for (Long64_t entry = 0; entry < stop; ++entry) branch->GetEntry(entry);
}

// The cost of reading entries before `stop`; a dump resets the counters.
static void measure(TBranch* branch, Long64_t stop, const std::string& name) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    read(branch, stop);
    CALLGRIND_DUMP_STATS_AT(name.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
}

template <class T>
static int count(TTree* tree, const std::string& name, T* address) {
    TBranch* branch = tree->GetBranch(name.c_str());
    if (!branch || tree->SetBranchAddress(name.c_str(), address) < 0) return 1;
    read(branch, tree->GetEntries());
    measure(branch, 0, "none of " + name);
    measure(branch, tree->GetEntries(), name);
    tree->ResetBranchAddresses();
    return 0;
}

int main(int words, char** word) {
    TFile* file = words == 3 ? TFile::Open(word[1]) : nullptr;
    TTree* tree = file ? file->Get<TTree>("t") : nullptr;
    if (!tree) return 1;
    const std::string name = word[2];
    float number;
    auto vector = new std::vector<float>;
    auto nested = new std::vector<std::vector<float>>;
    auto one = new Ten;
    auto several = new std::vector<Ten>;
    if (name == "float") return count(tree, name, &number);
    if (name == "vector") return count(tree, name, &vector);
    if (name == "nested") return count(tree, name, &nested);
    if (name == "struct") return count(tree, name, &one);
    if (name == "structs") return count(tree, name, &several);
    return 1;
}
