//! What is wrong with a command line, in the words of the command.

use crate::args::Cli;
use crate::failure::Failure;
use clap::CommandFactory;
use sapwood::similar::near_misses;

/// What clap says about a command line, without the usage of the command: it hides what is wrong.
pub(crate) fn refusal(told: &clap::Error) -> String {
    let text = told.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let parts = text.split("\n\n").filter(|part| !part.starts_with("Usage:"));
    parts.collect::<Vec<_>>().join("\n\n").trim_end().to_owned()
}

/// Refuses a mistyped option in place of an expression, which may begin with a minus sign.
///
/// # Errors
/// `Usage` for words that begin with `--` and a letter.
pub(crate) fn refuse_options<'w>(verb: &str, mut words: impl Iterator<Item = &'w String>) -> Result<(), Failure> {
    let is_option = |word: &str| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    let Some(word) = words.find(|word| is_option(word)) else { return Ok(()) };
    let name: String = word.chars().skip(2).take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    let mut command = Cli::command();
    command.build();
    let known: Vec<String> = command
        .find_subcommand(verb)
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .collect();
    let near = match near_misses(&name, known.iter().map(String::as_str)).first() {
        Some(near) => format!("did you mean --{near}?"),
        None => format!("`sapwood {verb} --help` lists the options. For an expression write -(-{name})"),
    };
    Err(Failure::Usage(format!("there is no option --{name}; {near}")))
}
