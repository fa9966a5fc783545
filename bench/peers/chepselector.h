// What TTree::MakeSelector writes for three branches of the tree h42, with a loop over an array.
#include <TH1D.h>
#include <TSelector.h>
#include <TTree.h>

class chepselector : public TSelector {
  public:
    TTree* chain = nullptr;
    Int_t nrawtr;
    Float_t rawtr[64], s0;
    TBranch *b_nrawtr, *b_rawtr, *b_s0;
    Long64_t counts[100] = {};

    Int_t Version() const override { return 2; }
    void Init(TTree* tree) override;
    Bool_t Process(Long64_t entry) override;
    ClassDefOverride(chepselector, 0);
};
