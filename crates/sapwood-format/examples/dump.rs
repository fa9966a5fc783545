use sapwood_format::*;
fn go<T>(
    o: &mut Opener,
    data: &[u8],
    mut f: impl FnMut(&mut Opener) -> sapwood_span::Result<Step<T>>,
) -> sapwood_span::Result<T> {
    for _ in 0..100 {
        match f(o)? {
            Step::Done(t) => return Ok(t),
            Step::Need(n) => {
                for s in n {
                    o.push(s.start, bytes::Bytes::copy_from_slice(&data[s.start as usize..s.end() as usize]));
                }
            }
        }
    }
    panic!("loop")
}
fn main() {
    let verbose = std::env::var("V").is_ok();
    for f in std::env::args().skip(1) {
        let data = std::fs::read(&f).unwrap();
        let mut o = Opener::new(data.len() as u64);
        match go(&mut o, &data, |o| o.list("", true)) {
            Err(e) => println!("{f}: LIST {e}"),
            Ok(l) => {
                for k in l {
                    if k.key.is_tree() {
                        let t = Target { path: k.path.clone(), cycle: Some(k.key.cycle) };
                        match go(&mut o, &data, |o| o.tree(&t)) {
                            Err(e) => println!("{f}: TREE {} {e}", k.path),
                            Ok(t) => {
                                println!(
                                    "{f}: ok {} {} entries {} branches {} clusters",
                                    t.path,
                                    t.tree.entries,
                                    t.tree.branches.len(),
                                    tree::clusters(&t.tree).len() - 1
                                );
                                if verbose {
                                    for i in t.tree.in_order() {
                                        let b = &t.tree.branches[i];
                                        println!(
                                            "   {} [{}] {} wb {} emb {} leaves {:?} el {:?}",
                                            t.tree.path(i),
                                            b.title,
                                            b.class,
                                            b.write_basket,
                                            b.embedded.len(),
                                            b.leaves
                                                .iter()
                                                .map(|&l| {
                                                    let l = &t.tree.leaves[l];
                                                    (l.title.as_str(), l.class.as_str(), l.len, l.count)
                                                })
                                                .collect::<Vec<_>>(),
                                            b.element.as_ref().map(|e| (
                                                e.class_name.as_str(),
                                                e.kind,
                                                e.id,
                                                e.streamer_type,
                                                e.count
                                            ))
                                        );
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
