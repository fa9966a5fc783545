// Writes one object of each of many classes, and what ROOT says of them as JSON (TBufferJSON and its own methods).
//   root -l -b -q 'objects.C("DIR")'
#include <TBufferJSON.h>
#include <TClonesArray.h>
#include <TEfficiency.h>
#include <TF1.h>
#include <TFile.h>
#include <TGraph2D.h>
#include <TGraphAsymmErrors.h>
#include <TGraphErrors.h>
#include <TH2Poly.h>
#include <TH3.h>
#include <THashList.h>
#include <THnSparse.h>
#include <TLorentzVector.h>
#include <TMap.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TProfile.h>
#include <TProfile2D.h>
#include <TProfile3D.h>
#include <TRandom3.h>
#include <TRefArray.h>
#include <TVectorD.h>

#include <deque>
#include <fstream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

struct Point {
    double x = 0;
    float y = 0;
    std::string label;
};

// A class of the user: one member of each kind.
struct Everything {
    bool flag = true;
    signed char letter = -5;
    unsigned long long large = 18446744073709551615ull;
    int count = 3;
    double* counted = nullptr;  //[count]
    float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Double32_t ranged = 1.5;   //[0,10,8]
    Float16_t narrow = 2.25;
    TString text = "of ROOT";
    std::string words = "of the library";
    TNamed named{"inner", "an object"};
    TObject* pointed = nullptr;
    TObject* again = nullptr;
    TObject* nothing = nullptr;
    std::vector<int> numbers{1, 2, 3};
    std::vector<bool> flags{true, false, true};
    std::vector<std::string> texts{"a", "", "long " + std::string(300, 'x')};
    std::vector<std::vector<float>> rows{{1}, {}, {2, 3}};
    std::vector<Point> points{{1, 2, "p"}, {3, 4, "q"}};
    std::map<std::string, std::string> map{{"1", "one"}, {"2", "two"}};
    std::map<std::string, int> numbered{{"a", 1}, {"b", 2}};
    std::set<int> set{3, 1, 2};
    std::list<double> list{0.5, 0.25};
    std::deque<unsigned> deque{7, 8};
    std::pair<int, double> pair{4, 4.5};
    std::vector<TNamed*> pointers;
    std::vector<int> arrays[2];
};

void put(std::ofstream& json, const char* name, const TString& text) {
    json << "\"" << name << "\": " << text << ",\n";
}

template <class T>
void write(std::ofstream& json, const char* name, T& object) {
    gFile->WriteObject(&object, name);
    put(json, name, TBufferJSON::ToJSON(&object));
}

// Cells of a histogram as its methods give them, under- and overflow included, x fastest.
void bins(std::ofstream& json, const char* name, TH1& h, bool waiting = false) {
    if (waiting) gFile->WriteObject(&h, name);
    TString values, errors;
    for (int i = 0; i < h.GetNcells(); ++i) {
        values += TString::Format("%s%.17g", i ? "," : "", h.GetBinContent(i));
        errors += TString::Format("%s%.17g", i ? "," : "", h.GetBinError(i));
    }
    put(json, TString::Format("bins of %s", name), "{\"values\": [" + values + "], \"errors\": [" + errors + "]}");
    if (waiting) return;
    gFile->WriteObject(&h, name);
    put(json, name, TBufferJSON::ToJSON(&h));
}

template <class H>
void histogram(std::ofstream& json, const char* name, H h, bool weighted, int dimensions) {
    h.SetDirectory(nullptr);
    if (weighted) h.Sumw2();
    TRandom3 random(dimensions + 10 * weighted);
    double edges[4];
    for (int i = 0; i < 500; ++i) {
        for (auto& e : edges) e = random.Gaus(0, 2);
        int bin = dimensions == 1 ? h.FindBin(edges[0]) : dimensions == 2 ? h.FindBin(edges[0], edges[1]) : h.FindBin(edges[0], edges[1], edges[2]);
        double weight = weighted ? random.Uniform(0.5, 2) : 1;
        h.AddBinContent(bin, weight);
        if (weighted) h.GetSumw2()->AddAt(h.GetSumw2()->At(bin) + weight * weight, bin);
    }
    h.SetEntries(500);
    bins(json, name, h);
}

void objects(const char* folder) {
    TBufferJSON::SetDoubleFormat("%.17g");
    TBufferJSON::SetFloatFormat("%.9g");
    TH1::AddDirectory(false);
    std::ofstream json(std::string(folder) + "/objects.json");
    json << "{\n";
    TFile file((std::string(folder) + "/objects.root").c_str(), "recreate");
    double variable[] = {-3, -1, 0, 0.5, 4};
    histogram(json, "h1c", TH1C("h1c", "", 8, -4, 4), false, 1);
    histogram(json, "h1s", TH1S("h1s", "", 8, -4, 4), false, 1);
    histogram(json, "h1i", TH1I("h1i", "", 8, -4, 4), false, 1);
    histogram(json, "h1l", TH1L("h1l", "", 8, -4, 4), false, 1);
    histogram(json, "h1f", TH1F("h1f", "a title;x;y", 8, -4, 4), true, 1);
    histogram(json, "h1d", TH1D("h1d", "", 4, variable), true, 1);
    histogram(json, "h2f", TH2F("h2f", "", 4, variable, 3, -3, 3), false, 2);
    histogram(json, "h2d", TH2D("h2d", "", 3, -3, 3, 4, variable), true, 2);
    histogram(json, "h2i", TH2I("h2i", "", 3, -3, 3, 5, -3, 3), false, 2);
    histogram(json, "h3f", TH3F("h3f", "", 3, -3, 3, 2, -3, 3, 4, -4, 4), true, 3);
    histogram(json, "h3d", TH3D("h3d", "", 3, -3, 3, 2, -3, 3, 4, -4, 4), false, 3);

    TH1D labels("labels", "", 5, 0, 5);
    for (const char* label : {"second", "first", "second", "third"}) labels.Fill(label, 1.5);
    labels.GetXaxis()->SetBinLabel(5, "late");
    bins(json, "labels", labels);
    TH1D all("all", "", 3, 0, 3);
    for (int i = 3; i > 0; --i) all.GetXaxis()->SetBinLabel(i, TString::Format("bin%d", i));
    all.Fill(1.5);
    bins(json, "all", all);

    // rows that wait in a buffer: they are put into bins when they are asked for, here after writing
    TH1D waiting("waiting", "", 10, 0, 10);
    waiting.Sumw2();
    waiting.SetBuffer(100);
    TH2F waiting2("waiting2", "", 4, variable, 3, -3, 3);
    waiting2.SetBuffer(100);
    TH1D unranged("unranged", "", 10, 0, 0);
    for (int i = 0; i < 30; ++i) {
        waiting.Fill(i * 0.7 - 2, 1 + i % 2);
        waiting2.Fill(i * 0.3 - 4, i * 0.25 - 3.5);
        unranged.Fill(i);
    }
    file.WriteObject(&unranged, "unranged");
    bins(json, "waiting", waiting, true);
    bins(json, "waiting2", waiting2, true);

    TRandom3 random(3);
    for (const char* option : {"", "s", "i", "g"}) {
        TString name = TString::Format("profile%s", option);
        TProfile p(name, "", 6, -3, 3, option);
        for (int i = 0; i < 200; ++i) p.Fill(random.Gaus(), random.Gaus(1), i % 3 ? 1 : 2.5);
        p.Fill(2.5, 1);
        p.Fill(2.5, 1);
        bins(json, name, p);
    }
    TProfile plain("plain", "", 6, -3, 3);
    TProfile2D p2("p2", "", 3, -3, 3, 2, -3, 3);
    TProfile3D p3("p3", "", 3, -3, 3, 2, -3, 3, 2, -3, 3);
    for (int i = 0; i < 300; ++i) {
        plain.Fill(random.Gaus(), random.Gaus(5));
        p2.Fill(random.Gaus(), random.Gaus(), random.Gaus(5));
        p3.Fill(random.Gaus(), random.Gaus(), random.Gaus(), random.Gaus(5), random.Uniform());
    }
    bins(json, "plain", plain);
    bins(json, "p2", p2);
    bins(json, "p3", p3);

    double xs[] = {1, 2, 3}, ys[] = {4, 5, 6}, low[] = {0.1, 0.2, 0.3}, high[] = {0.4, 0.5, 0.6};
    TGraph graph(3, xs, ys);
    TGraphErrors errors(3, xs, ys, low, high);
    TGraphAsymmErrors asymmetric(3, xs, ys, low, high, high, low);
    TGraph2D surface(3, xs, ys, low);
    write(json, "graph", graph);
    write(json, "errors", errors);
    write(json, "asymmetric", asymmetric);
    write(json, "surface", surface);

    for (int option : {0, 1, 2, 3, 5, 6}) {
        TEfficiency e("", "", 5, 0, 5);
        e.SetStatisticOption(TEfficiency::EStatOption(option));
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 10 * i + (i == 3); ++k) e.Fill(k % (i + 1) != 0, i + 0.5);
        TString name = TString::Format("efficiency%d", option), value, below, above;
        for (int i = 0; i < 7; ++i) {
            value += TString::Format("%s%.17g", i ? "," : "", e.GetEfficiency(i));
            below += TString::Format("%s%.17g", i ? "," : "", e.GetEfficiencyErrorLow(i));
            above += TString::Format("%s%.17g", i ? "," : "", e.GetEfficiencyErrorUp(i));
        }
        put(json, "bins of " + name, "{\"values\": [" + value + "], \"low\": [" + below + "], \"high\": [" + above + "]}");
        write(json, name, e);
    }

    TF1 function("function", "[0]*exp(-x/[1])", 0, 10);
    function.SetParameters(3, 2);
    write(json, "function", function);
    TMatrixD matrix(2, 3, (const double[]){1, 2, 3, 4, 5, 6});
    TMatrixDSym symmetric(3, (const double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    TVectorD vector(3, xs);
    write(json, "matrix", matrix);
    write(json, "symmetric", symmetric);
    write(json, "vector", vector);
    TParameter<double> real("real", 2.5);
    TParameter<bool> yes("yes", true);
    TParameter<Long64_t> long_one("long_one", 1ll << 40);
    write(json, "real", real);
    write(json, "yes", yes);
    write(json, "long_one", long_one);
    TObjString string("h\xc3\xa9llo");
    write(json, "string", string);
    TLorentzVector lorentz(1, 2, 3, 4);
    write(json, "lorentz", lorentz);

    TList list;
    list.SetName("a list");
    list.Add(&string, "option");
    list.Add(&matrix);
    list.Add(&string);
    file.WriteObject(&list, "list");
    THashList hashed;
    hashed.Add(&string);
    file.WriteObject(&hashed, "hashed");
    TObjArray array(3);
    array.AddAt(&string, 0);
    array.AddAt(&real, 2);
    file.WriteObject(&array, "array");
    TMap map;
    map.Add(new TObjString("key"), &real);
    file.WriteObject(&map, "map");
    for (bool bypass : {true, false}) {
        TClonesArray clones("TNamed", 3);
        clones.BypassStreamer(bypass);
        for (int i = 0; i < 3; ++i) new (clones[i]) TNamed(TString::Format("n%d", i).Data(), "t");
        file.WriteObject(&clones, bypass ? "clones_bypass" : "clones_plain");
    }
    TRefArray references;
    references.Add(&real);
    file.WriteObject(&references, "references");
    int bins3[] = {3, 4};
    double mins[] = {0, 0}, maxs[] = {3, 4};
    THnSparseD sparse("sparse", "", 2, bins3, mins, maxs);
    sparse.Fill((const double[]){1.5, 2.5}, 4);
    file.WriteObject(&sparse, "sparse");

    Everything everything;
    double counted[] = {1, 2, 3};
    everything.counted = counted;
    everything.pointed = everything.again = &string;
    TNamed first("first", ""), second("second", "");
    everything.pointers = {&first, nullptr, &second, &first};
    everything.arrays[0] = {1, 2};
    everything.arrays[1] = {3};
    file.WriteObject(&everything, "everything");
    std::vector<float> floats{1, 2, 3.5};
    file.WriteObject(&floats, "floats");
    std::map<std::string, int> counts{{"a", 1}, {"b", 2}};
    file.WriteObject(&counts, "counts");
    json << "\"end\": null\n}\n";
    file.Close();
    std::ofstream(std::string(folder) + "/done") << "done\n";
}
