//! The doctor's findings: damage, and how well trees are laid out in their file.

mod damage;
mod layout;

pub use damage::{Examination, ExamineOptions, Finding, Severity, examine};
pub use layout::report::Conditions;
pub use layout::{Price, cost_of_branches};

use layout::report::Examined;
use sapwood_engine::OpenOptions;
use sapwood_span::Result;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A file that was examined.
pub struct Doctor {
    file: String,
    deep: bool,
    damage: Examination,
    layout: Vec<Examined>,
}

impl Doctor {
    /// Examines a file (path or URL); `deep` reads and decompresses everything. The cost of reading its trees is
    /// computed for these conditions.
    ///
    /// # Errors
    /// When it cannot be read at all, or is not a ROOT file; damage is no error.
    pub fn examine(file: &str, deep: bool, options: &OpenOptions, conditions: &Conditions) -> Result<Self> {
        let damage = damage::examine(file, options, &ExamineOptions::default().deep(deep))?;
        let layout = layout::report::examine(file, options, conditions);
        Ok(Self { file: sapwood_engine::redacted(file), deep, damage, layout })
    }

    /// Whether there is no damage.
    pub fn is_healthy(&self) -> bool {
        self.damage.is_healthy()
    }

    /// As text: section by section.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        damage::report::print(&self.file, self.deep, &self.damage, out)?;
        layout::report::print(&self.layout, out)
    }

    /// As JSON: `file`, `damage` and `layout`.
    pub fn to_json(&self) -> Value {
        let (damage, layout) = (damage::report::to_json(&self.damage), layout::report::to_json(&self.layout));
        json!({ "file": self.file, "damage": damage, "layout": layout })
    }
}
