#include "chepselector.h"

void chepselector::Init(TTree* tree) {
    chain = tree;
    chain->SetMakeClass(1);
    chain->SetBranchAddress("nrawtr", &nrawtr, &b_nrawtr);
    chain->SetBranchAddress("rawtr", rawtr, &b_rawtr);
    chain->SetBranchAddress("s0", &s0, &b_s0);
}

Bool_t chepselector::Process(Long64_t entry) {
    b_s0->GetEntry(entry);
    if (s0 <= 10) return kTRUE;
    b_nrawtr->GetEntry(entry);
    b_rawtr->GetEntry(entry);
    for (Int_t i = 0; i < nrawtr; ++i)
        if (rawtr[i] < 50) ++counts[int(rawtr[i] * 2)];
    return kTRUE;
}
