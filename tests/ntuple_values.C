// Writes the values of an ntuple as ROOT reads them: an object for each of the first entries, a line each.
//   root -l -b -q 'ntuple_values.C("FILE", "NAME", 100, "OUT")'
// Numbers as they are written in hexadecimal are exact; classes without a dictionary are emulated.
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleReader.hxx>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ios>
#include <string>

std::string json_text(const std::string& text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", c);
        // the bytes of UTF-8 as they are
        out += c < 128 ? escape : std::string(1, c);
    }
    return out + "\"";
}

std::string json_real(double x) {
    char text[64];
    std::snprintf(text, sizeof text, "\"%a\"", x);
    return text;
}

std::string json_value(const ROOT::RFieldBase& field, const ROOT::RFieldBase::RValue& value) {
    const std::string& type = field.GetTypeName();
    const void* at = value.GetPtr<void>().get();
    if (type == "bool") return *static_cast<const bool*>(at) ? "1" : "0";
    if (type == "std::byte" || type == "std::uint8_t" || type == "char") return std::to_string(*static_cast<const std::uint8_t*>(at));
    if (type == "std::int8_t") return std::to_string(*static_cast<const std::int8_t*>(at));
    if (type == "std::int16_t") return std::to_string(*static_cast<const std::int16_t*>(at));
    if (type == "std::uint16_t") return std::to_string(*static_cast<const std::uint16_t*>(at));
    if (type == "std::int32_t") return std::to_string(*static_cast<const std::int32_t*>(at));
    if (type == "std::uint32_t") return std::to_string(*static_cast<const std::uint32_t*>(at));
    if (type == "std::int64_t") return std::to_string(*static_cast<const std::int64_t*>(at));
    if (type == "std::uint64_t") return std::to_string(*static_cast<const std::uint64_t*>(at));
    if (type == "float") return json_real(*static_cast<const float*>(at));
    if (type == "double") return json_real(*static_cast<const double*>(at));
    if (type == "std::string") return json_text(*static_cast<const std::string*>(at));
    if (type == "ROOT::RNTupleCardinality<std::uint32_t>")
        return std::to_string(*static_cast<const std::uint32_t*>(at));
    if (type == "ROOT::RNTupleCardinality<std::uint64_t>")
        return std::to_string(*static_cast<const std::uint64_t*>(at));
    if (type.rfind("std::bitset<", 0) == 0) {
        const int bits = std::stoi(type.substr(12));
        std::string text;
        const auto* words = static_cast<const unsigned long*>(at);
        for (int i = 0; i < bits; ++i) text += words[i / 64] >> (i % 64) & 1 ? "1" : "0";
        std::reverse(text.begin(), text.end());
        return json_text(text);
    }
    const auto items = field.SplitValue(value);
    const auto role = field.GetStructure();
    const bool is_one = type.rfind("std::optional<", 0) == 0 || type.rfind("std::unique_ptr<", 0) == 0 ||
                        role == ROOT::ENTupleStructure::kVariant;
    // its value is out of reach
    if (role == ROOT::ENTupleStructure::kVariant && items.empty()) return "\"?\"";
    if (is_one) return items.empty() ? "null" : json_value(items[0].GetField(), items[0]);
    const bool is_array = type.rfind("std::array<", 0) == 0;
    if (role == ROOT::ENTupleStructure::kPlain && !is_array) {
        if (items.size() != 1) return "\"?" + type + "\"";
        return json_value(items[0].GetField(), items[0]);
    }
    const bool is_record = role == ROOT::ENTupleStructure::kRecord;
    std::string out = is_record ? "{" : "[";
    for (const auto& item : items) {
        if (out.size() > 1) out += ", ";
        if (is_record) out += json_text(item.GetField().GetFieldName()) + ": ";
        out += json_value(item.GetField(), item);
    }
    return out + (is_record ? "}" : "]");
}

void ntuple_values(const char* path, const char* name, int most, const char* to) {
    ROOT::RNTupleDescriptor::RCreateModelOptions options;
    options.SetEmulateUnknownTypes(true);
    auto reader = ROOT::RNTupleReader::Open(options, name, path);
    std::ofstream out(to);
    for (auto entry : *reader) {
        if (most-- <= 0) break;
        reader->LoadEntry(entry);
        std::string line;
        for (const auto& value : reader->GetModel().GetDefaultEntry()) {
            line += (line.empty() ? "{" : ", ") + json_text(value.GetField().GetFieldName()) + ": ";
            line += json_value(value.GetField(), value);
        }
        out << (line.empty() ? "{" : line) << "}\n";
    }
    out << "done\n";
}
