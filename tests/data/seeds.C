// Writes small trees of every kind into the current folder, and beside each the values that ROOT reads back, as JSON.
// Run by make_seeds.py, compiled: objects in collections need their dictionaries.
#include <TClonesArray.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TObject.h>
#include <TString.h>
#include <TTree.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

class Hit : public TObject {
public:
    Float_t energy = 0;
    Int_t cell = 0;
    ClassDef(Hit, 1)
};

struct Cell {
    Short_t row = 0;
    Double_t charge = 0;
};

class Event {
public:
    Int_t id = 0;
    Float_t at[3] = {};
    Bool_t good = false;
    Double32_t packed = 0; //[0,10,16]
    Float16_t half = 0;
    TString title;
    std::string note;
    std::vector<float> weights;
    std::vector<std::string> words;
    std::vector<Cell> cells;
    std::map<int, float> table;
    TClonesArray hits{"Hit"};
    virtual ~Event() {}
    ClassDef(Event, 3)
};

// The same without what only a split branch shows.
class Plain {
public:
    Int_t id = 0;
    Float_t at[3] = {};
    Double32_t packed = 0; //[0,10,16]
    TString title;
    std::string note;
    std::vector<float> weights;
    Cell cell;
    virtual ~Plain() {}
    ClassDef(Plain, 2)
};

#ifdef __CLING__
#pragma link C++ class Hit + ;
#pragma link C++ class Cell + ;
#pragma link C++ class std::vector < Cell> + ;
#pragma link C++ class std::map < int, float> + ;
#pragma link C++ class std::vector < std::vector < int>> + ;
#pragma link C++ class Event + ;
#pragma link C++ class Plain + ;
#endif

namespace {

using Columns = std::map<std::string, std::vector<std::string>>;

std::string json(Double_t x) { return TString::Format("%.17g", x).Data(); }
std::string json(Float_t x) { return json(Double_t(x)); }
std::string json(Int_t x) { return std::to_string(x); }
std::string json(Short_t x) { return std::to_string(x); }
std::string json(Long64_t x) { return std::to_string(x); }
std::string json(ULong64_t x) { return std::to_string(x); }
std::string json(bool x) { return x ? "1" : "0"; }
// The texts hold nothing that needs escaping.
std::string json(const std::string& s) { return "\"" + s + "\""; }
std::string json(const TString& s) { return json(std::string(s.Data())); }
std::string json(const Cell& c) { return "{\"row\":" + json(c.row) + ",\"charge\":" + json(c.charge) + "}"; }
std::string json(const std::pair<const int, float>& p) {
    return "{\"key\":" + json(p.first) + ",\"value\":" + json(p.second) + "}";
}
std::string join(const std::vector<std::string>& items) {
    std::string text = "[";
    for (size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
    return text + "]";
}
template <class Range, class Get>
std::string each(const Range& range, Get get) {
    std::vector<std::string> items;
    for (const auto& x : range) items.push_back(get(x));
    return join(items);
}
template <class T>
std::string json(const std::vector<T>& v) {
    return each(v, [](const auto& x) { return json(T(x)); });
}
std::string json(const std::map<int, float>& m) {
    return each(m, [](const auto& x) { return json(x); });
}
std::string json(const Float_t (&a)[3]) { return json(std::vector<Float_t>(a, a + 3)); }

void save(const std::string& name, const std::string& tree, const Columns& columns) {
    std::ofstream out(name + ".json");
    out << "{\"tree\": \"" << tree << "\", \"branches\": {";
    const char* comma = "";
    for (auto& [key, values] : columns) {
        out << comma << "\n\"" << key << "\": " << join(values);
        comma = ",";
    }
    out << "\n}}\n";
}

// Collections, strings and a map, each as a branch of its own.
void collections() {
    const int entries = 12;
    std::vector<float> vf;
    std::vector<std::vector<int>> vvi;
    std::vector<std::string> vs;
    std::vector<bool> vb;
    std::vector<Cell> cells;
    std::map<int, float> table;
    std::string word;
    TString title;
    {
        TFile file("collections.root", "RECREATE", "", 101);
        TTree tree("t", "collections");
        tree.Branch("vf", &vf);
        tree.Branch("vvi", &vvi);
        tree.Branch("vs", &vs);
        tree.Branch("vb", &vb);
        tree.Branch("cells", &cells, 32000, 0);
        tree.Branch("table", &table, 32000, 0);
        tree.Branch("word", &word);
        tree.Branch("title", &title);
        for (int e = 0; e < entries; ++e) {
            vf.clear(), vvi.clear(), vs.clear(), vb.clear(), cells.clear(), table.clear();
            for (int i = 0; i < e % 4; ++i) {
                vf.push_back(e + 0.25f * i);
                vvi.push_back(std::vector<int>(i, e * 10 + i));
                vs.push_back(std::string(i * 3, char('a' + e)));
                vb.push_back((e + i) % 2);
                cells.push_back({Short_t(e - i), e / 3.0});
                table[e * 100 - i] = i / 7.f;
            }
            word = std::string(e == 7 ? 300 : e, 'w');
            title = TString::Format("event %d", e);
            tree.Fill();
        }
        tree.Write();
    }
    TFile file("collections.root");
    auto tree = file.Get<TTree>("t");
    Columns columns;
    auto dump = [&](const char* name, auto object) {
        auto pointer = &object;
        tree->SetBranchAddress(name, &pointer);
        for (Long64_t e = 0; e < tree->GetEntries(); ++e) {
            tree->GetBranch(name)->GetEntry(e);
            columns[name].push_back(json(*pointer));
        }
        tree->ResetBranchAddresses();
    };
    dump("vf", vf), dump("vvi", vvi), dump("vs", vs), dump("vb", vb), dump("cells", cells), dump("table", table);
    dump("word", word), dump("title", title);
    save("collections.root", "t", columns);
}

void fill(Event& event, int e) {
    event.id = e;
    event.good = e % 3 == 0;
    event.packed = e * 0.7;
    event.half = 1.f / (e + 1);
    event.title = TString::Format("title %d", e);
    event.note = std::string(e % 5, 'n');
    event.weights.assign(e % 4, e + 0.5f);
    event.words.assign(e % 3, std::string("word") + std::to_string(e));
    event.cells.clear();
    event.table.clear();
    event.hits.Clear();
    for (int i = 0; i < 3; ++i) event.at[i] = e * 3 + i;
    for (int i = 0; i < (e * 2) % 5; ++i) {
        event.cells.push_back({Short_t(i), e + i / 8.0});
        event.table[i] = e;
        auto hit = static_cast<Hit*>(event.hits.ConstructedAt(i));
        hit->energy = e + 0.125f * i;
        hit->cell = e * 100 + i;
        hit->SetUniqueID(i);
    }
}

// An object with each kind of member, divided into a branch per member.
void split() {
    const int entries = 10;
    {
        TFile file("split.root", "RECREATE", "", 101);
        TTree tree("dir_less", "split");
        Event event;
        tree.Branch("event", &event, 32000, 99);
        tree.Branch("dotted.", &event, 32000, 1);
        for (int e = 0; e < entries; ++e) {
            fill(event, e);
            tree.Fill();
        }
        tree.Write();
    }
    TFile file("split.root");
    auto tree = file.Get<TTree>("dir_less");
    Columns columns;
    Event* event = nullptr;
    for (std::string top : {"event", "dotted."}) {
        tree->SetBranchAddress(top.c_str(), &event);
        std::string at = top == "event" ? "event/" : "dotted./dotted.";
        for (Long64_t e = 0; e < tree->GetEntries(); ++e) {
            tree->GetBranch(top.c_str())->GetEntry(e);
            auto put = [&](const std::string& name, const std::string& text) { columns[at + name].push_back(text); };
            put("id", json(event->id));
            put("at[3]", json(event->at));
            put("good", json(event->good));
            put("packed", json(Double_t(event->packed)));
            put("half", json(Float_t(event->half)));
            put("title", json(event->title));
            put("note", json(event->note));
            put("weights", json(event->weights));
            put("words", json(event->words));
            if (top != "event") {
                put("cells", json(event->cells));
                put("table", json(event->table));
                continue;
            }
            put("cells", json(Int_t(event->cells.size())));
            put("cells/cells.row", each(event->cells, [](auto& c) { return json(c.row); }));
            put("cells/cells.charge", each(event->cells, [](auto& c) { return json(c.charge); }));
            put("table", json(Int_t(event->table.size())));
            put("table/table.first", each(event->table, [](auto& p) { return json(p.first); }));
            put("table/table.second", each(event->table, [](auto& p) { return json(p.second); }));
            put("hits", json(event->hits.GetEntriesFast()));
            auto of = [&](auto get) {
                std::vector<std::string> items;
                for (auto hit : event->hits) items.push_back(json(get(*static_cast<Hit*>(hit))));
                return join(items);
            };
            put("hits/hits.energy", of([](Hit& h) { return h.energy; }));
            put("hits/hits.cell", of([](Hit& h) { return h.cell; }));
            put("hits/hits.fUniqueID", of([](Hit& h) { return Long64_t(h.GetUniqueID()); }));
        }
        tree->ResetBranchAddresses();
        event = nullptr;
    }
    save("split.root", "dir_less", columns);
}

// An object in one branch.
void whole() {
    const int entries = 10;
    {
        TFile file("whole.root", "RECREATE", "", 101);
        TTree tree("t", "not split");
        Plain plain;
        tree.Branch("plain", &plain, 32000, 0);
        for (int e = 0; e < entries; ++e) {
            plain.id = e;
            plain.packed = e * 0.9;
            plain.title = TString::Format("title %d", e);
            plain.note = std::string(e, 'x');
            plain.weights.assign(e % 3, e / 3.f);
            plain.cell = {Short_t(-e), e * 1e10};
            for (int i = 0; i < 3; ++i) plain.at[i] = e - i;
            tree.Fill();
        }
        tree.Write();
    }
    TFile file("whole.root");
    auto tree = file.Get<TTree>("t");
    Columns columns;
    Plain* plain = nullptr;
    tree->SetBranchAddress("plain", &plain);
    for (Long64_t e = 0; e < tree->GetEntries(); ++e) {
        tree->GetEntry(e);
        columns["plain"].push_back("{\"id\":" + json(plain->id) + ",\"at\":" + json(plain->at) +
                                   ",\"packed\":" + json(Double_t(plain->packed)) + ",\"title\":" +
                                   json(plain->title) + ",\"note\":" + json(plain->note) + ",\"weights\":" +
                                   json(plain->weights) + ",\"cell\":" + json(plain->cell) + "}");
    }
    save("whole.root", "t", columns);
}

// Leaves of every type, in folders; the last baskets lie in the tree's header.
void leaves() {
    const int entries = 20;
    {
        TFile file("leaves.root", "RECREATE", "", 101);
        file.mkdir("deep")->mkdir("er")->cd();
        auto tree = new TTree("Events", "leaves");
        tree->SetAutoFlush(0);
        Char_t i8;
        UShort_t u16;
        Long64_t i64;
        ULong64_t u64;
        Bool_t flag;
        Double_t d32, d32r;
        Float_t f16, f16r, pairs[8][3], grid[2][2];
        Int_t n;
        char text[16];
        struct {
            Float_t x;
            Int_t y;
            Double_t z;
        } point;
        tree->Branch("i8", &i8, "i8/B");
        tree->Branch("u16", &u16, "u16/s");
        tree->Branch("i64", &i64, "i64/L");
        tree->Branch("u64", &u64, "u64/l");
        tree->Branch("flag", &flag, "flag/O");
        tree->Branch("d32", &d32, "d32/d");
        tree->Branch("d32r", &d32r, "d32r/d[-10,10,12]");
        tree->Branch("f16", &f16, "f16/f");
        tree->Branch("f16r", &f16r, "f16r/f[0,0,10]");
        tree->Branch("grid", grid, "grid[2][2]/F");
        tree->Branch("n", &n, "n/I");
        tree->Branch("pairs", pairs, "pairs[n][3]/F");
        tree->Branch("text", text, "text/C");
        tree->Branch("point", &point, "x/F:y/I:z/D");
        for (auto name : {"pairs", "text"}) tree->GetBranch(name)->SetBasketSize(250);
        tree->SetAlias("sum", "point.x + point.y");
        for (int e = 0; e < entries; ++e) {
            i8 = -e;
            u16 = 65535 - e;
            i64 = -(1ll << (e + 40));
            u64 = ~0ull - e;
            flag = e % 2;
            d32 = e / 3.0;
            d32r = e / 3.0 - 5;
            f16 = e * 1.1f;
            f16r = -e * 0.3f;
            n = e % 7 ? e % 5 : 0;
            for (int i = 0; i < 4; ++i) grid[i / 2][i % 2] = e + i * 0.25f;
            for (int i = 0; i < 24; ++i) pairs[i / 3][i % 3] = e + i * 0.5f;
            snprintf(text, sizeof text, "%.*s", e % 12, "letters only");
            point = {e * 0.5f, -e, e * 1e100};
            tree->Fill();
        }
        gDirectory->WriteObjectAny(tree, "TTree", "Events");
        file.Close();
    }
    TFile file("leaves.root");
    auto tree = file.Get<TTree>("deep/er/Events");
    Columns columns;
    for (Long64_t e = 0; e < tree->GetEntries(); ++e) {
        tree->GetEntry(e);
        for (auto object : *tree->GetListOfLeaves()) {
            auto leaf = static_cast<TLeaf*>(object);
            std::string name = leaf->GetBranch()->GetName();
            if (name == "point") continue;
            auto value = [&](int i) {
                if (leaf->InheritsFrom("TLeafL"))
                    return leaf->IsUnsigned() ? json(leaf->GetTypedValue<ULong64_t>(i)) : json(leaf->GetTypedValue<Long64_t>(i));
                return json(leaf->GetTypedValue<Double_t>(i));
            };
            std::vector<std::string> items, rows;
            for (int i = 0; i < leaf->GetLen(); ++i) items.push_back(value(i));
            int row = name == "grid" ? 2 : 3;
            for (size_t i = 0; i + row <= items.size(); i += row)
                rows.push_back(join({items.begin() + i, items.begin() + i + row}));
            if (name == "text")
                columns[name].push_back(json(std::string(static_cast<char*>(leaf->GetValuePointer()))));
            else
                columns[name].push_back(name == "grid" || name == "pairs" ? join(rows) : items.at(0));
        }
        auto leaf = [&](const char* name) { return json(tree->GetLeaf("point", name)->GetTypedValue<Double_t>()); };
        columns["point"].push_back("{\"x\":" + leaf("x") + ",\"y\":" + leaf("y") + ",\"z\":" + leaf("z") + "}");
    }
    save("leaves.root", "deep/er/Events", columns);
}

// A branch with each codec, and a tree with a friend and an older cycle.
void codecs() {
    const int entries = 60;
    const std::map<std::string, int> settings = {
        {"none", 0}, {"zlib", 106}, {"lzma", 207}, {"lz4", 404}, {"zstd", 505}};
    {
        TFile file("codecs.root", "RECREATE", "", 505);
        TTree tree("t", "codecs");
        Int_t n;
        std::map<std::string, std::array<Float_t, 10>> values;
        tree.Branch("n", &n, "n/I");
        for (auto& [name, setting] : settings)
            tree.Branch(name.c_str(), values[name].data(), (name + "[n]/F").c_str())->SetCompressionSettings(setting);
        for (int e = 0; e < entries; ++e) {
            n = e % 10;
            int k = 0;
            for (auto& [name, array] : values) {
                for (auto& x : array) x = (e / 8) * 16 + k;
                ++k;
            }
            if (e == 3) tree.Write(); // an older cycle stays
            tree.Fill();
        }
        TTree other("friend", "of t");
        other.Branch("n", &n, "n/I");
        tree.AddFriend(&other);
        tree.Write();
        other.Write();
    }
    TFile file("codecs.root");
    auto tree = file.Get<TTree>("t");
    Columns columns;
    for (Long64_t e = 0; e < tree->GetEntries(); ++e) {
        for (auto& [name, setting] : settings) {
            auto leaf = tree->GetLeaf(name.c_str());
            tree->GetBranch("n")->GetEntry(e);
            leaf->GetBranch()->GetEntry(e);
            std::vector<std::string> items;
            for (int i = 0; i < leaf->GetLen(); ++i) items.push_back(json(leaf->GetTypedValue<Double_t>(i)));
            columns[name].push_back(join(items));
        }
        columns["n"].push_back(json(tree->GetLeaf("n")->GetTypedValue<Double_t>()));
    }
    save("codecs.root", "t", columns);
}

} // namespace

void seeds() {
    Hit::Class()->IgnoreTObjectStreamer(kFALSE);
    collections();
    split();
    whole();
    leaves();
    codecs();
    std::ofstream("done") << "done\n";
}
