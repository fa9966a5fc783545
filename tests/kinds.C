// Writes kinds.root: every kind of type that C++ and ROOT put into trees, whole, divided, and written object by object
// where ROOT writes collections member by member. Compiled, since the types need dictionaries:
//   root -l -b -q 'kinds.C+g("DIR")'
// What the values are is ROOT's to say, when it reads the file back (compare_root.py).
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TObjString.h>
#include <TRef.h>
#include <TString.h>
#include <TTree.h>
#include <TVirtualStreamerInfo.h>

#include <array>
#include <bitset>
#include <deque>
#include <forward_list>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

enum Color { kReddish = 1, kGreenish = 5 };
enum class Small : unsigned char { one = 1, two = 2 };
enum class Wide : short { low = -3, high = 7 };

struct Cell {
    Short_t row = 0;
    Double_t charge = 0;
};

// Counted numbers and objects, pointers, and fixed arrays of such.
struct Loop {
    Int_t n = 0;
    Cell* cells = nullptr;    //[n]
    Cell* rows[2] = {};       //[n]
    Cell** pointers = nullptr; //[n]
    Float_t* numbers = nullptr; //[n]
    Short_t* grid[3] = {};      //[n]
    Int_t last = 0;
};

// Every form of the numbers that have fewer bits in the file.
struct Packed {
    Double32_t plain = 0;
    Double32_t range = 0;       //[-10,10]
    Double32_t twelve = 0;      //[-10,10,12]
    Double32_t angle = 0;       //[-pi,pi]
    Double32_t twopi = 0;       //[0,twopi,20]
    Double32_t mantissa = 0;    //[0,0,10]
    Float16_t half = 0;
    Float16_t half_range = 0;   //[0,100]
    Float16_t half_bits = 0;    //[0,100,7]
    Float16_t half_mantissa = 0; //[0,0,14]
    // limits the wrong way round
    Double32_t few = 0;         //[2,1,16]
    Float16_t half_few = 0;     //[7,7]
    Double32_t fixed[3] = {};   //[-1,1,16]
    Float16_t halves[2][2] = {};
    Int_t n = 0;
    Double32_t* counted = nullptr; //[n][0,100,8]
    std::vector<Double32_t> many;
};

struct Strings {
    std::string word;
    TString text;
    char letters[7] = {};
    char* pointer = nullptr;
    std::string words[2];
    std::array<std::string, 2> array;
    std::vector<std::string> list;
    std::vector<TString> texts;
    std::set<std::string> set;
    std::map<std::string, std::vector<std::string>> map;
    std::pair<std::string, int> pair;
};

// As ATLAS links objects of other branches.
template <class T>
struct ElementLink {
    UInt_t m_persKey = 0, m_persIndex = 0;
};

class Base : public TObject {
public:
    Int_t b = 0;
    ClassDef(Base, 2)
};
class Derived : public Base {
public:
    std::vector<float> d;
    ClassDef(Derived, 1)
};

// Of classes that ROOT writes in ways of their own.
class Charged : public TLorentzVector {
public:
    Int_t charge = 0;
    ClassDef(Charged, 1)
};
class Labelled : public TNamed {
public:
    Int_t extra = 0;
    ClassDef(Labelled, 1)
};
struct Bases {
    std::vector<Charged> charged;
    TClonesArray clones{"Charged"};
    std::vector<Labelled> labelled;
    std::map<Wide, int> wide;
    std::vector<std::string*> words;
};

struct Track {
    Int_t id = 0;
    Color color = kReddish;
    Small small = Small::one;
    std::string name;
    std::vector<Cell> cells;
    std::vector<std::vector<Short_t>> shorts;
    std::map<int, Cell> notes;
    Cell pair[2];
    TLorentzVector p4;
};

class Event {
public:
    Int_t n = 0;
    Base base;
    std::vector<Track> tracks;
    std::vector<std::vector<Track>> nested;
    std::vector<Base*> various;
    std::vector<std::vector<std::vector<std::vector<float>>>> deep;
    std::vector<std::map<std::string, std::vector<Cell>>> maps;
    std::vector<bool> flags;
    std::vector<Color> colors;
    std::vector<Small> smalls;
    std::vector<ElementLink<Track>> links;
    std::vector<std::vector<ElementLink<Track>>> all_links;
    std::unique_ptr<Cell> unique;
    std::bitset<9> bits;
    Base* any = nullptr;
    TClonesArray clones{"Derived"};
    TRef ref;
    virtual ~Event() {}
    ClassDef(Event, 3)
};

// What leads to objects of any class, or to none.
struct Pointing {
    TObject* object = nullptr;
    Int_t behind = 0;
};

struct Optional {
    std::optional<int> value;
    Int_t behind = 0;
};
struct Variant {
    std::variant<int, float> value;
    Int_t behind = 0;
};

#ifdef __CLING__
#pragma link C++ class Cell + ;
#pragma link C++ class Loop + ;
#pragma link C++ class Packed + ;
#pragma link C++ class Strings + ;
#pragma link C++ class ElementLink < Track> + ;
#pragma link C++ class Base + ;
#pragma link C++ class Derived + ;
#pragma link C++ enum Wide;
#pragma link C++ class Charged + ;
#pragma link C++ class Labelled + ;
#pragma link C++ class Bases + ;
#pragma link C++ class std::vector < Charged> + ;
#pragma link C++ class std::vector < Labelled> + ;
#pragma link C++ class std::map < Wide, int> + ;
#pragma link C++ class std::vector < std::string*> + ;
#pragma link C++ class Track + ;
#pragma link C++ class Event + ;
#pragma link C++ class Pointing + ;
#pragma link C++ class Optional + ;
#pragma link C++ class Variant + ;
#pragma link C++ class std::vector < Loop> + ;
#pragma link C++ class std::vector < Packed> + ;
#pragma link C++ class std::vector < Strings> + ;
#pragma link C++ class std::vector < Track> + ;
#pragma link C++ class std::list < Track> + ;
#pragma link C++ class std::deque < Cell> + ;
#pragma link C++ class std::vector < std::vector < Track>> + ;
#pragma link C++ class std::vector < Track*> + ;
#pragma link C++ class std::vector < Cell*> + ;
#pragma link C++ class std::vector < Base*> + ;
#pragma link C++ class std::vector < Color> + ;
#pragma link C++ class std::vector < Small> + ;
#pragma link C++ class std::vector < ElementLink < Track>> + ;
#pragma link C++ class std::vector < std::vector < ElementLink < Track>>> + ;
#pragma link C++ class std::vector < std::vector < std::vector < std::vector < float>>>> + ;
#pragma link C++ class std::map < std::string, std::vector < Cell>> + ;
#pragma link C++ class std::vector < std::map < std::string, std::vector < Cell>>> + ;
#pragma link C++ class std::map < std::string, Track> + ;
#pragma link C++ class std::map < int, std::map < std::string, std::vector < float>>> + ;
#pragma link C++ class std::multimap < int, std::string> + ;
#pragma link C++ class std::unordered_map < std::string, Cell> + ;
#pragma link C++ class std::unordered_multimap < int, float> + ;
#pragma link C++ class std::unordered_set < std::string> + ;
#pragma link C++ class std::unordered_multiset < int> + ;
#pragma link C++ class std::forward_list < int> + ;
#pragma link C++ class std::list < std::vector < int>> + ;
#pragma link C++ class std::deque < std::string> + ;
#pragma link C++ class std::multiset < double> + ;
#pragma link C++ class std::pair < int, std::vector < Cell>> + ;
#pragma link C++ class std::vector < std::pair < int, std::string>> + ;
#pragma link C++ class std::vector < std::array < int, 2>> + ;
#pragma link C++ class std::vector < std::bitset < 5>> + ;
#pragma link C++ class std::bitset < 9> + ;
#endif

namespace {

std::string word(int n) { return std::string(n, char('a' + n % 26)); }
Cell cell(int e, int i) { return {Short_t(16 * e + i), i / 3.}; }

// What an entry holds is made of its number; memory is given back by nobody, there is little of it.
Loop loop(int e, int i) {
    Loop x;
    x.n = (e + i) % 3;
    x.cells = new Cell[x.n + 1];
    x.pointers = new Cell*[x.n + 1];
    x.numbers = new Float_t[x.n + 1];
    for (auto& row : x.rows) row = new Cell[x.n + 1];
    for (auto& row : x.grid) row = new Short_t[x.n + 1];
    for (int k = 0; k < x.n; ++k) {
        x.cells[k] = cell(e, k);
        x.pointers[k] = new Cell(cell(i, k));
        x.numbers[k] = e + k / 7.f;
        x.rows[0][k] = cell(k, e), x.rows[1][k] = cell(k, i);
        for (int j = 0; j < 3; ++j) x.grid[j][k] = 100 * j + k;
    }
    x.last = -e;
    return x;
}
Packed packed(int e, int i) {
    Packed x;
    double v = e * 0.37 - i;
    x.plain = v, x.range = v, x.twelve = v, x.mantissa = v * 1e6;
    x.few = v, x.half_few = v;
    x.angle = v / 3, x.twopi = e % 6 + 0.1 * i;
    x.half = v, x.half_range = e * 3.3, x.half_bits = e * 4.4, x.half_mantissa = v * 1e-3;
    for (int k = 0; k < 3; ++k) x.fixed[k] = (k - 1) * 0.7;
    for (int k = 0; k < 4; ++k) x.halves[k / 2][k % 2] = v + k;
    x.n = (e + i) % 4;
    x.counted = new Double32_t[x.n + 1];
    for (int k = 0; k < x.n; ++k) x.counted[k] = 9.9 * k, x.many.push_back(v + k);
    return x;
}
Strings strings(int e, int i) {
    Strings x;
    x.word = word(i ? 300 : e), x.text = word(e).c_str();
    snprintf(x.letters, sizeof x.letters, "%s", word(e % 7).c_str());
    if (e % 2) x.pointer = strdup(word(e).c_str());
    x.words[0] = word(e), x.words[1] = word(i);
    x.array = {word(1), word(e % 3)};
    for (int k = 0; k < e % 4; ++k) {
        x.list.push_back(word(k * 90)), x.texts.push_back(word(k).c_str()), x.set.insert(word(k));
        x.map[word(k)] = {word(e), word(k)};
    }
    x.pair = {word(e), e};
    return x;
}
Track track(int e, int i) {
    Track x;
    x.id = e * 10 + i, x.color = e % 2 ? kGreenish : kReddish, x.small = i % 2 ? Small::two : Small::one;
    x.name = word(e);
    for (int k = 0; k < i; ++k) x.cells.push_back(cell(e, k)), x.shorts.emplace_back(k, e), x.notes[k] = cell(k, e);
    x.pair[0] = cell(e, 0), x.pair[1] = cell(e, 1);
    x.p4.SetXYZT(e, i, 0.5, 7);
    return x;
}
void bases(Bases& x, int e) {
    x.charged.clear(), x.labelled.clear(), x.wide.clear(), x.words.clear(), x.clones.Clear();
    for (int i = 0; i < e % 4; ++i) {
        Charged c;
        c.SetPxPyPzE(e, i, 0.5, 7), c.charge = i - 1;
        x.charged.push_back(c), *static_cast<Charged*>(x.clones.ConstructedAt(i)) = c;
        Labelled l;
        l.SetNameTitle(word(i).c_str(), word(e).c_str()), l.extra = e;
        x.labelled.push_back(l), x.words.push_back(new std::string(word(i * 100)));
    }
    x.wide[Wide::low] = e, x.wide[Wide::high] = -e;
}
Base* base(int e, int i) {
    if ((e + i) % 3 == 0) return nullptr;
    auto b = (e + i) % 3 == 1 ? new Base : new Derived;
    b->b = e;
    if (auto d = dynamic_cast<Derived*>(b)) d->d.assign(i % 3, e / 9.f);
    return b;
}
void pointing(Pointing& x, int e) {
    x.object = e % 4 == 1   ? new TNamed(word(e).c_str(), "title")
               : e % 4 == 2 ? new TObjString(word(e).c_str())
               : e % 4 == 3 ? static_cast<TObject*>(base(1, 1))
                            : nullptr;
    x.behind = e;
}
void event(Event& x, int e) {
    x.n = e, x.base.b = -e;
    x.tracks.clear(), x.nested.clear(), x.various.clear(), x.deep.clear(), x.maps.clear(), x.all_links.clear();
    for (int i = 0; i < e % 4; ++i) {
        x.tracks.push_back(track(e, i));
        x.nested.emplace_back(i, track(i, e % 3));
        x.various.push_back(base(e, i));
        x.deep.push_back({{{1.f * e, 2.f}, {}}, {}, {{3.f * i}}});
        x.maps.push_back({{word(i), {cell(e, i)}}, {"other", {}}});
        x.all_links.push_back(std::vector<ElementLink<Track>>(i, {UInt_t(e), UInt_t(i)}));
    }
    x.flags.assign(e % 5, e % 2);
    x.colors.assign(e % 3, kGreenish), x.smalls.assign(e % 4, Small::two);
    x.links.assign(e % 3, {UInt_t(e), 7});
    x.unique.reset(e % 2 ? new Cell(cell(e, 1)) : nullptr);
    x.bits = std::bitset<9>(37 * e);
    x.any = base(e, 0);
    x.clones.Clear();
    for (int i = 0; i < e % 3; ++i) {
        auto d = static_cast<Derived*>(x.clones.ConstructedAt(i));
        d->b = i, d->d.assign(e % 2, i);
    }
    x.ref = &x.base;
}

// Branches of one tree, each with what fills it.
struct Columns {
    TTree& tree;
    std::vector<std::function<void(int)>> fills;

    template <class T, class F>
    void add(const std::string& name, int split, F fill) {
        auto value = new T();
        // the address of a pointer is what a TBranchSTL wants
        auto pointer = new T*(value);
        tree.Branch(name.c_str(), pointer, 32000, split);
        fills.push_back([value, fill](int e) { fill(*value, e); });
    }
    // Whole and divided.
    template <class T, class F>
    void both(const char* name, F fill) {
        add<T>(std::string(name) + "0", 0, fill);
        add<T>(std::string(name) + "99.", 99, fill);
    }
    // One, and a vector of them, whole and divided.
    template <class T>
    void object(const char* name, T (*make)(int, int)) {
        both<T>(name, [make](T& x, int e) { x = make(e, 0); });
        both<std::vector<T>>((std::string("v") + name).c_str(), [make](auto& v, int e) {
            v.clear();
            for (int i = 0; i < e % 4; ++i) v.push_back(make(e, i));
        });
    }
};

void collections(Columns& c) {
    c.add<std::list<Track>>("list", 0, [](auto& v, int e) { v.assign(e % 3, track(e, 2)); });
    c.add<std::deque<Cell>>("deque", 99, [](auto& v, int e) { v.assign(e % 3, cell(e, 2)); });
    c.add<std::vector<std::vector<Track>>>("vv", 0, [](auto& v, int e) { v.assign(e % 3, {track(e, 1), track(e, 2)}); });
    c.add<std::map<std::string, Track>>("map", 0, [](auto& m, int e) { m = {{"k", track(e, 1)}, {word(e), {}}}; });
    c.add<std::map<std::string, Track>>("map99", 99, [](auto& m, int e) { m = {{"k", track(e, 1)}, {word(e), {}}}; });
    c.add<std::map<int, std::map<std::string, std::vector<float>>>>("maps", 0, [](auto& m, int e) {
        m.clear();
        for (int i = 0; i < e % 3; ++i) m[i][word(e)] = std::vector<float>(i, e);
    });
    c.add<std::multimap<int, std::string>>("multimap", 0, [](auto& m, int e) { m = {{e, "one"}, {e, word(e)}}; });
    c.add<std::unordered_map<std::string, Cell>>("umap", 0, [](auto& m, int e) { m = {{word(e), cell(e, 1)}}; });
    c.add<std::unordered_multimap<int, float>>("umultimap", 0, [](auto& m, int e) { m = {{e, 1.f}, {e + 1, 2.f}}; });
    c.add<std::unordered_set<std::string>>("uset", 0, [](auto& s, int e) { s = {word(e)}; });
    c.add<std::unordered_multiset<int>>("umultiset", 0, [](auto& s, int e) { s = {e, e}; });
    c.add<std::multiset<double>>("multiset", 0, [](auto& s, int e) { s = {e / 3., e / 3., 0.}; });
    c.add<std::forward_list<int>>("flist", 0, [](auto& s, int e) { s.assign(e % 4, e); });
    c.add<std::list<std::vector<int>>>("lv", 0, [](auto& s, int e) { s.assign(e % 4, {e, 1}); });
    c.add<std::deque<std::string>>("words", 0, [](auto& s, int e) { s.assign(e % 4, word(e)); });
    c.add<std::pair<int, std::vector<Cell>>>("pair", 0, [](auto& p, int e) { p = {e, {cell(e, 1)}}; });
    c.add<std::vector<std::pair<int, std::string>>>("pairs", 0, [](auto& v, int e) { v.assign(e % 3, {e, word(e)}); });
    c.add<std::vector<std::array<int, 2>>>("arrays", 0, [](auto& v, int e) { v.assign(e % 3, {e, -e}); });
    c.add<std::vector<std::bitset<5>>>("bits", 0, [](auto& v, int e) { v.assign(e % 3, std::bitset<5>(e)); });
    c.add<std::vector<Track*>>("pointers0", 0, [](auto& v, int e) {
        v.clear();
        for (int i = 0; i < e % 3; ++i) v.push_back(new Track(track(e, i)));
    });
    // beyond 100: a branch for each class of the objects behind pointers (TBranchSTL); in 6.40 of simple ones only
    c.add<std::vector<Cell*>>("pointers199", 199, [](auto& v, int e) {
        v.clear();
        for (int i = 0; i < (e + 1) % 3; ++i) v.push_back(new Cell(cell(e, i)));
    });
}

void write(const std::string& path, bool by_members) {
    TVirtualStreamerInfo::SetStreamMemberWise(by_members);
    TFile file(path.c_str(), "RECREATE", "", 505);
    TTree tree("t", "a branch for each kind");
    Columns c{tree, {}};
    c.object("loop", loop);
    c.object("packed", packed);
    c.object("strings", strings);
    c.object("track", track);
    c.add<Pointing>("pointing.", 99, pointing);
    collections(c);
    c.both<Optional>("optional", [](auto& x, int e) { x.value = e, x.behind = e; });
    c.both<Variant>("variant", [](auto& x, int e) { x.value = e / 2.f, x.behind = e; });
    c.both<Event>("event", event);
    c.both<Bases>("bases", bases);
    auto old = new TLorentzVector;
    tree.BranchOld("old", "TLorentzVector", &old, 32000, 0);
    TClonesArray clones("Derived");
    auto pointer = &clones;
    tree.Branch("clones", &pointer, 32000, 99);
    tree.Branch("whole_clones", &pointer, 32000, 0);
    tree.BranchRef();
    for (int e = 0; e < 12; ++e) {
        for (auto& fill : c.fills) fill(e);
        old->SetXYZT(e, 1, 2, 3);
        clones.Clear();
        for (int i = 0; i < e % 4; ++i) {
            auto d = static_cast<Derived*>(clones.ConstructedAt(i));
            d->b = e, d->d.assign(i, e);
        }
        tree.Fill();
    }
    tree.Write();
}

} // namespace

void kinds(const char* folder) {
    std::string at = std::string(folder) + "/";
    write(at + "kinds.root", true);
    write(at + "kinds-by-objects.root", false);
    std::ofstream(at + "done") << "done\n";
}
