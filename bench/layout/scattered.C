// A tree as ATLAS had them before 2010: many branches, small baskets all over the file, never flushed together.
//   root -l -b -q 'scattered.C("FILE", 10000, 6000)'
#include <TFile.h>
#include <TRandom3.h>
#include <TString.h>
#include <TTree.h>

#include <vector>

void scattered(const char* path, int branches = 10000, int entries = 6000, int basket = 2000) {
    TFile file(path, "RECREATE", "", 101);
    TTree tree("CollectionTree", "many branches, scattered baskets");
    tree.SetAutoFlush(0);
    tree.SetAutoSave(0);
    std::vector<float> values(branches);
    // baskets of sizes that differ, so that they fill up at different entries
    for (int i = 0; i < branches; ++i) {
        auto name = TString::Format("b%05d", i);
        tree.Branch(name, &values[i], name + "/F", basket + basket * (i % 61) / 40);
    }
    TRandom3 random(1);
    for (int e = 0; e < entries; ++e) {
        // seven random bits in every number: they compress as real ones do
        unsigned bits = random.Integer(1u << 30);
        for (int i = 0; i < branches; ++i) {
            bits = bits * 1664525u + 1013904223u;
            values[i] = (bits >> 25) * 0.25f + i % 7;
        }
        tree.Fill();
    }
    tree.Write();
}
