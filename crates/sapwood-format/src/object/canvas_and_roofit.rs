//! Classes with custom streamers that are not containers: canvases and RooFit classes.

use super::number::Number;
use super::object_builder::ObjectBuilder;
use super::read::Reader;
use super::value::{Object, Value};
use crate::cursor::Cursor;
use crate::streamer::code;
use sapwood_span::Result;

impl Reader<'_> {
    /// An object of such a class; none for others.
    pub(super) fn other(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        match class {
            "TCanvas" => self.canvas(c),
            "RooLinkedList" => self.roo_list(c),
            "RooRealVar" => self.roo_real(c),
            "RooRefArray" => self.roo_references(c),
            "RooWorkspace::CodeRepo" => self.roo_code(c),
            // its streamer writes nothing at all, not even a version
            "TQObject" => Ok(Some(Object::empty(class))),
            _ => Ok(None),
        }
    }

    fn field(&mut self, c: &mut Cursor, made: &mut ObjectBuilder, name: &str, type_name: &str, k: i32) -> Result<()> {
        let value = Number::Plain(k).read(c)?;
        made.add(name, "TStreamerBasicType", k, type_name, value);
        Ok(())
    }

    /// TCanvas: a pad, then the window, each member by hand.
    ///
    /// Source: the members that TCanvas::Streamer names, in its order; window flags that are not members are skipped.
    fn canvas(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("TCanvas", v.number);
        self.take(4000)?;
        let pad = self.embedded(c, "TPad")?;
        made.base("TPad", pad);
        let display = self.text(c)?;
        made.text("fDISPLAY", display);
        self.field(c, &mut made, "fDoubleBuffer", "Int_t", code::INT)?;
        self.field(c, &mut made, "fRetained", "Bool_t", code::BOOL)?;
        for name in ["fXsizeUser", "fYsizeUser", "fXsizeReal", "fYsizeReal"] {
            self.field(c, &mut made, name, "Float_t", code::FLOAT)?;
        }
        for name in ["fWindowTopX", "fWindowTopY"] {
            self.field(c, &mut made, name, "Int_t", code::INT)?;
        }
        if v.number > 2 {
            for name in ["fWindowWidth", "fWindowHeight"] {
                self.field(c, &mut made, name, "UInt_t", code::UINT)?;
            }
        }
        for name in ["fCw", "fCh"] {
            self.field(c, &mut made, name, "UInt_t", code::UINT)?;
        }
        let attributes = self.embedded(c, "TAttCanvas")?;
        made.add("fCatt", "TStreamerObject", code::OBJECT, "TAttCanvas", attributes);
        c.skip(2)?; // whether moving and resizing are opaque
        self.field(c, &mut made, "fHighLightColor", "Short_t", code::SHORT)?;
        c.skip(1)?; // whether it was in batch mode
        if v.number > 1 {
            c.skip(1)?; // whether the status bar was shown
        }
        if v.number > 2 {
            c.skip(1)?; // whether commands of its objects were executed
        }
        if v.number > 3 {
            c.skip(1)?; // whether the menu bar was shown
        }
        self.ends(c, &v, "TCanvas")?;
        made.done(Value::Null)
    }

    fn roo_list(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("RooLinkedList", v.number);
        self.take(600)?;
        let object = self.embedded(c, "TObject")?;
        made.base("TObject", object);
        let n = c.count(4)?;
        made.int("_size", "Int_t", n as i64);
        let items = self.list(c, n, Self::pointer)?;
        if v.number > 1 {
            let name = self.text(c)?;
            made.text("_name", name);
        }
        self.ends(c, &v, "RooLinkedList")?;
        made.done(items)
    }

    fn roo_real(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("RooRealVar", v.number);
        self.take(1500)?;
        let base = self.embedded(c, "RooAbsRealLValue")?;
        made.base("RooAbsRealLValue", base);
        if v.number == 1 {
            self.field(c, &mut made, "_fitMin", "Double_t", code::DOUBLE)?;
            self.field(c, &mut made, "_fitMax", "Double_t", code::DOUBLE)?;
            self.field(c, &mut made, "_fitBins", "Int_t", code::INT)?;
        }
        for name in ["_error", "_asymErrLo", "_asymErrHi"] {
            self.field(c, &mut made, name, "Double_t", code::DOUBLE)?;
        }
        if v.number >= 2 {
            let binning = self.pointer(c)?;
            made.add("_binning", "TStreamerObjectPointer", code::OBJECT_P, "RooAbsBinning*", binning);
        }
        let name = "RooRealVarSharedProperties";
        if v.number == 3 {
            let shared = self.pointer(c)?;
            made.add("_sharedProp", "TStreamerObjectPointer", code::OBJECT_P, name, shared);
        } else if v.number >= 4 {
            let shared = self.embedded(c, name)?;
            made.add("_sharedProp", "TStreamerObject", code::OBJECT, name, shared);
        }
        self.ends(c, &v, "RooRealVar")?;
        made.done(Value::Null)
    }
}

impl Reader<'_> {
    fn roo_references(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("RooRefArray", v.number);
        self.take(600)?;
        let array = self.embedded(c, "TRefArray")?;
        self.ends(c, &v, "RooRefArray")?;
        made.base("TRefArray", array);
        made.done(Value::Null)
    }

    /// The sources of classes in a workspace: by file, by class, and (version 2) more headers.
    fn roo_code(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("RooWorkspace::CodeRepo", v.number);
        self.take(1000)?;
        let tables: &[(&str, usize)] = if v.number == 2 {
            &[("_fmap", 3), ("_c2fmap", 2), ("_ehmap", 2)]
        } else {
            &[("_fmap", 3), ("_c2fmap", 2)]
        };
        for &(name, texts) in tables {
            let n = c.count(1 + texts)?;
            let mut pairs = Vec::new();
            for _ in 0..n {
                self.take(2 * std::mem::size_of::<Value>())?;
                let key = self.text(c)?;
                pairs.push((key, self.list(c, texts, Self::text)?));
            }
            made.add(name, "TStreamerSTL", code::STL, "map<TString,vector<TString> >", Value::Map(pairs.into()));
        }
        self.ends(c, &v, "RooWorkspace::CodeRepo")?;
        made.done(Value::Null)
    }
}
