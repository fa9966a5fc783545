//! Methods of GenVector's classes with coordinates of doubles: with floats ROOT computes in single precision, and only the
//! stored coordinates are understood.

use crate::method_formula::Methods;

const ETA: &str = "Pt()>0 \
     ? (abs(Pz()/Pt())<8192 ? log(Pz()/Pt()+sqrt(Pz()/Pt()*(Pz()/Pt())+1)) \
        : (Pz()>0 ? log(2*(Pz()/Pt())+0.5/(Pz()/Pt())) : -log(-2*(Pz()/Pt())))) \
     : (Pz()==0 ? 0 : (Pz()>0 ? Pz()+22756 : Pz()-22756))";

/// Of every LorentzVector; what they are made of is computed by each kind of coordinates.
pub(crate) const LORENTZ_VECTOR: Methods = &[
    ("Rapidity", "0.5*log((E()+Pz())/(E()-Pz()))"),
    ("ColinearRapidity", "0.5*log((E()+P())/(E()-P()))"),
    ("Beta", "E()==0 ? (P2()==0 ? 0 : 1/E()) : P()/E()"),
    ("Gamma", "P2()==0 ? (E()*E()==0 ? 0 : 1) : 1/sqrt(1-P2()/(E()*E()))"),
    ("e", "E()"),
    ("r", "P()"),
    ("theta", "Theta()"),
    ("rho", "Pt()"),
    ("Perp", "Pt()"),
    ("perp2", "Perp2()"),
    ("mag2", "M2()"),
    ("Mag2", "M2()"),
    ("mag", "M()"),
    ("Mag", "M()"),
    ("mt", "Mt()"),
    ("mt2", "Mt2()"),
    ("mass2", "M2()"),
    ("Vect", "XYZVector: Px(); Py(); Pz()"),
];

pub(crate) const PT_ETA_PHI_M: Methods = &[
    ("Px", "fPt*cos(fPhi)"),
    ("Py", "fPt*sin(fPhi)"),
    ("Pz", "fPt>0 ? fPt*sinh(fEta) : (fEta==0 ? 0 : (fEta>0 ? fEta-22756 : fEta+22756))"),
    ("P", "fPt>0 ? fPt*cosh(fEta) : (fEta>22756 ? fEta-22756 : (fEta<-22756 ? -fEta-22756 : 0))"),
    ("P2", "P()*P()"),
    ("M2", "fM>=0 ? fM*fM : -fM*fM"),
    ("E", "sqrt(P2()+M2()>0 ? P2()+M2() : 0)"),
    ("Perp2", "fPt*fPt"),
    ("Mt2", "M2()+fPt*fPt"),
    ("Mt", "Mt2()>=0 ? sqrt(Mt2()) : -sqrt(-Mt2())"),
    ("Et", "E()/cosh(fEta)"),
    ("Theta", "fPt>0 ? 2*atan(exp(-fEta)) : (fEta>=0 ? 0 : TMath::Pi())"),
    ("Rho", "fPt"),
    ("X", "Px()"),
    ("Y", "Py()"),
    ("Z", "Pz()"),
    ("T", "E()"),
    ("px", "Px()"),
    ("py", "Py()"),
    ("pz", "Pz()"),
    ("energy", "E()"),
];

pub(crate) const PX_PY_PZ_E: Methods = &[
    ("M", "M2()>=0 ? sqrt(M2()) : -sqrt(-M2())"),
    ("mass", "M()"),
    ("Eta", ETA),
    ("eta", "Eta()"),
    ("Theta", "fX==0&&fY==0&&fZ==0 ? 0 : atan2(Pt(),fZ)"),
    ("Mt2", "fT*fT-fZ*fZ"),
    ("Mt", "Mt2()>=0 ? sqrt(Mt2()) : -sqrt(-Mt2())"),
    ("Et2", "Perp2()==0 ? 0 : fT*fT*Perp2()/(Perp2()+fZ*fZ)"),
    ("Et", "fT<0 ? -sqrt(Et2()) : sqrt(Et2())"),
    ("Rho", "Pt()"),
];

pub(crate) const PX_PY_PZ_M: Methods = &[
    ("M2", "fM>=0 ? fM*fM : -fM*fM"),
    ("E", "sqrt(P2()+M2()>0 ? P2()+M2() : 0)"),
    ("T", "E()"),
    ("energy", "E()"),
    ("Eta", ETA),
    ("eta", "Eta()"),
    ("Theta", "fX==0&&fY==0&&fZ==0 ? 0 : atan2(Pt(),fZ)"),
    ("Rho", "Pt()"),
];

/// Of points and displacements.
pub(crate) const CARTESIAN: Methods = &[
    ("Eta", CARTESIAN_ETA),
    ("eta", "Eta()"),
    ("Theta", "atan2(Rho(),fZ)"),
    ("theta", "Theta()"),
    ("r", "R()"),
    ("rho", "Rho()"),
    ("perp2", "Perp2()"),
    ("mag2", "Mag2()"),
    ("Unit", "XYZVector: R()==0 ? fX : fX/R(); R()==0 ? fY : fY/R(); R()==0 ? fZ : fZ/R()"),
];

const CARTESIAN_ETA: &str = "Rho()>0 \
     ? (abs(fZ/Rho())<8192 ? log(fZ/Rho()+sqrt(fZ/Rho()*(fZ/Rho())+1)) \
        : (fZ>0 ? log(2*(fZ/Rho())+0.5/(fZ/Rho())) : -log(-2*(fZ/Rho())))) \
     : (fZ==0 ? 0 : (fZ>0 ? fZ+22756 : fZ-22756))";
