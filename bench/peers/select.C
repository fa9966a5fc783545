// A compiled TSelector over the tree h42; the clock starts after compilation: root -l -b -q 'select.C("FILE", "FOLDER")'
// FOLDER is where ACLiC puts what it compiles.
void select(const char* path, const char* folder) {
    gSystem->SetBuildDir(folder, true);
    TString code = gSystem->DirName(__FILE__);
    code += "/chepselector.C+O";
    auto selector = TSelector::GetSelector(code);
    TStopwatch watch;
    auto file = TFile::Open(path);
    auto tree = file->Get<TTree>("h42");
    tree->Process(selector);
    double seconds = watch.RealTime();
    Long64_t sum = 0;
    auto counts = (Long64_t*)((char*)selector + selector->IsA()->GetDataMemberOffset("counts"));
    for (int i = 0; i < 100; ++i) sum += (i + 1) * counts[i];
    printf("RESULT {\"seconds\": %.4f, \"entries\": %lld, \"checks\": {\"counts\": %lld}}\n", seconds, tree->GetEntries(), sum);
}
