// TTreeFormula evaluates an expression for the entries that pass a cut, between marks for callgrind.
//     formula FILE EXPRESSION CUT
#include <TFile.h>
#include <TTree.h>
#include <TTreeFormula.h>
#include <valgrind/callgrind.h>

#include <string>

static double evaluate(TTree* tree, TTreeFormula& expression, TTreeFormula* cut, Long64_t stop) {
    double sum = 0;
    for (Long64_t entry = 0; entry < stop; ++entry) {
        tree->LoadTree(entry);
        if (!cut || cut->EvalInstance() != 0) sum += expression.EvalInstance();
    }
    return sum;
}

int main(int words, char** word) {
    TFile* file = words == 4 ? TFile::Open(word[1]) : nullptr;
    TTree* tree = file ? file->Get<TTree>("t") : nullptr;
    if (!tree) return 1;
    TTreeFormula expression("e", word[2], tree);
    TTreeFormula* cut = *word[3] ? new TTreeFormula("c", word[3], tree) : nullptr;
    // once to warm up
    double sum = evaluate(tree, expression, cut, tree->GetEntries());
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    sum -= evaluate(tree, expression, cut, tree->GetEntries());
    CALLGRIND_DUMP_STATS_AT("rows");
    CALLGRIND_STOP_INSTRUMENTATION;
    return sum != 0;
}
