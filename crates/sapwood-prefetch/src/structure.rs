//! Hashes that identify trees with the same branches, and branches of one object.

/// FNV-1a over bytes: the same in every build, because it is stored across restarts.
#[derive(Clone, Copy)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a name and its end.
    pub(crate) fn add(&mut self, name: &str) {
        for byte in name.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

/// Starts the hash of a structure.
pub(crate) fn structure_of(tree: &str) -> Fnv {
    let mut hash = Fnv::new();
    hash.add(tree);
    hash
}

/// The same hash for branches of one object: of the part of the path before the first `/`, and within it before `.` or
/// `_`, as in `Muon_pt` and `event.fRun`.
pub(crate) fn group_of(path: &str) -> u64 {
    number_of(&path[..group_end(path)])
}

/// The same hash for branches that are the same member of their objects, as in `Muon_pt` and `Electron_pt`; none for a
/// branch that is not a member.
pub(crate) fn member_of(path: &str) -> Option<u64> {
    let member = path[group_end(path)..].get(1..).filter(|member| !member.is_empty())?;
    Some(number_of(member.rsplit(['.', '/']).next().unwrap_or(member)))
}

fn group_end(path: &str) -> usize {
    let top = path.find('/').unwrap_or(path.len());
    path[..top].find(['.', '_']).filter(|&end| end > 0).unwrap_or(top)
}

fn number_of(name: &str) -> u64 {
    let mut hash = Fnv::new();
    hash.add(name);
    hash.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_one_object() {
        assert_eq!(group_of("Muon_pt"), group_of("Muon_eta"));
        assert_eq!(group_of("event/tracks/tracks.px"), group_of("event/run"));
        assert_eq!(group_of("event."), group_of("event.fRun"));
        assert_ne!(group_of("nMuon"), group_of("Muon_pt"));
        assert_ne!(group_of("_a"), group_of("_b"));
    }

    #[test]
    fn members_of_several_objects() {
        assert_eq!(member_of("Muon_pt"), member_of("Electron_pt"));
        assert_eq!(member_of("event/tracks/tracks.px"), member_of("b.px"));
        assert_ne!(member_of("Muon_pt"), member_of("Muon_eta"));
        assert_eq!((member_of("run"), member_of("event."), member_of("x_")), (None, None, None));
    }
}
