//! Pictures are well-formed files of the promised size that show what they should.

use sapwood_query::picture::{
    Anchor, Bar, Canvas, Color, Labels, Stroke, bar_chart, bar_chart_svg, histogram, png, svg,
};
use sapwood_query::{Axis, Hist1D};

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
