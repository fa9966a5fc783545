use super::random::Random;
use crate::BranchSpec;
use sapwood_column::{Array, DType, Values};
use std::f64::consts::PI;

/// How a number is generated.
#[derive(Clone, Copy)]
enum Distribution {
    /// The same for all events.
    Constant(f64),
    /// The number of the event divided by this.
    Counting(u64),
    /// Integers from 0 to one below.
    Below(u64),
    /// Evenly between.
    Even(f64, f64),
    /// Falling from the first with the second as mean.
    Falling(f64, f64),
    /// Around the first, as wide as the second.
    Bell(f64, f64),
    /// 1 with this probability, else 0.
    Chance(f64),
    /// 1 or -1.
    Sign,
}

/// A branch of the sample.
struct Field {
    name: &'static str,
    dtype: DType,
    distribution: Distribution,
}

const fn field(name: &'static str, dtype: DType, distribution: Distribution) -> Field {
    Field { name, dtype, distribution }
}

/// Objects of one kind in an event.
struct Collection {
    counter: &'static str,
    /// This many tries, each with this probability.
    tries: (u32, f64),
    fields: &'static [Field],
}

use DType::{Bool, F32, F64, I16, I32, U8, U32, U64};
use Distribution::{Bell, Below, Chance, Constant, Counting, Even, Falling, Sign};

/// One number per event.
const EVENT: &[Field] = &[
    field("run", U32, Constant(362_104.0)),
    field("luminosityBlock", U32, Counting(1000)),
    field("event", U64, Counting(1)),
    field("bunchCrossing", I32, Below(3564)),
    field("MET_pt", F32, Falling(0.0, 30.0)),
    field("MET_phi", F32, Even(-PI, PI)),
    field("MET_sumEt", F32, Bell(1200.0, 250.0)),
    field("MET_significance", F32, Falling(0.0, 4.0)),
    field("PV_x", F32, Bell(0.01, 0.002)),
    field("PV_y", F32, Bell(-0.02, 0.002)),
    field("PV_z", F32, Bell(0.0, 3.5)),
    field("PV_ndof", F32, Bell(80.0, 15.0)),
    field("nPV", I32, Below(70)),
    field("rho", F32, Bell(28.0, 6.0)),
    field("pileup", F32, Bell(45.0, 8.0)),
    field("genWeight", F64, Bell(1.0, 0.1)),
    field("category", I16, Below(6)),
    field("HLT_IsoMu24", Bool, Chance(0.35)),
    field("HLT_Mu17_Mu8", Bool, Chance(0.2)),
    field("HLT_Mu50", Bool, Chance(0.05)),
    field("HLT_Ele32", Bool, Chance(0.2)),
    field("HLT_Ele23_Ele12", Bool, Chance(0.1)),
    field("HLT_Photon200", Bool, Chance(0.01)),
    field("HLT_PFJet500", Bool, Chance(0.02)),
    field("HLT_PFHT1050", Bool, Chance(0.03)),
    field("HLT_PFMET120", Bool, Chance(0.02)),
    field("Flag_goodVertices", Bool, Chance(0.995)),
    field("Flag_halo", Bool, Chance(0.99)),
    field("Flag_noise", Bool, Chance(0.98)),
    field("Flag_badMuon", Bool, Chance(0.999)),
];

const COLLECTIONS: &[Collection] = &[
    Collection {
        counter: "nMuon",
        tries: (4, 0.25),
        fields: &[
            field("Muon_pt", F32, Falling(3.0, 15.0)),
            field("Muon_eta", F32, Even(-2.4, 2.4)),
            field("Muon_phi", F32, Even(-PI, PI)),
            field("Muon_charge", I32, Sign),
            field("Muon_iso", F32, Falling(0.0, 0.1)),
            field("Muon_dxy", F32, Bell(0.0, 0.01)),
            field("Muon_tightId", Bool, Chance(0.8)),
        ],
    },
    Collection {
        counter: "nElectron",
        tries: (3, 0.2),
        fields: &[
            field("Electron_pt", F32, Falling(5.0, 18.0)),
            field("Electron_eta", F32, Even(-2.5, 2.5)),
            field("Electron_phi", F32, Even(-PI, PI)),
            field("Electron_charge", I32, Sign),
            field("Electron_cutBased", U8, Below(5)),
        ],
    },
    Collection {
        counter: "nJet",
        tries: (12, 0.4),
        fields: &[
            field("Jet_pt", F32, Falling(15.0, 30.0)),
            field("Jet_eta", F32, Bell(0.0, 1.6)),
            field("Jet_phi", F32, Even(-PI, PI)),
            field("Jet_mass", F32, Falling(2.0, 6.0)),
            field("Jet_btag", F32, Even(0.0, 1.0)),
            field("Jet_nConstituents", U8, Below(60)),
        ],
    },
    Collection {
        counter: "nPhoton",
        tries: (3, 0.3),
        fields: &[
            field("Photon_pt", F32, Falling(8.0, 12.0)),
            field("Photon_eta", F32, Even(-2.5, 2.5)),
            field("Photon_phi", F32, Even(-PI, PI)),
        ],
    },
];

/// Weights of variations: several numbers per event.
const WEIGHTS: (&str, usize) = ("weight", 3);

pub(super) fn branches() -> Vec<BranchSpec> {
    let mut out: Vec<BranchSpec> = EVENT.iter().map(|f| BranchSpec::scalar(f.name, f.dtype)).collect();
    for c in COLLECTIONS {
        out.extend(c.fields.iter().map(|f| BranchSpec::jagged_by(f.name, f.dtype, c.counter)));
    }
    out.push(BranchSpec::fixed(WEIGHTS.0, F32, WEIGHTS.1));
    out
}

/// Generates events, batch by batch.
pub(super) struct Events {
    made: u64,
    event: Vec<Random>,
    collections: Vec<(Random, Vec<Random>)>,
    weights: Random,
    decays: Random,
}

impl Events {
    pub(super) fn new(seed: u64) -> Self {
        let of = |fields: &[Field]| fields.iter().map(|f| Random::new(seed, f.name)).collect();
        Self {
            made: 0,
            event: of(EVENT),
            collections: COLLECTIONS.iter().map(|c| (Random::new(seed, c.counter), of(c.fields))).collect(),
            weights: Random::new(seed, WEIGHTS.0),
            decays: Random::new(seed, "Z"),
        }
    }

    /// The next `n` events, by branch.
    pub(super) fn next(&mut self, n: usize) -> Vec<(&'static str, Array)> {
        let mut out = Vec::with_capacity(64);
        for (f, random) in EVENT.iter().zip(&mut self.event) {
            let numbers = (0..n as u64).map(|i| draw(f.distribution, random, self.made + i)).collect();
            out.push((f.name, Array::Flat(typed(f.dtype, numbers))));
        }
        let decays: Vec<Option<[Muon; 2]>> =
            (0..n).map(|_| self.decays.chance(0.33).then(|| decay(&mut self.decays))).collect();
        for (c, (counts, randoms)) in COLLECTIONS.iter().zip(&mut self.collections) {
            let muons = c.counter == "nMuon";
            let mut offsets = vec![0_i64];
            let mut end = 0;
            for decay in &decays {
                let from_decay = if muons && decay.is_some() { 2 } else { 0 };
                end += (counts.count(c.tries.0, c.tries.1) + from_decay) as i64;
                offsets.push(end);
            }
            for (f, random) in c.fields.iter().zip(randoms) {
                let mut numbers: Vec<f64> = (0..end).map(|_| draw(f.distribution, random, 0)).collect();
                if muons {
                    put_decays(f.name, &decays, &offsets, &mut numbers);
                }
                let content = Box::new(Array::Flat(typed(f.dtype, numbers)));
                out.push((f.name, Array::List { offsets: offsets.clone(), content }));
            }
        }
        let numbers = (0..n * WEIGHTS.1).map(|_| self.weights.bell(1.0, 0.05)).collect();
        let content = Box::new(Array::Flat(typed(F32, numbers)));
        out.push((WEIGHTS.0, Array::Regular { size: WEIGHTS.1, len: n, content }));
        self.made += n as u64;
        out
    }
}

fn draw(distribution: Distribution, random: &mut Random, event: u64) -> f64 {
    match distribution {
        Constant(x) => x,
        Counting(n) => (event / n + 1) as f64,
        Below(n) => random.below(n) as f64,
        Even(low, high) => random.between(low, high),
        Falling(least, mean) => least + random.exponential(mean),
        Bell(mean, sigma) => random.bell(mean, sigma),
        Chance(p) => f64::from(u8::from(random.chance(p))),
        Sign => [-1.0, 1.0][usize::from(random.chance(0.5))],
    }
}

/// A muon of a decay: transverse momentum in GeV, pseudorapidity, azimuth, charge.
#[derive(Clone, Copy)]
struct Muon {
    pt: f64,
    eta: f64,
    phi: f64,
    charge: f64,
}

/// Two muons whose invariant mass is that of a Z boson. For massless particles
/// m² = 2 pt₁ pt₂ (cosh Δη - cos Δφ), which gives the second one's momentum.
fn decay(random: &mut Random) -> [Muon; 2] {
    let mass = random.bell(91.19, 2.5);
    let charge = if random.chance(0.5) { 1.0 } else { -1.0 };
    let first =
        Muon { pt: random.bell(45.0, 8.0).max(10.0), eta: random.bell(0.0, 0.9), phi: random.between(-PI, PI), charge };
    let eta = first.eta + random.bell(0.0, 0.7);
    let turn = random.bell(PI, 0.4);
    let phi = (first.phi + turn + PI).rem_euclid(2.0 * PI) - PI;
    let opening = (eta - first.eta).cosh() - turn.cos();
    let pt = mass * mass / (2.0 * first.pt * opening.max(0.1));
    [first, Muon { pt, eta, phi, charge: -charge }]
}

/// Inserts the decays' muons before the others of their events.
fn put_decays(name: &str, decays: &[Option<[Muon; 2]>], offsets: &[i64], numbers: &mut [f64]) {
    for (decay, &start) in decays.iter().zip(offsets) {
        let Some(muons) = decay else { continue };
        for (muon, slot) in muons.iter().zip(numbers.iter_mut().skip(start as usize)) {
            match name {
                "Muon_pt" => *slot = muon.pt,
                "Muon_eta" => *slot = muon.eta,
                "Muon_phi" => *slot = muon.phi,
                "Muon_charge" => *slot = muon.charge,
                _ => {}
            }
        }
    }
}

/// The numbers in the branch's type; single precision keeps 12 bits of mantissa, as analysis data do.
fn typed(dtype: DType, numbers: Vec<f64>) -> Values {
    let n = numbers.into_iter();
    match dtype {
        DType::Bool => Values::Bool(n.map(|x| u8::from(x != 0.0)).collect()),
        DType::I8 => Values::I8(n.map(|x| x as i8).collect()),
        DType::U8 => Values::U8(n.map(|x| x as u8).collect()),
        DType::I16 => Values::I16(n.map(|x| x as i16).collect()),
        DType::U16 => Values::U16(n.map(|x| x as u16).collect()),
        DType::I32 => Values::I32(n.map(|x| x as i32).collect()),
        DType::U32 => Values::U32(n.map(|x| x as u32).collect()),
        DType::I64 => Values::I64(n.map(|x| x as i64).collect()),
        DType::U64 => Values::U64(n.map(|x| x as u64).collect()),
        DType::F32 => Values::F32(n.map(|x| f32::from_bits((x as f32).to_bits() & !0x7ff)).collect()),
        DType::F64 => Values::F64(n.collect()),
    }
}
