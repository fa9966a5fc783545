// The seed's query as ROOT does it: rawtr where E33 > 5. root -l -b -q 'draw.C("URL", -1, false)'
// cache: bytes of TTreeCache, -1 for ROOT's own choice; web: TWebFile instead of what TFile::Open picks;
// last: entries to read, -1 for all.
void draw(const char* url, int cache = -1, bool web = false, Long64_t last = -1) {
    TStopwatch watch;
    if (web) gSystem->Load("libNet");
    TFile* file = web ? new TWebFile(url) : TFile::Open(url);
    auto tree = file->Get<TTree>("h42");
    if (cache >= 0) tree->SetCacheSize(cache);
    TH1F h("h", "", 100, 0, 40);
    tree->SetEstimate(1);
    tree->Draw("rawtr>>h", "E33>5", "goff", last < 0 ? TTree::kMaxEntries : last);
    printf("RESULT {\"seconds\": %.4f, \"entries\": %.0f, \"bytes\": %lld, \"reads\": %d}\n", watch.RealTime(), h.GetEntries(),
           file->GetBytesRead(), file->GetReadCalls());
}
