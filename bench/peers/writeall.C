// A tree of numbers and counted arrays of floats, from memory to a file: root -l -b -q 'writeall.C("IN", "TREE", "OUT")'
// The clock runs from TFile::Open to Close; reading the values is left out.
#include <TFile.h>
#include <TLeaf.h>
#include <TStopwatch.h>
#include <TTree.h>
struct Column {
    std::string name, title;
    TLeaf *leaf = nullptr, *counter = nullptr;
    int width = 4;
    std::vector<char> bytes;      // all values of all entries
    std::vector<int> counts;      // per entry, for arrays
    std::vector<char> here;       // the values of one entry
    size_t at = 0;
};
void writeall(const char* in, const char* name, const char* out) {
    std::vector<std::unique_ptr<Column>> columns;
    auto source = TFile::Open(in);
    auto from = source->Get<TTree>(name);
    Long64_t entries = from->GetEntries();
    for (auto* object : *from->GetListOfBranches()) {
        auto branch = static_cast<TBranch*>(object);
        auto c = std::make_unique<Column>();
        c->name = branch->GetName();
        c->title = branch->GetTitle();
        c->leaf = static_cast<TLeaf*>(branch->GetListOfLeaves()->At(0));
        c->counter = c->leaf->GetLeafCount();
        c->width = c->leaf->GetLenType();
        for (Long64_t i = 0; i < entries; ++i) {
            if (c->counter) c->counter->GetBranch()->GetEntry(i);
            branch->GetEntry(i);
            int n = c->leaf->GetLen();
            if (c->counter) c->counts.push_back(n);
            auto values = static_cast<char*>(c->leaf->GetValuePointer());
            c->bytes.insert(c->bytes.end(), values, values + size_t(n) * c->width);
        }
        c->here.resize(1 << 16);
        branch->DropBaskets("all");
        columns.push_back(std::move(c));
    }
    TStopwatch watch;
    TFile file(out, "RECREATE", "", 101);
    TTree tree(name, "");
    for (auto& c : columns) tree.Branch(c->name.c_str(), c->here.data(), c->title.c_str());
    for (Long64_t i = 0; i < entries; ++i) {
        for (auto& c : columns) {
            size_t n = size_t(c->counter ? c->counts[i] : 1) * c->width;
            memcpy(c->here.data(), c->bytes.data() + c->at, n);
            c->at += n;
        }
        tree.Fill();
    }
    tree.Write();
    file.Close();
    double seconds = watch.RealTime();
    Long_t id, flags, time;
    Long64_t size;
    gSystem->GetPathInfo(out, &id, &size, &flags, &time);
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"file_mb\": %.3f}\n", seconds, entries, size / 1e6);
}
