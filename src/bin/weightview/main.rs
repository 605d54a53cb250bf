//! `weightview`: what is in this file of weights, and is it whole?

#![forbid(unsafe_code)]

mod check;
mod cli;
mod compare;
mod diff;
mod diff_report;
mod digest;
mod escape;
mod export;
mod fault;
mod hash;
mod input;
mod json;
mod listing;
mod ls;
mod manual;
mod npy;
mod opened;
mod progress;
mod stats;
mod stats_json;
mod stats_table;
mod table;
mod tensors;
mod tree;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::try_parse() {
        Ok(cli::Cli { command: cli::Command::Ls(args) }) => ls::run(&args),
        Ok(cli::Cli { command: cli::Command::Stats(args) }) => stats::run(&args),
        Ok(cli::Cli { command: cli::Command::Check(args) }) => check::run(&args),
        Ok(cli::Cli { command: cli::Command::Diff(args) }) => diff::run(&args),
        Ok(cli::Cli { command: cli::Command::Hash(args) }) => hash::run(&args),
        Ok(cli::Cli { command: cli::Command::Export(args) }) => export::run(&args),
        Ok(cli::Cli { command: cli::Command::Completions(args) }) => manual::completions(&args),
        Ok(cli::Cli { command: cli::Command::Man }) => manual::man(),
        Err(answer) => {
            // Help and version are answers too. Whether anyone still reads them does not matter.
            let _ = answer.print();
            if answer.use_stderr() { ExitCode::from(ls::USAGE_OR_IO) } else { ExitCode::SUCCESS }
        }
    }
}
