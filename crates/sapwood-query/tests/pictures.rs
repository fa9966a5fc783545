//! Pictures are well-formed files of the promised size that show what they should.

use sapwood_query::picture::{
    Anchor, Bar, Canvas, Color, Labels, Stroke, bar_chart, bar_chart_svg, canvas, histogram, in_characters, png, svg,
};
use sapwood_query::{Axis, Chart, ChartRows, Hist1D, HistND, Histogram, Profile, ProfileError};

fn hist() -> Hist1D {
    let mut h = Hist1D::new(Axis::new(4, 0.0, 4.0).unwrap());
    h.fill(&[0.5, 1.5, 1.5, 2.5, 9.0], &[1.0; 5]);
    h
}

/// Width, height and RGB bytes.
fn decoded(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

#[test]
fn svg_holds_words_and_escapes_them() {
    let labels = Labels { title: "a<b & \"c\"", x: "x\u{7}", y: "y", note: "" };
    let text = svg(&hist(), &labels);
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert!(text.contains("<title>a&lt;b &amp; &quot;c&quot;</title>"));
    assert!(!text.contains('\u{7}') && !text.contains("NaN") && !text.contains("inf"));
    assert!(text.contains(">Overflow</text>") && !text.contains(">Underflow</text>"));
    assert_eq!(text.matches('<').count(), text.matches('>').count());
    let bars = [Bar { label: "off", value: 2.5, note: "n", highlight: false }];
    assert!(bar_chart_svg("t", "s", &bars).contains(">2.5 s</text>"));
}

#[test]
fn the_area_below_the_step_line_is_painted() {
    let bytes = png(&hist(), &Labels::default(), 1.0).unwrap();
    let (width, height, pixels) = decoded(&bytes);
    assert_eq!((width, height), (800, 520));
    let at = |x: usize, y: usize| &pixels[3 * (y * 800 + x)..][..3];
    // Just above the axis: inside bins 0 to 2, and in the empty bin 3.
    for (x, inside) in [(150, true), (330, true), (500, true), (690, false)] {
        assert_eq!(at(x, 440) != [255; 3], inside, "{x}");
    }
    // Only the second bin is so high.
    for (x, inside) in [(150, false), (330, true), (500, false)] {
        assert_eq!(at(x, 140) != [255; 3], inside, "{x}");
    }
}

#[test]
fn longer_values_have_longer_bars() {
    let bar = |value| Bar { label: "", value, note: "", highlight: true };
    let (width, _, pixels) = decoded(&bar_chart("", "", &[bar(1.0), bar(4.0), bar(f64::NAN)]).to_png(1.0).unwrap());
    let Color(r, g, b, _) = Color::LEAF;
    let length = |row: usize| {
        let line = &pixels[3 * width as usize * (74 + 50 * row + 15)..][..3 * width as usize];
        line.chunks(3).filter(|p| *p == [r, g, b]).count() as f64
    };
    assert!((length(1) / length(0) - 4.0).abs() < 0.05, "{} {}", length(0), length(1));
    assert!(length(2) < 4.0);
}

#[test]
fn odd_histograms_make_pictures() {
    let mut odd = Hist1D::new(Axis::new(3, -1e-300, 1e300).unwrap());
    odd.fill(&[0.5; 3], &[f64::NAN, f64::INFINITY, -1e308]);
    let wide = Hist1D::new(Axis::new(100_000, 1e15, 1e15 + 64.0).unwrap());
    for h in [odd, wide] {
        let canvas = histogram(&h, &Labels { title: &"long ".repeat(200), ..Labels::default() });
        // The statistics may say NaN, the drawing must not.
        let text = canvas.to_svg().replace(">NaN</text>", "");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(canvas.to_png(0.5).is_ok());
    }
    assert!(bar_chart("", "", &[]).to_png(1.0).is_ok());
}

#[test]
fn sizes_are_bounded() {
    let mut canvas = Canvas::new(100.0, 100.0, "");
    canvas.line(&[(0.0, 0.0), (100.0, 100.0)], Stroke { color: Color::INK, width: 1.0 });
    canvas.text_upward((50.0, 50.0), 10.0, Anchor::Middle, Color::INK, "up");
    assert!(canvas.to_png(1.0).is_ok());
    for scale in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(canvas.to_png(scale).is_err());
    }
}

/// A histogram of each kind, filled with these rows.
fn of_each_kind(rows: &[[f64; 3]], weights: &[f64]) -> Vec<Histogram> {
    let axis = |low, high| Axis::new(7, low, high).unwrap();
    let columns: Vec<Vec<f64>> = (0..3).map(|i| rows.iter().map(|r| r[i]).collect()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let mut one = Hist1D::new(axis(0.0, 2.0));
    one.fill(columns[0], weights);
    let mut two = HistND::new(vec![Axis::variable(&[0.0, 0.5, 9.0]).unwrap(), axis(-1e-9, 1e12)]).unwrap();
    two.fill(&columns[..2], weights);
    let mut three = HistND::new(vec![axis(0.0, 1.0), axis(0.0, 1.0), axis(0.0, 1.0)]).unwrap();
    three.fill(&columns, weights);
    let mut profile = Profile::new(vec![axis(0.0, 2.0)], ProfileError::Mean).unwrap();
    profile.fill(&columns[..2], weights);
    let mut map = Profile::new(vec![axis(0.0, 2.0), axis(0.0, 2.0)], ProfileError::Spread).unwrap();
    map.fill(&columns, weights);
    let rows = |chart| {
        let columns = columns.iter().map(|c| c.to_vec()).collect();
        Histogram::Rows(ChartRows { chart, columns, weights: weights.to_vec(), entries: weights.len() as u64 })
    };
    let mut all = vec![Histogram::One(one), Histogram::Many(two), Histogram::Many(three), Histogram::Profile(profile)];
    all.extend([Histogram::Profile(map), rows(Chart::Parallel), rows(Chart::Candle)]);
    all
}

#[test]
fn pictures_of_several_variables_hold_whatever_is_filled() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let odd = [[nan, 1.0, 0.5], [0.5, nan, nan], [1.0, inf, -inf], [0.5, 1e300, -1e300], [1e-300, 0.1, 0.2]];
    let cases: [(&[[f64; 3]], &[f64]); 5] = [
        (&[], &[]),
        (&[[0.5, 0.5, 0.5]], &[1.0]),
        (&odd, &[1.0; 5]),
        (&odd, &[nan, -1.0, inf, 0.5, -2.5]),
        (&[[0.5, 1e15, 3.0], [0.6, 1e15, 3.0], [1.5, 1e15, 3.0]], &[1.0; 3]),
    ];
    let labels = Labels { title: "t", x: "x", y: "y", note: "n" };
    for (rows, weights) in cases {
        let all = of_each_kind(rows, weights);
        for hist in &all {
            for below in [Vec::new(), vec![(&all[0], "one".to_owned())], vec![(&all[1], "two".to_owned())]] {
                let canvas = canvas(hist, &labels, &["a", "b", "c"], true, &below);
                let text =
                    canvas.to_svg().replace(">NaN</text>", "").replace(">inf</text>", "").replace(">-inf</text>", "");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{hist:?} {text}");
                assert!(canvas.to_png(0.3).is_ok());
            }
            for (width, height) in [(0, 0), (80, 24), (31, 9)] {
                for unicode in [false, true] {
                    let text = in_characters(hist, &["a", "b", "c"], width, height, unicode);
                    assert!(text.ends_with('\n') && (unicode || text.is_ascii()), "{text}");
                }
            }
            let json = hist.to_json("h", &["x", "y", "z"]);
            assert!(json.is_none_or(|json| serde_json::from_str::<serde_json::Value>(&json).is_ok()));
        }
    }
}

#[test]
fn cells_have_colors_by_their_content() {
    let mut h = HistND::new(vec![Axis::new(2, 0.0, 2.0).unwrap(), Axis::new(2, 0.0, 2.0).unwrap()]).unwrap();
    h.fill(&[&[0.5, 1.5], &[0.5, 1.5]], &[1.0, 4.0]);
    let bytes = canvas(&Histogram::Many(h), &Labels::default(), &[], false, &[]).to_png(1.0).unwrap();
    let (_, _, pixels) = decoded(&bytes);
    let at = |x: usize, y: usize| &pixels[3 * (y * 800 + x)..][..3];
    let (low_left, high_right, empty) = (at(200, 380), at(500, 150), at(200, 150));
    assert_eq!(empty, [255; 3]);
    assert!(low_left != empty && high_right != empty);
    assert!(high_right[0] < low_left[0], "more is darker");
}

#[test]
fn everything_drawn_into_one_picture_is_seen() {
    let all = of_each_kind(&[[0.2, 0.5, 0.5], [0.7, 3e11, 0.25]], &[1.0, 2.0]);
    let labels = Labels::default();
    let text = |below: &[usize], last: usize| {
        let below: Vec<_> = below.iter().map(|&i| (&all[i], String::new())).collect();
        canvas(&all[last], &labels, &[], false, &below).to_svg()
    };
    for (below, last) in [(vec![1], 2), (vec![1], 0), (vec![1], 3), (vec![0], 3), (vec![0], 1)] {
        let lines = |text: &str| text.matches("<path").count();
        let both = text(&below, last);
        assert!(both != text(&[], last) && both != text(&[], below[0]), "{below:?} {last}");
        assert!(lines(&both) > 4, "{below:?} {last}");
        assert!(!both.contains("NaN"));
    }
    // a red line, box or point over the map of colors
    assert!(
        text(&[1], 2).contains("#c02828") && text(&[1], 0).contains("#c02828") && text(&[1], 3).contains("#c02828")
    );
}
