//! No list makes the reader panic, and what it gives names files.

use proptest::prelude::*;
use sapwood_catalogue::read;

/// JSON of the keys that catalogues have, with anything as their values.
fn json() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "files",
        "file",
        "name",
        "scope",
        "pfns",
        "rses",
        "states",
        "data",
        "steps",
        "num_entries",
        "object_path",
        "a:b",
        "",
    ]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("[[0, 5], [5, 9]]".to_owned()),
        (-3i64..12).prop_map(|n| n.to_string()),
        "[a-z:/@\\[{]{0,9}".prop_map(|text| format!("{text:?}")),
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|members| {
                let member = |(key, value): &(&str, String)| format!("{key:?}: {value}");
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }),
        ]
    })
}

fn read_as_list(bytes: &[u8], choice: &str) -> Result<(), TestCaseError> {
    let path =
        std::env::temp_dir().join(format!("sapwood-any-list-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&path, bytes).unwrap();
    let name = path.to_str().unwrap().to_owned();
    for name in [name.clone(), name + choice] {
        match read(&name, Some("root://h/")) {
            Ok(files) => prop_assert!(!files.is_empty()),
            Err(e) => prop_assert!(!e.to_string().is_empty()),
        }
    }
    std::fs::remove_file(&path).unwrap();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_as_list(&bytes, ":t")?;
    }

    #[test]
    fn objects(text in json(), choice in "(:[a-z]{1,3}){0,2}") {
        read_as_list(text.as_bytes(), &choice)?;
    }
}
