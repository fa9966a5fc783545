//! What happens on the network, on stderr: `-v`, or the environment variable `SAPWOOD_LOG`.

use crate::failure::Failure;
use crate::output::clean;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Prints events from now on, if the command line or the environment asks for it.
pub(crate) fn begin(verbose: u8) -> Result<(), Failure> {
    let level = match verbose {
        0 => match std::env::var("SAPWOOD_LOG") {
            Ok(name) => level_of(&name)?,
            Err(_) => return Ok(()),
        },
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    if level != LevelFilter::OFF {
        // fails only where there is a subscriber already: this command sets no other
        let _ = tracing::subscriber::set_global_default(Printer { level, begun: Instant::now() });
    }
    Ok(())
}

fn level_of(name: &str) -> Result<LevelFilter, Failure> {
    match name {
        "" | "off" => Ok(LevelFilter::OFF),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        _ => Err(Failure::Usage(format!("SAPWOOD_LOG must be off, info or debug, not {name:?}"))),
    }
}

/// A line per event: seconds since the start, what happened, and its fields.
struct Printer {
    level: LevelFilter,
    begun: Instant,
}

impl Subscriber for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // events of other crates are theirs: nobody has looked whether they hold credentials
        metadata.target() == "sapwood::net" && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let mark = if *event.metadata().level() == Level::INFO { "" } else { "debug: " };
        let seconds = self.begun.elapsed().as_secs_f64();
        // if stderr is closed, nobody reads this
        let _ = writeln!(
            std::io::stderr(),
            "sapwood: {seconds:.3} s: {mark}{}{}",
            clean(&line.message),
            clean(&line.fields)
        );
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
