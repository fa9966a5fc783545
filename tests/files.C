// Writes the trees that the Python tests read, and the values that ROOT reads back from them as JSON.
//   root -l -b -q 'files.C("DIR")'
// Numbers in the JSON are ROOT's own, read back from the file: Double32_t and Float16_t lose bits on the way.
#include <TBranch.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TROOT.h>
#include <TRandom3.h>
#include <TString.h>
#include <TTree.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

std::string number(long double value, bool integer) {
    if (!integer && value != value) return "NaN";
    if (!integer && value - value != 0) return value > 0 ? "Infinity" : "-Infinity";
    return TString::Format(integer ? "%.0Lf" : "%.17Lg", value).Data();
}

bool is_integer(const TLeaf& leaf) {
    std::string type = leaf.GetTypeName();
    return type.find("ouble") == std::string::npos && type.find("loat") == std::string::npos;
}

std::string json(bool value) { return value ? "1" : "0"; }
std::string json(float value) { return number(value, false); }
std::string json(double value) { return number(value, false); }
std::string json(int value) { return number(value, true); }
std::string json(Long64_t value) { return number(value, true); }
std::string json(unsigned char value) { return number(value, true); }
// The texts in these files hold letters only: nothing to escape.
std::string json(const std::string& value) { return "\"" + value + "\""; }
std::string json(const TString& value) { return json(std::string(value.Data())); }
template <class T>
std::string json(const std::vector<T>& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += (i ? "," : "") + json(T(values[i]));
    return text + "]";
}

using Columns = std::map<std::string, std::string>;

// A branch that holds a class: read into an object of it.
template <class T>
void dump_object(TTree& tree, const char* name, Columns& columns) {
    T* object = nullptr;
    tree.SetBranchAddress(name, &object);
    for (Long64_t entry = 0; entry < tree.GetEntries(); ++entry) {
        tree.GetBranch(name)->GetEntry(entry);
        columns[name] += (entry ? "," : "") + json(*object);
    }
    tree.ResetBranchAddresses();
}

// For every branch a list of its values per entry; the arrays of plain leaves flat, whatever their dimensions.
void dump(const std::string& path, const char* name, const std::string& out_path) {
    TFile file(path.c_str());
    auto tree = file.Get<TTree>(name);
    Columns columns;
    for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
        tree->GetEntry(entry);
        for (auto object : *tree->GetListOfLeaves()) {
            auto leaf = static_cast<TLeaf*>(object);
            if (leaf->InheritsFrom("TLeafElement") || leaf->InheritsFrom("TLeafObject")) continue;
            auto branch = leaf->GetBranch();
            std::string key = branch->GetName();
            if (branch->GetListOfLeaves()->GetEntries() > 1) key += std::string(".") + leaf->GetName();
            std::string& text = columns[key];
            if (entry) text += ",";
            if (leaf->InheritsFrom("TLeafC")) {
                text += json(std::string(static_cast<char*>(leaf->GetValuePointer())));
                continue;
            }
            text += "[";
            for (int i = 0; i < leaf->GetLen(); ++i) {
                if (i) text += ",";
                // long double holds every 64-bit integer and every double.
                text += number(leaf->GetTypedValue<LongDouble_t>(i), is_integer(*leaf));
            }
            text += "]";
        }
    }
    tree->ResetBranchAddresses();
    dump_object<std::vector<float>>(*tree, "vf", columns);
    dump_object<std::vector<int>>(*tree, "vi", columns);
    dump_object<std::vector<bool>>(*tree, "vb", columns);
    dump_object<std::vector<double>>(*tree, "vd", columns);
    dump_object<std::vector<Long64_t>>(*tree, "vl", columns);
    dump_object<std::vector<UChar_t>>(*tree, "vu8", columns);
    dump_object<std::vector<std::vector<float>>>(*tree, "vvf", columns);
    dump_object<std::vector<std::string>>(*tree, "vs", columns);
    dump_object<std::string>(*tree, "word", columns);
    dump_object<TString>(*tree, "tstring", columns);
    std::ofstream out(out_path);
    out << "{";
    bool first = true;
    for (auto& [key, text] : columns) {
        out << (first ? "" : ",\n") << "\"" << key << "\": [" << text << "]";
        first = false;
    }
    out << "}\n";
}

struct Point {
    Float_t x;
    Int_t y;
    Double_t z;
};

// All leaf types, fixed and counted arrays, several leaves, vectors and strings.
void leaves(const std::string& path, int compression, int entries, int flush, bool embedded = false) {
    TFile file(path.c_str(), "RECREATE");
    file.SetCompressionSettings(compression);
    auto tree = new TTree("Events", "every leaf type");
    tree->SetAutoFlush(flush);
    Char_t i8;
    UChar_t u8;
    Short_t i16;
    UShort_t u16;
    Int_t i32, n;
    UInt_t u32;
    Long64_t i64;
    ULong64_t u64;
    Bool_t flag;
    Float_t f32;
    Double_t f64, d32, d32r, d32b, f32w[3], grid[2][3];
    Float_t f16, f16r;
    Int_t counted[16];
    Float_t pairs[16][2];
    char text[32];
    Point point;
    std::vector<float> vf;
    std::vector<int> vi;
    std::vector<bool> vb;
    std::vector<double> vd;
    std::vector<Long64_t> vl;
    std::vector<UChar_t> vu8;
    std::vector<std::vector<float>> vvf;
    std::vector<std::string> vs;
    std::string word;
    TString tstring;
    tree->Branch("i8", &i8, "i8/B");
    tree->Branch("u8", &u8, "u8/b");
    tree->Branch("i16", &i16, "i16/S");
    tree->Branch("u16", &u16, "u16/s");
    tree->Branch("i32", &i32, "i32/I");
    tree->Branch("u32", &u32, "u32/i");
    tree->Branch("i64", &i64, "i64/L");
    tree->Branch("u64", &u64, "u64/l");
    tree->Branch("flag", &flag, "flag/O");
    tree->Branch("f32", &f32, "f32/F");
    tree->Branch("f64", &f64, "f64/D");
    tree->Branch("d32", &d32, "d32/d");
    tree->Branch("d32r", &d32r, "d32r/d[-10,10,12]");
    tree->Branch("d32b", &d32b, "d32b/d[0,0,10]");
    tree->Branch("f16", &f16, "f16/f");
    tree->Branch("f16r", &f16r, "f16r/f[0,100,16]");
    tree->Branch("fixed", f32w, "fixed[3]/D");
    tree->Branch("grid", grid, "grid[2][3]/D");
    tree->Branch("n", &n, "n/I");
    tree->Branch("counted", counted, "counted[n]/I");
    tree->Branch("pairs", pairs, "pairs[n][2]/F");
    tree->Branch("text", text, "text/C");
    tree->Branch("point", &point, "x/F:y/I:z/D");
    tree->Branch("vf", &vf);
    tree->Branch("vi", &vi);
    tree->Branch("vb", &vb);
    tree->Branch("vd", &vd);
    tree->Branch("vl", &vl);
    tree->Branch("vu8", &vu8);
    tree->Branch("vvf", &vvf);
    tree->Branch("vs", &vs);
    tree->Branch("word", &word);
    tree->Branch("tstring", &tstring);
    TRandom3 random(11);
    for (int e = 0; e < entries; ++e) {
        ULong64_t bits = (ULong64_t(random.Integer(4294967295u)) << 32) | random.Integer(4294967295u);
        i8 = bits;
        u8 = bits >> 8;
        i16 = bits >> 16;
        u16 = bits >> 24;
        i32 = bits >> 32;
        u32 = bits;
        i64 = bits;
        u64 = ~bits;
        flag = bits & 1;
        f32 = random.Gaus(0, 1e3);
        f64 = random.Gaus(0, 1e200);
        d32 = random.Gaus(0, 10);
        d32r = random.Uniform(-10, 10);
        d32b = random.Gaus(0, 10);
        f16 = random.Gaus(0, 10);
        f16r = random.Uniform(0, 100);
        n = e % 17 == 0 ? 0 : random.Integer(16);
        for (auto& value : f32w) value = random.Gaus();
        for (auto& row : grid)
            for (auto& value : row) value = random.Gaus();
        for (int k = 0; k < n; ++k) {
            counted[k] = random.Integer(1 << 30);
            pairs[k][0] = random.Rndm();
            pairs[k][1] = -k;
        }
        std::string piece(e % 29, char('a' + e % 26));
        snprintf(text, sizeof text, "%s", piece.c_str());
        point = {Float_t(random.Gaus()), e, random.Gaus()};
        vf.assign(e % 5, f32);
        vi.assign(e % 4, i32);
        vb.assign(e % 3, flag);
        vd.assign((e + 2) % 5, f64);
        vl.assign(e % 2, i64);
        vu8.assign(e % 6, u8);
        vvf.assign(e % 4, vf);
        // Both forms of a length: one byte below 255 characters, five above.
        vs.assign(e % 3, e % 50 == 2 ? std::string(300, 'z') : piece);
        word = e % 60 == 7 ? std::string(1000, 'y') : piece + "!";
        tstring = word.c_str();
        tree->Fill();
    }
    // WriteObjectAny streams the tree as it is, without flushing: its baskets stay inside its own record.
    if (embedded)
        file.WriteObjectAny(tree, "TTree", "Events");
    else
        tree->Write();
    file.Close();
    dump(path, "Events", path + ".json");
}

// A basket of 20 MB: its compressed form is a chain of blocks, none of which may hold more than 16 MiB.
void chain(const std::string& path, int compression) {
    TFile file(path.c_str(), "RECREATE");
    file.SetCompressionSettings(compression);
    TTree tree("Events", "a basket of several blocks");
    std::vector<int> values(5 << 20);
    tree.Branch("values", values.data(), TString::Format("values[%d]/I", 5 << 20));
    for (size_t i = 0; i < values.size(); ++i) values[i] = i / 7;
    tree.Fill();
    tree.Write();
}

// Directories, several cycles of a tree, an empty tree and objects that are no trees.
void container(const std::string& path) {
    TFile file(path.c_str(), "RECREATE");
    auto directory = file.mkdir("outer")->mkdir("inner");
    directory->cd();
    int value = 0;
    {
        TTree tree("deep", "in a directory");
        tree.Branch("value", &value);
        for (value = 0; value < 10; ++value) tree.Fill();
        tree.Write();
    }
    file.cd();
    TTree cycles("cycles", "two cycles");
    cycles.Branch("value", &value);
    for (value = 0; value < 5; ++value) cycles.Fill();
    cycles.Write();
    for (; value < 8; ++value) cycles.Fill();
    cycles.Write("", 0);
    TTree empty("empty", "no entries");
    empty.Branch("value", &value);
    empty.Write();
    TNamed("label", "an object that is no tree").Write();
}

// Branches that were left out while filling, and one filled by itself.
void partly(const std::string& path) {
    TFile file(path.c_str(), "RECREATE");
    TTree tree("partly", "");
    int always = 0, never = 0;
    tree.Branch("always", &always);
    tree.Branch("never", &never);
    tree.SetBranchStatus("never", false);
    for (; always < 5; ++always) tree.Fill();
    TTree own("own", "");
    auto* alone = own.Branch("alone", &always);
    for (always = 7; always < 10; ++always) alone->Fill();
    file.Write();
}

}  // namespace

void files(const char* folder) {
    std::string at = std::string(folder) + "/";
    const std::vector<std::pair<const char*, int>> codecs{
        {"zlib", 101}, {"lzma", 207}, {"old", 301}, {"lz4", 404}, {"zstd", 505}, {"plain", 0}};
    for (auto& [name, compression] : codecs) leaves(at + "leaves-" + name + ".root", compression, 300, 0);
    leaves(at + "clusters.root", 101, 2500, 100);
    leaves(at + "embedded.root", 101, 40, 0, true);
    leaves(at + "embedded-plain.root", 0, 7, 0, true);
    chain(at + "chain-zlib.root", 101);
    chain(at + "chain-lz4.root", 404);
    chain(at + "chain-zstd.root", 505);
    container(at + "container.root");
    partly(at + "partly.root");
    std::ofstream(at + "done") << "done\n";
}
