// The seed's query with ROOT's own caches on disk: root -l -b -q 'cached.C("URL", "how", "FOLDER")'
// how: "none"; "whole", TFile's CACHEREAD, which downloads the file first; or "blocks", that of the asynchronous
// prefetching (Cache.Directory). web: TWebFile, which has no CACHEREAD.
void cached(const char* url, TString how, const char* folder, bool web = false) {
    if (how == "blocks") {
        gEnv->SetValue("TFile.AsyncPrefetching", 1);
        gEnv->SetValue("Cache.Directory", TString::Format("file:%s", folder));
    }
    TStopwatch watch;
    if (how == "whole") TFile::SetCacheFileDir(folder);
    if (web) gSystem->Load("libNet");
    TFile* file = web ? new TWebFile(url) : TFile::Open(url, how == "whole" ? "CACHEREAD" : "READ");
    auto tree = file->Get<TTree>("h42");
    TH1F h("h", "", 100, 0, 40);
    tree->SetEstimate(1);
    tree->Draw("rawtr>>h", "E33>5", "goff");
    printf("RESULT {\"seconds\": %.4f, \"entries\": %.0f, \"bytes\": %lld, \"reads\": %d}\n", watch.RealTime(), h.GetEntries(),
           file->GetBytesRead(), file->GetReadCalls());
}
