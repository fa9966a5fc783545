#!/usr/bin/env python3
"""Asks ROOT's TTree::Draw for the rows of many expressions and stores them as a fixture.

    python tests/oracle/draw_expressions.py            # writes the fixture of sapwood-query
    python tests/oracle/draw_expressions.py --check    # fails where ROOT now says something else

The fixture holds the tree's data as well, so that the Rust test needs no ROOT. Where ROOT's result
is not deterministic or reads memory it should not (listed in the documentation of sapwood-query),
no expression is asked here.
"""

import argparse
import array
import json
import math
import pathlib
import sys

import ROOT

FIXTURE = pathlib.Path(__file__).parents[2] / "crates/sapwood-query/tests/fixtures/draw.json"
ENTRIES = 12

EXPRESSIONS = """
s;  i8;  u8;  i16;  u16;  i32;  u32;  i64;  u64;  f32;  f64;  b;  x;  y;  m;  v;  w;  vi;  vv
-s^2;  -s**2;  2^3^2;  2^-1;  2^-s;  2^-2^2;  -s^2*2;  2*-s^2;  s/2;  5/2;  s/0;  1/0;  x/(s-s)
s%2;  -7%3;  7.9%3;  7%4*2;  2*7%4;  2+7%4;  9%2+3*2;  17%10%4;  20/3%4;  20%7/2;  -s%2
s|1;  s<<1;  s&3;  1<<2+1;  1+2<<1;  2<<1*3;  2*3<<1;  9%4<<1;  1<<5%2;  1<<2<<3;  -4<<1;  2.7|0;  1e19|0
1|2&4;  4&6|1;  6|1==1;  7&2==2;  3<<1&7;  f64&1;  !s;  !s+1;  !s==1;  -!s;  s==1;  s!=1;  s<1;  s<=1;  s>1;  s>=1
s||0;  1&&s;  1||1&&0;  0.5&&1;  !0.5;  s>0?1:2;  s>0?x:2;  s>0?1:s>-1?5:6;  1?2:0?3:4;  0.5?1:2;  s>0?x:y
1-2+3;  10-4-3;  8/2*4;  2*8/4/2;  3-2*-1;  s--1;  s-(-1);  0.1+0.2;  .5;  5.;  1.5e-3*s;  1E3;  0xff;  1e400
x[0];  x[1];  x[2];  x[];  x[s];  x[n-1];  x[n];  x[Iteration$];  x[Length$(x)-1];  x[0]+x[1];  x-x[0];  x[k];  x[vi];  x[Sum$(1)]
(x)[0];  y[3];  y[k];  y[s];  y[y];  y[1]*x;  y[0]+y[1];  s[0];  s[]
m[1];  m[0][1];  m[][1];  m[1][];  m[s][0];  m[k][0];  m[0]*m[1];  m[1][2]-m[0][0];  x*m;  x+m[0];  x[0]*m[1];  m[][0]*x;  m[0][]*x;  m+k
w[0];  w[1];  w[1][2];  w[][1];  w*x;  w*m;  w*y;  w[s][1];  w[k][0];  w[x-x][1];  k[0][]*y;  k[][2]*y
vv[0];  vv[1];  vv[][0];  vv[][1];  vv[1][0];  vv*v;  vv[][0]*v;  vv[][0]*Iteration$;  Iteration$+0*vv;  Length$(vv);  Length$(vv[0]);  Sum$(vv);  Sum$(vv[0])
x+s;  x*x;  x+y;  x+w[][0];  x==20;  x>11&&s;  x>11||s;  s<0||x[1];  x[1]>1?1:0;  (n>0)?x[0]:-1
Iteration$;  x*Iteration$;  m*Iteration$;  Length$;  x*Length$;  Entry$;  Entries$;  LocalEntry$;  x*Entry$;  Entry$%2?x:y
Length$(x);  Length$(s);  Length$(m);  Length$(m[0]);  Length$(x*y);  Length$(x+m);  Length$(v)
Sum$(x);  Sum$(x>11);  Sum$(m);  Sum$(m[0]);  Sum$(x*m);  Sum$(x)*x;  Sum$(1);  Sum$(s);  Sum$(x[0]);  Sum$(x*Iteration$);  Sum$(x*Entry$);  Sum$(Length$);  Sum$(x>10&&y>1);  Sum$(Max$(x));  Sum$(v*y)
Max$(x);  Min$(x);  Max$(x[1]);  Min$(m*x);  MaxIf$(x,x<12);  MinIf$(x,x<12);  MaxIf$(x,y>1);  MinIf$(x,y>0.5);  MaxIf$(x,s);  MaxIf$(m,k==2);  Max$(x)-Min$(x);  x==Max$(x);  Max$(x)*(n>1);  Sum$(x)+Iteration$+0*x
Alt$(x[1],-1);  Alt$(x,-1);  Alt$(x,0)+m;  Alt$(x[0],0);  Alt$(x[1],s);  Alt$(x[2],Alt$(x[1],-5));  Alt$(v[1],0)+Alt$(x[1],0);  Alt$(x,-1)+Alt$(v,-2);  Alt$(x,-1)+v;  Alt$(m,-1)+x;  Sum$(Alt$(x,0)*y);  Alt$(Sum$(x),2)
@v.size();  v@.size();  @vv.size();  str.size();  str.length()
str=="abc";  str!="abc";  "abc"==str;  nm=="nm1";  nm!="nm1";  str==nm;  strstr(str,"b")!=0;  strstr(nm,"1");  strstr("abc",str);  str=="abc"||nm=="nm1";  s>0?str=="x":2;  vs=="a";  vs!="a";  vs=="b"&&s;  vs[0]=="a";  vs[1]=="b";  Sum$(vs=="a")
abs(s);  fabs(f32);  sq(s);  sqrt(s);  sqrt(f64);  exp(s);  exp(s*400);  exp(800);  exp(-800);  log(s);  log(f64);  log10(s+3);  log10(s);  log2(s+7);  sin(f64);  cos(f64);  tan(f64);  asin(s);  acos(s);  asin(f64/9);  acos(f64/9);  atan(f64);  atan2(f64,2);  atan2(s,f32)
sinh(s);  cosh(s);  tanh(s);  asinh(f64);  acosh(f64);  atanh(f64/9);  fmod(f64,2);  sign(s);  int(f64);  int(3e9);  int(1e30);  ceil(f64);  floor(f64);  round(s/2);  trunc(f64);  pow(f64,3);  pow(s,0.5);  hypot(s,f64);  min(s,1);  max(s,1);  min(x,s);  max(s^0.5,1);  max(1,s^0.5);  cbrt(f64);  erf(f64);  erfc(s);  tgamma(s+6.5);  exp10(s);  s^s;  s^0.5;  0^-1
TMath::Abs(s);  TMath::Sqrt(s);  TMath::Power(f64,2);  TMath::Log(s);  TMath::Log10(s);  TMath::Exp(f64);  TMath::ATan2(s,2);  TMath::Hypot(s,1);  TMath::Max(s,1);  TMath::Min(x,s);  TMath::Nint(s/2);  TMath::Floor(f64);  TMath::Ceil(f64);  TMath::Sign(2,s);  TMath::Gaus(s,0,1);  TMath::Range(0,2,s);  TMath::Odd(s);  TMath::Even(s);  TMath::Log2(s+7);  TMath::Erf(f64);  TMath::ASin(2);  TMath::Sin(f64);  TMath::Pi();  TMath::TwoPi();  TMath::E();  TMath::DegToRad();  pi
(s^0.5)&&1;  !(s^0.5);  (s^0.5)?1:2;  (s^0.5)>0;  (s^0.5)!=(s^0.5)
"""

# Expression, selection.
SELECTIONS = [
    ("x", "y>1"),
    ("x", "s"),
    ("s", "x>11"),
    ("s", "x"),
    ("x", "Sum$(x>11)"),
    ("x", "x>11"),
    ("n", "n>1&&x[0]>20"),
    ("Entry$", "Entry$%2"),
    ("x", "b*2.5"),
    ("s", "x[1]>1"),
    ("x", "s^0.5"),
    ("x", "x[0]>1&&s>0"),
    ("m", "k>2"),
    ("m", "m[0][0]>100"),
    ("m[0]", "x>0"),
    ("x", "x==Max$(x)"),
    ("s", 'str=="abc"'),
    ("x", 'nm=="nm1"'),
    ("s", 'vs=="a"'),
    ("v", 'vs=="a"'),
    ("x", "0"),
    ("x", "-1"),
    ("x", "0.5"),
    ("1", "n"),
    ("1", "x>0"),
    ("Sum$(1)", "x>0"),
    ("Entry$", "x>0"),
    ("Length$", "x>0"),
    ("Iteration$", "x>0"),
    ("x", "Sum$(x>10)>1&&x>11"),
    ("x", "(s&3)>>1"),
    ("s", "((s+6)>>1)"),
    ("s", "s>=0"),
    ("s", "vv>0"),
    ("f32", "f32>0.25"),
    ("w", "x>20"),
    ("vv", "s"),
    ("x", "Iteration$==1"),
    ("x", "Entry$>3"),
    ("x", "!b"),
    ("i64", "i64>0"),
    ("x", "LocalEntry$<5"),
    ("x", "Alt$(x[1],0)>10"),
    ("y", "Alt$(x[1],0)>10&&s>0"),
    ("x", "Alt$(Sum$(x),0)>20"),
    ("x", "Alt$(x[1],0)+s"),
    ("x", "Alt$(x[1],0)+x"),
    ("Alt$(x[2],-1)", "x"),
    ("Alt$(x[2],-1)*2", "y>1"),
    ("x+Alt$(x[2],-1)", ""),
    ("x+Alt$(x[2],-1)", "s>0"),
    ("!Alt$(x[1],0)", "x"),
    ("x+Alt$(x[2],Alt$(x[1],-5))", ""),
    ("Sum$(Alt$(x[1],0)*y)", ""),
    ("Sum$(Alt$(x[1],0)+x)", "s"),
    ("Max$(y-Alt$(x[2],3))", ""),
    ("MaxIf$(y,Alt$(x[1],0)>2)", ""),
    ("y", "Alt$(x,0)>10"),
    ("Alt$(x,-1)", "y>1"),
    ("Alt$(y,0)", "x"),
    ("Alt$(x[2],-1)+y[1]", "x"),
    ("Alt$(x[2],-1)+vi[0]", "y>1"),
    ("Alt$(x[2],-1)*(m[0][1]>0)", "x"),
    ("Alt$(x[2],-1)+Sum$(y)", "x"),
    ("-Alt$(x[0],-5)+y[n]", "y"),
    ("y", "Alt$(x[1],0)>y[1]"),
    ("s+y", "Alt$(x[0],-1)*y[3]"),
    ("Alt$(y,0)+s", "x"),
    ("Alt$(y,0)*x", "x"),
    ("Alt$(Alt$(x[1],7)+y,0)", "x"),
    ("Sum$(Alt$(x[1],0)>2)", ""),
]

# Expression, selection, bins, low, high.
HISTOGRAMS = [
    ("x", "", 20, 0, 130),
    ("f64", "", 7, -2, 2),
    ("x", "y>1", 13, 10.3, 77.7),
    ("m", "s", 50, 0, 600),
    ("s", "x>11", 10, -5, 5),
    ("f32", "f64", 3, 0, 1),
    ("s/0.1", "", 30, -0.3, 0.3),
    ("s^0.5", "", 4, 0, 4),
    ("s", "", 50, -7, 7),
    ("x", "", 37, -0.1, 120),
]


def make_tree():
    tree = ROOT.TTree("t", "")
    data = {}
    scalars = {
        "n": ("i", "I", lambda e: e % 4),
        "s": ("i", "I", lambda e: e - 4),
        "i8": ("b", "B", lambda e: 20 * e - 100),
        "u8": ("B", "b", lambda e: 20 * e),
        "i16": ("h", "S", lambda e: 3000 * e - 9000),
        "u16": ("H", "s", lambda e: 5000 * e),
        "i32": ("i", "I", lambda e: 10**8 * e - 3 * 10**8),
        "u32": ("I", "i", lambda e: 3 * 10**8 * e),
        "i64": ("l", "L", lambda e: (1 << 60) * (e - 6) + e),
        "u64": ("L", "l", lambda e: (1 << 60) * e + 7),
        "f32": ("f", "F", lambda e: 0.1 * e),
        "f64": ("d", "D", lambda e: 0.7 * e - 3.3),
        "b": ("B", "O", lambda e: e % 2),
    }
    arrays = {
        "x": ("f", "x[n]/F", 4, lambda e, i: 10 * e + i, lambda e: e % 4),
        "y": ("f", "y[4]/F", 4, lambda e, i: i + e / 10, None),
        "m": ("f", "m[2][3]/F", 6, lambda e, i: 100 * e + i, None),
        "k": ("i", "k[2][3]/I", 6, lambda e, i: i, None),
        "w": ("d", "w[n][3]/D", 12, lambda e, i: 1000 * e + i, lambda e: 3 * (e % 4)),
    }
    buffers = {name: array.array(code, [0]) for name, (code, _, _) in scalars.items()}
    for name, (_, leaf, _) in scalars.items():
        tree.Branch(name, buffers[name], f"{name}/{leaf}")
        data[name] = []
    for name, (code, leaves, size, _, _) in arrays.items():
        buffers[name] = array.array(code, [0] * size)
        tree.Branch(name, buffers[name], leaves)
        data[name] = []
    vectors = {"v": "float", "vi": "int", "vs": "std::string", "vv": "std::vector<float>"}
    for name, item in vectors.items():
        buffers[name] = ROOT.std.vector(item)()
        tree.Branch(name, buffers[name])
        data[name] = []
    text = ROOT.std.string()
    tree.Branch("str", text)
    chars = array.array("b", [0] * 16)
    tree.Branch("nm", chars, "nm/C")
    data["str"], data["nm"] = [], []
    lists = [[[1, 2], [3]], [], [[], [4]], [[5]], [[6, 7, 8], [9], [10, 11]], [[12]]]
    for e in range(ENTRIES):
        for name, (_, _, f) in scalars.items():
            buffers[name][0] = f(e)
            data[name].append(buffers[name][0])
        for name, (_, _, size, f, length) in arrays.items():
            for i in range(size):
                buffers[name][i] = f(e, i)
            data[name].append(list(buffers[name][: length(e) if length else size]))
        rows = {
            "v": [e + 0.5 * i for i in range(e % 3)],
            "vi": [e % 5 - 1 + i for i in range((e + 1) % 3)],
            "vs": ["ab"[i % 2] for i in range(e % 3)],
            "vv": lists[e % 6],
        }
        for name, items in rows.items():
            buffers[name].clear()
            for item in items:
                buffers[name].push_back(ROOT.std.vector("float")(item) if name == "vv" else item)
            data[name].append(items)
        word = ["abc", "", "de", "abc", "x", "yy"][e % 6]
        text.assign(word)
        data["str"].append(word)
        data["nm"].append(f"nm{e % 2}")
        for i, c in enumerate(f"nm{e % 2}\0".encode()):
            chars[i] = c
        tree.Fill()
    tree._keep = (buffers, text, chars)
    return tree, data


def number(x):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0 and math.copysign(1, x) < 0:
        return "-0"
    return int(x) if x == int(x) and abs(x) < 1 << 53 else x


def rows(tree, expression, cut):
    count = tree.Draw(expression, cut, "goff")
    if count < 0:
        sys.exit(f"ROOT refuses {expression!r} with selection {cut!r}")
    values, weights = tree.GetV1(), tree.GetW()
    out = {"expr": expression, "values": [number(values[i]) for i in range(count)]}
    if cut:
        out["cut"] = cut
        out["weights"] = [number(weights[i]) for i in range(count)]
    return out


def histogram(tree, expression, cut, bins, low, high):
    h = ROOT.TH1D("h", "", bins, low, high)  # not the TH1F that Draw makes: it rounds the counts
    tree.Draw(f"{expression}>>h", cut, "goff")
    out = {
        "expr": expression,
        "cut": cut,
        "bins": bins,
        "low": low,
        "high": high,
        "entries": number(h.GetEntries()),
        "mean": number(h.GetMean()),
        "std_dev": number(h.GetStdDev()),
        "counts": [number(h.GetBinContent(i)) for i in range(bins + 2)],
        "errors": [number(h.GetBinError(i)) for i in range(bins + 2)],
    }
    h.SetDirectory(ROOT.nullptr)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the stored fixture, write nothing")
    arguments = parser.parse_args()
    ROOT.gROOT.SetBatch(True)
    tree, data = make_tree()
    expressions = [e.strip() for line in EXPRESSIONS.splitlines() for e in line.split(";") if e.strip()]
    fixture = {
        "root": ROOT.gROOT.GetVersion(),
        "data": data,
        "draws": [rows(tree, e, "") for e in expressions] + [rows(tree, e, c) for e, c in SELECTIONS],
        "histograms": [histogram(tree, *h) for h in HISTOGRAMS],
    }
    lines = ["{", f'"root": {json.dumps(fixture["root"])},', '"data": {']
    lines.append(",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in data.items()))
    for key in ("draws", "histograms"):
        lines.append(("}," if key == "draws" else "],") + f'\n"{key}": [')
        lines.append(",\n".join(json.dumps(d, separators=(",", ":")) for d in fixture[key]))
    text = "\n".join(lines) + "\n]}\n"
    if arguments.check:
        stored, now = json.loads(FIXTURE.read_text()), json.loads(text)
        pairs = [p for key in ("draws", "histograms") for p in zip(stored[key], now[key], strict=True)]
        wrong = [new["expr"] for old, new in pairs if old != new]
        sys.exit(f"ROOT {fixture['root']} differs in {wrong}" if wrong or stored["data"] != now["data"] else 0)
    FIXTURE.write_text(text)
    print(f"{FIXTURE}: {len(fixture['draws'])} draws, {len(fixture['histograms'])} histograms, {len(text)} bytes")


if __name__ == "__main__":
    main()
