//! The classes whose methods are understood, and what each method computes from the members, as ROOT 6.40 does.

use crate::method_formula::{Method, Methods};
use crate::method_genvector as genvector;
use crate::method_objects as objects;

/// One class.
pub(crate) struct Class {
    /// The class, or what the names of its instances begin with where it is a template.
    name: &'static str,
    /// What stands before the members' names.
    pub inside: &'static str,
    methods: &'static [Methods],
}

impl Class {
    /// The methods and their formulas.
    pub(crate) fn methods(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.methods.iter().flat_map(|m| m.iter().copied())
    }

    /// A method, or a part of the formulas of methods: the one with so many arguments if there are several.
    pub(crate) fn method(&self, wanted: &str, arguments: usize) -> Option<Method> {
        let all = || {
            let methods = self.methods().chain(self.parts().iter().copied());
            methods.map(|(signature, meaning)| Method::new(signature, meaning)).filter(|m| m.name == wanted)
        };
        all().find(|m| m.parameters.len() == arguments).or_else(|| all().next())
    }

    /// Whether formulas with functions such as `Sum$`, or with what formulas have in common, sum up members.
    pub(crate) fn sums(&self) -> bool {
        self.name != "TTimeStamp"
    }

    /// What formulas of the class have in common.
    fn parts(&self) -> Methods {
        match self.name {
            "TAxis" => objects::AXIS_PARTS,
            "TTimeStamp" => objects::TIME_STAMP_PARTS,
            name if name.starts_with("TH1") => objects::HISTOGRAM_PARTS,
            _ => &[],
        }
    }
}

/// The class of this name, where its methods are understood.
pub(crate) fn class(name: &str) -> Option<&'static Class> {
    let name: String = name.replace("ROOT::Math::", "").replace("Double32_t", "double").replace(' ', "");
    CLASSES.iter().find(|c| {
        if c.name.ends_with('<') || c.name.ends_with(',') || c.name.ends_with('>') {
            name.starts_with(c.name)
        } else {
            name == c.name
        }
    })
}

const VECTOR2: Methods = &[
    ("X", "fX"),
    ("Y", "fY"),
    ("Px", "fX"),
    ("Py", "fY"),
    ("Mod2", "fX*fX+fY*fY"),
    ("Mod", "TMath::Sqrt(Mod2())"),
    ("Phi", "TMath::Pi()+TMath::ATan2(-fY,-fX)"),
    ("Unit", "TVector2: Mod2()>0 ? fX/Mod() : 0; Mod2()>0 ? fY/Mod() : 0"),
];

const VECTOR3: Methods = &[
    ("X", "fX"),
    ("Y", "fY"),
    ("Z", "fZ"),
    ("Px", "fX"),
    ("Py", "fY"),
    ("Pz", "fZ"),
    ("x", "fX"),
    ("y", "fY"),
    ("z", "fZ"),
    ("Perp2", "fX*fX+fY*fY"),
    ("Perp", "TMath::Sqrt(Perp2())"),
    ("Pt", "TMath::Sqrt(Perp2())"),
    ("Mag2", "fX*fX+fY*fY+fZ*fZ"),
    ("Mag", "TMath::Sqrt(Mag2())"),
    ("Phi", "fX==0&&fY==0 ? 0 : TMath::ATan2(fY,fX)"),
    ("Theta", "fX==0&&fY==0&&fZ==0 ? 0 : TMath::ATan2(Perp(),fZ)"),
    ("CosTheta", "Mag()==0 ? 1 : fZ/Mag()"),
    ("PseudoRapidity", PSEUDORAPIDITY),
    ("Eta", PSEUDORAPIDITY),
    (
        "Unit",
        "TVector3: fX*(Mag2()>0 ? 1/TMath::Sqrt(Mag2()) : 1); fY*(Mag2()>0 ? 1/TMath::Sqrt(Mag2()) : 1); \
         fZ*(Mag2()>0 ? 1/TMath::Sqrt(Mag2()) : 1)",
    ),
    ("XYvector", "TVector2: fX; fY"),
];

const PSEUDORAPIDITY: &str = "CosTheta()*CosTheta()<1 ? -0.5*TMath::Log((1-CosTheta())/(1+CosTheta())) \
     : (fZ==0 ? 0 : (fZ>0 ? 10e10 : -10e10))";

const LORENTZ: Methods = &[
    ("X", "fP.fX"),
    ("Y", "fP.fY"),
    ("Z", "fP.fZ"),
    ("T", "fE"),
    ("Px", "fP.fX"),
    ("Py", "fP.fY"),
    ("Pz", "fP.fZ"),
    ("E", "fE"),
    ("Energy", "fE"),
    ("Perp2", "fP.fX*fP.fX+fP.fY*fP.fY"),
    ("Perp", "TMath::Sqrt(Perp2())"),
    ("Pt", "TMath::Sqrt(Perp2())"),
    ("P", "TMath::Sqrt(fP.fX*fP.fX+fP.fY*fP.fY+fP.fZ*fP.fZ)"),
    ("Rho", "P()"),
    ("M2", "fE*fE-(fP.fX*fP.fX+fP.fY*fP.fY+fP.fZ*fP.fZ)"),
    ("Mag2", "M2()"),
    ("M", "M2()<0 ? -TMath::Sqrt(-M2()) : TMath::Sqrt(M2())"),
    ("Mag", "M()"),
    ("Mt2", "fE*fE-fP.fZ*fP.fZ"),
    ("Mt", "Mt2()<0 ? -TMath::Sqrt(-Mt2()) : TMath::Sqrt(Mt2())"),
    ("Et2", "Perp2()==0 ? 0 : fE*fE*Perp2()/(Perp2()+fP.fZ*fP.fZ)"),
    ("Et", "fE<0 ? -TMath::Sqrt(Et2()) : TMath::Sqrt(Et2())"),
    ("Phi", "fP.fX==0&&fP.fY==0 ? 0 : TMath::ATan2(fP.fY,fP.fX)"),
    ("Theta", "fP.fX==0&&fP.fY==0&&fP.fZ==0 ? 0 : TMath::ATan2(Perp(),fP.fZ)"),
    ("CosTheta", "P()==0 ? 1 : fP.fZ/P()"),
    ("PseudoRapidity", LORENTZ_PSEUDORAPIDITY),
    ("Eta", LORENTZ_PSEUDORAPIDITY),
    ("Rapidity", "0.5*TMath::Log((fE+fP.fZ)/(fE-fP.fZ))"),
    ("Beta", "P()/fE"),
    ("Gamma", "1/TMath::Sqrt(1-Beta()*Beta())"),
    ("Plus", "fE+fP.fZ"),
    ("Minus", "fE-fP.fZ"),
    ("Vect", "object: fP"),
    ("BoostVector", "TVector3: fP.fX/fE; fP.fY/fE; fP.fZ/fE"),
];

const LORENTZ_PSEUDORAPIDITY: &str = "CosTheta()*CosTheta()<1 ? -0.5*TMath::Log((1-CosTheta())/(1+CosTheta())) \
     : (fP.fZ==0 ? 0 : (fP.fZ>0 ? 10e10 : -10e10))";

/// Stored coordinates: also where they are floats, with which ROOT computes in single precision.
const PT_ETA_PHI: Methods =
    &[("Pt", "fPt"), ("pt", "fPt"), ("Eta", "fEta"), ("eta", "fEta"), ("Phi", "fPhi"), ("phi", "fPhi")];
const MASS: Methods = &[("M", "fM"), ("mass", "fM")];
const ENERGY: Methods = &[("E", "fE"), ("T", "fE"), ("energy", "fE")];
const PXPYPZE: Methods = &[
    ("Px", "fX"),
    ("Py", "fY"),
    ("Pz", "fZ"),
    ("E", "fT"),
    ("X", "fX"),
    ("Y", "fY"),
    ("Z", "fZ"),
    ("T", "fT"),
    ("px", "fX"),
    ("py", "fY"),
    ("pz", "fZ"),
    ("energy", "fT"),
];
const PXPYPZM: Methods =
    &[("Px", "fX"), ("Py", "fY"), ("Pz", "fZ"), ("X", "fX"), ("Y", "fY"), ("Z", "fZ"), ("M", "fM"), ("mass", "fM")];
const XYZ: Methods = &[("X", "fX"), ("Y", "fY"), ("Z", "fZ"), ("x", "fX"), ("y", "fY"), ("z", "fZ")];
const XY: Methods = &[("X", "fX"), ("Y", "fY"), ("x", "fX"), ("y", "fY")];

/// Computed from doubles.
const FROM_XY: Methods = &[("Phi", "fX==0&&fY==0 ? 0 : TMath::ATan2(fY,fX)"), ("phi", "Phi()")];
const MOMENTUM: Methods = &[
    ("Pt", "TMath::Sqrt(fX*fX+fY*fY)"),
    ("pt", "Pt()"),
    ("Perp2", "fX*fX+fY*fY"),
    ("P2", "fX*fX+fY*fY+fZ*fZ"),
    ("P", "TMath::Sqrt(P2())"),
];
const MOMENTUM_MASS: Methods = &[("M2", "fT*fT-fX*fX-fY*fY-fZ*fZ")];
const LENGTH: Methods = &[
    ("Rho", "TMath::Sqrt(fX*fX+fY*fY)"),
    ("Perp2", "fX*fX+fY*fY"),
    ("Mag2", "fX*fX+fY*fY+fZ*fZ"),
    ("R", "TMath::Sqrt(Mag2())"),
];

static CLASSES: &[Class] = &[
    Class { name: "TH1F", inside: "", methods: &[objects::HISTOGRAM] },
    Class { name: "TH1D", inside: "", methods: &[objects::HISTOGRAM] },
    Class { name: "TH1I", inside: "", methods: &[objects::HISTOGRAM] },
    Class { name: "TH1S", inside: "", methods: &[objects::HISTOGRAM] },
    Class { name: "TH1C", inside: "", methods: &[objects::HISTOGRAM] },
    Class { name: "TAxis", inside: "", methods: &[objects::AXIS] },
    Class { name: "TDatime", inside: "", methods: &[objects::DATIME] },
    Class { name: "TObjString", inside: "", methods: &[objects::OBJECT_STRING] },
    Class { name: "TNamed", inside: "", methods: &[objects::NAMED] },
    Class { name: "TBits", inside: "", methods: &[objects::BITS] },
    Class { name: "TMatrixT<", inside: "", methods: &[objects::MATRIX] },
    Class { name: "TVectorT<", inside: "", methods: &[objects::VECTOR] },
    Class { name: "TVector2", inside: "", methods: &[VECTOR2] },
    Class { name: "TVector3", inside: "", methods: &[VECTOR3] },
    Class { name: "TLorentzVector", inside: "", methods: &[LORENTZ] },
    Class { name: "TTimeStamp", inside: "", methods: &[objects::TIME_STAMP] },
    Class { name: "PtEtaPhiM4D<", inside: "", methods: &[PT_ETA_PHI, MASS] },
    Class { name: "PxPyPzE4D<", inside: "", methods: &[PXPYPZE] },
    Class {
        name: "LorentzVector<PtEtaPhiM4D<double>",
        inside: "fCoordinates.",
        methods: &[
            PT_ETA_PHI,
            MASS,
            genvector::PT_ETA_PHI_M,
            genvector::LORENTZ_VECTOR,
            &[("Coordinates", "PtEtaPhiM4D: fPt; fEta; fPhi; fM")],
        ],
    },
    Class { name: "LorentzVector<PtEtaPhiM4D<", inside: "fCoordinates.", methods: &[PT_ETA_PHI, MASS] },
    Class { name: "LorentzVector<PtEtaPhiE4D<", inside: "fCoordinates.", methods: &[PT_ETA_PHI, ENERGY] },
    Class {
        name: "LorentzVector<PxPyPzE4D<double>",
        inside: "fCoordinates.",
        methods: &[
            PXPYPZE,
            FROM_XY,
            MOMENTUM,
            MOMENTUM_MASS,
            genvector::PX_PY_PZ_E,
            genvector::LORENTZ_VECTOR,
            &[("Coordinates", "PxPyPzE4D: fX; fY; fZ; fT")],
        ],
    },
    Class { name: "LorentzVector<PxPyPzE4D<", inside: "fCoordinates.", methods: &[PXPYPZE] },
    Class {
        name: "LorentzVector<PxPyPzM4D<double>",
        inside: "fCoordinates.",
        methods: &[PXPYPZM, FROM_XY, MOMENTUM, genvector::PX_PY_PZ_M],
    },
    Class { name: "LorentzVector<PxPyPzM4D<", inside: "fCoordinates.", methods: &[PXPYPZM] },
    Class {
        name: "PositionVector3D<Cartesian3D<double>",
        inside: "fCoordinates.",
        methods: &[XYZ, FROM_XY, LENGTH, genvector::CARTESIAN],
    },
    Class { name: "PositionVector3D<Cartesian3D<", inside: "fCoordinates.", methods: &[XYZ] },
    Class {
        name: "DisplacementVector3D<Cartesian3D<double>",
        inside: "fCoordinates.",
        methods: &[XYZ, FROM_XY, LENGTH, genvector::CARTESIAN],
    },
    Class { name: "DisplacementVector3D<Cartesian3D<", inside: "fCoordinates.", methods: &[XYZ] },
    Class { name: "PositionVector2D<Cartesian2D<", inside: "fCoordinates.", methods: &[XY] },
    Class { name: "DisplacementVector2D<Cartesian2D<", inside: "fCoordinates.", methods: &[XY] },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expr;

    #[test]
    fn every_formula_is_an_expression() {
        for c in CLASSES {
            for (name, text) in c.methods().chain(c.parts().iter().copied()) {
                let method = Method::new(name, text);
                let Some(made) = method.makes else {
                    assert!(Expr::parse(method.formula).is_ok(), "{name}: {text}");
                    continue;
                };
                assert!(made.members.iter().all(|(_, text)| Expr::parse(text).is_ok()), "{name}: {text}");
                assert_eq!(made.members.len(), text.split("; ").count(), "{name}: {text}");
                assert!(class(made.class).is_some(), "{name}: {text}");
            }
            for (name, _) in c.methods() {
                assert_eq!(c.methods().filter(|(n, _)| *n == name).count(), 1, "{}: {name}", c.name);
            }
        }
    }

    #[test]
    fn names_of_templates_are_compared_without_spaces() {
        let name = "ROOT::Math::LorentzVector<ROOT::Math::PxPyPzE4D<Double32_t> >";
        assert!(class(name).unwrap().methods().any(|(n, _)| n == "Pt"));
        let single = class("ROOT::Math::LorentzVector<ROOT::Math::PxPyPzE4D<float> >").unwrap();
        assert!(single.methods().all(|(n, _)| n != "Pt"));
        assert!(class("TVector33").is_none());
    }
}
