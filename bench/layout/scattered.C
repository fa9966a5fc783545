// A tree as in experiments before 2010 (the seed's ATLAS file: 9705 branches, 1.3 million baskets of 1 kB in 1266 MB):
// collections of 50 branches (a counter, numbers, arrays), small baskets all over the file, never flushed together.
//   root -l -b -q 'scattered.C("FILE", 200, 3900)'
#include <TFile.h>
#include <TRandom3.h>
#include <TString.h>
#include <TTree.h>

#include <memory>
#include <vector>

const int WIDTH = 50, NUMBERS = 10, LONGEST = 60;

struct Collection {
    int n = 0;
    float numbers[NUMBERS];
    float arrays[WIDTH - NUMBERS][LONGEST];
};

void scattered(const char* path, int collections = 200, int entries = 3900, int basket = 2000) {
    TFile file(path, "RECREATE", "", 101);
    TTree tree("CollectionTree", "many branches, scattered baskets");
    tree.SetAutoFlush(0);
    tree.SetAutoSave(0);
    std::vector<std::unique_ptr<Collection>> all;
    for (int c = 0; c < collections; ++c) {
        all.push_back(std::make_unique<Collection>());
        auto& x = *all.back();
        auto prefix = TString::Format("c%03d_", c);
        tree.Branch(prefix + "n", &x.n, prefix + "n/I", basket);
        for (int i = 1; i < WIDTH; ++i) {
            auto name = prefix + TString::Format("%02d", i);
            // baskets of different sizes, so that they fill up at different entries
            int size = basket + basket * ((c * WIDTH + i) % 61) / 40;
            if (i < NUMBERS)
                tree.Branch(name, &x.numbers[i], name + "/F", size);
            else
                tree.Branch(name, x.arrays[i - NUMBERS], name + "[" + prefix + "n]/F", size);
        }
    }
    TRandom3 random(1);
    for (int e = 0; e < entries; ++e) {
        unsigned bits = random.Integer(1u << 30);
        // eleven random bits in every number: they compress as real ones do
        auto next = [&bits] { return ((bits = bits * 1664525u + 1013904223u) >> 21) * 0.25f; };
        for (int c = 0; c < collections; ++c) {
            auto& x = *all[c];
            x.n = std::min(int(random.Poisson(2 + c % 23)), LONGEST);
            for (int i = 1; i < NUMBERS; ++i) x.numbers[i] = next();
            for (auto& array : x.arrays)
                for (int k = 0; k < x.n; ++k) array[k] = next();
        }
        tree.Fill();
    }
    tree.Write();
}
