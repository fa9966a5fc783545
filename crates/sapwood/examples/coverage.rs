use sapwood::*;
fn main() {
    for f in std::env::args().skip(1) {
        let short = f.rsplit("corpus/").next().unwrap().to_owned();
        let file = match File::open(&f, &OpenOptions::default()) { Ok(f) => f, Err(e) => { println!("OPEN {short} {e}"); continue; } };
        let list = match file.list("", true) { Ok(l) => l, Err(e) => { println!("LIST {short} {e}"); continue; } };
        for l in list { if !l.key.is_tree() { continue; }
            let t = match file.tree(&format!("{};{}", l.path, l.key.cycle)) { Ok(t) => t, Err(e) => { println!("TREE {short} {e}"); continue; } };
            for &b in t.order() { if !t.header().branches[b].children.is_empty() { continue; }
                let name = t.name_of(b);
                match t.column_type(b) { Err(e) => println!("REFUSED {short} {} {} | {} | {}", t.path(), name, t.type_name(b), e.what()),
                    Ok(ty) => { let r: Result<usize> = (|| { let mut n = 0; for x in t.scan(&ScanOptions { branches: vec![b], step: StepSize::All, ..Default::default() })? { n += x?.columns[0].len(); } Ok(n) })();
                        match r { Ok(n) => println!("OK {short} {} {} {} {} {n}", t.path(), name, t.type_name(b), ty), Err(e) => println!("FAIL {short} {} {} {} | {}", t.path(), name, t.type_name(b), e) } } } } } }
}
