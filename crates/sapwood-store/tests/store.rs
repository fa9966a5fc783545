//! One process: what is inserted is read, and nothing else.

mod common;

use common::{Folder, MB, Remote, occupied};
use proptest::prelude::*;
use sapwood_span::Span;

#[test]
fn what_was_inserted_is_read_now_and_in_the_next_session() {
    let folder = Folder::new();
    let remote = Remote::new("https://host/a.root", 1, 10 * MB);
    for session in 0..3 {
        let store = folder.open(100 * MB);
        let file = store.file(&remote.id);
        if session == 0 {
            assert!(file.held(Span::new(0, 10 * MB)).is_empty());
            remote.insert(&file, 1000, 300_000);
            remote.insert(&file, 5_000_001, 17);
        }
        assert_eq!(file.held(Span::new(0, 10 * MB)), [Span::new(1000, 300_000), Span::new(5_000_001, 17)]);
        assert!(remote.check(&file, 1000, 300_000) && remote.check(&file, 5_000_003, 2));
        assert!(remote.check(&file, 65_000, 100_000));
        assert!(!remote.check(&file, 999, 2) && !remote.check(&file, 5_000_001, 18));
        assert_eq!(file.bytes_held(), 300_017);
        store.flush();
        assert_eq!(store.warnings(), Vec::<String>::new());
        let status = store.status();
        assert_eq!((status.files, status.pieces, status.left_out_bytes), (1, 6, 0));
        assert!(status.bytes >= 300_017 && status.bytes < 400_000, "{status:?}");
    }
}

#[test]
fn versions_of_a_url_are_never_mixed() {
    let folder = Folder::new();
    let (old, new) = (Remote::new("root://host//a.root", 1, MB), Remote::new("root://host//a.root", 2, MB));
    let store = folder.open(100 * MB);
    let (a, b) = (store.file(&old.id), store.file(&new.id));
    old.insert(&a, 0, 5000);
    a.validated();
    store.flush();
    assert_eq!(store.latest("root://host//a.root"), Some(old.id.clone()));
    assert!(b.held(Span::new(0, MB)).is_empty());
    new.insert(&b, 4000, 5000);
    b.validated();
    store.flush();
    assert_eq!(store.latest("root://host//a.root"), Some(new.id.clone()));
    assert!(old.check(&a, 0, 5000) && new.check(&b, 4000, 5000));
    let listed: Vec<_> = store.list().into_iter().map(|f| (f.id, f.bytes, f.latest)).collect();
    assert_eq!(listed, [(new.id, 5000, true), (old.id, 5000, false)]);
    assert_eq!(store.latest("root://host//b.root"), None);
}

#[test]
fn overlapping_insertions_take_no_more_space_than_their_union() {
    let folder = Folder::new();
    let remote = Remote::new("https://host/a.root", 1, MB);
    let store = folder.open(100 * MB);
    let file = store.file(&remote.id);
    for i in 0..100 {
        remote.insert(&file, i * 1000, 100_000);
    }
    store.flush();
    assert_eq!(file.bytes_held(), 199_000);
    let data = common::files_below(&folder.store()).into_iter().filter(|p| p.extension().is_some_and(|e| e == "data"));
    assert_eq!(data.map(|p| p.metadata().unwrap().len()).sum::<u64>(), 199_000);
    assert!(occupied(&folder.store()) <= store.status().bytes);
}

#[test]
fn nothing_outside_of_the_file_is_held() {
    let folder = Folder::new();
    let remote = Remote::new("https://host/a.root", 1, 1000);
    let store = folder.open(100 * MB);
    let file = store.file(&remote.id);
    remote.insert(&file, 900, 101);
    remote.insert(&file, u64::MAX - 5, 100);
    assert!(file.held(Span::new(0, u64::MAX)).is_empty());
    assert_eq!(file.read(Span::new(u64::MAX, u64::MAX)), None);
    assert_eq!(file.read(Span::new(500, 0)).map(|b| b.len()), Some(0));
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, usize),
    Read(u64, usize),
    Flush,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = || (0..300_000u64, prop_oneof![1..200usize, 1..150_000usize]);
    let step = prop_oneof![
        6 => range().prop_map(|(start, len)| Step::Insert(start, len)),
        6 => range().prop_map(|(start, len)| Step::Read(start, len)),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn a_store_does_what_a_model_does(steps in steps()) {
        let folder = Folder::new();
        let remote = Remote::new("https://host/a.root", 7, 500_000);
        let mut model = vec![false; 500_000];
        let mut store = folder.open(100 * MB);
        let mut file = store.file(&remote.id);
        for step in steps {
            match step {
                Step::Insert(start, len) => {
                    remote.insert(&file, start, len);
                    model[start as usize..][..len].fill(true);
                }
                Step::Read(start, len) => {
                    let all = model[start as usize..][..len].iter().all(|&b| b);
                    prop_assert_eq!(remote.check(&file, start, len), all);
                    let held: u64 = file.held(Span::new(start, len as u64)).iter().map(|s| s.len).sum();
                    prop_assert_eq!(held, model[start as usize..][..len].iter().filter(|&&b| b).count() as u64);
                }
                Step::Flush => store.flush(),
                Step::Reopen => {
                    store.flush();
                    drop(file);
                    drop(store);
                    store = folder.open(100 * MB);
                    file = store.file(&remote.id);
                }
            }
        }
        prop_assert_eq!(file.bytes_held(), model.iter().filter(|&&b| b).count() as u64);
        prop_assert_eq!(store.warnings(), Vec::<String>::new());
    }
}
