use sapwood::*;
fn main() -> Result<()> {
    let a: Vec<String> = std::env::args().collect();
    let t0 = std::time::Instant::now();
    let f = File::open(&a[1], &OpenOptions::default())?;
    let t = f.tree(&a[2])?;
    println!("open {:.4}", t0.elapsed().as_secs_f64());
    let branches: Vec<usize> = if a.len() > 4 { a[4].split(',').map(|n| t.find(n)).collect::<Result<_>>()? } else { t.order().iter().copied().filter(|&b| t.column_type(b).is_ok()).collect() };
    let step = match a.get(3).map(|s| s.as_str()) { Some("all") | None => StepSize::All, Some("cluster") => StepSize::Cluster, Some(n) => StepSize::Bytes(n.parse().unwrap()) };
    let mut s = t.scan(&ScanOptions { branches, step, ..Default::default() })?;
    let mut n = 0;
    let mut bytes = 0;
    for b in s.by_ref() { let b = b?; n += 1; bytes += b.columns.iter().map(|c| c.nbytes()).sum::<usize>(); }
    println!("{n} batches {bytes} bytes total {:.3} {:?}", t0.elapsed().as_secs_f64(), s.report());
    Ok(())
}
