// Writes ntuples of many types; each value follows from its entry.
//   root -l -b -q 'ntuples.C("DIR")'
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RField.hxx>

#include <array>
#include <bitset>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

struct Point {
    std::int32_t n = 0;
    float x = 0;
    std::vector<std::int16_t> ys;
};

enum class Colour : std::int32_t { red = 3, green = 7 };

ROOT::RNTupleWriteOptions options(int compression, std::size_t cluster) {
    ROOT::RNTupleWriteOptions o;
    o.SetCompression(compression);
    o.SetInitialUnzippedPageSize(256);
    o.SetMaxUnzippedPageSize(1024);
    o.SetApproxZippedClusterSize(cluster);
    o.SetMaxUnzippedClusterSize(10 * cluster);
    o.SetPageBufferBudget(1 << 22);
    return o;
}

void types(const std::string& path, int compression) {
    auto model = ROOT::RNTupleModel::Create();
    auto flag = model->MakeField<bool>("flag");
    auto i8 = model->MakeField<std::int8_t>("i8");
    auto u16 = model->MakeField<std::uint16_t>("u16");
    auto i32 = model->MakeField<std::int32_t>("i32");
    auto i64 = model->MakeField<std::int64_t>("i64");
    auto u64 = model->MakeField<std::uint64_t>("u64");
    auto f = model->MakeField<float>("f");
    auto d = model->MakeField<double>("d");
    auto s = model->MakeField<std::string>("s");
    auto v = model->MakeField<std::vector<float>>("v");
    auto vv = model->MakeField<std::vector<std::vector<std::int32_t>>>("vv");
    auto vs = model->MakeField<std::vector<std::string>>("vs");
    auto a = model->MakeField<std::array<double, 3>>("a");
    auto bits = model->MakeField<std::bitset<11>>("bits");
    auto o = model->MakeField<std::optional<float>>("o");
    auto w = model->MakeField<std::variant<std::int32_t, std::string>>("w");
    auto m = model->MakeField<std::map<std::string, std::int32_t>>("m");
    auto t = model->MakeField<std::tuple<std::int32_t, float>>("t");
    auto p = model->MakeField<Point>("p");
    auto ps = model->MakeField<std::vector<Point>>("ps");
    auto c = model->MakeField<Colour>("c");
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options(compression, 20000));
    for (int i = 0; i < 1000; ++i) {
        *flag = i % 3 == 0;
        *i8 = i % 256 - 128;
        *u16 = i * 60;
        *i32 = -i * 1000003;
        *i64 = -i * 10000000019LL;
        *u64 = i * 18000000000000000ULL;
        *f = i * 0.5f;
        *d = i / 7.0;
        *s = std::string(i % 5, 'a' + i % 26);
        v->clear();
        vv->clear();
        vs->clear();
        m->clear();
        ps->clear();
        for (int k = 0; k < i % 4; ++k) {
            v->push_back(i + k / 4.0f);
            vv->push_back(std::vector<std::int32_t>(k, i));
            vs->push_back(std::to_string(i * k));
            (*m)[std::to_string(k)] = i - k;
            Point point;
            point.n = k;
            point.x = i + k;
            point.ys.assign(k, i % 100);
            ps->push_back(point);
        }
        *a = {1.0 * i, 2.0 * i, 3.0 * i};
        *bits = i;
        *o = i % 2 ? std::optional<float>(i) : std::nullopt;
        if (i % 2) *w = i; else *w = std::to_string(i);
        *t = {i, i / 2.0f};
        p->n = i;
        p->x = -i;
        p->ys.assign(i % 3, i % 100);
        *c = i % 2 ? Colour::red : Colour::green;
        writer->Fill();
    }
}

void late(const std::string& path) {
    auto model = ROOT::RNTupleModel::Create();
    auto first = model->MakeField<std::int32_t>("first");
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options(505, 20000));
    for (int i = 0; i < 300; ++i) {
        *first = i;
        writer->Fill();
        if (i == 130) writer->CommitCluster();
    }
    auto updater = writer->CreateModelUpdater();
    updater->BeginUpdate();
    updater->AddField(ROOT::RFieldBase::Create("number", "float").Unwrap());
    updater->AddField(ROOT::RFieldBase::Create("list", "std::vector<std::int32_t>").Unwrap());
    updater->CommitUpdate();
    auto entry = writer->CreateEntry();
    auto one = entry->GetPtr<std::int32_t>("first");
    auto number = entry->GetPtr<float>("number");
    auto list = entry->GetPtr<std::vector<std::int32_t>>("list");
    for (int i = 300; i < 500; ++i) {
        *one = i;
        *number = i * 0.25f;
        list->assign(i % 3, i);
        writer->Fill(*entry);
        if (i == 400) writer->CommitCluster();
    }
}

void precision(const std::string& path) {
    auto model = ROOT::RNTupleModel::Create();
    auto half = std::make_unique<ROOT::RField<float>>("half");
    half->SetHalfPrecision();
    auto truncated = std::make_unique<ROOT::RField<float>>("truncated");
    truncated->SetTruncated(16);
    auto quantized = std::make_unique<ROOT::RField<float>>("quantized");
    quantized->SetQuantized(-10, 10, 12);
    model->AddField(std::move(half));
    model->AddField(std::move(truncated));
    model->AddField(std::move(quantized));
    model->MakeField<double>("whole");
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options(101, 20000));
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 777; ++i) {
        const float x = 10 * std::sin(0.1f * i);
        *entry->GetPtr<float>("half") = x;
        *entry->GetPtr<float>("truncated") = x;
        *entry->GetPtr<float>("quantized") = x;
        *entry->GetPtr<double>("whole") = x;
        writer->Fill(*entry);
    }
}

// Header, footer and page list longer than what opening a file requests first.
void wide(const std::string& path) {
    auto model = ROOT::RNTupleModel::Create();
    std::vector<std::shared_ptr<float>> fields;
    for (int i = 0; i < 500; ++i) fields.push_back(model->MakeField<float>("a_field_of_a_long_name_" + std::to_string(i)));
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options(0, 1000000));
    for (int i = 0; i < 1000; ++i) {
        for (int k = 0; k < 500; ++k) *fields[k] = i + k;
        writer->Fill();
    }
}

void ntuples(const char* folder) {
    const std::string at = std::string(folder) + "/";
    types(at + "zstd.root", 505);
    types(at + "lz4.root", 404);
    types(at + "zlib.root", 101);
    types(at + "lzma.root", 207);
    types(at + "uncompressed.root", 0);
    late(at + "late.root");
    precision(at + "precision.root");
    wide(at + "wide.root");
    {
        auto writer = ROOT::RNTupleWriter::Recreate(ROOT::RNTupleModel::Create(), "n", at + "nothing.root");
    }
    std::ofstream(at + "done") << "\n";
}
