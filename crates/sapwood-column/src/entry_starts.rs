//! Where each entry of a basket begins.

/// Where entries begin, in either form that the file may have.
#[derive(Clone, Copy)]
pub(crate) enum EntryStarts<'a> {
    Table { raw: &'a [u8], key_len: u32 },
    List(&'a [u32]),
}

impl EntryStarts<'_> {
    pub(crate) fn get(&self, i: usize) -> usize {
        match self {
            EntryStarts::Table { raw, key_len } => {
                let b = raw.get(i * 4..i * 4 + 4).map_or([0; 4], |b| [b[0], b[1], b[2], b[3]]);
                u32::from_be_bytes(b).saturating_sub(*key_len) as usize
            }
            EntryStarts::List(l) => l.get(i).map_or(0, |&x| x as usize),
        }
    }
}
