// Every entry through TTree::GetEntry, of every branch or of those named: root -l -b -q 'readall.C("FILE", "TREE", "a,b")'
// threads: for unzipping; cache: bytes of TTreeCache, -1 for ROOT's own choice; prefetch: TFile.AsyncPrefetching;
// last: entries to read, -1 for all; load: microseconds of work on every entry; web: TWebFile instead of what
// TFile::Open picks.
#include "choose.h"

void readall(const char* url, const char* name, const char* branches = "", int threads = 1, int cache = -1,
             bool prefetch = false, Long64_t last = -1, double load = 0, bool web = false) {
    if (threads > 1) ROOT::EnableImplicitMT(threads);
    if (prefetch) gEnv->SetValue("TFile.AsyncPrefetching", 1);
    TStopwatch watch;
    if (web) gSystem->Load("libNet");
    TFile* file = web ? new TWebFile(url) : TFile::Open(url);
    auto tree = file->Get<TTree>(name);
    if (cache >= 0) tree->SetCacheSize(cache);
    choose(tree, branches);
    Long64_t bytes = 0, entries = last < 0 ? tree->GetEntries() : std::min(last, tree->GetEntries());
    for (Long64_t i = 0; i < entries; ++i) {
        bytes += tree->GetEntry(i);
        if (load > 0) {
            auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::micro>(load);
            while (std::chrono::steady_clock::now() < end) {}
        }
    }
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"value_bytes\": %lld}\n", watch.RealTime(), entries, bytes);
}
