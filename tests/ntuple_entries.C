// Writes the entries of ntuples as ROOT shows them, each file's into FILE.entries.
//   root -l -b -q 'ntuple_entries.C("DIR", "NAME", "FILE FILE ...")'
#include <ROOT/RNTupleReader.hxx>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// the class of ntuples.C
struct Point {
    std::int32_t n = 0;
    float x = 0;
    std::vector<std::int16_t> ys;
};

enum class Colour : std::int32_t { red = 3, green = 7 };

void ntuple_entries(const char* folder, const char* name, const char* files) {
    std::istringstream words(files);
    for (std::string file; words >> file;) {
        auto reader = ROOT::RNTupleReader::Open(name, file);
        std::ofstream out(file + ".entries");
        for (auto i : reader->GetEntryRange()) {
            reader->Show(i, out);
            out << "\f";
        }
    }
    std::ofstream(std::string(folder) + "/done") << "\n";
}
