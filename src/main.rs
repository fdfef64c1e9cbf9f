//! Parse, run, print one error, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = evolve::cli::Arguments::read();
    match evolve::cli::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            evolve::cli::print_error(&evolve::cli::shown(&error));
            ExitCode::from(error.kind.exit_code())
        }
    }
}
