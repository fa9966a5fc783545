/// Declares the members that can be queried.
macro_rules! names {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// A member that can be queried and changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Name { $(#[doc = $text] $name),* }

        impl Name {
            /// From the member's name in ROOT.
            pub(super) fn of(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Name::$name),)*
                    _ => None,
                }
            }

            /// The member's name in ROOT.
            pub fn text(self) -> &'static str {
                match self {
                    $(Name::$name => $text),*
                }
            }
        }
    };
}

names! {
    // every named object
    Identifier = "fName",
    Title = "fTitle",
    UniqueId = "fUniqueID",
    Bits = "fBits",
    // TTree, some of them in TBranch as well
    Entries = "fEntries",
    TotBytes = "fTotBytes",
    ZipBytes = "fZipBytes",
    SavedBytes = "fSavedBytes",
    FlushedBytes = "fFlushedBytes",
    ClusterRanges = "fNClusterRange",
    ClusterRangeEnd = "fClusterRangeEnd",
    ClusterSize = "fClusterSize",
    AutoFlush = "fAutoFlush",
    Branches = "fBranches",
    Leaves = "fLeaves",
    Aliases = "fAliases",
    IndexValues = "fIndexValues",
    Index = "fIndex",
    TreeIndex = "fTreeIndex",
    Friends = "fFriends",
    UserInfo = "fUserInfo",
    BranchRef = "fBranchRef",
    // TBranch
    Compress = "fCompress",
    BasketSize = "fBasketSize",
    EntryOffsetLen = "fEntryOffsetLen",
    WriteBasket = "fWriteBasket",
    EntryNumber = "fEntryNumber",
    IoFeatures = "fIOFeatures",
    MaxBaskets = "fMaxBaskets",
    FirstEntry = "fFirstEntry",
    Baskets = "fBaskets",
    BasketBytes = "fBasketBytes",
    BasketEntry = "fBasketEntry",
    BasketSeek = "fBasketSeek",
    OtherFile = "fFileName",
    BranchCount = "fBranchCount",
    BranchCount2 = "fBranchCount2",
    // TBranchElement and TLeaf
    Maximum = "fMaximum",
    Minimum = "fMinimum",
    Len = "fLen",
    IsRange = "fIsRange",
    LeafCount = "fLeafCount",
    // histograms
    Array = "fArray",
    Ncells = "fNcells",
    XAxis = "fXaxis",
    YAxis = "fYaxis",
    ZAxis = "fZaxis",
    SumW = "fTsumw",
    SumW2 = "fTsumw2",
    SumWX = "fTsumwx",
    SumWX2 = "fTsumwx2",
    SumWY = "fTsumwy",
    SumWY2 = "fTsumwy2",
    SumWXY = "fTsumwxy",
    SumWZ = "fTsumwz",
    SumWZ2 = "fTsumwz2",
    SumWXZ = "fTsumwxz",
    SumWYZ = "fTsumwyz",
    SumWT = "fTsumwt",
    SumWT2 = "fTsumwt2",
    Errors = "fSumw2",
    BufferSize = "fBufferSize",
    Buffer = "fBuffer",
    BinEntries = "fBinEntries",
    BinSumw2 = "fBinSumw2",
    Nbins = "fNbins",
    Xmin = "fXmin",
    Xmax = "fXmax",
    Xbins = "fXbins",
    Labels = "fLabels",
    AxisBits = "fBits2",
    StatOverflows = "fStatOverflows",
    Text = "fString",
    // TObjArray: how many pointers follow
    Size = "fSize",
    // TStreamerInfo
    CheckSum = "fCheckSum",
    ClassVersion = "fClassVersion",
    // TParameter
    Value = "fVal",
    // profiles: the accepted range of values
    Zmin = "fZmin",
    Zmax = "fZmax",
    Tmin = "fTmin",
    Tmax = "fTmax",
    // TH2Poly and its bins, and profiles
    BinNumber = "fNumber",
    Overflow = "fOverflow",
    Ymin = "fYmin",
    Ymax = "fYmax",
    Area = "fArea",
    // TEventList
    List = "fList",
    // TGraph and related classes
    Points = "fNpoints",
    X = "fX",
    Y = "fY",
    XError = "fEX",
    YError = "fEY",
    XErrorLow = "fEXlow",
    XErrorHigh = "fEXhigh",
    YErrorLow = "fEYlow",
    YErrorHigh = "fEYhigh",
    XBendLow = "fEXlowd",
    XBendHigh = "fEXhighd",
    YBendLow = "fEYlowd",
    YBendHigh = "fEYhighd",
    // TEfficiency
    Passed = "fPassedHistogram",
    Total = "fTotalHistogram",
    Weight = "fWeight",
    // THStack
    Hists = "fHists",
    // THnBase, THnT and TNDArrayT
    Axes = "fAxes",
    Data = "fData",
    // THnSparse and its chunks
    ChunkSize = "fChunkSize",
    FilledBins = "fFilledBins",
    BinContent = "fBinContent",
    CoordinateSize = "fSingleCoordinateSize",
    CoordinatesSize = "fCoordinatesSize",
    Coordinates = "fCoordinates",
    Content = "fContent",
    // TTreeIndex
    Major = "fMajorName",
    Minor = "fMinorName",
    IndexSize = "fN",
    MinorValues = "fIndexValuesMinor",
}
