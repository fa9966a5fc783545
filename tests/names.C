// Writes trees whose branches have names, members and collections as experiments have them.
//   root -l -b -q 'names.C+("DIR")'
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TTree.h>

#include <string>
#include <vector>

struct Hit {
    float x = 0, y = 0;
    int channel = 0;
};

class Particle : public TObject {
public:
    float fPx = 0, fPy = 0;
    Hit fFirst;
    char fLabel[8] = "";
    ClassDef(Particle, 1)
};

class Vertex : public TNamed {
public:
    double fPosition[3] = {0, 0, 0};
    int fContributors = 0;
    ClassDef(Vertex, 1)
};

class PrimaryVertex : public Vertex {
public:
    int fGrade = 0;
    ClassDef(PrimaryVertex, 1)
};

struct Header {
    int fRunNumber = 0;
};

class Collision : public TObject {
public:
    char fType[20] = "";
    char fNames[2][6] = {};
    int fNtrack = 0;
    PrimaryVertex fVertex;
    Header fHeader;
    TClonesArray* fTracks = new TClonesArray("Particle", 10);
    std::vector<Hit> fHits;
    std::vector<float> fValues;
    ~Collision() override { delete fTracks; }
    ClassDef(Collision, 1)
};

#ifdef __ROOTCLING__
#pragma link C++ struct Hit + ;
#pragma link C++ struct Header + ;
#pragma link C++ class std::vector < Hit> + ;
#pragma link C++ class Particle + ;
#pragma link C++ class Vertex + ;
#pragma link C++ class PrimaryVertex + ;
#pragma link C++ class Collision + ;
#endif

void names(const char* folder) {
    TFile file(TString::Format("%s/names.root", folder), "RECREATE");
    Collision* event = new Collision;
    auto* vertex = new PrimaryVertex;
    auto* hits = new std::vector<Hit>;
    std::vector<float> values;
    auto make = [&](const char* name, int split) {
        auto* tree = new TTree(name, "objects");
        tree->Branch("event", &event, 32000, split);
        tree->Branch("PV.", &vertex, 32000, split);
        tree->Branch("hits", &hits, 32000, split);
        tree->Branch("values", &values);
        if (split == 99) tree->SetAlias("fRunNumber", "fNtrack+1000");
        return tree;
    };
    std::vector<TTree*> trees = {make("split", 99), make("one", 1), make("whole", 0)};
    auto* odd = new TTree("odd", "odd names");
    float x = 0, three[3], pair[2];
    long long big = 0;
    unsigned long long bits = 0;
    int n = 0, list[4];
    struct {
        float px, py;
    } p;
    const char* plain[] = {"3DMUON", "2x3Mat", "a#0",  "n:colon", "N::two", "my branch", "w-minus", "x(1)", "dot.ted",
                           "trail.", ".lead",  "5",    "1e3",     "0x1f",   "e",         "pi"};
    for (const char* name : plain) odd->Branch(name, &x, "v/F");
    odd->Branch("three[3]", three, "three[3]/F");
    odd->Branch("other[3]", three, "inner[3]/F");
    odd->Branch("p", &p, "px/F:py/F");
    odd->Branch("q.", &p, "px/F:py/F");
    odd->Branch("big", &big, "big/L");
    odd->Branch("bits", &bits, "bits/l");
    odd->Branch("n", &n, "n/I");
    odd->Branch("list", list, "list[n]/I");
    odd->SetAlias("late", "Iteration$>=1");
    odd->SetAlias("flag", "n>1");
    odd->SetAlias("sel", "late && flag");
    odd->SetAlias("sel2", "sel*1");
    odd->SetAlias("counted", "Length$(list)>2");
    odd->SetAlias("chosen", "counted && big!=3");
    for (int e = 0; e < 40; ++e) {
        x = e * 0.5f;
        for (int i = 0; i < 3; ++i) three[i] = e + 100 * i;
        p.px = e;
        p.py = -e;
        big = (1LL << 53) + e % 4;
        bits = (1ULL << 63) + e % 8;
        n = e % 4;
        for (int i = 0; i < n; ++i) list[i] = 10 * e + i;
        odd->Fill();
        snprintf(event->fType, sizeof event->fType, "type%d", e % 5);
        snprintf(event->fNames[0], 6, "a%d", e % 3);
        snprintf(event->fNames[1], 6, "b%d", e % 2);
        event->fNtrack = e % 6;
        event->fHeader.fRunNumber = e;
        event->fTracks->Clear();
        event->fHits.clear();
        hits->clear();
        values.assign(e % 3, e);
        event->fValues.assign(e % 4, e * 2.5f);
        for (int i = 0; i < e % 6; ++i) {
            auto* track = static_cast<Particle*>(event->fTracks->ConstructedAt(i));
            track->fPx = e + 0.25f * i;
            track->fPy = -e;
            track->fFirst.x = i;
            snprintf(track->fLabel, 8, "t%d", i);
        }
        for (int i = 0; i < e % 5; ++i) {
            Hit hit;
            hit.x = e + i;
            hit.channel = i;
            event->fHits.push_back(hit);
            if (i) hits->push_back(hit);
        }
        for (int i = 0; i < 3; ++i) event->fVertex.fPosition[i] = vertex->fPosition[i] = e + 0.1 * i;
        event->fVertex.fContributors = vertex->fContributors = e % 7;
        vertex->fGrade = e % 2;
        event->fVertex.SetName("primary");
        vertex->SetName(e % 2 ? "odd" : "even");
        for (auto* tree : trees) tree->Fill();
    }
    file.Write();
    file.Close();
    FILE* done = fopen(TString::Format("%s/done", folder), "w");
    fclose(done);
}
