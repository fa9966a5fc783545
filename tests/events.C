// Writes trees as experiments have them, for the expressions of tests/expressions/made.txt.
//   root -l -b -q 'events.C+("DIR")'
#include <Math/Point3D.h>
#include <Math/Vector3D.h>
#include <Math/Vector4D.h>
#include <TBits.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TFile.h>
#include <TH1.h>
#include <TLorentzVector.h>
#include <TMatrixD.h>
#include <TNtuple.h>
#include <TObjString.h>
#include <TRandom3.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TTimeStamp.h>
#include <TTree.h>
#include <TVector3.h>
#include <TVectorD.h>

#include <string>
#include <vector>

class Header {
public:
    int fEvtNum = 0, fRun = 0, fDate = 0;
};

class Track : public TObject {
public:
    float fPx = 0, fPy = 0, fPz = 0, fRandom = 0, fMass2 = 0;
    float fVertex[3] = {0, 0, 0};
    double fCharge = 0;
    int fNpoint = 0;
    short fValid = 0;
    bool fIsGood = false;
    TBits fTriggerBits;
    ClassDef(Track, 1)
};

class Box {
public:
    TVectorD fSides{2};
};

class Event : public TObject {
public:
    char fType[20] = "";
    char* fEventName = nullptr;
    int fNtrack = 0, fNseg = 0, fNvertex = 0;
    unsigned int fFlag = 0;
    double fTemperature = 0;
    int fMeasures[10] = {};
    double fMatrix[4][4] = {};
    float* fClosestDistance = nullptr;  //[fNvertex]
    Header fEvtHdr;
    TClonesArray* fTracks = new TClonesArray("Track", 10);
    TRefArray* fHighPt = new TRefArray;
    TRef fLastTrack;
    TH1F* fH = nullptr;
    bool fIsValid = false;
    ~Event() override { delete fTracks; }
    ClassDef(Event, 1)
};

#ifdef __ROOTCLING__
#pragma link C++ class Header + ;
#pragma link C++ class Track + ;
#pragma link C++ class Event + ;
#pragma link C++ class Box + ;
#pragma link C++ class std::vector < Box> + ;
#pragma link C++ class std::vector < TLorentzVector> + ;
#pragma link C++ class std::vector < ROOT::Math::PtEtaPhiMVector> + ;
#endif

void fill_events() {
    auto* event = new Event;
    char name[20];
    event->fEventName = name;
    float distances[8];
    event->fClosestDistance = distances;
    event->fH = new TH1F("hstat", "Event Histogram", 100, 0, 1);
    event->fH->SetDirectory(nullptr);
    std::vector<TTree*> trees;
    for (auto& [name, split] : {std::pair{"T", 99}, {"T1", 1}, {"T0", 0}}) {
        trees.push_back(new TTree(name, "events"));
        trees.back()->Branch("event", &event, 32000, split);
    }
    TRandom3 random(11);
    for (int e = 0; e < 60; ++e) {
        auto number = TProcessID::GetObjectCount();
        snprintf(event->fType, 20, "type%d", e % 5);
        snprintf(name, 20, "Event%d_Run%d", e, 200);
        event->fNtrack = 3 + e % 7;
        event->fNseg = 10 * event->fNtrack;
        event->fNvertex = e % 8;
        event->fFlag = e * 0x01010101u;
        event->fTemperature = 20 + random.Rndm();
        event->fIsValid = e % 3;
        for (int i = 0; i < 10; ++i) event->fMeasures[i] = random.Integer(20);
        for (int i = 0; i < 16; ++i) event->fMatrix[i / 4][i % 4] = i / 4 < 3 ? random.Gaus(i, 1) : 0;
        for (int i = 0; i < event->fNvertex; ++i) distances[i] = random.Gaus(1, 2);
        event->fEvtHdr.fEvtNum = e;
        event->fEvtHdr.fRun = 200;
        event->fEvtHdr.fDate = 960312;
        event->fTracks->Clear("C");
        event->fHighPt->Delete();
        event->fH->Reset();
        for (int i = 0; i < event->fNtrack; ++i) {
            auto* track = static_cast<Track*>(event->fTracks->ConstructedAt(i));
            track->fPx = random.Gaus(0, 1);
            track->fPy = random.Gaus(0, 1);
            track->fPz = random.Gaus(2, 1);
            track->fRandom = 1000 * random.Rndm();
            track->fMass2 = 4.5 + random.Rndm();
            for (int k = 0; k < 3; ++k) track->fVertex[k] = random.Gaus(0, 0.1 * (k + 1));
            track->fCharge = random.Rndm() < 0.5 ? -1 : 1;
            track->fNpoint = 60 + random.Integer(5);
            track->fValid = random.Integer(2);
            track->fIsGood = i % 2;
            track->fTriggerBits.Clear();
            track->fTriggerBits.SetBitNumber(i);
            event->fH->Fill(random.Rndm());
            if (track->fPx > 0.5) event->fHighPt->Add(track);
            event->fLastTrack = track;
        }
        for (auto* tree : trees) tree->Fill();
        TProcessID::SetObjectCount(number);
    }
    for (auto* tree : trees) tree->Write();
}

void fill_objects(const char* name, int split) {
    TTree tree(name, "objects");
    auto* p4 = new TLorentzVector;
    auto* p3 = new TVector3;
    auto* mu = new ROOT::Math::PtEtaPhiMVector;
    auto* el = new ROOT::Math::PxPyPzEVector;
    auto* vertex = new ROOT::Math::XYZPoint;
    auto* list = new std::vector<TLorentzVector>;
    auto* jets = new std::vector<ROOT::Math::PtEtaPhiMVector>;
    auto* clones = new TClonesArray("TLorentzVector", 4);
    auto* date = new TDatime;
    auto* time = new TTimeStamp;
    auto* word = new TObjString;
    auto* string = new TString;
    auto* text = new std::string;
    auto* matrix = new TMatrixD(2, 3);
    auto* vector = new TVectorD(3);
    auto* boxes = new std::vector<Box>;
    auto* hist = new TH1F("h", "", 10, 0, 10);
    hist->SetDirectory(nullptr);
    // its bins are set, not filled, and its axis has a range in some entries
    auto* bars = new TH1D("bars", "", 10, 0, 5);
    bars->SetDirectory(nullptr);
    tree.Branch("bars", &bars, 32000, split);
    tree.Branch("p4", &p4, 32000, split);
    tree.Branch("p3", &p3, 32000, split);
    tree.Branch("mu", &mu, 32000, split);
    tree.Branch("el", &el, 32000, split);
    tree.Branch("vertex", &vertex, 32000, split);
    tree.Branch("list", &list, 32000, split);
    tree.Branch("jets", &jets, 32000, split);
    tree.Branch("clones", &clones, 32000, split);
    tree.Branch("date", &date, 32000, split);
    tree.Branch("time", &time, 32000, split);
    tree.Branch("word", &word, 32000, split);
    tree.Branch("string", &string, 32000, split);
    tree.Branch("text", &text);
    tree.Branch("matrix", &matrix, 32000, split);
    tree.Branch("vector", &vector, 32000, split);
    tree.Branch("hist", &hist, 32000, split);
    tree.Branch("boxes", &boxes, 32000, split);
    TRandom3 random(5);
    for (int e = 0; e < 80; ++e) {
        p4->SetPtEtaPhiM(random.Exp(20), random.Gaus(0, 1.5), random.Uniform(-3.1, 3.1), 0.105);
        p3->SetXYZ(random.Gaus(), random.Gaus(), random.Gaus(0, 3));
        mu->SetCoordinates(p4->Pt(), p4->Eta(), p4->Phi(), 0.105);
        el->SetPxPyPzE(random.Gaus(), random.Gaus(), random.Gaus(), 5 + random.Rndm());
        vertex->SetXYZ(random.Gaus(), random.Gaus(), random.Gaus(0, 50));
        list->clear();
        jets->clear();
        clones->Clear();
        for (int i = 0; i < e % 4; ++i) {
            double pt = 30 + random.Exp(30), eta = random.Gaus(0, 2), phi = random.Uniform(-3.1, 3.1);
            list->emplace_back();
            list->back().SetPtEtaPhiM(pt, eta, phi, 5);
            jets->emplace_back(pt, eta, phi, 5);
            new ((*clones)[i]) TLorentzVector(list->back());
        }
        date->Set(2000 + e % 20, 1 + e % 12, 1 + e % 28, e % 24, e % 60, (7 * e) % 60);
        time->SetSec(1000 * e);
        time->SetNanoSec(e);
        word->SetString(TString(e % 3 ? "muon" : "electron"));
        *string = e % 2 ? "odd" : "even";
        *text = std::string(e % 5, 'x') + "y";
        for (int i = 0; i < 6; ++i) (*matrix)(i / 3, i % 3) = e + i;
        for (int i = 0; i < 3; ++i) (*vector)(i) = e * i;
        bars->Reset();
        for (int i = 0; i < 12; ++i) bars->SetBinContent(i, (i * 7 + e) % 11);
        bars->GetXaxis()->SetRange(e % 3 ? e % 3 + 1 : 0, e % 3 ? 8 : 0);
        boxes->resize(e % 3);
        for (int i = 0; i < e % 3; ++i) boxes->at(i).fSides(0) = e + i;
        hist->Reset();
        for (int i = 0; i < 5 + e % 9; ++i) hist->Fill(random.Gaus(5, 2), e % 2 ? 1 : 2);
        tree.Fill();
    }
    tree.Write();
}

void fill_flat() {
    TTree tree("flat", "leaves");
    bool flag = false;
    char tag[16], word[8], i8 = 0;
    unsigned char u8 = 0;
    short i16 = 0;
    unsigned short u16 = 0;
    int n = 0, i32 = 0, fixed[3], list[6];
    unsigned int u32 = 0, run = 0;
    long long i64 = 0;
    unsigned long long u64 = 0;
    float x = 0, y = 0, z = 0, pt[6], m23[2][3], nm[6][2];
    double d = 0, w = 0;
    Double32_t d32 = 0;
    struct {
        float px, py, pz;
        int q;
    } p;
    std::vector<float> vf;
    std::vector<int> vi;
    std::vector<bool> vb;
    std::vector<double> vd;
    std::vector<std::string> vs;
    std::vector<std::vector<float>> vv;
    std::string s;
    tree.Branch("flag", &flag, "flag/O");
    tree.Branch("tag", tag, "tag/C");
    tree.Branch("word", word, "word[8]/B");
    tree.Branch("i8", &i8, "i8/B");
    tree.Branch("u8", &u8, "u8/b");
    tree.Branch("i16", &i16, "i16/S");
    tree.Branch("u16", &u16, "u16/s");
    tree.Branch("i32", &i32, "i32/I");
    tree.Branch("u32", &u32, "u32/i");
    tree.Branch("i64", &i64, "i64/L");
    tree.Branch("u64", &u64, "u64/l");
    tree.Branch("run", &run, "run/i");
    tree.Branch("x", &x, "x/F");
    tree.Branch("y", &y, "y/F");
    tree.Branch("z", &z, "z/F");
    tree.Branch("d", &d, "d/D");
    tree.Branch("d32", &d32, "d32/d");
    tree.Branch("w", &w, "w/D");
    tree.Branch("n", &n, "n/I");
    tree.Branch("fixed", fixed, "fixed[3]/I");
    tree.Branch("list", list, "list[n]/I");
    tree.Branch("pt", pt, "pt[n]/F");
    tree.Branch("m23", m23, "m23[2][3]/F");
    tree.Branch("nm", nm, "nm[n][2]/F");
    tree.Branch("p", &p, "px/F:py/F:pz/F:q/I");
    tree.Branch("vf", &vf);
    tree.Branch("vi", &vi);
    tree.Branch("vb", &vb);
    tree.Branch("vd", &vd);
    tree.Branch("vs", &vs);
    tree.Branch("vv", &vv);
    tree.Branch("s", &s);
    tree.Branch("my.branch", &x, "my.branch/F");
    tree.SetAlias("r", "sqrt(x*x+y*y)");
    tree.SetAlias("good", "n>1 && flag");
    tree.SetAlias("p0", "pt[0]");
    TRandom3 random(3);
    for (int e = 0; e < 500; ++e) {
        flag = e % 3 == 0;
        snprintf(tag, sizeof tag, "tag%d", e % 4);
        snprintf(word, sizeof word, "w%d", e % 3);
        i8 = e % 100 - 50, u8 = e % 256, i16 = e - 250, u16 = e * 100, i32 = e * 1000 - 77, u32 = 4000000000u + e;
        i64 = (1LL << 40) + e, u64 = e * 3ULL, run = 1000 + e / 100;
        x = random.Gaus(0, 2), y = random.Gaus(1, 3), z = random.Exp(5), d = random.Gaus(100, 15), d32 = random.Rndm();
        w = random.Uniform(0.5, 1.5);
        n = random.Integer(6);
        for (int i = 0; i < 3; ++i) fixed[i] = random.Integer(50);
        for (int i = 0; i < n; ++i) {
            list[i] = random.Integer(1000), pt[i] = random.Exp(25);
            nm[i][0] = i, nm[i][1] = random.Gaus();
        }
        for (int i = 0; i < 6; ++i) m23[i / 3][i % 3] = random.Gaus(i, 0.5);
        p = {x, y, z, e % 2 ? 1 : -1};
        vf.assign(pt, pt + n);
        vi.assign(list, list + n);
        vb.clear();
        for (int i = 0; i < n; ++i) vb.push_back(i % 2);
        vd.assign(e % 3, d);
        vs.assign(e % 3, tag);
        vv.clear();
        for (int i = 0; i < e % 4; ++i) vv.emplace_back(i + 1, x + i);
        s = e % 2 ? "signal" : "background";
        tree.Fill();
    }
    tree.Write();
    TNtuple ntuple("ntuple", "tuple", "px:py:pz:random:i");
    for (int i = 0; i < 1000; ++i) {
        double px = random.Gaus(), py = random.Gaus();
        ntuple.Fill(px, py, px * px + py * py, random.Rndm(), i);
    }
    ntuple.Write();
}

void events(const char* folder) {
    TFile file(TString::Format("%s/events.root", folder), "RECREATE");
    fill_events();
    fill_objects("split", 99);
    fill_objects("whole", 0);
    fill_flat();
    file.Close();
    FILE* done = fopen(TString::Format("%s/done", folder), "w");
    fclose(done);
}
