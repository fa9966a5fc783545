// Maps of objects in an ntuple. Compiled, because of their dictionaries.
//   ntuple_maps("FOLDER", 0) writes FOLDER/maps.root; ntuple_maps("FOLDER", 1) prints its values to FOLDER/values
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>

#include <fstream>
#include <map>
#include <string>

struct MapHit {
    float x = 0;
    int n = 0;
};

#ifdef __ROOTCLING__
#pragma link C++ class MapHit+;
#pragma link C++ class std::pair<int, MapHit>+;
#pragma link C++ class std::map<int, MapHit>+;
#endif

void write_maps(const std::string& path) {
    auto model = ROOT::RNTupleModel::Create();
    auto field = model->MakeField<std::map<int, MapHit>>("m");
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path);
    for (int i = 0; i < 4; ++i) {
        field->clear();
        for (int k = 0; k < i; ++k) (*field)[k * 10] = MapHit{0.5f * k, k};
        writer->Fill();
    }
}

void read_maps(const std::string& path, const std::string& to) {
    auto reader = ROOT::RNTupleReader::Open("n", path);
    auto view = reader->GetView<std::map<int, MapHit>>("m");
    std::ofstream out(to);
    for (auto i : reader->GetEntryRange()) {
        for (const auto& [key, hit] : view(i)) out << key << ":" << hit.x << "," << hit.n << " ";
        out << "|";
    }
}

void ntuple_maps(const char* folder, int read) {
    const std::string where = folder;
    if (read != 0)
        read_maps(where + "/maps.root", where + "/values");
    else
        write_maps(where + "/maps.root");
    std::ofstream(where + "/done") << "done\n";
}
