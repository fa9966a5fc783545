//! Errors in expressions: each shows the expression with a caret below the place, what was expected, and what is near;
//! none shows the usage of the command.

mod common;

use common::{Folder, failure, text};

/// An error: the arguments behind the verb and its target (`@` stands for the target), the line that is shown, the
/// character below which the caret stands, and parts of the message.
struct Case(&'static [&'static str], &'static str, usize, &'static [&'static str]);

/// Of `draw` and `scan` alike.
const EXPRESSIONS: &[Case] = &[
    // names
    Case(&["nMuno"], "nMuno", 0, &["no branch nMuno", "did you mean nMuon"]),
    Case(&["MET_pt+MET_tp"], "MET_pt+MET_tp", 7, &["no branch MET_tp", "did you mean MET_pt"]),
    Case(&["zzz"], "zzz", 0, &["no branch zzz", "the branches are run, luminosityBlock, event", "more"]),
    Case(&["Muon_pt", "nMuno>1"], "nMuno>1", 0, &["did you mean nMuon"]),
    Case(&["Muon_pt[nMuno]"], "Muon_pt[nMuno]", 8, &["did you mean nMuon"]),
    Case(&["`MET pt`"], "`MET pt`", 0, &["no branch MET pt", "did you mean MET_pt"]),
    Case(&["Length$(Muon_tp)"], "Length$(Muon_tp)", 8, &["did you mean Muon_pt"]),
    Case(&["@Muon_tp.size()"], "@Muon_tp.size()", 0, &["did you mean Muon_pt"]),
    // brackets and quotes
    Case(&["sqrt(nMuon"], "sqrt(nMuon", 10, &["expected ')'"]),
    Case(&["(nMuon+1"], "(nMuon+1", 8, &["expected ')'"]),
    Case(&["nMuon)"], "nMuon)", 5, &["expected an operator or ':'"]),
    Case(&["Muon_pt[0"], "Muon_pt[0", 9, &["expected ']'"]),
    Case(&["nMuon]"], "nMuon]", 5, &["expected an operator or ':'"]),
    Case(&["\"abc"], "\"abc", 0, &["never closed"]),
    Case(&["`abc"], "`abc", 0, &["never closed"]),
    // operators and operands
    Case(&["nMuon+"], "nMuon+", 6, &["expected a number, a name or '('"]),
    Case(&["nMuon:"], "nMuon:", 6, &["expected a number, a name or '('"]),
    Case(&["nMuon run"], "nMuon run", 6, &["expected an operator or ':'"]),
    Case(&["nMuon=1"], "nMuon=1", 5, &["=="]),
    Case(&["0<nMuon<3"], "0<nMuon<3", 7, &["write a<b && b<c"]),
    Case(&["nMuon and 1"], "nMuon and 1", 6, &["write &&"]),
    Case(&["nMuon ? 1"], "nMuon ? 1", 9, &["expected ':'"]),
    Case(&["nMuon $ 3"], "nMuon $ 3", 6, &["'$'"]),
    Case(&["1.5nMuon.2"], "1.5nMuon.2", 3, &["a number cannot be followed by letters"]),
    Case(&["run", "nMuon:1"], "nMuon:1", 5, &["only one expression"]),
    // functions
    Case(&["sqtr(nMuon)"], "sqtr(nMuon)", 0, &["unknown function sqtr", "did you mean sqrt"]),
    Case(&["TMath::Sqtr(nMuon)"], "TMath::Sqtr(nMuon)", 0, &["unknown function", "did you mean TMath::Sqrt"]),
    Case(&["sun$(nMuon)"], "sun$(nMuon)", 0, &["unknown function sun$", "did you mean Sum$"]),
    Case(&["Foo$"], "Foo$", 0, &["Foo$ is unknown"]),
    Case(&["Entires$"], "Entires$", 0, &["Entires$ is unknown", "did you mean Entries$"]),
    Case(&["Sum$"], "Sum$", 4, &["requires its argument in parentheses"]),
    Case(&["Entry$(1)"], "Entry$(1)", 0, &["Entry$ takes no arguments"]),
    Case(&["pow(nMuon)"], "pow(nMuon)", 0, &["pow takes 2 arguments, not 1"]),
    Case(&["2*sqrt(1,2)"], "2*sqrt(1,2)", 2, &["sqrt takes 1 argument, not 2"]),
    Case(&["Sum$()"], "Sum$()", 0, &["Sum$ takes 1 argument, not 0"]),
    Case(&["Alt$(nMuon)"], "Alt$(nMuon)", 0, &["Alt$ takes 2 arguments, not 1"]),
    Case(&["pow(nMuon,)"], "pow(nMuon,)", 10, &["expected a number, a name or '('"]),
    // methods
    Case(&["nMuon.foo()"], "nMuon.foo()", 0, &["no method foo()"]),
    Case(&["Muon_pt.foo()"], "Muon_pt.foo()", 0, &["foo()", "size(), at(index)"]),
    Case(&["Muon_tp.at(0)"], "Muon_tp.at(0)", 0, &["no branch Muon_tp", "did you mean Muon_pt"]),
    Case(&["(nMuon+1).foo()"], "(nMuon+1).foo()", 9, &["expected an operator or ':'"]),
    // strings and numbers
    Case(&["\"a\"+nMuon"], "\"a\"+nMuon", 0, &["+ takes two numbers", "string"]),
    Case(&["nMuon*\"a\""], "nMuon*\"a\"", 6, &["* takes two numbers", "string"]),
    Case(&["nMuon==\"a\""], "nMuon==\"a\"", 7, &["== compares two numbers or two strings"]),
    Case(&["\"a\"<\"b\""], "\"a\"<\"b\"", 3, &["only be compared with == and !="]),
    Case(&["sqrt(\"a\")"], "sqrt(\"a\")", 5, &["a string is not a number"]),
    Case(&["-\"a\""], "-\"a\"", 1, &["a string is not a number"]),
    Case(&["Sum$(\"a\")"], "Sum$(\"a\")", 5, &["Sum$ requires numbers"]),
    Case(&["strstr(nMuon,\"a\")"], "strstr(nMuon,\"a\")", 7, &["strstr requires two strings"]),
    Case(&["nMuon", "\"a\""], "\"a\"", 0, &["a string is not a number"]),
    Case(&["Muon_pt[\"a\"]"], "Muon_pt[\"a\"]", 8, &["a string is not a number"]),
    Case(&["Muon_pt[-1]"], "Muon_pt[-1]", 8, &["no item -1"]),
    // aliases
    Case(&["p", "--alias", "p=nMuno+1"], "p", 0, &["did you mean nMuon", "in the alias p = nMuno+1"]),
    Case(
        &["1+q", "--alias", "p=sqtr(1)", "--alias", "q=p"],
        "1+q",
        2,
        &["unknown function sqtr", "in the alias q = p"],
    ),
    Case(&["p", "--alias", "p=nMuon+"], "nMuon+", 6, &["the alias p", "expected a number"]),
    Case(&["p", "--alias", "p=q", "--alias", "q=p"], "p", 0, &["refers to itself"]),
    // friends
    Case(&["nMuon", "--friend", "f=Events@@", "--index", "run+,event"], "run+", 4, &["--index", "expected a number"]),
    Case(&["nMuon", "--friend", "f=Events@@", "--index", "run,event)"], "event)", 5, &["--index", "an operator"]),
    Case(&["f.nMuno", "--friend", "f=Events@@"], "f.nMuno", 0, &["no branch f.nMuno", "nMuon"]),
];

/// Of `draw` only.
const DRAWS: &[Case] = &[
    Case(&["nMuon>>h(10,0"], "nMuon>>h(10,0", 13, &["the binning ends with ')'"]),
    Case(&["nMuon>>h(a)"], "nMuon>>h(a)", 7, &["not a number"]),
    Case(&["nMuon>>"], "nMuon>>", 7, &["a histogram name is expected"]),
    Case(&["--before", "nMuno", "nMuon"], "nMuno", 0, &["did you mean nMuon"]),
    Case(&["--before", "nMuon?(run", "nMuon"], "(run", 4, &["expected ')'"]),
    Case(&["--before", "nMuon?runn>1", "nMuon"], "runn>1", 0, &["did you mean run"]),
    Case(&["-e", "nMuon", "-e", "nMuno"], "nMuno", 0, &["did you mean nMuon"]),
    Case(&["-e", "nMuon?run>"], "run>", 4, &["expected a number"]),
    Case(&["-e", "sqtr(1)"], "sqtr(1)", 0, &["did you mean sqrt"]),
];

/// Of `scan` only: the whole list of columns is shown, not the part between two commas.
const SCANS: &[Case] = &[
    Case(&["run,"], "run,", 4, &["expected a number"]),
    Case(&["run,nMuon+,event"], "run,nMuon+,event", 10, &["expected a number, a name or '('"]),
    Case(&["run,,event"], "run,,event", 4, &["expected a number, a name or '('"]),
];

/// What is wrong with the error of a case; `None` if nothing is.
fn fault(verb: &str, target: &str, case: &Case) -> Option<String> {
    let Case(args, line, caret, parts) = case;
    let args: Vec<String> =
        args.iter().map(|a| a.replace("@@", &format!("@{target}").replace(":Events", ""))).collect();
    let all: Vec<&str> = [verb, target].into_iter().chain(args.iter().map(String::as_str)).collect();
    let (status, said) = failure(&all);
    let picture = format!("\n    {line}\n    {}^\n", " ".repeat(*caret));
    let missing: Vec<_> = parts.iter().filter(|part| !said.contains(**part)).collect();
    let usage: Vec<_> = ["Usage", "--help", "error: "].into_iter().filter(|words| said.contains(words)).collect();
    let good = status == 1 && format!("{said}\n").contains(&picture) && missing.is_empty() && usage.is_empty();
    (!good)
        .then(|| format!("{all:?} with {status}; missing {missing:?}, too much {usage:?}; wanted{picture}said\n{said}"))
}

#[test]
fn every_error_shows_the_expression_with_a_caret() {
    let folder = Folder::new("expression-errors");
    let target = format!("{}:Events", folder.sample("a.root", 20, &[]));
    let of = |verb: &'static str, cases: &'static [Case]| cases.iter().map(move |case| (verb, case));
    let all = of("draw", EXPRESSIONS).chain(of("scan", EXPRESSIONS)).chain(of("draw", DRAWS)).chain(of("scan", SCANS));
    let faults: Vec<String> = all.filter_map(|(verb, case)| fault(verb, &target, case)).collect();
    assert!(faults.is_empty(), "{} errors:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_scan_with_blank_expressions_prints_as_without() {
    let folder = Folder::new("blank-scan");
    let target = format!("{}:Events", folder.sample("a.root", 3, &[]));
    assert_eq!(text(&["scan", &target, "", "nMuon>=0"]), text(&["scan", &target]));
    assert_eq!(text(&["scan", &target, " ", "", "precision=3"]), text(&["scan", &target, "--option", "precision=3"]));
}
