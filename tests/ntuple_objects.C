// Writes ntuples with fields of objects that ROOT's streamer wrote. Compiled, for the dictionaries of its classes.
//   root -l -b -q 'ntuple_objects.C+g("DIR")'
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TLorentzVector.h>
#include <TObjString.h>
#include <TVector3.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Base {
    std::int16_t kind = 0;
    ClassDefNV(Base, 2);
};

struct Hit : Base {
    double t = 0;
    std::vector<float> charges;
    std::string name;
    std::map<std::int32_t, double> weights;
    std::int32_t counts[3] = {0, 0, 0};
    TVector3 where;
    ClassDefNV(Hit, 4);
};

#ifdef __MAKECINT__
#pragma link C++ class Base+;
#pragma link C++ class Hit+;
#endif

void objects(const std::string& path, int compression) {
    auto model = ROOT::RNTupleModel::Create();
    for (const char* name : {"Hit", "TVector3", "TLorentzVector", "TObjString"}) {
        model->AddField(std::make_unique<ROOT::RStreamerField>(std::string("a") + name, name));
    }
    // in a collection
    auto item = std::make_unique<ROOT::RStreamerField>("_0", "Hit");
    model->AddField(std::make_unique<ROOT::RVectorField>("hits", std::move(item)));
    auto number = model->MakeField<std::int32_t>("number");
    ROOT::RNTupleWriteOptions options;
    options.SetCompression(compression);
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options);
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 200; ++i) {
        *entry->GetPtr<std::int32_t>("number") = i;
        Hit& hit = *entry->GetPtr<Hit>("aHit");
        hit.kind = -i;
        hit.t = i / 7.0;
        hit.charges.assign(i % 4, i * 0.5f);
        hit.name = std::string(i % 3, 'a');
        hit.weights.clear();
        for (int k = 0; k < i % 3; ++k) hit.weights[k] = i + k / 4.0;
        for (int k = 0; k < 3; ++k) hit.counts[k] = i * k;
        hit.where.SetXYZ(i, -i, 0.25);
        entry->GetPtr<std::vector<Hit>>("hits")->assign(i % 3, hit);
        entry->GetPtr<TVector3>("aTVector3")->SetXYZ(i, 2 * i, 3 * i);
        entry->GetPtr<TLorentzVector>("aTLorentzVector")->SetPxPyPzE(i, 1, 2, 3 + i);
        entry->GetPtr<TObjString>("aTObjString")->SetString(std::to_string(i).c_str());
        writer->Fill(*entry);
        if (i == 90) writer->CommitCluster();
    }
}

void ntuple_objects(const char* folder) {
    const std::string at = std::string(folder) + "/";
    objects(at + "plain.root", 0);
    objects(at + "zstd.root", 505);
    std::ofstream(at + "done") << "\n";
}
