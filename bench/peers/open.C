// Opens a tree and lists its branches, after another one, so that libraries are loaded: 'open.C("FILE", "TREE", "OTHER")'
void open(const char* url, const char* name, const char* other) {
    TFile::Open(other)->Get<TTree>(name)->GetListOfBranches();
    TStopwatch watch;
    auto tree = TFile::Open(url)->Get<TTree>(name);
    Long64_t length = 0;
    for (auto branch : *tree->GetListOfBranches()) length += strlen(branch->GetName());
    printf("RESULT {\"seconds\": %.6f, \"branches\": %d, \"letters\": %lld}\n", watch.RealTime(),
           tree->GetNbranches(), length);
}
