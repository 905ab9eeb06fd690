//! The `sinew` command line: parses arguments, calls the library and prints the result.
//!
//! Exit codes: 0 success; 1 the simulation failed; 2 bad input, bad usage or an output that cannot be written; 128 + n ended by signal n.

/// Prints a line to standard output.
macro_rules! say {
    ($($text:tt)*) => {
        crate::report::line(format_args!($($text)*))
    };
}

/// Prints a line about the progress or the result of work to standard output, unless the user asked for silence.
macro_rules! tell {
    ($($text:tt)*) => {
        if crate::report::verbosity() > crate::report::Verbosity::Quiet {
            crate::report::line(format_args!($($text)*))
        }
    };
}

/// Prints an error to standard error.
macro_rules! fail {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// Prints a warning to standard error, unless the user asked for silence.
macro_rules! warn {
    ($($text:tt)*) => {
        if crate::report::verbosity() > crate::report::Verbosity::Quiet {
            fail!($($text)*)
        }
    };
}

/// Prints a note to standard error if the user asked for all of them.
macro_rules! note {
    ($($text:tt)*) => {
        if crate::report::verbosity() > crate::report::Verbosity::Normal {
            fail!("note: {}", format_args!($($text)*))
        }
    };
}

mod bake;
mod bench;
mod contents;
mod edit;
mod failure;
mod gallery;
mod inspect;
mod interrupt;
mod machine;
mod outputs;
mod refine;
mod render;
mod report;
mod resume;
mod run;
mod schema;
mod settle;
mod simulate;
mod stats;
mod studio;
mod summary;
mod take;
mod take_status;
mod threads;
mod verdict;
mod view;
mod wall_clock;
mod zoo;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Simulate characters made of flesh, and bake the motion for other programs.
///
/// Without a command, a built-in character is simulated.
#[derive(Parser)]
#[command(name = "sinew", version, max_term_width = 110)]
struct Arguments {
    /// Print every note and all measurements.
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Print errors only.
    #[arg(short, long, global = true)]
    quiet: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Simulate(simulate::Simulate),
    Settle(settle::Settle),
    Edit(edit::Edit),
    Take(take::Take),
    Bake(bake::Bake),
    Render(Box<render::Render>),
    View(view::View),
    Studio(studio::Studio),
    Inspect(inspect::Inspect),
    Refine(refine::Refine),
    Bench(bench::Bench),
    Schema(schema::Schema),
    Zoo(zoo::Zoo),
}

fn main() -> ExitCode {
    let Arguments { verbose, quiet, command } = Arguments::parse();
    report::set_verbosity(verbose, quiet);
    let command = command.unwrap_or(Command::Simulate(simulate::Simulate::default()));
    interrupt::listen();
    let result = match command {
        Command::Simulate(simulate) => simulate.run(),
        Command::Settle(settle) => settle.run(),
        Command::Edit(edit) => edit.run(),
        Command::Take(take) => take.run(),
        Command::Bake(bake) => bake.run(),
        Command::Render(render) => render.run(),
        Command::View(view) => view.run(),
        Command::Studio(studio) => studio.run(),
        Command::Inspect(inspect) => inspect.run(),
        Command::Refine(refine) => refine.run(),
        Command::Bench(bench) => bench.run(),
        Command::Schema(schema) => schema.run(),
        Command::Zoo(zoo) => zoo.run(),
    };
    let result = result.and_then(|()| report::failure().map_or(Ok(()), |lost| Err(Failure::Input(lost))));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            interrupt::claim_end();
            fail!("{}", failure.text());
            ExitCode::from(failure.exit_code())
        }
    }
}
