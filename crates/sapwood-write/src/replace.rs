//! Puts a newer cycle of an object in place of an older one.

use crate::append::{find, not_found};
use crate::core::Core;
use crate::delete::delete;
use crate::file::{FileWriter, append_record};
use crate::key::Key;
use sapwood_span::{Error, Result};

impl FileWriter {
    /// Deletes a cycle of an object, as [`FileWriter::delete`] does, and gives the newest object of this name its
    /// number: who asks for this cycle gets the new object.
    ///
    /// # Errors
    /// `NotFound` when there is no such cycle; `Invalid` where it is the newest one.
    pub fn replace(&mut self, path: &str, cycle: u16) -> Result<()> {
        let mut core = self.shared().lock();
        core.check()?;
        replace(&mut core, path, cycle).map_err(|e| core.named(e))
    }
}

fn replace(core: &mut Core, path: &str, cycle: u16) -> Result<()> {
    let (directory, name, _) = find(core, path)?;
    let keys = core.directory(directory)?.keys.iter().filter(|k| k.name == name);
    let newest = keys.max_by_key(|k| k.cycle).cloned().ok_or_else(|| not_found(path))?;
    if newest.cycle == cycle {
        return Err(
            Error::invalid(format!("{name};{cycle} is the newest cycle")).with_remedy("write the new one first")
        );
    }
    if core.writes_tree(directory, &name, Some(newest.cycle)) {
        return Err(Error::invalid(format!("{name} is being written")).with_remedy("finish it first"));
    }
    core.drain()?;
    let mut record = core.sink.read(newest.span())?;
    delete(core, path, Some(cycle))?;
    // the number is in the record, too, and records are never changed in place before a commit
    let span = append_record(core, directory, cycle, &mut record)?;
    core.space.free(newest.span());
    let within = core.directory_mut(directory)?;
    within.keys.retain(|k| k.seek != newest.seek);
    within.enter(Key { cycle, seek: span.start, ..newest });
    within.dirty = true;
    Ok(())
}
