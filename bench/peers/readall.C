// Every entry through TTree::GetEntry, of every branch or of those named: root -l -b -q 'readall.C("FILE", "TREE", "a,b", 1)'
void readall(const char* url, const char* name, const char* branches = "", int threads = 1) {
    if (threads > 1) ROOT::EnableImplicitMT(threads);
    TStopwatch watch;
    auto file = TFile::Open(url);
    auto tree = file->Get<TTree>(name);
    std::string list = branches, branch;
    if (!list.empty()) {
        tree->SetBranchStatus("*", false);
        std::stringstream names(list);
        while (std::getline(names, branch, ',')) tree->SetBranchStatus(branch.c_str(), true);
    }
    Long64_t bytes = 0, entries = tree->GetEntries();
    for (Long64_t i = 0; i < entries; ++i) bytes += tree->GetEntry(i);
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"value_bytes\": %lld}\n", watch.RealTime(), entries, bytes);
}
