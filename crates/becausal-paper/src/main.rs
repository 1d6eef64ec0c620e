//! `becausal-paper`: the paper's tables, learning curves and figures, reproduced.

mod ablation;
mod aim;
mod benchmark;
mod comparison;
mod curve;
mod curves;
mod examples;
mod ladder;
mod limits;
mod losses;
mod mask;
mod number;
mod progress;
mod sheet;
mod subset;
mod taught;
mod tradeoff;
mod trial;

use std::io::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// What went wrong, in words for people.
type Failure = Box<dyn std::error::Error>;

/// Reproduce the paper's Table 1, learning curves and figures with becausal
///
/// The paper is "Explainable Reinforcement Learning via a Causal World Model" by Yu, Ruan and Xing
/// (IJCAI 2023).
#[derive(Parser)]
#[command(name = "becausal-paper", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 failure, 2 wrong usage.")]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

const COMMON: &str = "Options of every command";

/// Options of every command.
#[derive(Args)]
struct Common {
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = COMMON)]
    json: bool,
    /// Print no progress
    #[arg(long, short, global = true, help_heading = COMMON)]
    quiet: bool,
    /// Number of threads (default: one per core); results do not depend on it
    #[arg(long, global = true, value_name = "N", help_heading = COMMON)]
    threads: Option<NonZeroUsize>,
}

#[derive(Subcommand)]
enum Command {
    /// Table 1: is the influence under each action recovered?
    #[command(after_help = "Examples:\n  becausal-paper aim\n  \
        becausal-paper aim --rows 5000 --seeds 1,2,3 --json\n  \
        becausal-paper aim --preset paper     # the paper's method as it stands")]
    Aim(aim::Arguments),
    /// The learning curves: no model, a dense model, the full graph, the causal graph
    #[command(after_help = "Examples:\n  \
        becausal-paper curves --quick -o curves                # minutes: does everything work?\n  \
        becausal-paper curves --env CartPole-v1 -o curves      # minutes\n  \
        becausal-paper curves --seeds 1,2,3,4,5 -o curves      # four environments, hours\n  \
        becausal-paper curves --seeds 1,2,3,4,5 -o curves --resume   # after Ctrl-C or a kill\n\n\
        All four kinds of training get the same number of real steps. After every epoch the \
        policy is evaluated in the environment, always taking its most likely action. The table \
        shows the best policy of each seed in new episodes. DIR gets, for each environment, a \
        .csv of all evaluations and a chart: the mean over the seeds and their range; and the same of the \
        pairs that the causal model reads (-edges). The \
        comparison is about sample efficiency: a model generates additional experience from the \
        real steps, which takes computing time.")]
    Curves(curves::Arguments),
    /// Is each setting that works against discovery needed? Trainings with and without it
    #[command(after_help = "Examples:\n  \
        becausal-paper ablation --quick -o ablation                # a minute: does everything work?\n  \
        becausal-paper ablation --env CartPole-v1 --seeds 51,52,53 -o ablation\n  \
        becausal-paper ablation --seeds 51,52,53 -o ablation --resume   # after Ctrl-C or a kill\n\n\
        Each line changes one setting of the default preset, the others stay. A setting that makes no \
        difference is not needed. Seeds should be fresh: the settings were chosen on others.")]
    Ablation(ablation::Arguments),
    /// The trade-off between a sparse graph and an accurate model
    #[command(after_help = "Examples:\n  becausal-paper tradeoff -o tradeoff\n  \
        becausal-paper tradeoff --preset default --env BuildMarine-v0 -o tradeoff\n\n\
        The paper says that a smaller threshold eta gives clearer explanations and a less accurate model. Here it \
        goes from 1e-6 to 1, and the threshold tau of influences from 0.02 to 0.4. DIR gets tradeoff.csv and a picture; \
        a measurement that was ended continues where the file ends.")]
    Tradeoff(tradeoff::Arguments),
    /// From the paper's method to ours, one change at a time
    #[command(after_help = "Examples:\n  becausal-paper ladder -o ladder\n  \
        becausal-paper ladder --training-steps 0 --seeds 7 -o ladder   # without policies\n\n\
        DIR gets ladder.csv; a measurement that was ended continues where the file ends.")]
    Ladder(ladder::Arguments),
    /// How right could anybody be about another action, from the record alone?
    #[command(after_help = "Examples:\n  becausal train LunarLander-v3 -o lander\n  \
        becausal-paper limits lander                   # some ten minutes\n  \
        becausal-paper limits lander --states 10000    # does less teaching do as well?\n  \
        becausal-paper limits lander --past 5          # do the steps before help?\n\n\
        A log shows what one action led to, never what another would have. Here networks are told it: in many states, \
        every other action is played in a clone of the environment, with the same noise. They learn the true reward \
        difference from the state, the other action and the recorded steps that follow. They are then asked in the \
        states of `becausal audit RUN`, which are of other episodes, and stand beside its lines explanations, twin, \
        reachable and ideal. What they get right can be known from the record. What they get wrong may be missing in the \
        record or in the teaching (try more --states and --steps): they are a reference, not a bound.")]
    Limits(limits::Arguments),
    /// Where do answers about another action lose the truth?
    #[command(after_help = "Examples:\n  becausal train LunarLander-v3 -o lander\n  \
        becausal-paper losses lander\n\n\
        In every state of `becausal audit RUN` the model plays each other action again, and one part of the course is \
        replaced by what really happened: where each step begins, the whole first step, the numbers or the labels of the \
        state, the outcomes. Where that makes answers much better, the model gets this part wrong. The agent acts by the \
        state it then sees, so its later actions may be others than in the real course.")]
    Losses(losses::Arguments),
    /// The figures, Table 1 and the curves on one page: the paper's results beside ours
    #[command(after_help = "Examples:\n  becausal-paper examples --quick -o quick\n  \
        becausal-paper examples -o examples            # then open examples/examples.html")]
    Examples(examples::Arguments),
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(text) => {
            // A reader that stops reading (`| head`) is not a failure.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command and returns the text for standard output.
fn run(Cli { common, command }: &Cli) -> Result<String, Failure> {
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global()?;
    }
    match command {
        Command::Aim(arguments) => aim::run(common, arguments),
        Command::Curves(arguments) => curves::run(common, arguments),
        Command::Ablation(arguments) => ablation::run(common, arguments),
        Command::Tradeoff(arguments) => tradeoff::run(common, arguments),
        Command::Ladder(arguments) => ladder::run(common, arguments),
        Command::Limits(arguments) => limits::run(common, arguments),
        Command::Losses(arguments) => losses::run(common, arguments),
        Command::Examples(arguments) => examples::run(common, arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
