fn main() {
    let mut args = std::env::args().skip(1);
    let path = std::path::PathBuf::from(args.next().unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let s = sapwood_grid::Scenario::parse(path.to_str().unwrap(), &text, path.parent().unwrap()).unwrap();
    println!("{}", sapwood_grid::Report::new(s, Vec::new(), 1).unwrap().to_json());
}
