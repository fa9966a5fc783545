// Writes trees of unusual make: clusters of several sizes, baskets across them, offsets left out, beyond 2 GB, in several
// files.
//   root -l -b -q 'trees.C("DIR")'
#include <ROOT/TIOFeatures.hxx>
#include <TBranch.h>
#include <TFile.h>
#include <TFree.h>
#include <TString.h>
#include <TSystem.h>
#include <TTree.h>

#include <fstream>
#include <string>
#include <vector>

namespace {

// A number, a counted array, a vector and a string, all made of the entry's number.
struct Columns {
    Int_t i = 0, n = 0;
    Float_t counted[8] = {};
    std::vector<float> vector;
    std::string word;

    void branches(TTree& tree) {
        tree.Branch("i", &i);
        tree.Branch("n", &n);
        tree.Branch("counted", counted, "counted[n]/F");
        tree.Branch("vector", &vector);
        tree.Branch("word", &word);
    }
    void fill(TTree& tree, int from, int to) {
        for (i = from; i < to; ++i) {
            n = i % 8;
            for (int k = 0; k < n; ++k) counted[k] = i + k / 8.f;
            vector.assign(i % 5, i / 3.f);
            word = std::string(i % 11, char('a' + i % 26));
            tree.Fill();
        }
    }
};

// Clusters of 10 entries, then of 25, then of 7: a table of ranges.
void ranges(const std::string& path) {
    TFile file(path.c_str(), "RECREATE");
    TTree tree("t", "");
    Columns c;
    c.branches(tree);
    int from = 0;
    for (int size : {10, 25, 7}) {
        tree.SetAutoFlush(size);
        c.fill(tree, from, from + 100);
        tree.FlushBaskets();
        from += 100;
    }
    tree.Write();
}

// Baskets that end where they are full, of another number of entries in each branch; clusters by bytes.
void across(const std::string& path, Long64_t flush) {
    TFile file(path.c_str(), "RECREATE");
    TTree tree("t", "");
    tree.SetAutoFlush(flush);
    Columns c;
    c.branches(tree);
    int size = 512;
    for (auto b : *tree.GetListOfBranches()) static_cast<TBranch*>(b)->SetBasketSize(size += 111);
    c.fill(tree, 0, 1000);
    tree.Write();
}

// Counted arrays without offsets: ROOT makes them of the counter. Other offsets are written as lengths.
void no_offsets(const std::string& path, bool embedded) {
    TFile file(path.c_str(), "RECREATE");
    TTree tree("t", "");
    ROOT::TIOFeatures features;
    features.Set("kGenerateOffsetMap");
    tree.SetIOFeatures(features);
    tree.SetAutoFlush(30);
    Columns c;
    c.branches(tree);
    c.fill(tree, 0, 100);
    // as it is, with the baskets that are not full in the tree's header
    if (embedded)
        file.WriteObjectAny(&tree, "TTree", "t");
    else
        tree.Write();
}

// All beyond 2 GB of nothing.
void beyond(const std::string& path) {
    TFile file(path.c_str(), "RECREATE");
    static_cast<TFree*>(file.GetListOfFree()->First())->SetFirst(3LL << 30);
    file.SetEND(3LL << 30);
    TTree tree("t", "");
    tree.SetAutoFlush(50);
    Columns c;
    c.branches(tree);
    c.fill(tree, 0, 200);
    tree.Write();
}

// A tree that goes on in a second file and a third.
void several(const std::string& path) {
    TTree::SetMaxTreeSize(40000);
    auto file = new TFile(path.c_str(), "RECREATE", "", 0);
    auto tree = new TTree("t", "");
    tree->SetAutoFlush(100);
    Columns c;
    c.branches(*tree);
    c.fill(*tree, 0, 2000);
    file = tree->GetCurrentFile();
    file->Write();
    delete file;
    TTree::SetMaxTreeSize(100000000000LL);
}

// A branch whose baskets lie in another file, a tree that has a friend, and a filled tree without a single basket.
void others(const std::string& folder) {
    auto elsewhere = new TFile((folder + "elsewhere.root").c_str(), "RECREATE");
    TFile file((folder + "others.root").c_str(), "RECREATE");
    TTree tree("t", "");
    Int_t here = 0, there = 0;
    tree.Branch("here", &here);
    tree.Branch("there", &there)->SetFile(elsewhere);
    for (; here < 20; ++here) there = 2 * here, tree.Fill();
    tree.AddFriend("t", (folder + "ranges.root").c_str());
    tree.Write();
    TTree hollow("hollow", "");
    for (int i = 0; i < 5; ++i) hollow.Fill();
    hollow.Write();
    elsewhere->Write();
}

// Branches whose baskets lie in two files beside the tree's, named without a folder.
void beside() {
    auto words = new TFile("words.root", "RECREATE"), numbers = new TFile("numbers.root", "RECREATE");
    TFile file("beside.root", "RECREATE");
    TTree tree("t", "");
    tree.SetAutoFlush(100);
    Columns c;
    c.branches(tree);
    tree.GetBranch("word")->SetFile(words);
    tree.GetBranch("n")->SetFile(numbers);
    tree.GetBranch("vector")->SetFile(numbers);
    c.fill(tree, 0, 2000);
    tree.Write();
    words->Write();
    numbers->Write();
}

} // namespace

void trees(const char* folder) {
    std::string at = std::string(folder) + "/";
    ranges(at + "ranges.root");
    across(at + "across.root", 0);
    across(at + "across-bytes.root", -20000);
    no_offsets(at + "no-offsets.root", false);
    no_offsets(at + "no-offsets-embedded.root", true);
    beyond(at + "beyond.root");
    several(at + "several.root");
    others(at);
    gSystem->ChangeDirectory(folder);
    beside();
    std::ofstream(at + "done") << "done\n";
}
