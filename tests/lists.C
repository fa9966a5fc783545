// Entry lists as ROOT makes them, beside what it reads through them: lists.C FOLDER.
// one.root and two.root hold a tree "t" whose x is the entry's number (two.root's from 200000 on), in a directory "d" too;
// lists.root the lists; NAME.txt the x that TTree::Draw sees through each of them.
void keep(const char* folder, const char* name, TTree* tree) {
  std::ofstream out(TString::Format("%s/%s.txt", folder, name).Data());
  tree->SetEstimate(tree->GetEntries() + 1);
  long n = tree->Draw("x", "", "goff");
  for (long i = 0; i < n; i++) out << long(tree->GetV1()[i]) << "\n";
}

TTree* tree(TDirectory* where, long first) {
  where->cd();
  auto t = new TTree("t", "numbers");
  int x;
  t->Branch("x", &x);
  for (long i = 0; i < 200000; i++) {
    x = first + i;
    t->Fill();
  }
  t->Write();
  return t;
}

void lists(const char* folder) {
  TString one = TString::Format("%s/one.root", folder), two = TString::Format("%s/two.root", folder);
  for (int k = 0; k < 2; k++) {
    TFile f(k ? two : one, "RECREATE");
    tree(&f, k * 200000);
    tree(f.mkdir("d"), k * 200000);
  }
  TFile out(TString::Format("%s/lists.root", folder), "RECREATE");
  auto made = [&](const char* name, TTree* from, const char* cut, const char* how) {
    out.cd();
    from->SetEntryList(nullptr);
    from->Draw(TString::Format(">>%s", name), cut, how);
    TObject* list = gDirectory->Get(name);
    list->Write();
    if (auto entries = dynamic_cast<TEntryList*>(list)) from->SetEntryList(entries);
    else from->SetEventList((TEventList*)list);
    keep(folder, name, from);
    return list;
  };
  TFile f(one);
  auto t = f.Get<TTree>("t");
  // blocks of numbers, of the numbers that are left out, of bits, and empty ones
  made("few", t, "x%5000==7", "entrylist");
  made("most", t, "x%5000!=7", "entrylist");
  made("half", t, "x%2==1", "entrylist");
  made("middle", t, "x>70000&&x<70100", "entrylist");
  made("all", t, "", "entrylist");
  made("none", t, "x<0", "entrylist");
  made("events", t, "x%5000==7", "");
  made("deep", f.Get<TTree>("d/t"), "x%3000==1", "entrylist");
  TChain both("t");
  both.Add(one);
  both.Add(two);
  made("both", &both, "x%50000==3", "entrylist");
  made("through", &both, "x%50000==4", "");
  out.Close();
  std::ofstream(TString::Format("%s/done", folder).Data()) << "done\n";
}
