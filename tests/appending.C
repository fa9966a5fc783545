// Trees to append to: appending.C FOLDER writes
// members.root   a header with an unusual value in every member that appending is not about; indexed.root: and an index
// hits.root      vectors of classes, divided and not, and a class with arrays, a version of its own
// lengths.root   offsets that are left out, or given as lengths (kGenerateOffsetMap)
// points.root    a vector of a class, divided, and that class
// unfilled.root  a tree of no entries whose branch has two
// header.root    the last baskets in the tree's header
#include <TBranch.h>
#include <TFile.h>
#include <TFriendElement.h>
#include <TLeafF.h>
#include <TLeafI.h>
#include <TList.h>
#include <TParameter.h>
#include <TTree.h>
#include <TTreeIndex.h>
#include <fstream>
#include <string>
#include <vector>

struct Hit {
   float x = 0;
   int id = 0;
   double a[3] = {};
};

struct Point {
   float x = 0;
   int id = 0;
};

class Track {
public:
   double p = 0;
   std::vector<Hit> hits;
   virtual ~Track() {}
   ClassDef(Track, 3)
};

#ifdef __ROOTCLING__
#pragma link C++ class Hit + ;
#pragma link C++ class Track + ;
#pragma link C++ class Point + ;
#pragma link C++ class std::vector < Point> + ;
#pragma link C++ class std::vector < Hit> + ;
#endif

void hits(const TString &path)
{
   TFile file(path, "RECREATE");
   TTree tree("t", "");
   std::vector<Hit> divided, whole;
   Hit hit;
   Track track;
   tree.Branch("divided", &divided);
   tree.Branch("whole", &whole, 32000, 0);
   tree.Branch("hit", &hit);
   tree.Branch("track", &track, 32000, 0);
   for (int i = 0; i < 50; ++i) {
      divided.assign(i % 3, {}), whole.assign(i % 4, {}), track.hits.assign(i % 2, {});
      for (auto *list : {&divided, &whole, &track.hits})
         for (auto &h : *list) h = {i * .5f, i, {1. * i, 2. * i, 3. * i}};
      hit = {i * .25f, -i, {4. * i, 5. * i, 6. * i}};
      track.p = i;
      tree.Fill();
   }
   tree.Write();
}

void lengths(const TString &path)
{
   TFile file(path, "RECREATE");
   TTree tree("t", "");
   ROOT::TIOFeatures features;
   features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
   tree.SetIOFeatures(features);
   int n = 0;
   float y[9];
   std::vector<float> v;
   std::string s;
   tree.Branch("n", &n, "n/I");
   tree.Branch("y", y, "y[n]/F");
   tree.Branch("v", &v);
   tree.Branch("s", &s);
   for (int i = 0; i < 50; ++i) {
      n = i % 4, s = std::string(i % 5, 'a' + i % 26);
      for (int k = 0; k < n; ++k) y[k] = i + k;
      v.assign(i % 3, i);
      tree.Fill();
   }
   tree.Write();
}

void points(const TString &path)
{
   TFile file(path, "RECREATE");
   TTree tree("t", "");
   std::vector<Point> points;
   Point point;
   tree.Branch("points", &points);
   tree.Branch("point", &point);
   for (int i = 0; i < 50; ++i) {
      points.assign(i % 3, {i * .5f, i}), point = {i * .25f, -i};
      tree.Fill();
   }
   tree.Write();
}

void unfilled(const TString &path)
{
   TFile file(path, "RECREATE");
   TTree tree("t", "");
   std::string text;
   auto *branch = tree.Branch("text", &text);
   for (auto *word : {"one", "three"}) {
      text = word;
      branch->Fill();
   }
   tree.Write();
}

void in_header(const TString &path)
{
   TFile file(path, "RECREATE");
   TTree tree("t", "");
   int n = 0;
   tree.Branch("n", &n, "n/I");
   for (; n < 50; ++n) tree.Fill();
   // not TTree::Write, which flushes
   file.WriteObjectAny(&tree, "TTree", "t");
}

void members(const TString &path, bool index)
{
   {
      TFile other(TString(path).ReplaceAll(".root", "-other.root"), "RECREATE");
      TTree tree("other", "");
      Int_t k = 0;
      tree.Branch("k", &k);
      for (; k < 100; ++k) tree.Fill();
      tree.Write();
   }
   TFile file(path, "RECREATE", "", 101);
   auto *tree = new TTree("t", "a title");
   Float_t x = 0;
   Int_t n = 0, r = 0;
   Double_t y[9];
   std::vector<float> v;
   auto *bx = tree->Branch("x", &x, "leafx/F");
   auto *bn = tree->Branch("n", &n, "count/I");
   tree->Branch("y", y, "y[count]/D");
   tree->Branch("r", &r, "r/I");
   auto *bv = tree->Branch("v", &v);
   tree->GetLeaf("r")->SetRange(true);
   tree->SetAlias("two", "2*x");
   tree->SetWeight(2.5);
   tree->SetTimerInterval(77);
   tree->SetScanField(13);
   tree->SetMaxEntryLoop(12345);
   tree->SetMaxVirtualSize(54321);
   tree->SetEstimate(4321);
   tree->SetAutoSave(999);
   tree->SetAutoFlush(40);
   tree->SetDefaultEntryOffsetLen(555);
   tree->SetUpdate(3);
   tree->SetLineColor(3), tree->SetLineWidth(4), tree->SetLineStyle(2);
   tree->SetFillColor(5), tree->SetFillStyle(3004);
   tree->SetMarkerColor(6), tree->SetMarkerStyle(7), tree->SetMarkerSize(1.5);
   tree->SetUniqueID(42), tree->SetBit(1 << 15);
   tree->GetUserInfo()->Add(new TNamed("info", "kept"));
   tree->GetUserInfo()->Add(new TParameter<double>("number", 1.25));
   tree->AddFriend("other", TString(path).ReplaceAll(".root", "-other.root"));
   bx->SetFillColor(8), bx->SetFillStyle(3005), bx->SetTitle("title of x"), bx->SetUniqueID(9), bx->SetBit(1 << 16);
   bx->SetCompressionSettings(505), bx->SetBasketSize(1234);
   bn->SetCompressionSettings(0);
   bv->SetCompressionSettings(404);
   auto *leaf = static_cast<TLeafF *>(tree->GetLeaf("leafx"));
   leaf->SetTitle("title of leaf"), leaf->SetUniqueID(11), leaf->SetBit(1 << 17);
   // nothing else sets them
   for (auto name : {"fMinimum", "fMaximum"})
      *reinterpret_cast<float *>(reinterpret_cast<char *>(leaf) + leaf->IsA()->GetDataMemberOffset(name)) = 7;
   static_cast<TLeafI *>(tree->GetLeaf("r"))->SetMinimum(-3);
   for (Int_t i = 0; i < 100; ++i) {
      x = i * .5f, n = i % 4, r = i;
      for (Int_t k = 0; k < n; ++k) y[k] = i + k;
      v.assign(i % 3, i);
      tree->Fill();
   }
   if (index) tree->BuildIndex("r", "count");
   tree->Write();
   delete tree;
}

void appending(const char *folder)
{
   members(TString(folder) + "/members.root", false);
   members(TString(folder) + "/indexed.root", true);
   hits(TString(folder) + "/hits.root");
   lengths(TString(folder) + "/lengths.root");
   points(TString(folder) + "/points.root");
   unfilled(TString(folder) + "/unfilled.root");
   in_header(TString(folder) + "/header.root");
   std::ofstream(TString(folder) + "/done") << "";
}
