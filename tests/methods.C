// Writes trees of vectors, strings and times, whose methods are called in draws.
//   root -l -b -q 'methods.C("DIR")'
#include <Math/Vector3D.h>
#include <Math/Vector4D.h>
#include <TClonesArray.h>
#include <TFile.h>
#include <TLorentzVector.h>
#include <TRandom3.h>
#include <TTimeStamp.h>
#include <TTree.h>
#include <TVector2.h>
#include <TVector3.h>

#include <fstream>
#include <string>
#include <vector>

void fill(const char* name, int split) {
    TTree tree(name, "");
    auto* p4 = new TLorentzVector;
    auto* p3 = new TVector3;
    auto* p2 = new TVector2;
    auto* list = new TClonesArray("TLorentzVector", 4);
    auto* e4 = new ROOT::Math::PxPyPzEVector;
    auto* m4 = new ROOT::Math::PtEtaPhiMVector;
    auto* v3 = new ROOT::Math::XYZVector;
    auto* s = new std::string;
    auto* time = new TTimeStamp;
    auto* numbers = new std::vector<double>;
    int n = 0;
    tree.Branch("p4", &p4, 32000, split);
    tree.Branch("p3", &p3, 32000, split);
    tree.Branch("p2", &p2, 32000, split);
    tree.Branch("list", &list, 32000, split);
    tree.Branch("e4", &e4, 32000, split);
    tree.Branch("m4", &m4, 32000, split);
    tree.Branch("v3", &v3, 32000, split);
    tree.Branch("s", &s);
    tree.Branch("time", &time, 32000, split);
    tree.Branch("numbers", &numbers);
    tree.Branch("n", &n);
    TRandom3 random(7);
    for (int i = 0; i < 300; i++) {
        double x = random.Gaus(0, 20), y = random.Gaus(0, 20), z = random.Gaus(0, 50), m = random.Uniform(5);
        // zeros and negative masses come too
        if (i % 37 == 0) x = y = 0;
        if (i % 74 == 0) z = 0;
        double e = std::sqrt(x * x + y * y + z * z + m * m) * (i % 11 ? 1 : 0.9) + (i % 74 ? 0 : 1);
        p4->SetPxPyPzE(x, y, z, e);
        p3->SetXYZ(x, y, z);
        p2->Set(x, y);
        e4->SetPxPyPzE(x, y, z, e);
        m4->SetCoordinates(random.Uniform(1, 50), random.Gaus(0, 2), random.Uniform(-3, 3), m);
        v3->SetXYZ(x, y, z);
        list->Clear();
        numbers->assign({x, y, z});
        for (int k = 0; k < i % 4; k++) new ((*list)[k]) TLorentzVector(x + k, y, z - k, e + 2 * k + 1);
        *s = std::string(i % 5, 'a') + (i % 3 ? "muon" : "");
        time->SetSec(i * 100);
        time->SetNanoSec(i);
        n = i % 3;
        tree.Fill();
    }
    tree.Write();
}

void methods(const char* folder) {
    TFile file(TString(folder) + "/methods.root", "recreate");
    fill("whole", 0);
    fill("split", 99);
    file.Close();
    std::ofstream(std::string(folder) + "/done");
}
