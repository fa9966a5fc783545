// The seed's query on an ntuple as ROOT does it: rawtr where E33 > 5, element by element up to the shorter of the two.
// root -l -b -q 'drawntuple.C("URL", "views", false)'
// how: "views", RNTupleReader's with its cluster cache; "frame", RDataFrame on threads cores. web: the ntuple is read
// through TWebFile, as the wheel of ROOT has no other HTTP for ntuples; RDataFrame opens ntuples by name only.
#include <ROOT/RDataFrame.hxx>
#include <ROOT/RNTupleDS.hxx>
#include <ROOT/RNTuple.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TFile.h>
#include <TH1F.h>
#include <TROOT.h>
#include <TStopwatch.h>
#include <TSystem.h>

#include <algorithm>
#include <memory>
#include <string>

void drawntuple(const char* url, const char* how = "views", bool web = false, int threads = 1) {
    if (threads > 1) ROOT::EnableImplicitMT(threads);
    TStopwatch watch;
    double rows = 0, mean = 0;
    if (std::string(how) == "frame") {
        using Floats = ROOT::RVec<float>;
        // by this name: RDataFrame opens the path itself where the server runs on the same machine
        auto frame = ROOT::RDF::FromRNTuple("h42", url);
        auto chosen = [](const Floats& rawtr, const Floats& e33) {
            Floats out;
            for (std::size_t k = 0; k < std::min(rawtr.size(), e33.size()); ++k)
                if (e33[k] > 5) out.push_back(rawtr[k]);
            return out;
        };
        auto h = frame.Define("chosen", chosen, {"rawtr", "E33"}).Histo1D<Floats>({"h", "", 100, 0, 40}, "chosen");
        rows = h->GetEntries();
        mean = h->GetMean();
    } else {
        TH1F h("h", "", 100, 0, 40);
        std::unique_ptr<ROOT::RNTupleReader> reader;
        if (web) {
            gSystem->Load("libNet");
            auto file = (TFile*)gROOT->ProcessLineFast(Form("new TWebFile(\"%s\")", url));
            reader = ROOT::RNTupleReader::Open(*file->Get<ROOT::RNTuple>("h42"));
        } else {
            reader = ROOT::RNTupleReader::Open("h42", url);
        }
        auto rawtr = reader->GetCollectionView("rawtr"), e33 = reader->GetCollectionView("E33");
        auto values = rawtr.GetView<float>("_0"), cuts = e33.GetView<float>("_0");
        for (auto i : reader->GetEntryRange()) {
            auto drawn = rawtr.GetCollectionRange(i), selected = e33.GetCollectionRange(i);
            auto cut = selected.begin();
            for (auto value = drawn.begin(); value != drawn.end() && cut != selected.end(); ++value, ++cut)
                if (cuts(*cut) > 5) h.Fill(values(*value));
        }
        rows = h.GetEntries();
        mean = h.GetMean();
    }
    printf("RESULT {\"seconds\": %.4f, \"entries\": %.0f, \"mean\": %.9g}\n", watch.RealTime(), rows, mean);
}
