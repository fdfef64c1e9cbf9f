//! Parse, run, print one error, exit.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = evolve::cli::Arguments::parse();
    match evolve::cli::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            anstream::eprintln!("{}", evolve::cli::shown(&error));
            ExitCode::from(error.kind.exit_code())
        }
    }
}
