// Every value of an ntuple's fields, of all or of those named: root -l -b -q 'readntuple.C("FILE", "NTUPLE", "a,b", 2)'
// threads: for decompressing. how: "views", field after field; "entries", all fields of an entry after those of the one
// before, as a loop over events does; "frame", RDataFrame's sums of the fields named. The values are added up.
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TROOT.h>
#include <TStopwatch.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using Sums = std::map<std::string, double>;

template <typename T>
void numbers(ROOT::RNTupleReader& reader, const std::string& name, Sums& sums) {
    auto view = reader.GetView<T>(name);
    double sum = 0;
    for (auto i : view.GetFieldRange()) sum += view(i);
    sums[name] = sum;
}

template <typename T>
void lists(ROOT::RNTupleReader& reader, const std::string& name, Sums& sums) {
    auto view = reader.GetCollectionView(name);
    auto items = view.template GetView<T>("_0");
    double sum = 0;
    for (auto i : items.GetFieldRange()) sum += items(i);
    // where each list begins is read, too
    ROOT::NTupleSize_t count = 0;
    for (auto i : reader.GetEntryRange()) count += view(i);
    sums[name] = count == items.GetFieldRange().size() ? sum : -1;
}

bool read(ROOT::RNTupleReader& reader, const std::string& name, const std::string& type, Sums& sums) {
    if (type == "bool") numbers<bool>(reader, name, sums);
    else if (type == "float") numbers<float>(reader, name, sums);
    else if (type == "std::int32_t") numbers<std::int32_t>(reader, name, sums);
    else if (type == "std::uint32_t") numbers<std::uint32_t>(reader, name, sums);
    else if (type == "std::uint64_t") numbers<std::uint64_t>(reader, name, sums);
    else if (type == "std::vector<float>") lists<float>(reader, name, sums);
    else if (type == "std::vector<std::int32_t>") lists<std::int32_t>(reader, name, sums);
    else return false;
    return true;
}

void readntuple(const char* path, const char* ntuple, const char* fields = "", int threads = 1,
                const char* how = "views") {
    if (threads > 1) ROOT::EnableImplicitMT(threads);
    TStopwatch watch;
    std::vector<std::string> names;
    std::stringstream list(fields);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    Sums sums;
    Long64_t entries = 0;
    if (std::string(how) == "frame") {
        ROOT::RDataFrame frame(ntuple, path);
        std::map<std::string, ROOT::RDF::RResultPtr<double>> results;
        for (auto& name : names) results[name] = frame.Sum<>(name);
        auto count = frame.Count();
        entries = *count;
        for (auto& [name, sum] : results) sums[name] = *sum;
    } else {
        auto reader = ROOT::RNTupleReader::Open(ntuple, path);
        entries = reader->GetNEntries();
        std::map<std::string, std::string> types;
        for (auto& field : reader->GetDescriptor().GetTopLevelFields()) {
            bool wanted = names.empty() || std::count(names.begin(), names.end(), field.GetFieldName());
            if (wanted) types[field.GetFieldName()] = field.GetTypeName();
        }
        if (std::string(how) == "entries") {
            for (Long64_t i = 0; i < entries; ++i) reader->LoadEntry(i);
        } else {
            for (auto& [name, type] : types) {
                if (!read(*reader, name, type, sums)) {
                    printf("%s has type %s\n", name.c_str(), type.c_str());
                    exit(1);
                }
            }
        }
    }
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"checks\": {", watch.RealTime(), entries);
    int said = 0;
    for (auto& [name, sum] : sums) {
        if (said < 5) printf("%s\"%s\": \"%.17g\"", said ? ", " : "", name.c_str(), sum);
        ++said;
    }
    printf("}}\n");
}
