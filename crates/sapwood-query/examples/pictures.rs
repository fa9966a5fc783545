//! Writes example pictures into the directory given (`.` without one) and prints a histogram.

use sapwood_query::picture::{Bar, Labels, bar_chart_png, bar_chart_svg, png, svg, terminal};
use sapwood_query::{AutoHist, Axis, Hist1D};
use std::path::PathBuf;

/// Sums of uniform numbers: close to a Gaussian, always the same.
fn values(n: usize) -> Vec<f64> {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n)
        .map(|i| {
            if i % 7 == 0 {
                91.2 + (uniform() - 0.5) * 8.0
            } else {
                (0..6).map(|_| uniform()).sum::<f64>() * 24.0 + 6.0
            }
        })
        .collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let values = values(60_000);
    let ones = vec![1.0; values.len()];
    let mut hist = Hist1D::new(Axis::new(80, 20.0, 140.0)?);
    hist.fill(&values, &ones);
    let labels =
        Labels { title: "mass", x: "sqrt(px**2+py**2)  [GeV]", y: "Entries / 1.5 GeV", note: "pt>20 && abs(eta)<2.4" };
    std::fs::write(folder.join("histogram.svg"), svg(&hist, &labels))?;
    std::fs::write(folder.join("histogram.png"), png(&hist, &labels, 2.0)?)?;
    print!("{}", terminal(&hist, 80, 20, true));

    let mut auto = AutoHist::new(true);
    let whole: Vec<f64> = values.iter().map(|x| (x / 20.0).floor() - 2.0).collect();
    let weights: Vec<f64> = whole.iter().map(|x| if *x < 0.0 { -40.0 } else { 25.0 }).collect();
    auto.fill(&whole, &weights)?;
    let labels = Labels {
        title: "Weighted: &|@#$%{}[]()<>?!;\"'`~^*+=-/\\_",
        x: "nMuon_QWERTYUIOPASDFGHJKLZXCVBNM",
        y: "Sum of weights",
        note: "the quick brown fox jumps over the lazy dog 0123456789 µ² ±…",
    };
    std::fs::write(folder.join("weighted.png"), png(&auto.clone().finish()?, &labels, 2.0)?)?;
    print!("{}", terminal(&auto.finish()?, 60, 14, false));

    let bars = [
        Bar { label: "no cache", value: 130.2, note: "28 391 requests", highlight: false },
        Bar { label: "tree cache", value: 2.41, note: "11 requests, 54× faster", highlight: true },
        Bar { label: "second time, from disk", value: 0.31, note: "0 requests", highlight: true },
    ];
    let title = "Reading two branches at 100 ms round trip";
    std::fs::write(folder.join("bars.svg"), bar_chart_svg(title, "s", &bars))?;
    std::fs::write(folder.join("bars.png"), bar_chart_png(title, "s", &bars, 2.0)?)?;
    Ok(())
}
