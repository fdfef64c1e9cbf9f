//! Parse, run, print one error, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = evolve::cli::hidden(std::env::args_os()) {
        return ExitCode::from(code);
    }
    evolve::cli::answer_shell();
    let arguments = evolve::cli::Arguments::read();
    match evolve::cli::run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            evolve::cli::print_error(&evolve::cli::shown(&error));
            ExitCode::from(error.kind.exit_code())
        }
    }
}
