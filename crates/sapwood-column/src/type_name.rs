use crate::interpret::title_dims;
use crate::{DType, kernel};
use sapwood_format::streamer::{Streamers, code};
use sapwood_format::tree::{Leaf, Tree};

/// The C++ type of a branch, in the form of uproot's `typename`: `float`, `int32_t[3]`, `float[]`,
/// `std::vector<float>`, or the class of an object.
pub fn type_name(tree: &Tree, branch: usize, streamers: &Streamers) -> String {
    let Some(b) = tree.branches.get(branch) else { return String::new() };
    if let (Some(ntuple), Some(field)) = (&tree.ntuple, b.field) {
        return ntuple.schema.fields.get(field).map_or(String::new(), |f| f.type_name.clone());
    }
    if let Some(x) = &b.element {
        if x.kind == 3 {
            return format!("TClonesArray<{}>", x.clones_name);
        }
        if x.id < 0 || x.class_name.is_empty() {
            return standard(&x.class_name);
        }
        // of a split collection that is a member, `class_name` is the class that has the member
        let info = streamers.find(&x.class_name, x.class_version);
        let info = info.or_else(|| streamers.find_checksum(&x.class_name, x.checksum));
        let element = info.and_then(|i| i.elements.get(usize::try_from(x.id).ok()?));
        if let Some(e) = element {
            let base = if e.code == code::BASE { e.name.as_str() } else { e.type_name.trim_end_matches('*') };
            // counters are read as unsigned numbers, whatever their C++ type
            let mut name = if e.code == code::COUNTER { "uint32_t".to_owned() } else { standard(base) };
            for d in &e.dims {
                name.push_str(&format!("[{d}]"));
            }
            if e.code > code::OFFSET_P && e.code < 60 {
                name.push_str("[]");
            }
            if matches!(x.kind, 31 | 41) {
                name.push_str("[]");
            }
            return name;
        }
        if x.kind == 4 {
            return standard(&x.class_name);
        }
    }
    let leaves: Vec<&Leaf> = b.leaves.iter().filter_map(|&l| tree.leaves.get(l)).collect();
    match leaves.as_slice() {
        [] => b.class.clone(),
        [leaf] => leaf_type(leaf),
        many => {
            let fields: Vec<String> = many.iter().map(|l| format!("{} {}", leaf_type(l), l.name)).collect();
            format!("struct {{{};}}", fields.join("; "))
        }
    }
}

fn leaf_type(leaf: &Leaf) -> String {
    let pick = |signed: &'static str, unsigned: &'static str| if leaf.is_unsigned { unsigned } else { signed };
    let base = match leaf.class.as_str() {
        "TLeafC" => return "char*".to_owned(),
        "TLeafO" => "bool",
        "TLeafB" => pick("int8_t", "uint8_t"),
        "TLeafS" => pick("int16_t", "uint16_t"),
        "TLeafI" => pick("int32_t", "uint32_t"),
        "TLeafL" | "TLeafG" => pick("int64_t", "uint64_t"),
        "TLeafF" => "float",
        "TLeafD" => "double",
        "TLeafF16" => "Float16_t",
        "TLeafD32" => "Double32_t",
        other => other,
    };
    let mut name = base.to_owned();
    if leaf.count.is_some() {
        name.push_str("[]");
    }
    for d in title_dims(&leaf.title, usize::try_from(leaf.len).unwrap_or(1)).unwrap_or_default() {
        name.push_str(&format!("[{d}]"));
    }
    name
}

/// A type name with C++'s standard names: `Int_t` is `int32_t`, `vector<float>` is `std::vector<float>`.
fn standard(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 5);
    let mut rest = name;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(number_words(rest).unwrap_or_else(|| word_end(rest)));
        out.push_str(&standard_word(word));
        let (between, next) = after.split_at(after.find(is_letter).unwrap_or(after.len()));
        out.push_str(between);
        rest = next;
    }
    out.replace(" >", ">").replace(", ", ",")
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':')
}

fn word_end(text: &str) -> usize {
    text.find(|c| !is_letter(c)).unwrap_or(text.len())
}

/// Where the type of a number ends with which a text begins, and that may have several words: `unsigned long long`.
fn number_words(text: &str) -> Option<usize> {
    let mut end = None;
    let mut rest = text;
    loop {
        let (word, after) = rest.split_at(word_end(rest));
        // `long double` is one type, and not an integer
        if !matches!(word, "unsigned" | "signed" | "char" | "short" | "int" | "long" | "double") {
            return end;
        }
        end = Some(text.len() - after.len());
        rest = after.trim_start_matches(' ');
    }
}

fn standard_word(word: &str) -> String {
    match word {
        "vector" | "list" | "deque" | "set" | "multiset" | "map" | "multimap" | "pair" | "tuple" | "string"
        | "unordered_map" | "unordered_set" | "bitset" | "array" => return format!("std::{word}"),
        "Float16_t" | "Double32_t" => return word.to_owned(),
        _ => {}
    }
    match kernel::dtype_of(word) {
        Some(DType::Bool) => "bool",
        Some(DType::I8) => "int8_t",
        Some(DType::U8) => "uint8_t",
        Some(DType::I16) => "int16_t",
        Some(DType::U16) => "uint16_t",
        Some(DType::I32) => "int32_t",
        Some(DType::U32) => "uint32_t",
        Some(DType::I64) => "int64_t",
        Some(DType::U64) => "uint64_t",
        Some(DType::F32) => "float",
        Some(DType::F64) => "double",
        None => word,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::standard;

    #[test]
    fn types_of_several_words() {
        let pairs = [
            ("unsigned long long", "uint64_t"),
            ("pair<unsigned long long,int>", "std::pair<uint64_t,int32_t>"),
            ("vector<pair<long long int, signed char> >", "std::vector<std::pair<int64_t,int8_t>>"),
            ("map<unsigned long int,vector<long unsigned int> >", "std::map<uint64_t,std::vector<uint64_t>>"),
            (
                "tuple<unsigned,unsigned short int,long,const unsigned char>",
                "std::tuple<uint32_t,uint16_t,int64_t,const uint8_t>",
            ),
            ("vector<unsigned int>", "std::vector<uint32_t>"),
            ("vector<unsigned long long*>", "std::vector<uint64_t*>"),
            ("vector<long double>", "std::vector<long double>"),
            ("my<std::string,Double32_t>", "my<std::string,Double32_t>"),
            ("unsigned long longing", "uint64_t longing"),
        ];
        pairs.iter().for_each(|(name, shown)| assert_eq!(standard(name), *shown, "{name}"));
    }
}
