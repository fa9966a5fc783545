// A tree as an ntuple, with ROOT's importer: root -l -b -q 'convert.C("IN", "TREE", "OUT", COMPRESSION)'
// The clock runs around the importer's own work.
#include <ROOT/RNTupleImporter.hxx>
#include <TStopwatch.h>
#include <TSystem.h>
void convert(const char* in, const char* name, const char* out, int compression) {
    TStopwatch watch;
    auto importer = ROOT::Experimental::RNTupleImporter::Create(in, name, out);
    importer->SetIsQuiet(true);
    auto options = importer->GetWriteOptions();
    options.SetCompression(compression);
    importer->SetWriteOptions(options);
    importer->Import();
    importer.reset();
    double seconds = watch.RealTime();
    Long_t id, flags, time;
    Long64_t size;
    gSystem->GetPathInfo(out, &id, &size, &flags, &time);
    printf("RESULT {\"seconds\": %.4f, \"file_mb\": %.3f}\n", seconds, size / 1e6);
}
