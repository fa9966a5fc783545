// Ntuples of kinds that collections of files lack, a file each; the values follow from the entry.
//   root -l -b -q 'ntuple_zoo.C("DIR")'
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RVec.hxx>
#include <TDirectory.h>
#include <TFile.h>
#include <TH1F.h>
#include <TTree.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

using ROOT::RNTupleModel;
using ROOT::RNTupleWriteOptions;
using ROOT::RNTupleWriter;

struct Hit {
    float x = 0;
    std::vector<std::int16_t> codes;
};
struct Base {
    std::int32_t number = 0;
    float table[2][3] = {};
};
struct Other {
    std::string text;
};
struct Derived : Base, Other {
    std::vector<Hit> hits;
    std::array<Hit, 2> two;
    double skipped = 3;  //!
};
enum class Tiny : std::int8_t { low = -128, one = 1 };
enum class Huge : std::uint64_t { none = 0, all = 18446744073709551615ULL };
enum Plain { first_plain = 5, second_plain = 6 };

RNTupleWriteOptions options(int compression = 505, std::size_t cluster = 20000, std::size_t page = 512) {
    RNTupleWriteOptions o;
    o.SetCompression(compression);
    o.SetInitialUnzippedPageSize(std::min<std::size_t>(256, page));
    o.SetMaxUnzippedPageSize(page);
    o.SetApproxZippedClusterSize(cluster);
    o.SetMaxUnzippedClusterSize(10 * cluster);
    o.SetPageBufferBudget(1 << 24);
    return o;
}

std::string at;

std::string path(const char* name) { return at + "/" + name + ".root"; }

// A field of type T whose values are made by a function of the entry and a generator of small numbers.
struct Model {
    std::unique_ptr<RNTupleModel> model = RNTupleModel::Create();
    std::vector<std::function<void(int)>> fill;
    template <typename T, typename F>
    void add(const std::string& name, F&& make) {
        auto value = model->MakeField<T>(name);
        fill.push_back([value, make](int i) { make(*value, i); });
    }
    void write(const char* name, int entries, const RNTupleWriteOptions& o, int cluster = 0, int group = 0) {
        auto writer = RNTupleWriter::Recreate(std::move(model), "n", path(name), o);
        for (int i = 0; i < entries; ++i) {
            for (auto& f : fill) f(i);
            writer->Fill();
            if (cluster && i % cluster == cluster - 1) writer->CommitCluster(group && i / cluster % group == group - 1);
        }
    }
};

// Declared first, for they call each other.
template <typename T> void grow(T& value, int i);
template <typename T> void grow(std::vector<T>& value, int i);
template <typename T> void grow(ROOT::RVec<T>& value, int i);
template <typename T, std::size_t N> void grow(std::array<T, N>& value, int i);
template <typename T> void grow(std::optional<T>& value, int i);
template <typename T> void grow(std::unique_ptr<T>& value, int i);
template <typename K, typename V> void grow(std::map<K, V>& value, int i);

template <typename T>
void grow(T& value, int i) {
    value = static_cast<T>(i);
}
template <>
void grow(std::string& value, int i) {
    value = std::string(i % 4, 'a' + i % 26);
}
template <typename T>
void grow(std::vector<T>& value, int i) {
    value.clear();
    for (int k = 0; k < (i + i / 7) % 4; ++k) {
        T item{};
        grow(item, i + k);
        value.push_back(std::move(item));
    }
}
template <typename T>
void grow(ROOT::RVec<T>& value, int i) {
    value.clear();
    for (int k = 0; k < (i + i / 5) % 4; ++k) {
        T item{};
        grow(item, i + k);
        value.push_back(item);
    }
}
template <>
void grow(Hit& value, int i) {
    value.x = i / 2.0f;
    grow(value.codes, i);
}
template <typename T, std::size_t N>
void grow(std::array<T, N>& value, int i) {
    for (std::size_t k = 0; k < N; ++k) grow(value[k], i + static_cast<int>(k));
}
template <typename T>
void grow(std::optional<T>& value, int i) {
    value.reset();
    if (i % 3) grow(value.emplace(), i);
}
template <typename T>
void grow(std::unique_ptr<T>& value, int i) {
    value.reset();
    if (i % 3) {
        value = std::make_unique<T>();
        grow(*value, i);
    }
}
template <typename K, typename V>
void grow(std::map<K, V>& value, int i) {
    value.clear();
    for (int k = 0; k < i % 3; ++k) {
        K key{};
        grow(key, i + k + 1);
        grow(value[key], i + k);
    }
}
template <typename T, std::size_t N>
void bits(T& value, int i, std::integral_constant<std::size_t, N>) {
    for (std::size_t k = 0; k < N; ++k) value[k] = (i * 2654435761u >> (k % 31) & 1) ^ (k % 3 == 0);
}

void deep() {
    Model m;
    m.add<std::vector<std::vector<std::vector<std::vector<std::vector<std::int32_t>>>>>>("v5", [](auto& v, int i) { grow(v, i); });
    m.add<std::vector<std::vector<std::vector<std::string>>>>("strings", [](auto& v, int i) { grow(v, i); });
    m.add<std::array<std::vector<std::array<float, 2>>, 3>>("ava", [](auto& v, int i) { grow(v, i); });
    m.add<std::vector<std::array<std::vector<double>, 2>>>("vav", [](auto& v, int i) { grow(v, i); });
    m.add<std::array<std::array<std::array<std::int16_t, 2>, 3>, 4>>("aaa", [](auto& v, int i) { grow(v, i); });
    m.add<std::array<std::vector<std::string>, 2>>("avs", [](auto& v, int i) { grow(v, i); });
    m.write("deep", 400, options());
}

void rvecs() {
    Model m;
    m.add<ROOT::RVec<Hit>>("records", [](auto& v, int i) { grow(v, i); });
    m.add<ROOT::RVec<ROOT::RVec<float>>>("lists", [](auto& v, int i) { grow(v, i); });
    m.add<ROOT::RVec<bool>>("flags", [](auto& v, int i) { v.clear(); for (int k = 0; k < i % 5; ++k) v.push_back(k % 2); });
    m.add<std::vector<bool>>("bits", [](auto& v, int i) { v.clear(); for (int k = 0; k < i % 11; ++k) v.push_back(i % 3 == k % 3); });
    m.add<std::vector<std::vector<bool>>>("lists_of_bits", [](auto& v, int i) {
        v.clear();
        for (int k = 0; k < i % 4; ++k) v.push_back(std::vector<bool>(k, i % 2));
    });
    m.add<std::vector<ROOT::RVec<std::string>>>("mixed", [](auto& v, int i) { grow(v, i); });
    m.write("rvecs", 500, options(101));
}

void variants() {
    using Lists = std::variant<std::vector<std::int32_t>, std::string, float>;
    using Records = std::variant<Hit, std::vector<Hit>, std::optional<double>>;
    Model m;
    m.add<Lists>("lists", [](auto& v, int i) {
        if (i % 3 == 0) { std::vector<std::int32_t> x; grow(x, i); v = x; }
        else if (i % 3 == 1) v = std::to_string(i);
        else v = i / 4.0f;
    });
    m.add<Records>("records", [](auto& v, int i) {
        if (i % 3 == 0) { Hit x; grow(x, i); v = x; }
        else if (i % 3 == 1) { std::vector<Hit> x; grow(x, i); v = x; }
        else { std::optional<double> x; grow(x, i / 3); v = x; }
    });
    m.add<std::vector<std::variant<std::int32_t, std::vector<std::string>>>>("inside", [](auto& v, int i) {
        v.clear();
        for (int k = 0; k < i % 4; ++k) {
            if ((i + k) % 2) v.push_back(i * k);
            else { std::vector<std::string> x; grow(x, i + k); v.push_back(x); }
        }
    });
    m.write("variants", 300, options(), 100);
}

void maps() {
    // ROOT 6.40 needs dictionaries for maps of maps, lists or records, multimaps and sets of sets
    Model m;
    m.add<std::map<std::string, std::int32_t>>("numbers", [](auto& v, int i) { grow(v, i); });
    m.add<std::set<std::string>>("strings", [](auto& v, int i) { v.clear(); for (int k = 0; k < i % 4; ++k) v.insert(std::to_string(i + k)); });
    m.add<std::vector<std::pair<std::string, std::tuple<std::int32_t, std::vector<float>, bool>>>>("pairs", [](auto& v, int i) {
        v.clear();
        for (int k = 0; k < i % 3; ++k) v.push_back({std::to_string(k), {i, std::vector<float>(k, i), k % 2}});
    });
    m.write("maps", 300, options(404));
}

void nullable() {
    Model m;
    m.add<std::array<std::optional<float>, 3>>("array", [](auto& v, int i) { grow(v, i); });
    m.add<std::optional<std::array<std::int32_t, 2>>>("of_array", [](auto& v, int i) { grow(v, i); });
    m.add<std::optional<std::vector<std::optional<std::string>>>>("of_list", [](auto& v, int i) { grow(v, i); });
    m.add<std::optional<Hit>>("of_record", [](auto& v, int i) { grow(v, i); });
    m.add<std::vector<std::optional<Hit>>>("records", [](auto& v, int i) { grow(v, i); });
    m.add<std::optional<bool>>("of_flag", [](auto& v, int i) { grow(v, i); });
    m.add<std::optional<std::optional<std::int32_t>>>("twice", [](auto& v, int i) {
        v.reset();
        if (i % 3) v.emplace();
        if (i % 3 == 2) v->emplace(i);
    });
    m.add<std::vector<std::unique_ptr<std::int32_t>>>("pointers", [](auto& v, int i) { grow(v, i); });
    m.add<std::unique_ptr<std::vector<std::unique_ptr<std::string>>>>("pointer", [](auto& v, int i) { grow(v, i); });
    m.add<std::unique_ptr<Hit>>("to_record", [](auto& v, int i) { grow(v, i); });
    m.write("nullable", 300, options(207), 77);
}

void bitsets() {
    Model m;
    m.add<std::bitset<1>>("b1", [](auto& v, int i) { bits(v, i, std::integral_constant<std::size_t, 1>{}); });
    m.add<std::bitset<8>>("b8", [](auto& v, int i) { bits(v, i, std::integral_constant<std::size_t, 8>{}); });
    m.add<std::bitset<64>>("b64", [](auto& v, int i) { bits(v, i, std::integral_constant<std::size_t, 64>{}); });
    m.add<std::bitset<65>>("b65", [](auto& v, int i) { bits(v, i, std::integral_constant<std::size_t, 65>{}); });
    m.add<std::bitset<200>>("b200", [](auto& v, int i) { bits(v, i, std::integral_constant<std::size_t, 200>{}); });
    m.add<std::vector<std::bitset<3>>>("list", [](auto& v, int i) { v.assign(i % 4, std::bitset<3>(i)); });
    m.add<std::array<std::bitset<9>, 2>>("array", [](auto& v, int i) { v = {std::bitset<9>(i), std::bitset<9>(i * 3)}; });
    m.write("bitsets", 300, options());
}

void enums() {
    Model m;
    m.add<Tiny>("tiny", [](auto& v, int i) { v = i % 2 ? Tiny::low : Tiny::one; });
    m.add<Huge>("huge", [](auto& v, int i) { v = i % 3 ? Huge::all : Huge::none; });
    m.add<Plain>("plain", [](auto& v, int i) { v = i % 3 ? first_plain : second_plain; });
    m.add<std::vector<Tiny>>("list", [](auto& v, int i) { v.assign(i % 3, Tiny::low); });
    m.add<std::array<Huge, 2>>("array", [](auto& v, int i) { v = {Huge::all, i % 2 ? Huge::none : Huge::all}; });
    m.add<std::optional<Tiny>>("option", [](auto& v, int i) { v.reset(); if (i % 2) v = Tiny::one; });
    m.write("enums", 300, options());
}

void atomics() {
    Model m;
    m.add<std::atomic<bool>>("flag", [](auto& v, int i) { v = i % 2; });
    m.add<std::atomic<std::int8_t>>("byte", [](auto& v, int i) { v = static_cast<std::int8_t>(i); });
    m.add<std::atomic<std::uint64_t>>("number", [](auto& v, int i) { v = i * 18000000000000000ULL; });
    m.add<std::atomic<double>>("real", [](auto& v, int i) { v = i / 7.0; });
    m.add<std::byte>("raw", [](auto& v, int i) { v = std::byte(i); });
    m.add<std::vector<std::byte>>("raws", [](auto& v, int i) { v.assign(i % 4, std::byte(200)); });
    m.add<char>("letter", [](auto& v, int i) { v = 'a' + i % 26; });
    m.add<std::vector<char>>("letters", [](auto& v, int i) { v.assign(i % 4, -3); });
    m.add<unsigned long>("size", [](auto& v, int i) { v = i; });
    m.add<std::vector<long long>>("longs", [](auto& v, int i) { v.assign(i % 3, -i * 1000000007LL); });
    m.write("atomics", 300, options());
}

void classes() {
    Model m;
    auto make = [](Derived& v, int i) {
        v.number = i;
        for (int k = 0; k < 6; ++k) v.table[k / 3][k % 3] = i + k;
        grow(v.text, i);
        grow(v.hits, i);
        grow(v.two, i);
    };
    m.add<Derived>("one", make);
    m.add<std::vector<Derived>>("many", [make](auto& v, int i) {
        v.resize(i % 3);
        for (auto& d : v) make(d, i);
    });
    m.write("classes", 200, options());
}

void streamed() {
    auto model = RNTupleModel::Create();
    model->AddField(std::make_unique<ROOT::RStreamerField>("axis", "TAxis"));
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path("streamed"), options());
    auto entry = writer->CreateEntry();
    auto axis = entry->GetPtr<TAxis>("axis");
    for (int i = 0; i < 100; ++i) {
        axis->Set(i + 1, 0, i + 1);
        writer->Fill(*entry);
    }
}

// Every representation of every type that ROOT writes, in fields "type_n".
void encodings(const char* name, int compression) {
    using T = ROOT::ENTupleColumnType;
    auto model = RNTupleModel::Create();
    std::vector<std::pair<std::string, std::string>> made;
    const std::vector<std::string> types = {
        "bool", "std::int8_t", "std::uint8_t", "std::int16_t", "std::uint16_t", "std::int32_t", "std::uint32_t",
        "std::int64_t", "std::uint64_t", "float", "double", "std::string", "std::vector<float>", "std::vector<std::string>",
        "std::byte", "char", "std::optional<float>", "std::map<std::string,std::int32_t>"};
    for (const auto& type : types) {
        std::vector<std::vector<T>> all;
        for (int c = static_cast<int>(T::kUnknown) + 1; c < static_cast<int>(T::kMax); ++c) {
            all.push_back({static_cast<T>(c)});
            all.push_back({static_cast<T>(c), T::kChar});
        }
        int n = 0;
        for (const auto& representation : all) {
            if (representation[0] == T::kReal32Trunc || representation[0] == T::kReal32Quant) continue;
            auto field = ROOT::RFieldBase::Create("f" + std::to_string(made.size()), type).Unwrap();
            try {
                field->SetColumnRepresentatives({representation});
                made.push_back({field->GetFieldName(), type});
                model->AddField(std::move(field));
                ++n;
            } catch (const std::exception&) {
            }
        }
    }
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path(name), options(compression));
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 400; ++i) {
        for (const auto& [field, type] : made) {
            if (type == "bool") *entry->GetPtr<bool>(field) = i % 3 == 0;
            if (type == "std::int8_t") *entry->GetPtr<std::int8_t>(field) = i;
            if (type == "std::uint8_t") *entry->GetPtr<std::uint8_t>(field) = i;
            if (type == "std::int16_t") *entry->GetPtr<std::int16_t>(field) = i * 301;
            if (type == "std::uint16_t") *entry->GetPtr<std::uint16_t>(field) = i * 301;
            if (type == "std::int32_t") *entry->GetPtr<std::int32_t>(field) = i % 2 ? i * 1000003 : -i * 1000003;
            if (type == "std::uint32_t") *entry->GetPtr<std::uint32_t>(field) = i * 10000019u;
            if (type == "std::int64_t") *entry->GetPtr<std::int64_t>(field) = i % 2 ? -i * 10000000019LL : i;
            if (type == "std::uint64_t") *entry->GetPtr<std::uint64_t>(field) = i * 40000000000000003ULL;
            if (type == "float") *entry->GetPtr<float>(field) = (i - 200) / 7.0f;
            if (type == "double") *entry->GetPtr<double>(field) = (i - 200) / 7.0;
            if (type == "std::string") grow(*entry->GetPtr<std::string>(field), i);
            if (type == "std::vector<float>") grow(*entry->GetPtr<std::vector<float>>(field), i);
            if (type == "std::vector<std::string>") grow(*entry->GetPtr<std::vector<std::string>>(field), i);
            if (type == "std::byte") *entry->GetPtr<std::byte>(field) = std::byte(i);
            if (type == "char") *entry->GetPtr<char>(field) = i;
            if (type == "std::optional<float>") grow(*entry->GetPtr<std::optional<float>>(field), i);
            if (type == "std::map<std::string,std::int32_t>") grow(*entry->GetPtr<std::map<std::string, std::int32_t>>(field), i);
        }
        writer->Fill(*entry);
        if (i == 123) writer->CommitCluster();
    }
}

void quantized(const char* name, int compression) {
    const std::pair<double, double> ranges[] = {{-1, 1}, {0, 1e-3}, {-1e30, 1e30}, {-123.456, 7.89}, {1e5, 1e5 + 1}};
    auto model = RNTupleModel::Create();
    std::vector<std::tuple<std::string, bool, double, double>> made;
    for (std::size_t bits = 1; bits <= 32; ++bits) {
        const auto [least, most] = ranges[bits % 5];
        auto single = std::make_unique<ROOT::RField<float>>("q" + std::to_string(bits));
        single->SetQuantized(bits, {least, most});
        model->AddField(std::move(single));
        auto twice = std::make_unique<ROOT::RField<double>>("d" + std::to_string(bits));
        twice->SetQuantized(bits, {least, most});
        model->AddField(std::move(twice));
        made.push_back({"q" + std::to_string(bits), false, least, most});
        made.push_back({"d" + std::to_string(bits), true, least, most});
        if (bits < 10) continue;
        auto cut = std::make_unique<ROOT::RField<float>>("t" + std::to_string(bits));
        auto cut_twice = std::make_unique<ROOT::RField<double>>("e" + std::to_string(bits));
        if (bits < 32) {
            cut->SetTruncated(bits);
            cut_twice->SetTruncated(bits);
        }
        model->AddField(std::move(cut));
        model->AddField(std::move(cut_twice));
        made.push_back({"t" + std::to_string(bits), false, -1e10, 1e10});
        made.push_back({"e" + std::to_string(bits), true, -1e10, 1e10});
    }
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path(name), options(compression));
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 333; ++i) {
        for (const auto& [field, twice, least, most] : made) {
            const double part = i % 17 == 0 ? 0 : i % 17 == 1 ? 1 : 0.5 + 0.5 * std::sin(i * 1.7);
            const double x = least + (most - least) * part;
            if (twice) *entry->GetPtr<double>(field) = std::min(most, std::max(least, x));
            else *entry->GetPtr<float>(field) = std::min<float>(most, std::max<float>(least, x));
        }
        writer->Fill(*entry);
        if (i == 200) writer->CommitCluster();
    }
}

void reduced_inside() {
    auto model = RNTupleModel::Create();
    auto item = std::make_unique<ROOT::RField<float>>("_0");
    item->SetQuantized(7, {0, 10});
    model->AddField(std::make_unique<ROOT::RVectorField>("list", std::move(item)));
    auto half = std::make_unique<ROOT::RField<double>>("_0");
    half->SetHalfPrecision();
    model->AddField(std::make_unique<ROOT::RArrayField>("array", std::move(half), 3));
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path("reduced_inside"), options());
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 300; ++i) {
        entry->GetPtr<std::vector<float>>("list")->assign(i % 4, i % 11);
        *entry->GetPtr<std::array<double, 3>>("array") = {i / 3.0, i / 7.0, -i / 9.0};
        writer->Fill(*entry);
    }
}

void late() {
    auto model = RNTupleModel::Create();
    auto number = model->MakeField<std::int32_t>("number");
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path("late"), options(505, 20000));
    int i = 0;
    for (; i < 900; ++i) {
        *number = i;
        writer->Fill();
        if (i % 90 == 89) writer->CommitCluster(i % 270 == 269);
    }
    auto add = [&](std::vector<std::pair<const char*, const char*>> fields) {
        auto updater = writer->CreateModelUpdater();
        updater->BeginUpdate();
        for (auto& [name, type] : fields) updater->AddField(ROOT::RFieldBase::Create(name, type).Unwrap());
        updater->CommitUpdate();
    };
    add({{"text", "std::string"}, {"record", "Hit"}, {"lists", "std::vector<std::vector<float>>"}});
    {
        auto entry = writer->CreateEntry();
        for (; i < 1000; ++i) {
            *entry->GetPtr<std::int32_t>("number") = i;
            grow(*entry->GetPtr<std::string>("text"), i);
            grow(*entry->GetPtr<Hit>("record"), i);
            grow(*entry->GetPtr<std::vector<std::vector<float>>>("lists"), i);
            writer->Fill(*entry);
            if (i == 950) writer->CommitCluster();
        }
    }
    add({{"option", "std::optional<double>"}, {"array", "std::array<std::int16_t,3>"}, {"flag", "bool"}, {"bits", "std::bitset<7>"}});
    auto entry = writer->CreateEntry();
    for (; i < 1200; ++i) {
        *entry->GetPtr<std::int32_t>("number") = i;
        grow(*entry->GetPtr<std::string>("text"), i);
        grow(*entry->GetPtr<std::optional<double>>("option"), i);
        grow(*entry->GetPtr<std::array<std::int16_t, 3>>("array"), i);
        *entry->GetPtr<bool>("flag") = i % 2;
        *entry->GetPtr<std::bitset<7>>("bits") = i;
        writer->Fill(*entry);
        if (i % 50 == 0) writer->CommitCluster(i % 100 == 0);
    }
}

void shapes() {
    {
        Model m;
        m.add<std::vector<float>>("list", [](auto& v, int i) { v.clear(); if (i / 50 % 2) grow(v, i); });
        m.add<std::string>("text", [](auto& v, int i) { v = i / 50 % 3 ? "" : std::to_string(i); });
        m.write("empty_lists", 300, options(), 50);
    }
    {
        Model m;
        m.add<std::vector<Hit>>("records", [](auto& v, int i) { grow(v, i); });
        m.add<std::optional<std::string>>("option", [](auto& v, int i) { grow(v, i); });
        m.write("no_entries", 0, options());
    }
    {
        Model m;
        m.write("no_fields", 0, options());
    }
    {
        Model m;
        m.add<std::vector<double>>("list", [](auto& v, int) { v.assign(100000, 1.5); v[77777] = 2; });
        m.write("one_entry", 1, options(505, 1 << 20, 1 << 16));
    }
    {
        Model m;
        m.add<std::int32_t>("number", [](auto& v, int i) { v = i; });
        m.add<std::vector<std::string>>("texts", [](auto& v, int i) { grow(v, i); });
        m.write("groups", 1000, options(), 7, 5);
    }
    {
        Model m;
        m.add<double>("number", [](auto& v, int i) { v = i; });
        m.add<std::vector<std::int16_t>>("list", [](auto& v, int i) { grow(v, i); });
        auto o = options(505, 20000, 8);
        o.SetInitialUnzippedPageSize(8);
        m.write("tiny_pages", 200, o, 60);
    }
    for (int compression : {0, 101, 207, 404, 505}) {
        Model m;
        m.add<std::vector<std::uint64_t>>("list", [](auto& v, int i) {
            v.resize(1100000);
            for (std::size_t k = 0; k < v.size(); ++k) v[k] = k * 2654435761u * (i + 1);
        });
        auto o = options(compression, 100 << 20, 20 << 20);
        o.SetInitialUnzippedPageSize(20 << 20);
        o.SetPageBufferBudget(1 << 30);
        m.write(("large_pages_" + std::to_string(compression)).c_str(), compression == 207 ? 1 : 2, o);
    }
    for (bool merging : {false, true}) {
        Model m;
        for (int k = 0; k < 5; ++k) m.add<std::vector<float>>("same" + std::to_string(k), [](auto& v, int i) { grow(v, i); });
        auto o = options(0);
        if (!merging) o.SetEnablePageChecksums(false);
        o.SetEnableSamePageMerging(merging);
        m.write(merging ? "merged_pages" : "no_checksums", 300, o);
    }
    {
        Model m;
        m.add<std::vector<float>>("list", [](auto& v, int i) { grow(v, i); });
        auto o = options();
        o.SetUseBufferedWrite(false);
        m.write("unbuffered", 300, o);
    }
}

void big_header() {
    Model m;
    for (int k = 0; k < 2500; ++k) {
        m.add<float>("a_field_with_a_long_name_that_fills_the_header_" + std::to_string(k * 7919), [k](auto& v, int i) { v = i + k; });
    }
    m.model->SetDescription(std::string(100000, 'd'));
    m.write("big_header", 20, options(0, 1000000, 4096));
}

void names() {
    auto model = RNTupleModel::Create();
    std::vector<std::string> all = {"a,b:c{d}", "\xcf\x80", "with space", "*", "?", "[0]", "_0", "class", "1st", "a:b", "-", "\"", "'", "%s", "<>", "#", "$x", "\xf0\x9f\x90\x99", "(x)", "n+1", "Entry$", "a|b&c", "x;1"};
    std::vector<std::string> made;
    for (auto& name : all) {
        try {
            model->MakeField<std::int32_t>(name);
            model->MakeField<std::vector<Hit>>(name + "s");
            made.push_back(name);
        } catch (const std::exception& e) {
            printf("%s: %s\n", name.c_str(), e.what());
        }
    }
    auto writer = RNTupleWriter::Recreate(std::move(model), "an-\xc3\xa4(odd)[name]*", path("names"), options());
    auto entry = writer->CreateEntry();
    for (int i = 0; i < 100; ++i) {
        for (std::size_t k = 0; k < made.size(); ++k) {
            *entry->GetPtr<std::int32_t>(made[k]) = i + k;
            grow(*entry->GetPtr<std::vector<Hit>>(made[k] + "s"), i + k);
        }
        writer->Fill(*entry);
    }
}

void several() {
    TFile file(path("several").c_str(), "RECREATE");
    auto deep = file.mkdir("a")->mkdir("b");
    auto flat = file.mkdir("c d");
    TDirectory* where[] = {&file, deep, flat};
    for (auto folder : where) {
        for (int k = 0; k < 2; ++k) {
            auto model = RNTupleModel::Create();
            auto x = model->MakeField<float>("x");
            auto v = model->MakeField<std::vector<std::string>>("v");
            auto writer = RNTupleWriter::Append(std::move(model), "n" + std::to_string(k), *folder, options());
            for (int i = 0; i < 100 * (k + 1); ++i) {
                *x = i + 1000 * k;
                grow(*v, i + k);
                writer->Fill();
            }
        }
        folder->cd();
        TTree tree("t", "a tree");
        int n = 0;
        tree.Branch("n", &n);
        for (n = 0; n < 50; ++n) tree.Fill();
        tree.Write();
        TH1F h("h", "", 10, 0, 1);
        h.Write();
    }
}

void projected() {
    auto model = RNTupleModel::Create();
    auto hits = model->MakeField<std::vector<Hit>>("hits");
    auto one = model->MakeField<Hit>("one");
    auto add = [&](const char* name, const char* type, std::map<std::string, std::string> sources) {
        auto field = ROOT::RFieldBase::Create(name, type).Unwrap();
        model->AddProjectedField(std::move(field), [sources](const std::string& target) {
            auto found = sources.find(target);
            return found == sources.end() ? std::string() : found->second;
        });
    };
    add("n", "ROOT::RNTupleCardinality<std::uint32_t>", {{"n", "hits"}});
    add("n64", "ROOT::RNTupleCardinality<std::uint64_t>", {{"n64", "hits"}});
    add("x", "std::vector<float>", {{"x", "hits"}, {"x._0", "hits._0.x"}});
    add("codes", "std::vector<std::vector<std::int16_t>>", {{"codes", "hits"}, {"codes._0", "hits._0.codes"}, {"codes._0._0", "hits._0.codes._0"}});
    add("alone", "float", {{"alone", "one.x"}});
    auto writer = RNTupleWriter::Recreate(std::move(model), "n", path("projected"), options());
    for (int i = 0; i < 300; ++i) {
        grow(*hits, i);
        grow(*one, i);
        writer->Fill();
    }
}

void parallel() {
    auto model = RNTupleModel::CreateBare();
    model->AddField(ROOT::RFieldBase::Create("number", "std::int32_t").Unwrap());
    model->AddField(ROOT::RFieldBase::Create("list", "std::vector<float>").Unwrap());
    auto writer = ROOT::RNTupleParallelWriter::Recreate(std::move(model), "n", path("parallel"), options());
    auto one = writer->CreateFillContext(), two = writer->CreateFillContext();
    auto a = one->CreateEntry(), b = two->CreateEntry();
    for (int i = 0; i < 600; ++i) {
        auto& context = i % 3 ? one : two;
        auto& entry = i % 3 ? a : b;
        *entry->GetPtr<std::int32_t>("number") = i;
        grow(*entry->GetPtr<std::vector<float>>("list"), i);
        context->Fill(*entry);
        if (i % 100 == 99) context->FlushCluster();
    }
}

void small_keys() {
    Model m;
    for (int k = 0; k < 40; ++k) m.add<float>("a_field_of_some_length_" + std::to_string(k), [k](auto& v, int i) { v = i * k; });
    auto o = options(0, 20000, 600);
    ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(o, 1000);
    m.write("small_keys", 300, o, 40);
}

void ntuple_zoo(const char* folder) {
    at = folder;
    deep();
    rvecs();
    variants();
    maps();
    nullable();
    bitsets();
    enums();
    atomics();
    classes();
    streamed();
    encodings("encodings_plain", 0);
    encodings("encodings_zstd", 505);
    quantized("quantized_plain", 0);
    quantized("quantized_zlib", 101);
    reduced_inside();
    late();
    shapes();
    big_header();
    names();
    several();
    projected();
    parallel();
    small_keys();
    std::ofstream(at + "/done") << "\n";
}
