//! What shells and `man` know of the command: both are made from the command line's definition.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::fault;
use crate::ls;

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weightview", &mut script);
    print(&script)
}

/// One page: the command, then each of its own commands.
pub(crate) fn man() -> ExitCode {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let mut rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let man = clap_mangen::Man::new(sub.clone());
        rendered = rendered.and_then(|()| {
            writeln!(page, ".SH \"WEIGHTVIEW {}\"", sub.get_name().to_uppercase())?;
            man.render_description_section(&mut page)?;
            man.render_synopsis_section(&mut page)?;
            man.render_options_section(&mut page)?;
            man.render_extra_section(&mut page)
        });
    }
    match rendered {
        Ok(()) => print(&page),
        Err(error) => ls::report(&[fault::unwritable(&error)]),
    }
}

/// Whoever closed the pipe has read enough.
fn print(text: &[u8]) -> ExitCode {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ls::report(&[fault::unwritable(&error)]),
        _ => ExitCode::SUCCESS,
    }
}
