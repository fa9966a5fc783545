//! A report as one HTML page, pictures inside.

use super::Report;
use sapwood_perf::text::clean;
use sapwood_perf::text::json::escaped as escaped_json;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#262a2e}\
pre{overflow-x:auto;background:#f4f6f5;padding:1em}svg{max-width:100%;height:auto;margin:1em 0}h1{font-size:1.5em}";

pub(super) fn page(report: &Report) -> String {
    let mut text = Vec::new();
    // writing to memory cannot fail
    let _ = report.write(&mut text);
    let text = String::from_utf8_lossy(&text);
    let title = escaped(&clean(&report.scenario.title));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n<pre>{}</pre>\n",
        escaped(&text)
    );
    for (_, canvas) in report.pictures() {
        let svg = canvas.to_svg();
        let svg = svg.find("<svg").and_then(|at| svg.get(at..)).unwrap_or_default();
        let _ = writeln!(out, "<div>{svg}</div>");
    }
    let mut json = Vec::new();
    let _ = escaped_json(&mut json, &report.to_json().to_string());
    let json = String::from_utf8_lossy(&json).replace('<', "\\u003c");
    let _ = writeln!(out, "<script type=\"application/json\" id=\"figures\">{json}</script>\n</body></html>");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
