// Every entry through TTree::GetEntry, counted by TTreePerfStats: of all branches, or of those that match a pattern.
// root -l -b -q 'stats.C("FILE", "TREE", "c020_*,c053_*", 0)'; cache: bytes of TTreeCache, -1 for ROOT's own.
#include "choose.h"

void stats(const char* path, const char* name, const char* branches = "", int cache = -1) {
    auto file = TFile::Open(path);
    auto tree = file->Get<TTree>(name);
    if (cache >= 0) tree->SetCacheSize(cache);
    choose(tree, branches);
    TTreePerfStats stats("stats", tree);
    TStopwatch watch;
    Long64_t bytes = 0, entries = tree->GetEntries();
    for (Long64_t i = 0; i < entries; ++i) bytes += tree->GetEntry(i);
    stats.Finish();
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"value_bytes\": %lld, \"reads\": %d, \"mb\": %.3f, "
           "\"extra_mb\": %.3f}\n", watch.RealTime(), entries, bytes, stats.GetReadCalls(), stats.GetBytesRead() * 1e-6,
           stats.GetBytesReadExtra() * 1e-6);
}
