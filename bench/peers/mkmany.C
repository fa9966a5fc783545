// A tree of many branches with few entries, where opening is all the work: root -l -b -q 'mkmany.C("OUT")'
void mkmany(const char* out, int branches = 20000) {
    TFile file(out, "RECREATE");
    TTree tree("T", "many branches");
    std::vector<float> values(branches);
    for (int b = 0; b < branches; ++b) tree.Branch(TString::Format("branch%d", b), &values[b]);
    for (int entry = 0; entry < 10; ++entry) {
        for (float& value : values) value = gRandom->Rndm();
        tree.Fill();
    }
    tree.Write();
}
