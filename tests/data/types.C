// Writes types.root: a branch for each kind of type that C++ and ROOT put into trees, whole and divided, and beside it
// the values that went in, as JSON. Run by make_seeds.py, compiled: the types need dictionaries.
#include <TArrayD.h>
#include <TBits.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TString.h>
#include <TTree.h>
#include <TVector3.h>

#include <array>
#include <bitset>
#include <deque>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

enum Color { kRedish = 1, kGreenish = 5 };
enum class Small : unsigned char { one = 1, two = 2 };

struct Cell {
    Short_t row = 0;
    Double_t charge = 0;
};

// A struct with all that a collection of structs may hold.
struct Track {
    Int_t id = 0;
    std::string name;
    TString title;
    std::vector<float> weights;
    std::vector<Cell> cells;
    std::map<int, std::string> notes;
    Cell cell;
    Float_t at[2] = {};
    TVector3 momentum;
};

// A chain of pointers within one entry.
class Base : public TObject {
public:
    Int_t b = 0;
    ClassDef(Base, 2)
};
class Derived : public Base {
public:
    Float_t d = 0;
    ClassDef(Derived, 1)
};
// One of those of which a split TClonesArray has a branch per member, counted arrays too.
class Point : public TObject {
public:
    Int_t n = 0;
    Float_t* values = nullptr; //[n]
    ~Point() { delete[] values; }
    ClassDef(Point, 1)
};
class Mother {
public:
    Int_t m = 0;
    std::vector<int> list;
    virtual ~Mother() {}
    ClassDef(Mother, 1)
};

class Holder : public Mother {
public:
    Int_t n = 0;
    Float_t* dynamic = nullptr; //[n]
    Cell* loop = nullptr;       //[n]
    Cell* cell = nullptr;
    Cell* same = nullptr;
    Base* any = nullptr;
    Base* owned = nullptr; //->
    std::unique_ptr<Cell> unique;
    Cell cells[2];
    std::vector<int> vectors[2];
    std::string strings[2];
    TString titles[2];
    Double32_t packed[2] = {}; //[0,10,12]
    Color color = kRedish;
    std::array<float, 3> array = {};
    std::bitset<9> bits;
    std::vector<Cell*> pointers;
    std::vector<Base*> various;
    std::map<std::string, std::vector<int>> table;
    std::vector<Track> tracks;
    std::vector<std::vector<Track>> nested;
    std::vector<std::string>* heap = nullptr;
    std::pair<int, std::string> pair;
    TArrayD doubles;
    TRef ref;
    TRefArray refs;
    TDatime date;
    TMatrixDSym symmetric{2};
    TMatrixD matrix{2, 3};
    TLorentzVector p4;
    TBits flags;
    std::array<std::vector<int>, 2> arrays;
    TObjArray objects;
    TClonesArray clones{"Derived"};
    char* text = nullptr; //!
    ClassDef(Holder, 4)
};

#ifdef __CLING__
#pragma link C++ class Cell + ;
#pragma link C++ class Track + ;
#pragma link C++ class Base + ;
#pragma link C++ class Derived + ;
#pragma link C++ class Point + ;
#pragma link C++ class Mother + ;
#pragma link C++ class Holder + ;
#pragma link C++ class std::vector < Cell> + ;
#pragma link C++ class std::vector < Cell*> + ;
#pragma link C++ class std::vector < Base*> + ;
#pragma link C++ class std::vector < Track> + ;
#pragma link C++ class std::list < Cell> + ;
#pragma link C++ class std::vector < std::vector < Cell>> + ;
#pragma link C++ class std::vector < std::vector < Track>> + ;
#pragma link C++ class std::vector < Color> + ;
#pragma link C++ class std::vector < Small> + ;
#pragma link C++ class std::vector < TString> + ;
#pragma link C++ class std::vector < TLorentzVector> + ;
#pragma link C++ class std::vector < std::vector < std::vector < float>>> + ;
#pragma link C++ class std::vector < std::vector < std::string>> + ;
#pragma link C++ class std::vector < std::vector < bool>> + ;
#pragma link C++ class std::vector < std::set < short>> + ;
#pragma link C++ class std::vector < std::pair < int, std::string>> + ;
#pragma link C++ class std::vector < std::pair < int, std::vector < float>>> + ;
#pragma link C++ class std::vector < std::bitset < 5>> + ;
#pragma link C++ class std::vector < std::array < int, 2>> + ;
#pragma link C++ class std::vector < std::map < int, std::string>> + ;
#pragma link C++ class std::vector < std::map < std::string, std::vector < int>>> + ;
#pragma link C++ class std::list < int> + ;
#pragma link C++ class std::deque < double> + ;
#pragma link C++ class std::set < short> + ;
#pragma link C++ class std::set < std::string> + ;
#pragma link C++ class std::multiset < int> + ;
#pragma link C++ class std::unordered_set < int> + ;
#pragma link C++ class std::map < std::string, int> + ;
#pragma link C++ class std::map < int, std::string> + ;
#pragma link C++ class std::map < std::string, std::vector < int>> + ;
#pragma link C++ class std::map < int, std::map < std::string, double>> + ;
#pragma link C++ class std::map < int, Cell> + ;
#pragma link C++ class std::map < std::string, Track> + ;
#pragma link C++ class std::map < std::string, std::vector < Cell>> + ;
#pragma link C++ class std::multimap < int, float> + ;
#pragma link C++ class std::unordered_map < std::string, int> + ;
#pragma link C++ class std::pair < int, std::string> + ;
#pragma link C++ class std::pair < int, float> + ;
#pragma link C++ class std::bitset < 9> + ;
#endif

namespace {

using Columns = std::map<std::string, std::vector<std::string>>;

std::string json(bool x) { return x ? "1" : "0"; }
template <class T>
std::enable_if_t<std::is_floating_point_v<T>, std::string> json(T x) {
    return TString::Format("%.17g", double(x)).Data();
}
template <class T>
std::enable_if_t<std::is_integral_v<T>, std::string> json(T x) {
    return std::to_string(x);
}
template <class T>
std::enable_if_t<std::is_enum_v<T>, std::string> json(T x) {
    return std::to_string(int(x));
}
// The texts hold nothing that needs escaping.
std::string json(const std::string& s) { return "\"" + s + "\""; }
std::string json(const TString& s) { return json(std::string(s.Data())); }
std::string field(const char* name, const std::string& value) { return std::string("\"") + name + "\":" + value; }
std::string record(std::initializer_list<std::string> fields) {
    std::string text = "{";
    for (auto& f : fields) text += (text.size() > 1 ? "," : "") + f;
    return text + "}";
}

template <class A, class B>
std::string json(const std::pair<A, B>& p);
template <class A, class B, class... R>
std::string json(const std::map<A, B, R...>& m);
template <class T>
std::string json(const std::vector<T>& v);

#define RANGE(C)                                                                                                       \
    template <class... A>                                                                                              \
    std::string json(const C<A...>& range) {                                                                           \
        return each(range);                                                                                            \
    }
std::string json(const Cell& c) { return record({field("row", json(c.row)), field("charge", json(c.charge))}); }
std::string json(const TVector3& v) {
    return record({field("fX", json(v.X())), field("fY", json(v.Y())), field("fZ", json(v.Z()))});
}
std::string json(const TLorentzVector& v) { return record({field("fP", json(v.Vect())), field("fE", json(v.E()))}); }
std::string json(const Track& t);

template <class R>
std::string each(const R& range) {
    std::string text = "[";
    for (const auto& x : range) text += (text.size() > 1 ? "," : "") + json(x);
    return text + "]";
}
RANGE(std::list)
RANGE(std::deque)
RANGE(std::set)
RANGE(std::multiset)
RANGE(std::unordered_set)
template <class T, size_t N>
std::string json(const std::array<T, N>& a) {
    return each(a);
}
template <class T, size_t N>
std::string json(const T (&a)[N]) {
    return each(a);
}
template <size_t N>
std::string json(const std::bitset<N>& b) {
    std::string text = "[";
    for (size_t i = 0; i < N; ++i) text += (i ? "," : "") + json(bool(b[i]));
    return text + "]";
}
template <class T>
std::string json(const std::vector<T>& v) {
    std::string text = "[";
    for (size_t i = 0; i < v.size(); ++i) text += (i ? "," : "") + json(T(v[i]));
    return text + "]";
}
// An array in a collection is an object with one member.
std::string json(const std::vector<std::array<int, 2>>& v) {
    std::string text = "[";
    for (auto& a : v) text += (text.size() > 1 ? "," : "") + record({field("_M_elems", json(a))});
    return text + "]";
}
template <class M>
std::string entries(const M& map) {
    std::string text = "[";
    for (auto& [key, value] : map)
        text += (text.size() > 1 ? "," : "") + record({field("key", json(key)), field("value", json(value))});
    return text + "]";
}
template <class A, class B, class... R>
std::string json(const std::map<A, B, R...>& m) {
    return entries(m);
}
template <class A, class B>
std::string json(const std::multimap<A, B>& m) {
    return entries(m);
}
template <class A, class B>
std::string json(const std::unordered_map<A, B>& m) {
    return entries(m);
}
template <class A, class B>
std::string json(const std::pair<A, B>& p) {
    return record({field("first", json(p.first)), field("second", json(p.second))});
}
std::string json(const Track& t) {
    return record({field("id", json(t.id)), field("name", json(t.name)), field("title", json(t.title)),
                   field("weights", json(t.weights)), field("cells", json(t.cells)), field("notes", json(t.notes)),
                   field("cell", json(t.cell)), field("at", json(t.at)), field("momentum", json(t.momentum))});
}
// A pointer is a list of no or one object.
template <class T>
std::string pointer(const T* p) {
    return p ? "[" + json(*p) + "]" : "[]";
}
// One to a base class: which class it is shows which list holds the object.
std::string various(const Base* p) {
    auto derived = dynamic_cast<const Derived*>(p);
    std::string base = p && !derived ? "[" + record({field("b", json(p->b))}) + "]" : "[]";
    std::string other = derived ? "[" + record({field("b", json(p->b)), field("d", json(derived->d))}) + "]" : "[]";
    return record({field("Base", base), field("Derived", other)});
}

// One branch of its own, filled by a function of the entry.
struct Column {
    std::string name;
    std::function<void(TTree&)> branch;
    std::function<void(int, Columns&)> fill;
};

// What a branch says that is a map of its own: how many, all keys, all values.
template <class M>
void divided(const std::string& name, const M& map, Columns& out) {
    std::string first, second;
    for (auto& [key, value] : map) {
        first += (first.empty() ? "" : ",") + json(key);
        second += (second.empty() ? "" : ",") + json(value);
    }
    out[name].push_back(json(map.size()));
    auto base = name.substr(name.rfind('/') + 1);
    out[name + "/" + base + ".first"].push_back("[" + first + "]");
    out[name + "/" + base + ".second"].push_back("[" + second + "]");
}
// The same for a collection of structs.
void divided(const std::string& name, const std::vector<Track>& tracks, Columns& out) {
    out[name].push_back(json(tracks.size()));
    auto at = name + "/" + name.substr(name.rfind('/') + 1) + ".";
    auto all = [&](const char* member, auto get) {
        std::string text;
        for (auto& t : tracks) text += (text.empty() ? "" : ",") + json(get(t));
        out[at + member].push_back("[" + text + "]");
    };
    all("id", [](auto& t) { return t.id; });
    all("name", [](auto& t) { return t.name; });
    all("title", [](auto& t) { return t.title; });
    all("weights", [](auto& t) { return t.weights; });
    all("cells", [](auto& t) { return t.cells; });
    all("notes", [](auto& t) { return t.notes; });
    all("cell.row", [](auto& t) { return t.cell.row; });
    all("cell.charge", [](auto& t) { return t.cell.charge; });
    all("at[2]", [](auto& t) { return std::array<float, 2>{t.at[0], t.at[1]}; });
    all("momentum", [](auto& t) { return t.momentum; });
}
template <class T>
void put(const std::string& name, const T& object, int, Columns& out) {
    out[name].push_back(json(object));
}
#define DIVIDED(M)                                                                                                     \
    template <class A, class B>                                                                                        \
    void put(const std::string& name, const M<A, B>& map, int split, Columns& out) {                                   \
        if (split) return divided(name, map, out);                                                                     \
        out[name].push_back(json(map));                                                                                \
    }
DIVIDED(std::map)
DIVIDED(std::multimap)
DIVIDED(std::unordered_map)

template <class T>
Column column(const std::string& name, std::function<void(T&, int)> set, int split = 99) {
    auto object = std::make_shared<T>();
    auto keep = std::make_shared<T*>(object.get());
    return {name, [=](TTree& tree) { tree.Branch(name.c_str(), keep.get(), 32000, split); },
            [=](int e, Columns& out) {
                *object = T();
                set(*object, e);
                put(name, *object, split, out);
            }};
}

Track track(int e, int i) {
    Track t;
    t.id = e * 10 + i;
    t.name = std::string(i + 1, char('a' + e));
    t.title = TString::Format("t%d", e);
    t.weights.assign(i % 3, e + 0.5f);
    t.cells.assign((e + i) % 3, Cell{Short_t(e), i / 2.0});
    for (int k = 0; k < i % 2; ++k) t.notes[k] = std::string("note") + std::to_string(k);
    t.cell = {Short_t(-i), e * 0.25};
    t.at[0] = e, t.at[1] = i;
    t.momentum.SetXYZ(e, i, e + i);
    return t;
}

std::vector<Column> columns() {
    std::vector<Column> all;
    auto add = [&](Column c) { all.push_back(std::move(c)); };
    add(column<std::vector<std::vector<std::vector<float>>>>("vvvf", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.emplace_back(i + 1, std::vector<float>(e % 4, e + i * 0.5f));
    }));
    add(column<std::vector<std::vector<bool>>>("vvb", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back(std::vector<bool>(i + 1, e % 2));
    }));
    add(column<std::vector<std::vector<std::string>>>("vvs", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back(std::vector<std::string>(i, std::string(e, 's')));
    }));
    add(column<std::list<int>>("list", [](auto& v, int e) { v.assign(e % 4, -e); }));
    add(column<std::deque<double>>("deque", [](auto& v, int e) { v.assign(e % 4, e / 3.0); }));
    add(column<std::set<short>>("set", [](auto& v, int e) { for (int i = 0; i < e % 4; ++i) v.insert(e - i); }));
    add(column<std::set<std::string>>("sets", [](auto& v, int e) {
        for (int i = 0; i < e % 4; ++i) v.insert(std::string(i, 'k'));
    }));
    add(column<std::multiset<int>>("multiset", [](auto& v, int e) { for (int i = 0; i < e % 4; ++i) v.insert(e); }));
    add(column<std::unordered_set<int>>("unordered_set", [](auto& v, int e) { if (e % 3) v.insert(e); }));
    add(column<std::vector<std::set<short>>>("vset", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back({short(e), short(e + i)});
    }));
    add(column<std::map<std::string, int>>("msi", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[std::string(i + 1, 'k')] = e;
    }));
    add(column<std::map<int, std::string>>("mis", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[i] = std::string(e, 'v');
    }));
    add(column<std::map<std::string, std::vector<int>>>("msvi", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[std::string(i + 1, 'k')] = std::vector<int>(i, e);
    }));
    add(column<std::map<std::string, std::vector<int>>>("msvi0", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[std::string(i + 1, 'k')] = std::vector<int>(i, e);
    }, 0));
    add(column<std::map<int, std::map<std::string, double>>>("mmsd", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i)
            for (int k = 0; k < i; ++k) m[i][std::string(k + 1, 'k')] = e / 7.0;
    }, 0));
    add(column<std::map<int, Cell>>("micell", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[i] = {Short_t(e), i * 0.5};
    }, 0));
    add(column<std::map<std::string, Track>>("mstrack", [](auto& m, int e) {
        for (int i = 0; i < e % 3; ++i) m[std::string(i + 1, 'k')] = track(e, i);
    }, 0));
    add(column<std::map<std::string, std::vector<Cell>>>("msvcell", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m[std::string(i + 1, 'k')].assign(i, Cell{Short_t(i), e * 1.5});
    }, 0));
    add(column<std::multimap<int, float>>("multimap", [](auto& m, int e) {
        for (int i = 0; i < e % 4; ++i) m.insert({e, i * 0.5f});
    }));
    add(column<std::unordered_map<std::string, int>>("unordered_map", [](auto& m, int e) {
        if (e % 2) m[std::string(e, 'u')] = e;
    }));
    add(column<std::vector<std::map<int, std::string>>>("vmis", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back({{i, "x"}, {e + 5, std::string(e, 'y')}});
    }));
    add(column<std::vector<std::map<std::string, std::vector<int>>>>("vmsvi", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back({{"one", {e}}, {"two", std::vector<int>(i, e)}});
    }));
    add(column<std::pair<int, float>>("pair", [](auto& p, int e) { p = {e, e * 0.5f}; }, 0));
    add(column<std::vector<std::pair<int, std::string>>>("vpis", [](auto& v, int e) {
        for (int i = 0; i < e % 4; ++i) v.push_back({i, std::string(e, 'p')});
    }, 0));
    add(column<std::vector<std::pair<int, std::vector<float>>>>("vpivf", [](auto& v, int e) {
        for (int i = 0; i < e % 4; ++i) v.push_back({i, std::vector<float>(i, e)});
    }, 0));
    add(column<std::vector<std::bitset<5>>>("vbits", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back(std::bitset<5>(e * 3 + i));
    }));
    add(column<std::vector<std::array<int, 2>>>("varray", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back({e, i});
    }, 0));
    add(column<std::vector<Color>>("vcolor", [](auto& v, int e) { v.assign(e % 3, e % 2 ? kRedish : kGreenish); }));
    add(column<std::vector<Small>>("vsmall", [](auto& v, int e) { v.assign(e % 3, e % 2 ? Small::one : Small::two); }));
    add(column<std::vector<TString>>("vtstring", [](auto& v, int e) { v.assign(e % 3, TString('t', e)); }));
    add(column<std::list<Cell>>("lcell", [](auto& v, int e) { v.assign(e % 3, Cell{Short_t(e), 0.5}); }, 0));
    add(column<std::vector<std::vector<Cell>>>("vvcell", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.emplace_back(i + 1, Cell{Short_t(e), i * 0.5});
    }, 0));
    add(column<std::vector<Track>>("vtrack0", [](auto& v, int e) {
        for (int i = 0; i < e % 4; ++i) v.push_back(track(e, i));
    }, 0));
    add(column<Track>("track0", [](auto& t, int e) { t = track(e, e % 3); }, 0));
    add(column<std::vector<std::vector<Track>>>("vvtrack", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.emplace_back(i + 1, track(e, i));
    }, 0));
    add(column<std::vector<TLorentzVector>>("vp4", [](auto& v, int e) {
        for (int i = 0; i < e % 3; ++i) v.push_back({1. * e, 2. * i, 3., 4.});
    }, 0));
    add(column<TLorentzVector>("p4", [](auto& v, int e) { v.SetXYZT(e, 1, 2, 3); }));
    return all;
}

void clear(Holder& h) {
    delete[] h.dynamic;
    delete[] h.loop;
    if (h.same != h.cell) delete h.same;
    delete h.cell;
    delete h.any;
    for (auto p : h.pointers) delete p;
    for (auto p : h.various) delete p;
    h.dynamic = nullptr, h.loop = nullptr, h.cell = h.same = nullptr, h.any = nullptr;
    h.pointers.clear(), h.various.clear(), h.unique.reset(), h.heap->clear(), h.table.clear();
    h.tracks.clear(), h.nested.clear();
}

Base* base(int e, int i) {
    if ((e + i) % 3 == 0) return nullptr;
    if ((e + i) % 3 == 1) {
        auto b = new Base;
        b->b = e;
        return b;
    }
    auto d = new Derived;
    d->b = e, d->d = i + 0.5f;
    return d;
}

void fill(Holder& h, int e) {
    clear(h);
    h.m = -e;
    h.list.assign(e % 3, e);
    h.n = e % 3;
    h.dynamic = new Float_t[h.n + 1];
    h.loop = new Cell[h.n + 1];
    for (int i = 0; i < h.n; ++i) h.dynamic[i] = e + i * 0.25f, h.loop[i] = {Short_t(i), e * 1.};
    if (e % 2) h.cell = new Cell{Short_t(e), 1.5};
    h.same = e % 4 == 3 ? h.cell : e % 4 == 2 ? new Cell{7, 8} : nullptr;
    h.any = base(e, 0);
    h.owned->b = e * 3;
    if (e % 3) h.unique.reset(new Cell{Short_t(e), 2.5});
    for (int i = 0; i < 2; ++i) {
        h.cells[i] = {Short_t(e + i), i * 1.};
        h.vectors[i].assign(e % 3 + i, e);
        h.strings[i] = std::string(e % 3 + i, 's');
        h.titles[i] = TString('t', e % 2 + i);
        h.packed[i] = (e + i) % 10;
    }
    h.color = e % 2 ? kGreenish : kRedish;
    h.array = {1.f * e, 2.f, 3.f};
    h.bits = std::bitset<9>(e * 37);
    for (int i = 0; i < e % 3; ++i) h.pointers.push_back(i % 2 ? nullptr : new Cell{Short_t(e), i * 1.});
    for (int i = 0; i < e % 4; ++i) h.various.push_back(base(e, i));
    for (int i = 0; i < e % 3; ++i) h.table[std::string(i + 1, 'k')] = std::vector<int>(i, e);
    for (int i = 0; i < e % 3; ++i) h.tracks.push_back(track(e, i));
    for (int i = 0; i < e % 2; ++i) h.nested.emplace_back(2, track(e, i));
    h.heap->assign(e % 3, "heap");
    h.pair = {e, std::string(e % 4, 'p')};
    h.doubles.Set(e % 3);
    for (int i = 0; i < e % 3; ++i) h.doubles[i] = e / 9.;
    h.date.Set(20200101 + e, 120000);
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) h.symmetric(i, k) = e + i + k;
        for (int k = 0; k < 3; ++k) h.matrix(i, k) = e * 10 + i * 3 + k;
    }
    h.p4.SetXYZT(e, 1, 2, 3);
    for (int i = 0; i < 2; ++i) h.arrays[i].assign(e % 3 + i, e);
    h.objects.Delete();
    for (int i = 0; i < e % 3; ++i) h.objects.Add(i ? static_cast<TObject*>(base(4, 1)) : new TObjString(TString('o', e)));
    h.clones.Clear();
    for (int i = 0; i < e % 4; ++i) {
        auto d = static_cast<Derived*>(h.clones.ConstructedAt(i));
        d->b = e, d->d = i * 0.5f;
    }
    h.flags.ResetAllBits();
    h.flags.SetBitNumber(e % 8);
}

// Members as the branches of a split object have them; not those whose bits ROOT alone knows (TRef, TDatime, TBits).
std::vector<std::pair<std::string, std::string>> members(const Holder& h) {
    std::vector<std::pair<std::string, std::string>> out;
    auto put = [&](const char* name, const std::string& text) { out.push_back({name, text}); };
    std::string loop = "[", pointers = "[", many = "[";
    for (int i = 0; i < h.n; ++i) loop += (i ? "," : "") + json(h.loop[i]);
    for (auto p : h.pointers) pointers += (pointers.size() > 1 ? "," : "") + pointer(p);
    for (auto p : h.various) many += (many.size() > 1 ? "," : "") + various(p);
    put("m", json(h.m));
    put("list", json(h.list));
    put("n", json(h.n));
    put("dynamic", json(std::vector<float>(h.dynamic, h.dynamic + h.n)));
    put("loop", loop + "]");
    put("cell", pointer(h.cell));
    put("same", pointer(h.same));
    put("any", various(h.any));
    put("unique", pointer(h.unique.get()));
    put("cells[2]", json(h.cells));
    put("vectors[2]", json(h.vectors));
    put("strings[2]", json(h.strings));
    put("titles[2]", json(h.titles));
    put("color", json(h.color));
    put("array[3]", json(h.array));
    put("bits", json(h.bits));
    put("pointers", pointers + "]");
    put("various", many + "]");
    put("table", json(h.table));
    put("tracks", json(h.tracks));
    put("nested", json(h.nested));
    put("heap", json(*h.heap));
    put("pair", json(h.pair));
    std::vector<double> doubles(h.doubles.GetArray(), h.doubles.GetArray() + h.doubles.GetSize());
    put("doubles", json(doubles));
    put("p4", json(h.p4));
    put("arrays[2]", json(h.arrays));
    return out;
}

} // namespace

void types() {
    const int number = 12;
    Columns values;
    TFile file("types.root", "RECREATE", "", 505);
    TTree tree("t", "a branch for each type");
    auto all = columns();
    for (auto& c : all) c.branch(tree);
    Holder holder;
    holder.owned = new Base;
    holder.heap = new std::vector<std::string>;
    auto pointer = &holder;
    tree.Branch("whole", &pointer, 32000, 0);
    TLorentzVector old;
    auto old_pointer = &old;
    tree.BranchOld("old", "TLorentzVector", &old_pointer, 32000, 0);
    TClonesArray points("Point");
    auto points_pointer = &points;
    tree.Branch("points", &points_pointer, 32000, 99);
    TClonesArray clones("TVector3");
    auto clones_pointer = &clones;
    tree.Branch("clones", &clones_pointer, 32000, 99);
    tree.Branch("split.", &pointer, 32000, 99);
    for (int e = 0; e < number; ++e) {
        for (auto& c : all) c.fill(e, values);
        fill(holder, e);
        std::string whole;
        for (auto& [name, text] : members(holder)) {
            whole += (whole.empty() ? "{\"" : ",\"") + name.substr(0, name.find('[')) + "\":" + text;
            bool mothers = name == "m" || name == "list";
            if (name == "table" || name == "tracks" || name == "pair") continue;
            values[(mothers ? "split./split.Mother/split.Mother." : "split./split.") + name].push_back(text);
        }
        divided("split./split.table", holder.table, values);
        divided("split./split.tracks", holder.tracks, values);
        values["split./split.pair/split.pair.first"].push_back(json(holder.pair.first));
        values["split./split.pair/split.pair.second"].push_back(json(holder.pair.second));
        values["whole"].push_back(whole + "}");
        old.SetXYZT(-e, e, 0.5, 9);
        values["old"].push_back(json(old));
        clones.Clear();
        for (int i = 0; i < e % 4; ++i) static_cast<TVector3*>(clones.ConstructedAt(i))->SetXYZ(e, i, 0.25);
        points.Clear();
        std::string n, lists;
        for (int i = 0; i < e % 5; ++i) {
            auto p = static_cast<Point*>(points.ConstructedAt(i));
            delete[] p->values;
            p->n = (e + i) % 4;
            p->values = p->n ? new Float_t[p->n] : nullptr;
            for (int k = 0; k < p->n; ++k) p->values[k] = e + k * 0.5f;
            n += (i ? "," : "") + json(p->n);
            lists += (i ? "," : "") + json(std::vector<float>(p->values, p->values + p->n));
        }
        values["points/points.n"].push_back("[" + n + "]");
        values["points/points.values"].push_back("[" + lists + "]");
        std::string z;
        for (auto v : clones) z += (z.empty() ? "" : ",") + json(static_cast<TVector3*>(v)->Y());
        values["clones"].push_back(json(clones.GetEntriesFast()));
        values["clones/clones.fY"].push_back("[" + z + "]");
        tree.Fill();
    }
    tree.Write();
    std::ofstream out("types.root.json");
    out << "{\"tree\": \"t\", \"branches\": {";
    const char* comma = "";
    for (auto& [key, list] : values) {
        out << comma << "\n\"" << key << "\": [";
        for (size_t i = 0; i < list.size(); ++i) out << (i ? "," : "") << list[i];
        out << "]";
        comma = ",";
    }
    out << "\n}}\n";
    out.close();
    std::ofstream("done") << "done\n";
}
