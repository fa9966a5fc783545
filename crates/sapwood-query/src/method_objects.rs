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
    // Zeller's congruence; Monday is 1
    (
        "GetDayOfWeek",
        "int: ((GetDay()+int(13*((GetMonth()<3 ? GetMonth()+12 : GetMonth())+1)/5)+(GetMonth()<3 ? GetYear()-1 : GetYear())\
         +int((GetMonth()<3 ? GetYear()-1 : GetYear())/4)-int((GetMonth()<3 ? GetYear()-1 : GetYear())/100)\
         +int((GetMonth()<3 ? GetYear()-1 : GetYear())/400)+5)%7)+1",
    ),
];

/// Dates and times are those of UTC.
pub(crate) const TIME_STAMP: Methods = &[
    ("GetSec", "fSec"),
    ("GetNanoSec", "fNanoSec"),
    ("AsDouble", "fSec+1e-9*fNanoSec"),
    ("GetDate", "int: (Year$()+(Month$()<=2))*10000+Month$()*100+Doy$()-int((153*Mp$()+2)/5)+1"),
    ("GetTime", "int: int(Second$()/3600)*10000+int((Second$()%3600)/60)*100+(Second$()%60)"),
];

/// The calendar in eras of 400 years that begin on 1 March, as days since 1970 fall into them.
pub(crate) const TIME_STAMP_PARTS: Methods = &[
    ("Second$", "fSec-86400*floor(fSec/86400)"),
    ("Day$", "floor(fSec/86400)+719468"),
    ("Doe$", "Day$()-146097*floor(Day$()/146097)"),
    ("Yoe$", "int((Doe$()-int(Doe$()/1460)+int(Doe$()/36524)-int(Doe$()/146096))/365)"),
    ("Year$", "Yoe$()+400*floor(Day$()/146097)"),
    ("Doy$", "Doe$()-(365*Yoe$()+int(Yoe$()/4)-int(Yoe$()/100))"),
    ("Mp$", "int((5*Doy$()+2)/153)"),
    ("Month$", "Mp$()<10 ? Mp$()+3 : Mp$()-9"),
];

pub(crate) const OBJECT_STRING: Methods =
    &[("GetString", "object: fString"), ("String", "object: fString"), ("GetName", "fString")];

pub(crate) const NAMED: Methods = &[("GetName", "fName"), ("GetTitle", "fTitle")];

pub(crate) const BITS: Methods = &[
    ("GetNbits", "int: fNbits"),
    ("GetNbytes", "int: fNbytes"),
    ("TestBitNumber(bit)", "int: bit<fNbits ? (fAllBits[int(bit/8)]>>(bit%8))&1 : 0"),
];

pub(crate) const AXIS: Methods = &[
    ("GetXmin", "fXmin"),
    ("GetXmax", "fXmax"),
    ("GetNbins", "int: fNbins"),
    ("GetName", "fName"),
    ("GetFirst", "int: max(fFirst,1)"),
    ("GetLast", "int: fLast>0 ? fLast : fNbins"),
    ("GetBinLowEdge(bin)", "HasEdges$(bin) ? Edge$(bin-1) : fXmin+(bin-1)*(fXmax-fXmin)/fNbins"),
    ("GetBinUpEdge(bin)", "HasEdges$(bin) ? Edge$(bin) : fXmin+bin*(fXmax-fXmin)/fNbins"),
    ("GetBinCenter(bin)", "HasEdges$(bin) ? 0.5*(Edge$(bin-1)+Edge$(bin)) : fXmin+(bin-0.5)*(fXmax-fXmin)/fNbins"),
    (
        "GetBinWidth(bin)",
        "Length$(fXbins)>0 ? Edge$(max(1,min(bin,fNbins)))-Edge$(max(1,min(bin,fNbins))-1) : (fXmax-fXmin)/fNbins",
    ),
    (
        "FindFixBin(x)",
        "int: x<fXmin ? 0 : (x>=fXmax ? fNbins+1 : (Length$(fXbins)>0 ? Sum$(fXbins<=x) \
         : 1+int(fNbins*(x-fXmin)/(fXmax-fXmin))))",
    ),
    ("FindBin(x)", "FindFixBin(x)"),
];

/// Of bins of unequal width. The index is a computed one: where there are no edges, it gives no number instead of no row.
pub(crate) const AXIS_PARTS: Methods =
    &[("HasEdges$(bin)", "Length$(fXbins)>0&&bin>0&&bin<=fNbins"), ("Edge$(bin)", "fXbins[max(0,min(bin,fNbins))]")];

/// Of one dimension. The sums of all that was filled are stored; where they are not (the bins were set), or where the axis
/// has a range, the bins give them. Edges are equally wide there.
pub(crate) const HISTOGRAM: Methods = &[
    ("GetEntries", "fEntries"),
    ("GetDimension", "int: 1"),
    ("GetMean", "Sum0$()==0 ? 0 : Sum1$()/Sum0$()"),
    ("GetMean(axis)", "axis==1 ? GetMean() : (axis==11 ? GetMeanError() : 0)"),
    ("GetSkewness", "Power$(3)"),
    ("GetKurtosis", "Power$(4)-3"),
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
    (
        "Integral(first,last)",
        "Sum$(fArray*(Iteration$>=max(first,0)&&Iteration$<=(last>fXaxis.fNbins+1||last<first ? fXaxis.fNbins+1 : last)))",
    ),
    ("GetBinError(bin)", "Length$(fSumw2)>0 ? sqrt(fSumw2[max(0,min(bin,fNcells-1))]) : sqrt(abs(GetBinContent(bin)))"),
    ("GetBinCenter(bin)", "fXaxis.GetBinCenter(bin)"),
    ("GetBinLowEdge(bin)", "fXaxis.GetBinLowEdge(bin)"),
    ("GetBinWidth(bin)", "fXaxis.GetBinWidth(bin)"),
    ("FindBin(x)", "fXaxis.FindFixBin(x)"),
    ("FindFixBin(x)", "fXaxis.FindFixBin(x)"),
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
    ("Power$(n)", "Sum$(fArray*InRange$()*(Center$()-GetMean())^n)/(Sum$(fArray*InRange$())*GetStdDev()^n)"),
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
    ("E2Norm", "Sum$(fElements*fElements)"),
    ("GetRowLwb", "int: fRowLwb"),
    ("GetRowUpb", "int: fRowLwb+fNrows-1"),
    ("GetColLwb", "int: fColLwb"),
    ("GetColUpb", "int: fColLwb+fNcols-1"),
];

pub(crate) const VECTOR: Methods = &[
    ("GetNrows", "int: fNrows"),
    ("GetNoElements", "int: fNrows"),
    ("Sum", "Sum$(fElements)"),
    ("Min", "Min$(fElements)"),
    ("Max", "Max$(fElements)"),
    ("GetLwb", "int: fRowLwb"),
    ("GetUpb", "int: fRowLwb+fNrows-1"),
    ("Norm1", "Sum$(abs(fElements))"),
    ("Norm2Sqr", "Sum$(fElements*fElements)"),
    ("NormInf", "Max$(abs(fElements))"),
];
