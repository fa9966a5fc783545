// Writes a.root and b.root: trees whose stored aliases depend on the chain.
//   root -l -b -q 'stored_aliases.C("DIR")'
#include <TFile.h>
#include <TTree.h>

#include <fstream>
#include <string>

void stored_aliases(const char* folder) {
  for (int i = 0; i < 2; ++i) {
    TFile file((std::string(folder) + (i ? "/b.root" : "/a.root")).c_str(), "RECREATE");
    TTree tree("t", "t");
    double x;
    tree.Branch("x", &x);
    for (int k = 0; k < 10 + i; ++k) {
      x = k;
      tree.Fill();
    }
    tree.SetAlias("number", "Entry$");
    tree.SetAlias("share", "number/Entries$");
    tree.Write();
  }
  std::ofstream(std::string(folder) + "/done") << "done\n";
}
