//! The `sinew` command line: reads what the user wrote, calls the library, prints what happened.
//!
//! Exit codes: 0 done, 1 the simulation failed, 2 bad input or usage or an output that cannot be written, 128 and the number of the signal if one ended it.

/// Prints a line for the user.
macro_rules! say {
    ($($text:tt)*) => {
        crate::report::line(format_args!($($text)*))
    };
}

/// Prints a line beside the result: notes and errors.
macro_rules! warn {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod bake;
mod bench;
mod failure;
mod gallery;
mod inspect;
mod interrupt;
mod machine;
mod outputs;
mod render;
mod report;
mod resume;
mod schema;
mod settle;
mod simulate;
mod source;
mod stats;
mod wall_clock;
mod zoo;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Simulate bodies made of flesh, and bake the result for other programs.
///
/// Without a command, `simulate` runs on a built-in body.
#[derive(Parser)]
#[command(name = "sinew", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Simulate(simulate::Simulate),
    Settle(settle::Settle),
    Bake(bake::Bake),
    Render(Box<render::Render>),
    Inspect(inspect::Inspect),
    Bench(bench::Bench),
    Schema(schema::Schema),
    Zoo(zoo::Zoo),
}

fn main() -> ExitCode {
    let command = Arguments::parse().command.unwrap_or(Command::Simulate(simulate::Simulate::default()));
    interrupt::listen();
    let result = match command {
        Command::Simulate(simulate) => simulate.run(),
        Command::Settle(settle) => settle.run(),
        Command::Bake(bake) => bake.run(),
        Command::Render(render) => render.run(),
        Command::Inspect(inspect) => inspect.run(),
        Command::Bench(bench) => bench.run(),
        Command::Schema(schema) => schema.run(),
        Command::Zoo(zoo) => zoo.run(),
    };
    let result = result.and_then(|()| report::failure().map_or(Ok(()), |lost| Err(Failure::Input(lost))));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            interrupt::claim_end();
            warn!("{}", failure.text());
            ExitCode::from(failure.exit_code())
        }
    }
}
