// Writes a tree for expressions, and what ROOT's own TTree::Scan and TTree::Draw say of it.
//   root -l -b -q 'expressions.C("DIR")'
// scan-N.txt holds the table of the N-th scan of scans.txt, labels.json the bins of histograms of strings.
#include <TFile.h>
#include <TH1.h>
#include <TString.h>
#include <TTree.h>
#include <TTreePlayer.h>

#include <fstream>
#include <string>
#include <vector>

void expressions(const char* folder) {
    TFile file(TString::Format("%s/expressions.root", folder), "RECREATE");
    auto* tree = new TTree("t", "for expressions");
    int i, n;
    float x, jf[8], jm[8][2];
    double m[3][4];
    int k[3];
    char s[30];
    std::vector<float> vf;
    std::vector<std::vector<float>> vv;
    std::vector<std::string> vs;
    struct {
        float px, py;
        int q;
    } p;
    tree->Branch("i", &i, "i/I");
    tree->Branch("x", &x, "x/F");
    tree->Branch("n", &n, "n/I");
    tree->Branch("jf", jf, "jf[n]/F");
    tree->Branch("jm", jm, "jm[n][2]/F");
    tree->Branch("k", k, "k[3]/I");
    tree->Branch("m", m, "m[3][4]/D");
    tree->Branch("s", s, "s/C");
    tree->Branch("vf", &vf);
    tree->Branch("vv", &vv);
    tree->Branch("vs", &vs);
    tree->Branch("p", &p, "px/F:py/F:q/I");
    tree->SetAutoFlush(7);
    for (int e = 0; e < 30; ++e) {
        i = e - 10;
        x = 0.25f * e;
        n = e % 5;
        for (int j = 0; j < n; ++j) {
            jf[j] = e + 0.125f * j;
            jm[j][0] = j;
            jm[j][1] = -e;
        }
        for (int j = 0; j < 3; ++j) k[j] = e * (j - 1);
        for (int j = 0; j < 12; ++j) ((double*)m)[j] = j + 0.25 * e;
        snprintf(s, sizeof s, "%s%d", e % 2 ? "odd" : "even", e % 3);
        vf.assign(e % 4, 0.5f * e);
        for (size_t j = 0; j < vf.size(); ++j) vf[j] += j;
        vv.clear();
        for (int j = 0; j < e % 3; ++j) vv.push_back(std::vector<float>((j + e) % 3, j + 0.5f * e));
        vs.assign(e % 3, s);
        p.px = e;
        p.py = -e;
        p.q = e % 3 - 1;
        tree->Fill();
    }
    tree->SetAlias("twice", "x*2");
    tree->SetAlias("more", "twice+i");
    tree->SetAlias("list", "jf+1");
    tree->SetAlias("middle", "m[1]");
    tree->SetAlias("pp", "p");
    tree->SetAlias("pi", "i*3");
    tree->SetAlias("x", "i");
    // the first says how rows are counted, the others name it (with &&, ROOT 6.40 leaves out what stands behind an alias
    // of an alias)
    tree->SetAlias("late", "Iteration$>=1");
    tree->SetAlias("chosen", "late*(n>0)");
    tree->SetAlias("last", "chosen*(Entry$<Entries$-1)");
    tree->SetAlias("final", "Entry$==Entries$-1");
    tree->Write();

    static_cast<TTreePlayer*>(tree->GetPlayer())->SetScanRedirect(true);
    tree->SetScanField(0);
    std::ofstream scans(TString::Format("%s/scans.txt", folder));
    const char* cases[][2] = {
        {"i:x:jf", ""}, {"jf:vf", ""}, {"i:vv", ""}, {"k:m", ""}, {"jm:jf", ""}, {"vv:vf", ""}, {"vv:jm", ""},
        {"i:jf", "jf>3"}, {"jf:vf", "i<-6"}, {"jf:vf", "i%2"}, {"k:m", "k<0"}, {"i:Sum$(jf)", "jf>3"},
        {"jf[0]:vf", ""}, {"vf[1]:jf", ""}, {"jf[1]:i", ""}, {"m[1]:k", ""}, {"vv[0]:vf", ""},
        {"jf+0:vf+0:i+0", ""}, {"i:jf>5", ""}, {"Entry$:Iteration$:vf:jf", ""}, {"vf+Iteration$:jf", ""},
        {"Length$:vf", ""}, {"vf:Alt$(jf,7)", ""}, {"i:vf", "Iteration$<2"}, {"i:vf", "jf[1]>0"},
        {"i:Length$(vf)", ""}, {"2:jf:vf", ""}, {"i:x", "i>3"}, {"s", "s==\"odd1\""}, {"vs:vf", ""},
        {"twice:more:list", "n>0"}, {"middle:middle[2]:pp.px", "more>0"}, {"pi:x", ""}, {"px:py:q", "q>=0"},
        {"(q+1)*py:p.px", ""}, {"Sum$(list):vf", ""},
        {"i:vf", "late"}, {"i:vf", "chosen"}, {"jf:vf", "chosen && i>3"}, {"vf", "last"},
    };
    int number = 0;
    for (auto& c : cases) {
        // ROOT keeps the pointer only
        std::string name = TString::Format("%s/scan-%d.txt", folder, number++).Data();
        static_cast<TTreePlayer*>(tree->GetPlayer())->SetScanFileName(name.c_str());
        // more digits than a float has
        tree->Scan(c[0], c[1], "precision=9");
        scans << c[0] << "\t" << c[1] << "\n";
    }

    std::ofstream labels(TString::Format("%s/labels.json", folder));
    const char* draws[][2] = {{"s", ""}, {"vs", ""}, {"vs", "i>0"}, {"s", "2*(i>5)"}};
    labels << "[";
    for (auto& d : draws) {
        tree->Draw(d[0], d[1], "goff");
        TH1* h = tree->GetHistogram();
        labels << (&d == &draws[0] ? "" : ",") << "{\"expression\":\"" << d[0] << "\",\"cut\":\"" << d[1]
               << "\",\"entries\":" << h->GetEntries() << ",\"mean\":" << TString::Format("%.17g", h->GetMean())
               << ",\"std_dev\":" << TString::Format("%.17g", h->GetStdDev()) << ",\"bins\":[";
        for (int b = 1; b <= h->GetNbinsX(); ++b) {
            labels << (b > 1 ? "," : "") << "[\"" << h->GetXaxis()->GetBinLabel(b) << "\"," << h->GetBinContent(b) << ","
                   << h->GetBinError(b) * h->GetBinError(b) << "]";
        }
        labels << "]}";
    }
    labels << "]";
    std::ofstream(TString::Format("%s/done", folder));
}
