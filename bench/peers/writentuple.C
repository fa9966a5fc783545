// Numbers and counted arrays of floats, from memory to an ntuple: root -l -b -q 'writentuple.C("IN", "TREE", "OUT")'
// The clock runs from the creation of the writer to its end; reading the values is left out. Branches of float and int only.
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TLeaf.h>
#include <TStopwatch.h>
#include <TSystem.h>
#include <TTree.h>
struct Column {
    std::string name;
    TLeaf *leaf = nullptr, *counter = nullptr;
    std::vector<float> values;    // all values of all entries
    std::vector<int> numbers;
    std::vector<int> counts;      // per entry, for arrays
    std::shared_ptr<std::vector<float>> list;
    std::shared_ptr<float> value;
    std::shared_ptr<int> number;
    size_t at = 0;
};
void writentuple(const char* in, const char* name, const char* out) {
    std::vector<std::unique_ptr<Column>> columns;
    auto source = TFile::Open(in);
    auto from = source->Get<TTree>(name);
    Long64_t entries = from->GetEntries();
    std::set<TLeaf*> counters;
    for (auto* leaf : *from->GetListOfLeaves()) {
        if (auto counter = static_cast<TLeaf*>(leaf)->GetLeafCount()) counters.insert(counter);
    }
    for (auto* object : *from->GetListOfBranches()) {
        auto branch = static_cast<TBranch*>(object);
        auto c = std::make_unique<Column>();
        c->name = branch->GetName();
        c->leaf = static_cast<TLeaf*>(branch->GetListOfLeaves()->At(0));
        if (counters.count(c->leaf)) continue;   // the lists have their lengths
        c->counter = c->leaf->GetLeafCount();
        bool real = std::string(c->leaf->GetTypeName()) == "Float_t";
        for (Long64_t i = 0; i < entries; ++i) {
            if (c->counter) c->counter->GetBranch()->GetEntry(i);
            branch->GetEntry(i);
            int n = c->leaf->GetLen();
            if (c->counter) c->counts.push_back(n);
            if (real) {
                auto p = static_cast<float*>(c->leaf->GetValuePointer());
                c->values.insert(c->values.end(), p, p + n);
            } else {
                c->numbers.push_back(*static_cast<int*>(c->leaf->GetValuePointer()));
            }
        }
        branch->DropBaskets("all");
        columns.push_back(std::move(c));
    }
    auto model = ROOT::RNTupleModel::Create();
    for (auto& c : columns) {
        if (c->counter) c->list = model->MakeField<std::vector<float>>(c->name);
        else if (!c->values.empty()) c->value = model->MakeField<float>(c->name);
        else c->number = model->MakeField<int>(c->name);
    }
    TStopwatch watch;
    ROOT::RNTupleWriteOptions options;
    options.SetCompression(101);
    {
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), name, out, options);
        for (Long64_t i = 0; i < entries; ++i) {
            for (auto& c : columns) {
                if (c->list) {
                    int n = c->counts[i];
                    c->list->assign(c->values.begin() + c->at, c->values.begin() + c->at + n);
                    c->at += n;
                } else if (c->value) {
                    *c->value = c->values[i];
                } else {
                    *c->number = c->numbers[i];
                }
            }
            writer->Fill();
        }
    }
    double seconds = watch.RealTime();
    Long_t id, flags, time;
    Long64_t size;
    gSystem->GetPathInfo(out, &id, &size, &flags, &time);
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"file_mb\": %.3f}\n", seconds, entries, size / 1e6);
}
