//! Methods of ROOT's histograms, matrices, times and strings, as formulas of the members that are stored.

use crate::method_formula::Methods;

/// The bits of TDatime: years since 1995 from bit 26 on, then month, day, hour, minute and second.
pub(crate) const DATIME: Methods = &[
    ("GetYear", "int: (fDatime>>26)+1995"),
    ("GetMonth", "int: (fDatime>>22)&15"),
    ("GetDay", "int: (fDatime>>17)&31"),
    ("GetHour", "int: (fDatime>>12)&31"),
    ("GetMinute", "int: (fDatime>>6)&63"),
    ("GetSecond", "int: fDatime&63"),
    ("GetDate", "int: 10000*GetYear()+100*GetMonth()+GetDay()"),
    ("GetTime", "int: 10000*GetHour()+100*GetMinute()+GetSecond()"),
    ("Get", "int: fDatime"),
];

pub(crate) const OBJECT_STRING: Methods =
    &[("GetString", "object: fString"), ("String", "object: fString"), ("GetName", "fString")];

pub(crate) const NAMED: Methods = &[("GetName", "fName"), ("GetTitle", "fTitle")];

pub(crate) const BITS: Methods = &[
    ("GetNbits", "int: fNbits"),
    ("GetNbytes", "int: fNbytes"),
    ("TestBitNumber(bit)", "int: bit<fNbits ? (fAllBits[int(bit/8)]>>(bit%8))&1 : 0"),
];

pub(crate) const AXIS: Methods =
    &[("GetXmin", "fXmin"), ("GetXmax", "fXmax"), ("GetNbins", "int: fNbins"), ("GetName", "fName")];

/// Of one dimension. The sums of all that was filled are stored; where they are not (the bins were set), or where the axis
/// has a range, the bins give them. Edges are equally wide there.
pub(crate) const HISTOGRAM: Methods = &[
    ("GetEntries", "fEntries"),
    ("GetMean", "Sum0$()==0 ? 0 : Sum1$()/Sum0$()"),
    ("GetStdDev", "Sum0$()==0 ? 0 : TMath::Sqrt(TMath::Abs(Sum2$()/Sum0$()-GetMean()*GetMean()))"),
    ("GetRMS", "GetStdDev()"),
    ("GetEffectiveEntries", "SumOfSquares$()==0 ? TMath::Abs(Sum0$()) : Sum0$()*Sum0$()/SumOfSquares$()"),
    ("GetMeanError", "GetEffectiveEntries()>0 ? GetStdDev()/TMath::Sqrt(GetEffectiveEntries()) : 0"),
    ("GetStdDevError", "GetEffectiveEntries()>0 ? TMath::Sqrt(GetStdDev()*GetStdDev()/(2*GetEffectiveEntries())) : 0"),
    ("GetRMSError", "GetStdDevError()"),
    ("GetNbinsX", "int: fXaxis.fNbins"),
    ("GetNcells", "int: fNcells"),
    ("GetBinContent(bin)", "fArray[max(0,min(bin,fNcells-1))]"),
    ("GetMaximum", "fMaximum!=-1111 ? fMaximum : MaxIf$(fArray,InRange$())"),
    ("GetMinimum", "fMinimum!=-1111 ? fMinimum : MinIf$(fArray,InRange$())"),
    ("GetMaximumBin", "int: MinIf$(Iteration$+0*fArray,InRange$()&&fArray==MaxIf$(fArray,InRange$()))"),
    ("GetMinimumBin", "int: MinIf$(Iteration$+0*fArray,InRange$()&&fArray==MinIf$(fArray,InRange$()))"),
    ("Integral", "Sum$(fArray*InRange$())"),
    ("GetSumOfWeights", "Sum$(fArray*(Iteration$>0&&Iteration$<=fXaxis.fNbins))"),
    ("GetName", "fName"),
    ("GetTitle", "fTitle"),
    ("GetXaxis", "object: fXaxis"),
];

/// What the formulas of histograms have in common. The sign at the end keeps them apart from methods.
pub(crate) const HISTOGRAM_PARTS: Methods = &[
    ("HasRange$", "fXaxis.fFirst>1||(fXaxis.fLast>0&&fXaxis.fLast<fXaxis.fNbins)"),
    ("InRange$", "Iteration$>=max(fXaxis.fFirst,1)&&Iteration$<=(fXaxis.fLast>0 ? fXaxis.fLast : fXaxis.fNbins)"),
    ("FromBins$", "HasRange$()||(fTsumw==0&&fEntries>0)"),
    ("Width$", "(fXaxis.fXmax-fXaxis.fXmin)/(Length$(fXaxis.fXbins)>0 ? 0./0. : fXaxis.fNbins)"),
    ("Center$", "fXaxis.fXmin+(Iteration$-0.5)*Width$()"),
    ("Sum0$", "FromBins$() ? Integral() : fTsumw"),
    ("Sum1$", "FromBins$() ? Sum$(fArray*InRange$()*Center$()) : fTsumwx"),
    ("Sum2$", "FromBins$() ? Sum$(fArray*InRange$()*Center$()*Center$()) : fTsumwx2"),
    (
        "SumOfSquares$",
        "FromBins$() ? (Length$(fSumw2)>0 ? Sum$(fSumw2*InRange$()) : Sum$(abs(fArray)*InRange$())) : fTsumw2",
    ),
];

pub(crate) const MATRIX: Methods = &[
    ("GetNrows", "int: fNrows"),
    ("GetNcols", "int: fNcols"),
    ("GetNoElements", "int: fNelems"),
    ("Sum", "Sum$(fElements)"),
    ("Min", "Min$(fElements)"),
    ("Max", "Max$(fElements)"),
];

pub(crate) const VECTOR: Methods = &[
    ("GetNrows", "int: fNrows"),
    ("GetNoElements", "int: fNrows"),
    ("Sum", "Sum$(fElements)"),
    ("Min", "Min$(fElements)"),
    ("Max", "Max$(fElements)"),
    ("Norm1", "Sum$(abs(fElements))"),
    ("Norm2Sqr", "Sum$(fElements*fElements)"),
    ("NormInf", "Max$(abs(fElements))"),
];
