// What ROOT has in memory after it read an entry of a branch, as JSON: the values that other readers are held against.
//
// Walks the class descriptions that ROOT itself reads with (TStreamerInfo: where each member lies in memory), so that
// classes without a dictionary are as good as ROOT's own. Records are objects by member name, those of base classes
// among them; "@class" is the class that a pointer led to. What cannot be said becomes {"@unknown": why}.

#include <ROOT/TIOFeatures.hxx>
#include <TArrayC.h>
#include <TArrayD.h>
#include <TArrayF.h>
#include <TArrayI.h>
#include <TArrayL.h>
#include <TArrayL64.h>
#include <TArrayS.h>
#include <TBranch.h>
#include <TBranchElement.h>
#include <TBranchObject.h>
#include <TBranchSTL.h>
#include <TClass.h>
#include <TClonesArray.h>
#include <TDatime.h>
#include <TDataType.h>
#include <TError.h>
#include <TLeaf.h>
#include <TLeafC.h>
#include <TMap.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TStreamerElement.h>
#include <TStreamerInfo.h>
#include <TTree.h>
#include <TVirtualCollectionIterators.h>
#include <TVirtualCollectionProxy.h>
#include <cmath>
#include <set>
#include <string>

namespace oracle {

using Out = std::string;

// What ROOT complained of while it read: its values are no reference then.
std::string complaint;

void complain(int level, Bool_t, const char* where, const char* what)
{
   if (level >= kError && complaint.empty()) complaint = std::string(where) + ": " + what;
}

void listen() { SetErrorHandler(complain); }

// deeper are lists of pointers that lead from one object to the next
const int deepest = 24;

void object(Out& out, TClass* cl, char* p, int depth);

void unknown(Out& out, const std::string& why) { out += "{\"@unknown\": \"" + why + "\"}"; }

void number(Out& out, double x)
{
   if (std::isnan(x)) { out += "NaN"; return; }
   if (std::isinf(x)) { out += x > 0 ? "Infinity" : "-Infinity"; return; }
   char buffer[40];
   snprintf(buffer, sizeof buffer, "%.17g", x);
   out += buffer;
}

void text(Out& out, const char* s, size_t n)
{
   out += '"';
   for (size_t i = 0; i < n; ++i) {
      unsigned char c = s[i];
      char buffer[8];
      // each byte one character: whoever compares takes them for Latin-1
      if (c < 0x20 || c == '"' || c == '\\' || c > 0x7e) { snprintf(buffer, sizeof buffer, "\\u%04x", c); out += buffer; }
      else out += char(c);
   }
   out += '"';
}

bool basic(Out& out, int type, const char* p)
{
   using SI = TVirtualStreamerInfo;
   switch (type) {
   case SI::kChar: case SI::kLegacyChar: out += std::to_string(int(*(const signed char*)p)); return true;
   case SI::kUChar: out += std::to_string(int(*(const unsigned char*)p)); return true;
   case SI::kBool: out += *(const unsigned char*)p ? "true" : "false"; return true;
   case SI::kShort: out += std::to_string(*(const Short_t*)p); return true;
   case SI::kUShort: out += std::to_string(*(const UShort_t*)p); return true;
   case SI::kInt: case SI::kCounter: out += std::to_string(*(const Int_t*)p); return true;
   case SI::kUInt: case SI::kBits: out += std::to_string(*(const UInt_t*)p); return true;
   case SI::kLong: out += std::to_string(*(const Long_t*)p); return true;
   case SI::kULong: out += std::to_string(*(const ULong_t*)p); return true;
   case SI::kLong64: out += std::to_string(*(const Long64_t*)p); return true;
   case SI::kULong64: out += std::to_string(*(const ULong64_t*)p); return true;
   case SI::kFloat: case SI::kFloat16: number(out, *(const Float_t*)p); return true;
   case SI::kDouble: case SI::kDouble32: number(out, *(const Double_t*)p); return true;
   }
   return false;
}

size_t width(int type)
{
   using SI = TVirtualStreamerInfo;
   switch (type) {
   case SI::kChar: case SI::kLegacyChar: case SI::kUChar: case SI::kBool: return 1;
   case SI::kShort: case SI::kUShort: return 2;
   case SI::kInt: case SI::kCounter: case SI::kUInt: case SI::kBits: case SI::kFloat: case SI::kFloat16: return 4;
   }
   return 8;
}

template <class Each>
void list(Out& out, Long64_t n, Each each)
{
   out += '[';
   for (Long64_t i = 0; i < n; ++i) {
      if (i) out += ", ";
      each(i);
   }
   out += ']';
}

// The class of the object behind a pointer, where ROOT knows it.
void pointed(Out& out, TClass* cl, char* p, int depth)
{
   if (!p) { out += "null"; return; }
   if (!cl) { unknown(out, "no class"); return; }
   TClass* actual = cl->GetActualClass(p);
   // a class without a dictionary says of itself to be the base that has one
   if (actual && actual != cl && actual->InheritsFrom(cl)) {
      int offset = actual->GetBaseClassOffset(cl);
      if (offset > 0) p -= offset;
      cl = actual;
   }
   object(out, cl, p, depth);
}

void collection(Out& out, TClass* cl, char* p, int depth)
{
   TVirtualCollectionProxy* proxy = cl->GetCollectionProxy();
   if (!proxy) { unknown(out, std::string("no proxy for ") + cl->GetName()); return; }
   TVirtualCollectionProxy::TPushPop helper(proxy, p);
   TClass* item = proxy->GetValueClass();
   bool pointers = proxy->HasPointers();
   int type = proxy->GetType(), kind = proxy->GetCollectionType();
   Long64_t n = proxy->Size();
   bool emulated = proxy->GetProperties() & TVirtualCollectionProxy::kIsEmulated;
   if (emulated && item &&
       !strncmp(item->GetName(), "pair<", 5) && (strstr(item->GetName(), "string") || strstr(item->GetName(), "TString"))) {
      // pair<string,…: without a dictionary ROOT moves strings byte by byte, and they point into nowhere
      unknown(out, "a map of strings without a dictionary");
      return;
   }
   if (emulated && (kind == ROOT::kSTLunorderedmap || kind == ROOT::kSTLunorderedmultimap)) {
      unknown(out, "ROOT reads unordered maps into a place of its own");
      return;
   }
   auto one = [&](char* at) {
      if (item && pointers) pointed(out, item, *(char**)at, depth + 1);
      else if (item) object(out, item, at, depth + 1);
      else if (!basic(out, type, at)) unknown(out, "items of type " + std::to_string(type));
   };
   // bits are no bytes in memory
   if (!item && (kind == ROOT::kSTLbitset || (kind == ROOT::kSTLvector && type == kBool_t))) {
      list(out, n, [&](Long64_t i) { one((char*)proxy->At(i)); });
      return;
   }
   TVirtualCollectionIterators items(proxy, kFALSE);
   items.CreateIterators(p, proxy);
   bool row = kind == ROOT::kSTLvector || (proxy->GetProperties() & TVirtualCollectionProxy::kIsEmulated);
   auto next = proxy->GetFunctionNext(kFALSE);
   list(out, n, [&](Long64_t i) {
      // where items lie in a row, iterators are the addresses of the first and of what follows the last
      char* at = row ? (char*)items.fBegin + i * proxy->GetIncrement() : (char*)next(items.fBegin, items.fEnd);
      if (at) one(at); else unknown(out, "fewer items than it says");
   });
}

template <class A>
void array(Out& out, const A* a, int type)
{
   list(out, a->GetSize(), [&](Long64_t i) { basic(out, type, (const char*)(a->GetArray() + i)); });
}

// Classes whose descriptions do not say what they hold.
bool special(Out& out, TClass* cl, char* p, int depth)
{
   using SI = TVirtualStreamerInfo;
   std::string name = cl->GetName();
   if (name == "string") { auto* s = (std::string*)p; text(out, s->data(), s->size()); return true; }
   if (name == "TString") { auto* s = (TString*)p; text(out, s->Data(), s->Length()); return true; }
   if (name == "TArrayC") { array(out, (TArrayC*)p, SI::kChar); return true; }
   if (name == "TArrayS") { array(out, (TArrayS*)p, SI::kShort); return true; }
   if (name == "TArrayI") { array(out, (TArrayI*)p, SI::kInt); return true; }
   if (name == "TArrayL") { array(out, (TArrayL*)p, SI::kLong); return true; }
   if (name == "TArrayL64") { array(out, (TArrayL64*)p, SI::kLong64); return true; }
   if (name == "TArrayF") { array(out, (TArrayF*)p, SI::kFloat); return true; }
   if (name == "TArrayD") { array(out, (TArrayD*)p, SI::kDouble); return true; }
   if (name == "TRef") { out += "{\"ref\": " + std::to_string(((TObject*)p)->GetUniqueID()) + "}"; return true; }
   if (name == "TRefArray") {
      auto* refs = (TRefArray*)p;
      out += "{\"fName\": ";
      // without a name it says its class
      const char* own = strcmp(refs->GetName(), "TRefArray") ? refs->GetName() : "";
      text(out, own, strlen(own));
      out += ", \"fSize\": " + std::to_string(refs->GetLast() + 1) + ", \"refs\": ";
      list(out, refs->GetLast() + 1, [&](Long64_t i) { out += std::to_string(refs->GetUID(i)); });
      out += '}';
      return true;
   }
   if (name == "TMap") {
      auto* map = (TMap*)p;
      TIter next(map);
      out += '[';
      bool first = true;
      while (TObject* key = next()) {
         if (!first) out += ", ";
         first = false;
         out += "{\"key\": ";
         pointed(out, key->IsA(), (char*)key, depth + 1);
         out += ", \"value\": ";
         TObject* value = map->GetValue(key);
         pointed(out, value ? value->IsA() : nullptr, (char*)value, depth + 1);
         out += '}';
      }
      out += ']';
      return true;
   }
   if (cl->InheritsFrom("TCollection") && cl->GetBaseClassOffset(TCollection::Class()) == 0) {
      auto* all = (TCollection*)p;
      bool array = name == "TObjArray" || name == "TClonesArray";
      Long64_t n = array ? ((TObjArray*)p)->GetLast() + 1 : all->GetSize();
      TIter next(all);
      list(out, n, [&](Long64_t i) {
         TObject* o = array ? ((TObjArray*)p)->UncheckedAt(i) : next();
         pointed(out, o ? o->IsA() : nullptr, (char*)o, depth + 1);
      });
      return true;
   }
   return false;
}

// A counter's value: the member of this name in the object, or in one of its bases.
Long64_t counter(TStreamerElement* e, char* p)
{
   auto method = [&]() -> ULongptr_t {
      if (auto* b = dynamic_cast<TStreamerBasicPointer*>(e)) return b->GetMethod();
      if (auto* l = dynamic_cast<TStreamerLoop*>(e)) return l->GetMethod();
      return 0;
   }();
   return *(Int_t*)(p + method);
}

// An array's numbers in its dimensions; `each` writes the item of a number.
template <class Each>
void dimensions(Out& out, TStreamerElement* e, int d, Long64_t& at, Each each)
{
   if (d >= e->GetArrayDim()) { each(at++); return; }
   list(out, e->GetMaxIndex(d), [&](Long64_t) { dimensions(out, e, d + 1, at, each); });
}

template <class Each>
void extents(Out& out, TStreamerElement* e, Each each)
{
   Long64_t at = 0;
   if (e->GetArrayDim() > 0) dimensions(out, e, 0, at, each);
   else list(out, e->GetArrayLength(), each);
}

// A member of the object at `p`.
void member(Out& out, TStreamerElement* e, char* p, int depth)
{
   using SI = TVirtualStreamerInfo;
   if (e->GetOffset() == TVirtualStreamerInfo::kMissing) { unknown(out, "not in memory"); return; }
   char* at = p + e->GetOffset();
   int type = e->GetNewType() > 0 && e->GetNewType() < 60 ? e->GetNewType() : e->GetType();
   if (type >= SI::kConv && type < 400 && type - SI::kConv < 60) type = e->GetNewType();
   if (type > 0 && type < SI::kOffsetL && type != SI::kCharStar) {
      // std::array of numbers says its length but not that it is an array
      if (e->GetArrayLength() > 0)
         extents(out, e, [&](Long64_t i) { basic(out, type, at + i * width(type)); });
      else basic(out, type, at);
      return;
   }
   if (type > SI::kOffsetL && type < SI::kOffsetP && type != SI::kOffsetL + SI::kCharStar) {
      int item = type - SI::kOffsetL;
      extents(out, e, [&](Long64_t i) { basic(out, item, at + i * width(item)); });
      return;
   }
   if (type > SI::kOffsetP && type < 60) {
      int item = type - SI::kOffsetP;
      auto counted = [&](char* q) {
         char* numbers = *(char**)q;
         list(out, numbers ? counter(e, p) : 0, [&](Long64_t i) { basic(out, item, numbers + i * width(item)); });
      };
      if (e->GetArrayLength() > 0) extents(out, e, [&](Long64_t i) { counted(at + i * sizeof(void*)); });
      else counted(at);
      return;
   }
   bool many = e->GetArrayLength() > 0;
   TClass* cl = e->GetNewClass() ? e->GetNewClass() : e->GetClassPointer();
   auto items = [&](auto one, size_t size) {
      if (many) extents(out, e, [&](Long64_t i) { one(at + i * size); });
      else one(at);
   };
   switch (type % SI::kOffsetL == SI::kCharStar && type < 60 ? int(SI::kCharStar) : type) {
   case SI::kCharStar:
      items([&](char* q) { const char* s = *(char**)q; text(out, s ? s : "", s ? strlen(s) : 0); }, sizeof(char*));
      return;
   case SI::kTString: case SI::kTString + SI::kOffsetL:
      items([&](char* q) { auto* s = (TString*)q; text(out, s->Data(), s->Length()); }, sizeof(TString));
      return;
   case SI::kSTLstring: case SI::kSTLstring + SI::kOffsetL:
      if (e->IsaPointer()) { auto* s = *(std::string**)at; text(out, s ? s->data() : "", s ? s->size() : 0); return; }
      items([&](char* q) { auto* s = (std::string*)q; text(out, s->data(), s->size()); }, sizeof(std::string));
      return;
   case SI::kTObject: case SI::kTNamed: case SI::kTObject + SI::kOffsetL: case SI::kTNamed + SI::kOffsetL:
   case SI::kObject: case SI::kAny: case SI::kObject + SI::kOffsetL: case SI::kAny + SI::kOffsetL:
   case SI::kBase:
      if (!cl) break;
      items([&](char* q) { object(out, cl, q, depth + 1); }, cl->Size());
      return;
   case SI::kObjectp: case SI::kObjectP: case SI::kAnyp: case SI::kAnyP: case SI::kAnyPnoVT:
   case SI::kObjectp + SI::kOffsetL: case SI::kObjectP + SI::kOffsetL:
   case SI::kAnyp + SI::kOffsetL: case SI::kAnyP + SI::kOffsetL: case SI::kAnyPnoVT + SI::kOffsetL:
      items([&](char* q) { pointed(out, cl, *(char**)q, depth + 1); }, sizeof(void*));
      return;
   case SI::kSTL: case SI::kSTL + SI::kOffsetL: case SI::kStreamer: case SI::kSTLp: case SI::kSTLp + SI::kOffsetL:
      if (!cl) break;
      if (e->IsaPointer()) {
         items([&](char* q) { char* o = *(char**)q; if (o) object(out, cl, o, depth + 1); else out += "[]"; }, sizeof(void*));
         return;
      }
      items([&](char* q) { object(out, cl, q, depth + 1); }, cl->Size());
      return;
   case SI::kStreamLoop: case SI::kStreamLoop + SI::kOffsetL: {
      if (!cl) break;
      bool pointers = strstr(e->GetTypeName(), "**");
      items([&](char* q) {
         char* objects = *(char**)q;
         list(out, objects ? counter(e, p) : 0, [&](Long64_t i) {
            if (pointers) pointed(out, cl, ((char**)objects)[i], depth + 1);
            else object(out, cl, objects + i * cl->Size(), depth + 1);
         });
      }, sizeof(void*));
      return;
   }
   }
   unknown(out, "a member of type " + std::to_string(type));
}

// The members of an object and of its bases, each behind a comma but the first.
void members(Out& out, TClass* cl, char* p, int depth, bool& first)
{
   auto* info = (TStreamerInfo*)cl->GetStreamerInfo();
   if (!info) return;
   TIter next(info->GetElements());
   while (auto* e = (TStreamerElement*)next()) {
      if (e->InheritsFrom("TStreamerArtificial")) continue;
      if (e->GetType() < 0 || e->GetType() >= TVirtualStreamerInfo::kCache) continue;
      TClass* base = e->IsBase() ? e->GetClassPointer() : nullptr;
      if (base && !base->GetCollectionProxy() && base->GetBaseClassOffset(TArray::Class()) != 0 && !base->InheritsFrom("TCollection")) {
         members(out, base, p + e->GetOffset(), depth, first);
         continue;
      }
      if (!first) out += ", ";
      first = false;
      text(out, e->GetName(), strlen(e->GetName()));
      out += ": ";
      member(out, e, p, depth);
   }
}

void object(Out& out, TClass* cl, char* p, int depth)
{
   if (depth > deepest) { unknown(out, "too deep"); return; }
   if (!p) { out += "null"; return; }
   if (special(out, cl, p, depth)) return;
   if (cl->GetCollectionProxy()) { collection(out, cl, p, depth); return; }
   out += "{\"@class\": ";
   text(out, cl->GetName(), strlen(cl->GetName()));
   bool first = false;
   members(out, cl, p, depth, first);
   out += '}';
}

void leaf(Out& out, TLeaf* l)
{
   using SI = TVirtualStreamerInfo;
   if (l->InheritsFrom("TLeafC")) { const char* s = (const char*)l->GetValuePointer(); text(out, s ? s : "", s ? strlen(s) : 0); return; }
   const char* names[] = {"TLeafO", "TLeafB", "TLeafS", "TLeafI", "TLeafL", "TLeafG", "TLeafF", "TLeafD", "TLeafF16", "TLeafD32"};
   int types[] = {SI::kBool, SI::kChar, SI::kShort, SI::kInt, SI::kLong64, SI::kLong, SI::kFloat, SI::kDouble, SI::kFloat, SI::kDouble};
   int type = 0;
   for (int i = 0; i < 10; ++i) if (!strcmp(l->ClassName(), names[i])) type = types[i];
   if (!type) { unknown(out, l->ClassName()); return; }
   if (l->IsUnsigned()) type += type == SI::kLong64 ? 1 : 10;
   char* at = (char*)l->GetValuePointer();
   bool many = l->GetLeafCount() || l->GetLenStatic() > 1 || strchr(l->GetTitle(), '[');
   if (!at) { unknown(out, "no memory"); return; }
   if (many) list(out, l->GetLen(), [&](Long64_t i) { basic(out, type, at + i * width(type)); });
   else basic(out, type, at);
}

// Reads whatever counts the items of a branch.
void counts(TBranch* b, Long64_t entry)
{
   TIter next(b->GetListOfLeaves());
   while (auto* l = (TLeaf*)next())
      if (TLeaf* c = l->GetLeafCount()) c->GetBranch()->GetEntry(entry);
   auto* be = dynamic_cast<TBranchElement*>(b);
   if (!be) return;
   if (be->GetBranchCount()) be->GetBranchCount()->GetEntry(entry);
   if (be->GetBranchCount2()) be->GetBranchCount2()->GetEntry(entry);
}

// The entry of a branch without sub-branches.
std::string entry(TBranch* b, Long64_t entry)
{
   Out out;
   if (auto* bo = dynamic_cast<TBranchObject*>(b)) {
      void* p = nullptr;
      bo->SetAddress(&p);
      bo->GetEntry(entry);
      pointed(out, TClass::GetClass(bo->GetClassName()), (char*)p, 0);
      bo->ResetAddress();
      return out;
   }
   auto* be = dynamic_cast<TBranchElement*>(b);
   if (!be) {
      // in baskets whose offsets were left out ROOT finds entries only one after another
      bool generated = b->GetIOFeatures().Test(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
      for (Long64_t e = generated ? 0 : entry; e <= entry; ++e) {
         counts(b, e);
         b->GetEntry(e);
      }
      auto* leaves = b->GetListOfLeaves();
      if (leaves->GetEntries() == 1) { leaf(out, (TLeaf*)leaves->At(0)); return out; }
      out += '{';
      for (int i = 0; i < leaves->GetEntries(); ++i) {
         if (i) out += ", ";
         text(out, leaves->At(i)->GetName(), strlen(leaves->At(i)->GetName()));
         out += ": ";
         leaf(out, (TLeaf*)leaves->At(i));
      }
      return out + '}';
   }
   counts(b, entry);
   // the counter of a counted array may be a branch beside this one
   auto* info = (TStreamerInfo*)be->GetInfo();
   TStreamerElement* e = nullptr;
   if (be->GetID() >= 0 && info) e = info->GetElement(be->GetID());
   std::string count;
   if (auto* bp = dynamic_cast<TStreamerBasicPointer*>(e)) count = bp->GetCountName();
   if (auto* l = dynamic_cast<TStreamerLoop*>(e)) count = l->GetCountName();
   if (!count.empty() && be->GetMother() != be) {
      TBranch* above = be->GetMother()->GetSubBranch(be);
      TIter next(above ? above->GetListOfBranches() : nullptr);
      for (TObject* o = above ? next() : nullptr; o; o = next()) {
         TString name = o->GetName();
         if (name == count.c_str() || name.EndsWith(("." + count).c_str())) ((TBranch*)o)->GetEntry(entry);
      }
   }
   b->GetEntry(entry);
   if (be->GetID() < 0 || !info) {
      TClass* cl = TClass::GetClass(be->GetClassName());
      char* p = be->GetObject();
      if (!cl || !p) { unknown(out, "no object"); return out; }
      if (cl == TClonesArray::Class() && p) { object(out, cl, p, 0); return out; }
      object(out, cl, p, 0);
      return out;
   }
   if (!e) { unknown(out, "no element"); return out; }
   if (be->GetType() == 31) {
      auto* c = (TBranchElement*)be->GetBranchCount();
      auto* clones = c ? (TClonesArray*)c->GetObject() : nullptr;
      if (!clones) { unknown(out, "no TClonesArray"); return out; }
      list(out, clones->GetEntriesFast(), [&](Long64_t i) { member(out, e, (char*)clones->UncheckedAt(i) + be->GetOffset(), 0); });
      return out;
   }
   if (be->GetType() == 41) {
      auto* c = (TBranchElement*)be->GetBranchCount();
      TVirtualCollectionProxy* proxy = c ? c->GetCollectionProxy() : nullptr;
      if (!proxy || !c->GetObject()) { unknown(out, "no collection"); return out; }
      int kind = proxy->GetCollectionType();
      if (kind == ROOT::kSTLunorderedmap || kind == ROOT::kSTLunorderedmultimap) {
         unknown(out, "ROOT reads unordered maps into a place of its own");
         return out;
      }
      std::unique_ptr<TVirtualCollectionProxy> own(proxy->Generate());
      TVirtualCollectionProxy::TPushPop helper(own.get(), c->GetObject());
      list(out, own->Size(), [&](Long64_t i) {
         char* at = (char*)own->At(i);
         if (own->HasPointers()) at = *(char**)at;
         if (at) member(out, e, at + be->GetOffset(), 0); else out += "null";
      });
      return out;
   }
   if (!be->GetObject()) { unknown(out, "no object"); return out; }
   member(out, e, be->GetObject(), 0);
   return out;
}

} // namespace oracle
