//! The `dervish` command: arguments in, one line on standard error and status 2 for whatever is wrong with them.

use std::io::{Write, stdout};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use dervish_training::commands::agents::AgentsArgs;
use dervish_training::commands::anatomy::AnatomyArgs;
use dervish_training::commands::battle::BattleArgs;
use dervish_training::commands::bench::BenchArgs;
use dervish_training::commands::match_games::MatchArgs;
use dervish_training::commands::perft::PerftArgs;
use dervish_training::commands::play::PlayArgs;
use dervish_training::commands::position::PositionArgs;
use dervish_training::commands::ratings::RatingsArgs;
use dervish_training::commands::regret::RegretArgs;
use dervish_training::commands::replay::ReplayArgs;
use dervish_training::commands::report::ReportArgs;
use dervish_training::commands::scenario::ScenarioArgs;
use dervish_training::commands::study::StudyArgs;
use dervish_training::commands::table::TableArgs;
use dervish_training::commands::tournament::TournamentArgs;
use dervish_training::commands::tune::TuneArgs;
use dervish_training::commands::watch::WatchArgs;
#[cfg(feature = "torch")]
use dervish_training::commands::{export::ExportArgs, train::TrainArgs};
use dervish_training::commands::{printed, tell};

/// The Mahdist War in the Sudan, 1882-85: rules, agents, arena and training.
#[derive(Debug, clap::Parser)]
#[command(name = "dervish", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

// What a command does is said by its arguments: a comment here would hide theirs from the help.
#[derive(Debug, clap::Subcommand)]
enum Command {
    Table(TableArgs),
    Battle(BattleArgs),
    Scenario(ScenarioArgs),
    Bench(BenchArgs),
    Replay(ReplayArgs),
    Play(PlayArgs),
    Match(MatchArgs),
    Tournament(TournamentArgs),
    Study(StudyArgs),
    Ratings(RatingsArgs),
    Anatomy(AnatomyArgs),
    Report(ReportArgs),
    Watch(WatchArgs),
    Agents(AgentsArgs),
    Position(PositionArgs),
    Regret(RegretArgs),
    Perft(PerftArgs),
    Tune(TuneArgs),
    #[cfg(feature = "torch")]
    Train(TrainArgs),
    #[cfg(feature = "torch")]
    Export(ExportArgs),
    /// Says why there is no training.
    #[cfg(not(feature = "torch"))]
    #[command(hide = true, disable_help_flag = true)]
    Train {
        /// What training would be told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = with_negative_numbers(Cli::command()).try_get_matches();
    let outcome = match arguments.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => match cli.command {
            Command::Table(args) => args.run(),
            Command::Battle(args) => args.run(),
            Command::Scenario(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Replay(args) => args.run(),
            Command::Play(args) => args.run(),
            Command::Match(args) => args.run(),
            Command::Tournament(args) => args.run(),
            Command::Study(args) => args.run(),
            Command::Ratings(args) => args.run(),
            Command::Anatomy(args) => args.run(),
            Command::Report(args) => args.run(),
            Command::Watch(args) => args.run(),
            Command::Agents(args) => args.run(),
            Command::Position(args) => args.run(),
            Command::Perft(args) => args.run(),
            Command::Regret(args) => args.run(),
            Command::Tune(args) => args.run(),
            #[cfg(feature = "torch")]
            Command::Train(args) => args.run(),
            #[cfg(feature = "torch")]
            Command::Export(args) => args.run(),
            #[cfg(not(feature = "torch"))]
            Command::Train { .. } => return refuse("train: this program was built without libtorch, see `make build`"),
        },
        Err(error) => return not_a_command(&error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

/// The command, its options taking negative numbers for values: whoever reads the value then refuses it by the option's name,
/// and `-1` is not an option that nobody knows.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let taking = |argument: clap::Arg| {
        let takes_value = argument.get_action().takes_values();
        if takes_value { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_args(taking).mut_subcommands(with_negative_numbers)
}

/// Help and version go to standard output; of everything else the first paragraph and the tip are told, on one line.
fn not_a_command(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match printed(error.print().and_then(|()| stdout().flush())) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refuse(&error.to_string()),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // The error is the help of the command whose part is missing, with a line such as
            // `Usage: dervish table <COMMAND>`.
            let text = error.to_string();
            let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("dervish");
            let command: Vec<&str> =
                usage.split_whitespace().take_while(|word| !word.starts_with(['<', '['])).collect();
            refuse(&format!("no command given; see `{} --help`", command.join(" ")))
        }
        _ => {
            let text = error.to_string();
            let mut paragraphs = text.trim_start_matches("error: ").split("\n\n");
            let first = paragraphs.next().unwrap_or_default();
            match paragraphs.find_map(|paragraph| paragraph.trim().strip_prefix("tip: ")) {
                Some(tip) => refuse(&format!("{first} ({tip})")),
                None => refuse(first),
            }
        }
    }
}

/// Tells on one line what is wrong; status 2.
fn refuse(reason: &str) -> ExitCode {
    let line: Vec<&str> = reason.split_whitespace().collect();
    tell(&format!("dervish: {}", line.join(" ")));
    ExitCode::from(2)
}
