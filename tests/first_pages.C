// Writes the same numbers as a tree and as an ntuple: each of some numbers of fields and clusters.
//   root -l -b -q 'first_pages.C("DIR")'
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

std::string field(int i) { return "a_field_of_name_" + std::to_string(i); }

// without a pattern that would compress well
float value(int entry, int i) { return float((entry * 7919u + i * 104729u) * 2654435761u % 1000003u); }

void first_pages(const char* folder) {
    const int shapes[][2] = {{5, 1}, {100, 1}, {300, 3}, {1000, 30}};
    for (const auto& [fields, clusters] : shapes) {
        const std::string at = std::string(folder) + "/" + std::to_string(fields) + "-";
        auto model = ROOT::RNTupleModel::Create();
        std::vector<std::shared_ptr<float>> fill;
        for (int i = 0; i < fields; ++i) fill.push_back(model->MakeField<float>(field(i)));
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", at + "ntuple.root");
        TFile file((at + "tree.root").c_str(), "recreate");
        TTree tree("t", "t");
        tree.SetAutoFlush(200);
        std::vector<float> values(fields);
        for (int i = 0; i < fields; ++i) tree.Branch(field(i).c_str(), &values[i]);
        for (int entry = 0; entry < 200 * clusters; ++entry) {
            for (int i = 0; i < fields; ++i) values[i] = *fill[i] = value(entry, i);
            writer->Fill();
            tree.Fill();
            if (entry % 200 == 199) writer->CommitCluster();
        }
        tree.Write();
    }
    std::ofstream(std::string(folder) + "/done") << "\n";
}
