//! Lists as people and catalogues write them.

use sapwood_catalogue::{ListedFile, read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("sapwood-lists-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shown(files: &[ListedFile]) -> Vec<String> {
    let one = |f: &ListedFile| match &f.tree {
        Some(tree) => format!("{} {tree}", f.target),
        None => f.target.clone(),
    };
    files.iter().map(one).collect()
}

fn files(name: &str) -> Vec<String> {
    shown(&read(name, None).unwrap())
}

fn error(name: &str) -> String {
    read(name, None).unwrap_err().to_string()
}

#[test]
fn one_file_per_line() {
    let folder = Folder::new();
    let text =
        b"\xef\xbb\xbf# data of 2024\r\n\r\n  root://h:1094//a.root:Events \r\n/x/b.root\n\nc\xff.root:t\n[ab]*.root";
    let list = folder.file("list.txt", text);
    assert_eq!(files(&list)[..2], ["root://h:1094//a.root:Events", "/x/b.root"]);
    assert_eq!(files(&list).len(), 4);
    assert_eq!(files(&format!("{list}:Runs"))[1], "/x/b.root Runs");
    let brackets = folder.file("brackets", "[ab]*.root\n{c,d}.root\n");
    assert_eq!(files(&brackets), ["[ab]*.root", "{c,d}.root"]);
    assert!(error(&folder.file("root.root", b"root\0\0\0")).contains("bytes that no file name contains"));
    assert!(error(&folder.file("empty", "# nothing\n")).contains("contains no file"));
    assert!(error(folder.0.join("absent").to_str().unwrap()).contains("no such file"));
}

#[test]
fn names_beside_the_list() {
    let folder = Folder::new();
    let a = folder.file("a.root", "");
    let list = folder.file("list", "a.root:Events\nelsewhere.root\n");
    assert_eq!(files(&list), [format!("{a}:Events"), "elsewhere.root".to_owned()]);
}

#[test]
fn lists_in_lists() {
    let folder = Folder::new();
    folder.file("inner", "/b.root\n");
    assert_eq!(
        files(&folder.file("outer", "/a.root\n@inner\n@inner:t\n/c.root\n")),
        ["/a.root", "/b.root", "/b.root t", "/c.root"]
    );
    let own = folder.0.join("own");
    let own = own.to_str().unwrap();
    folder.file("own", format!("@{own}\n"));
    assert!(error(own).contains("contains itself"));
    for i in 0..20 {
        folder.file(&format!("deep{i}"), format!("@deep{}\n", i + 1));
    }
    assert!(error(folder.0.join("deep0").to_str().unwrap()).contains("nested more than"));
}

#[test]
fn filesets_of_coffea() {
    let folder = Folder::new();
    let plain = folder.file("plain.json", r#"{"Zjets": ["b.root", "root://h//a.root:Events"]}"#);
    assert_eq!(files(&plain), ["b.root", "root://h//a.root:Events"]);
    assert_eq!(files(&format!("{plain}:Events")), ["b.root Events", "root://h//a.root:Events Events"]);
    let several = folder.file(
        "several.json",
        r#"{"Zjets": {"files": {"z.root": "Events", "a.root": "Events"}, "metadata": {"xs": 1.5}},
            "Data:A": {"files": {"d.root": {"object_path": "Runs", "steps": [[0, 5], [5, 9]], "num_entries": 9,
                                            "uuid": "x"}}, "form": null}}"#,
    );
    assert_eq!(files(&format!("{several}:Zjets")), ["z.root Events", "a.root Events"]);
    assert_eq!(files(&format!("{several}:Data:A")), ["d.root Runs"]);
    assert_eq!(files(&format!("{several}:Data:A:Other")), ["d.root Runs"]);
    let e = error(&several);
    assert!(e.contains("2 datasets: Zjets, Data:A") && e.contains("@FILE:DATASET"), "{e}");
    assert!(error(&format!("{several}:Zjet")).contains("did you mean Zjets?"));
    let some = folder.file("steps.json", r#"{"a": {"files": {"d.root": {"object_path": "t", "steps": [[5, 9]]}}}}"#);
    assert!(error(&some).contains("do not cover all entries"));
    let open = folder.file("open.json", r#"{"a": {"files": {"d.root": {"object_path": "t", "steps": [[0, 9]]}}}}"#);
    assert!(error(&open).contains("no num_entries"));
    let weight = folder.file("w.json", r#"{"a": {"files": {"d.root": {"object_path": "t", "weight": 2}}}}"#);
    assert!(error(&weight).contains("\"d.root\" has \"weight\""));
    assert_eq!(files(&folder.file("map.json", r#"{"b.root": "t", "a.root": null}"#)), ["b.root t", "a.root"]);
    assert_eq!(files(&folder.file("one.json", r#"{"files": ["a.root"], "metadata": {}}"#)), ["a.root"]);
    assert_eq!(files(&folder.file("list.json", r#"["b.root", "a.root"]"#)), ["b.root", "a.root"]);
}

#[test]
fn json_that_is_no_list_is_refused() {
    let folder = Folder::new();
    for (text, why) in [
        ("{\"a\": [\"x.root\"], \"a\": [\"y.root\"]}", "occurs twice"),
        ("[1, 2]", "not a known list of files"),
        ("{}", "no dataset"),
        ("[]", "contains no file"),
        ("{\"a\": [1]}", "an item is not a name"),
        ("{\"a\": {\"x.root\": 5}}", "has no tree"),
        ("{\"a\": 5}", "expected a list of files for dataset"),
        ("[\"a.root\", ", "not valid JSON"),
        ("{\"a\": {\"files\": {\"x\": {\"object_path\": \"t\", \"steps\": [[0, 1e400]]}}}}", "not valid JSON"),
        ("{\"a\": {\"files\": {\"x\": {\"object_path\": \"t\", \"steps\": [[0]]}}}}", "is not [START, STOP]"),
    ] {
        let e = error(&folder.file("bad.json", text));
        assert!(e.contains(why) && e.contains("bad.json"), "{text}: {e}");
    }
    assert!(error(&folder.file("deep.json", "[".repeat(200_000))).contains("not valid JSON"));
}

#[test]
fn replicas_of_rucio() {
    let folder = Folder::new();
    let text = r#"{"scope": "mc", "name": "a.root", "bytes": 5, "adler32": "00", "rses": {"T": ["srm://t/a"]},
        "pfns": {"srm://x/a": {"priority": 1, "type": "DISK"}, "root://tape//a": {"priority": 1, "type": "TAPE"},
                 "davs://far:443/a": {"priority": 3, "type": "DISK"}, "root://near//a": {"priority": 2, "type": "DISK"}}}
        {"scope": "mc", "name": "b.root", "rses": {"GONE": ["root://gone//b"], "HERE": ["davs://here/b"]},
         "states": {"GONE": "UNAVAILABLE", "HERE": "AVAILABLE"}}"#;
    assert_eq!(files(&folder.file("lines.json", text)), ["root://near//a", "https://here/b"]);
    let list = format!("[{}]", text.replacen("}}}\n", "}}},\n", 1));
    assert_eq!(
        files(&format!("{}:Events", folder.file("list.json", list))),
        ["root://near//a Events", "https://here/b Events"]
    );
    let names = folder.file("names.json", r#"[{"scope": "mc", "name": "a.root", "guid": "x"}]"#);
    assert!(error(&names).contains("mc:a.root has no replica"));
    let srm = folder.file("srm.json", r#"[{"scope": "mc", "name": "a", "pfns": {"srm://x/a": {}}}]"#);
    assert!(error(&srm).contains("no replica of mc:a can be read: srm"));
}

#[test]
fn files_of_das() {
    let folder = Folder::new();
    let text = r#"[{"das": {"services": ["dbs3:files"]}, "file": [{"name": "/store/a.root", "nevents": 5}], "qhash": "x"},
        {"file": [{"name": "/store/a.root"}]}, {"file": [{"name": "/store/b.root"}]}]"#;
    let list = folder.file("das.json", text);
    let e = error(&list);
    assert!(e.contains("/store/a.root") && e.contains("SAPWOOD_REDIRECTOR"), "{e}");
    let with = |server| shown(&read(&list, Some(server)).unwrap());
    assert_eq!(
        with("root://cms-xrd-global.cern.ch/"),
        ["root://cms-xrd-global.cern.ch//store/a.root", "root://cms-xrd-global.cern.ch//store/b.root"]
    );
    assert_eq!(with("https://h/cms")[0], "https://h/cms/store/a.root");
    let answer = folder.file("answer.json", format!("{{\"status\": \"ok\", \"data\": {text}}}"));
    assert_eq!(read(&answer, Some("root://h")).unwrap().len(), 2);
    let lines = folder.file("das.txt", "/store/a.root\n");
    assert_eq!(shown(&read(&lines, Some("root://h/")).unwrap()), ["root://h//store/a.root"]);
    assert_eq!(files(&lines), ["/store/a.root"]);
}
