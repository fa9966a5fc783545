// Writes the tree that instructions.py reads: a number, vectors, and structs of ten members, not compressed.
#include <TFile.h>
#include <TTree.h>

#include <vector>

#include "ten.h"

#ifdef __CLING__
#pragma link C++ class Ten + ;
#pragma link C++ class std::vector < Ten> + ;
#pragma link C++ class std::vector < std::vector < float>> + ;
#endif

void ten(const char* path, int entries) {
    TFile file(path, "RECREATE", "", 0);
    TTree tree("t", "regular types");
    float x;
    std::vector<float> v;
    std::vector<std::vector<float>> vv;
    Ten s;
    std::vector<Ten> vs;
    auto ps = &s;
    auto pvs = &vs;
    tree.Branch("float", &x);
    tree.Branch("vector", &v);
    tree.Branch("nested", &vv);
    tree.Branch("struct", &ps, 32000, 0);
    tree.Branch("structs", &pvs, 32000, 0);
    for (int entry = 0; entry < entries; ++entry) {
        x = entry * 0.5f;
        v.assign(entry % 10, x);
        vv.clear();
        for (int i = 0; i < entry % 4; ++i) vv.push_back(std::vector<float>(entry % 6, x));
        s = {x, x, x, x, entry, -entry, x * 2., x * 3., short(entry), entry % 2 == 0};
        vs.assign(entry % 4, s);
        tree.Fill();
    }
    tree.Write();
}
