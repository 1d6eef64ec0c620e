//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use becausal::env::Options;
use becausal::explain::InfluenceBy;
use becausal::progress::Listener;
use becausal::{Horizon, MemoryLimit, Preset, ReadParams, Worth};
use clap::{Args, Parser, Subcommand};

/// Why did the agent do that?
///
/// becausal learns a causal model of an agent's environment from recorded transitions and explains
/// actions by the chains of causes from the action to the rewards.
#[derive(Parser)]
#[command(name = "becausal", version, max_term_width = 100)]
#[command(
    after_help = "Begin with `becausal demo`. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl-C."
)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

const COMMON: &str = "Options of every command";

/// Options of every command.
#[derive(Args)]
pub struct Common {
    /// Print one JSON object instead of text, also of what went wrong
    #[arg(long, global = true, help_heading = COMMON)]
    pub json: bool,
    /// Print no progress
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub quiet: bool,
    /// Use this many threads (default: one for each core); results do not depend on it
    #[arg(long, global = true, value_name = "N", help_heading = COMMON)]
    pub threads: Option<NonZeroUsize>,
    /// Take at most this much memory, for instance 4G (default: half of the machine's)
    #[arg(long, global = true, value_name = "SIZE", help_heading = COMMON)]
    pub memory: Option<MemoryLimit>,
    /// What adds to a run what its folder does not hold
    #[arg(skip)]
    pub complete: Option<std::sync::Arc<becausal::Complete>>,
}

impl Common {
    /// How much memory the command may take.
    pub fn memory(&self) -> MemoryLimit {
        self.memory.unwrap_or_default()
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// List environments, or show the variables and rewards of one
    #[command(after_help = "Examples:\n  becausal envs\n  becausal envs CartPole-v1\n  \
        becausal envs BuildMarine-v0 --schema > schema.toml   # a schema to start from")]
    Envs(Envs),
    /// Is my schema right, does my data fit it?
    #[command(after_help = "Examples:\n  becausal check schema.toml\n  \
        becausal check schema.toml log.csv --ignore timestamp\n  \
        becausal check CartPole-v1 data.parquet\n\n\
        Data: one row per transition in time order; columns named like the variables, next states \
        with a prime (x'), vectors legs[0], legs[1]; optional: episode, terminated, truncated, \
        reward. Without primed columns the next row of the episode is the next state. \
        Formats: .csv, .parquet, .npz.")]
    Check(Check),
    /// Record transitions of an environment
    #[command(
        after_help = "Examples:\n  becausal collect CartPole-v1 -n 20000 -o data.parquet\n  \
        becausal collect CartPole-v1 -n 5000 -o data.csv --seed 7 \
        --env-option max_episode_steps=200\n  \
        becausal collect CartPole-v1 -n 5000 -o played.csv --policy run   # after `becausal train`\n\n\
        The same seed gives the same file, byte for byte, on any number of threads."
    )]
    Collect(Collect),
    /// Record a given sequence of actions, from a given seed
    #[command(after_help = "Examples:\n  printf 'left\\nright\\nleft\\n' > actions.txt\n  \
        becausal replay CartPole-v1 --seed 42 --actions actions.txt -o data.csv\n\n\
        FILE: one action a line, a label (left), its index (0), or main=0.5,lateral=-1; or a CSV \
        whose first line names the action variables; or .npy, .npz (an array `action`, or one named \
        like each action variable); or recorded transitions (.csv, .parquet, .npz). The replay ends \
        with the episode or with the file; there is no time limit.")]
    Replay(Replay),
    /// Find out which variables influence which, from recorded transitions
    #[command(after_help = "Examples:\n  becausal collect AimTest-v0 -n 20000 -o data.parquet\n  \
        becausal discover data.parquet -o graph.json\n  \
        becausal discover data.parquet --by-action -o graph.json\n  \
        becausal discover log.csv --schema schema.toml --forbid \"x -> y'\" --correct bh -o graph.json\n\n\
        Every pair of a cause and an effect gets a p-value, a strength (the share of what is \
        otherwise unexplained in the effect that the cause explains) and a verdict: edge, none, or \
        untestable where the data cannot tell, with the reason. Ctrl-C keeps what is finished.")]
    Discover(Discover),
    /// Learn what follows from a state and an action: a causal world model
    #[command(after_help = "Examples:\n  becausal fit data.parquet -o run\n  \
        becausal fit log.csv --schema schema.toml --graph graph.json -o run\n  \
        becausal fit data.parquet -o run --compare   # with dense and trivial models beside it\n  \
        becausal fit data.parquet -o run --test fresh.parquet   # scored on another recording\n  \
        becausal fit played.parquet --policy agent -o run       # explains an agent that exists\n  \
        becausal fit data.parquet -o run --preset paper   # the paper's method as it stands\n\n\
        The graph is discovered first if none is given. About a tenth of the rows, in whole episodes, is held out, \
        before discovery, to show how good the model is. The run directory is what `explain` and `audit` need.")]
    Fit(Fit),
    /// Learn to act, with a causal world model or without one
    #[command(after_help = "Examples:\n  becausal train CartPole-v1 -o run\n  \
        becausal train CartPole-v1 -o run --env-option max_episode_steps=200 --until 195\n  \
        becausal train CartPole-v1 --model none -o run --seed 3 --json\n  \
        becausal train CartPole-v1 -o run --resume            # after Ctrl-C or a kill\n  \
        becausal train LunarLander-v3 -o run --set rollout=[10,20] --set members=3\n\n\
        Settings come from the preset, then --config, then --set, then the other options; the \
        run's config.toml has them all. Curves: metrics.csv, and events for TensorBoard.")]
    Train(Train),
    /// Why this action? Why not another? What if?
    #[command(after_help = "Examples:\n  becausal explain run --step 12\n  \
        becausal explain run --step 12 --why-not depot\n  \
        becausal explain run --step 12 --what-if money=400 --horizon 8\n  \
        becausal explain run --step 12 --why-not depot -o chain.png\n  \
        becausal explain run --find mistakes\n  \
        becausal explain run --step 12 --until-action none")]
    Explain(Explain),
    /// How often do the explanations of a run hold in its environment?
    #[command(after_help = "Examples:\n  becausal audit run --policy random\n  \
        becausal audit run --policy random --states 50 --json\n\n\
        In each state the explainer is asked about every other action, and each is tried for real with \
        the same noise; what changes is compared.")]
    Audit(Audit),
    /// Reproduce the paper's tables and figures
    #[command(
        disable_help_flag = true,
        after_help = "Runs `becausal-paper`, which stands beside \
        this program or in the PATH; from a checkout:\n  cargo run --release -p becausal-paper -- aim"
    )]
    Reproduce(Reproduce),
    /// One page about a run: what was learned, an episode explained, how far to trust it
    #[command(after_help = "Examples:\n  becausal report run -o report.html\n  \
        becausal report run --episode 3 --steps 40 -o report.html\n  \
        becausal report run --episode-seed 7 -o report.html   # of a trained run\n\n\
        The page is complete in itself: it opens from disk and loads nothing. Without --episode it \
        shows the decision that mattered most: of those recorded, or, where the run has a policy, of \
        episodes that it plays anew.")]
    Report(Report),
    /// Ask in the browser: any step, any other action or state, answered while you drag
    #[command(after_help = "Examples:\n  becausal view run\n  \
        becausal view run --port 8700 --no-open   # print the address, open no browser\n\n\
        The page is served on this machine only (127.0.0.1), at an address with a random token. It shows what \
        `explain` answers, tries other courses in the environment, and lets you play an episode. Ctrl-C ends it.")]
    View(View),
    /// From nothing to an explanation, in about a minute
    #[command(after_help = "Examples:\n  becausal demo\n  becausal demo CartPole-v1 -o cart-pole")]
    Demo(Demo),
}

#[derive(Args)]
pub struct Envs {
    /// The environment to show
    pub id: Option<String>,
    /// Print its schema, ready to be put into a file
    #[arg(long, requires = "id")]
    pub schema: bool,
}

#[derive(Args)]
pub struct Check {
    /// A schema file (TOML), or the id of an environment
    pub schema: PathBuf,
    /// Recorded transitions: .csv, .parquet or .npz
    pub data: Option<PathBuf>,
    /// Leave out a column that is not in the schema (may be given several times)
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub ignore: Vec<String>,
    /// What to do with cells that are empty or NaN: leave out the transitions that need them (drop),
    /// end the episode there (episode), or use the last value before (hold)
    #[arg(long, value_name = "HOW", requires = "data", value_parser = ["drop", "episode", "hold"])]
    pub missing: Option<String>,
}

#[derive(Args)]
pub struct Collect {
    /// The environment; `becausal envs` lists them
    pub env: String,
    /// How many transitions
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub rows: NonZeroUsize,
    /// Output file: .csv, .parquet or .npz
    #[arg(short, long, value_name = "DATA")]
    pub output: PathBuf,
    /// Who acts: random, the run of a training whose policy acts, or scripted (a hand-written build
    /// order, BuildMarine-v0 only)
    #[arg(long, default_value = "random", value_name = "random|RUN|scripted")]
    pub policy: String,
    #[command(flatten)]
    pub environment: EnvironmentArguments,
}

#[derive(Args)]
pub struct Replay {
    /// The environment; `becausal envs` lists them
    pub env: String,
    /// The file of actions
    #[arg(long, value_name = "FILE")]
    pub actions: PathBuf,
    /// Draw the last state, in environments that can be drawn
    #[arg(long, value_name = "SVG")]
    pub scene: Option<PathBuf>,
    /// Output file: .csv, .parquet or .npz
    #[arg(short, long, value_name = "DATA")]
    pub output: PathBuf,
    #[command(flatten)]
    pub environment: EnvironmentArguments,
}

#[derive(Args)]
pub struct Discover {
    /// Recorded transitions: .csv, .parquet or .npz
    pub data: PathBuf,
    /// Where to write the graph
    #[arg(short, long, value_name = "GRAPH")]
    pub output: PathBuf,
    /// Draw it too: .svg, .png or .dot (with --by-action one for each action beside it)
    #[arg(long, value_name = "PICTURE")]
    pub picture: Option<PathBuf>,
    #[command(flatten)]
    pub columns: Columns,
    /// The independence test: ours, or FCIT as published
    #[arg(long, default_value = "auto", value_parser = ["auto", "fcit"])]
    pub method: String,
    /// Pairs with p at most this are edges (default: auto 0.001, fcit 0.05)
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub eta: Option<f64>,
    /// Find the graph under each value of the action too
    #[arg(long)]
    pub by_action: bool,
    /// Find these from the rows of each action alone, as the paper's baseline does
    #[arg(long, requires = "by_action")]
    pub direct: bool,
    /// An edge that is there, whatever the data say (may be given several times)
    #[arg(long, value_name = "A->B", value_parser = parse_edge)]
    pub require: Vec<(String, String)>,
    /// An edge that is not there, whatever the data say (may be given several times)
    #[arg(long, value_name = "A->B", value_parser = parse_edge)]
    pub forbid: Vec<(String, String)>,
    /// How certain edges are, from this many resamplings of the episodes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub bootstrap: usize,
    /// Correct p-values for the number of pairs: bh (Benjamini and Hochberg)
    #[arg(long, value_name = "HOW", value_parser = ["bh"])]
    pub correct: Option<String>,
    /// Random seed
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// Arguments of `becausal train`.
#[derive(Args)]
pub struct Train {
    /// The environment; `becausal envs` lists them
    pub env: String,
    /// The folder of the run
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,
    /// What imagines experience for the policy: a world model over the discovered graph, over the
    /// full graph, one dense network, or nothing (default: as the preset says, causal)
    #[arg(long, value_parser = ["causal", "full", "mlp", "none"])]
    pub model: Option<String>,
    /// The independence test: ours, or FCIT as published (default: as the preset says)
    #[arg(long, value_parser = ["auto", "fcit"])]
    pub method: Option<String>,
    /// Total number of real steps (default: as the preset says)
    #[arg(long, value_name = "N")]
    pub steps: Option<NonZeroUsize>,
    /// Stop when a policy reaches this mean return, by the environment's own reward, in two evaluations with different
    /// episodes
    #[arg(long, value_name = "RETURN", value_parser = parse_finite, allow_negative_numbers = true)]
    pub until: Option<f64>,
    /// The settings to begin with: ours, or the paper's method with the settings of its table
    #[arg(long, default_value = "default", value_name = "PRESET")]
    pub preset: String,
    /// A file of settings (TOML) to change
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A setting to change, as in TOML (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Resume the training in RUN from its last checkpoint, with its own settings
    #[arg(long, conflicts_with_all = ["model", "method", "preset", "config", "set", "seed", "env_option"])]
    pub resume: bool,
    #[command(flatten)]
    pub environment: EnvironmentArguments,
}

/// Arguments of `becausal explain`.
#[derive(Args)]
pub struct Explain {
    /// The run to ask
    pub run: PathBuf,
    /// Explain a step of a new episode that begins with this seed
    #[arg(long, value_name = "S", conflicts_with = "data")]
    pub episode_seed: Option<u64>,
    /// Explain a step of these recorded transitions (default: those of the run)
    #[arg(long, value_name = "DATA")]
    pub data: Option<PathBuf>,
    /// Explain this agent: the folder of a trained run, or of its policy (default: the policy of this run)
    #[arg(long, value_name = "RUN|FILE")]
    pub policy: Option<PathBuf>,
    /// The episode of the recorded transitions, counted from 0
    #[arg(long, value_name = "E", default_value_t = 0, conflicts_with = "episode_seed")]
    pub episode: usize,
    /// The step whose action is explained, counted from 0
    #[arg(long, value_name = "T", required_unless_present = "find")]
    pub step: Option<usize>,
    /// List the decisions that are worth a look instead: what followed was least expected (surprising), most was at
    /// stake (costly), the agent was least sure (close), or another action would have earned more
    /// (mistakes). In 10 new episodes, or in the recorded ones where there is no policy
    #[arg(long, value_name = "WHAT", value_parser = Worth::ALL.map(Worth::name).to_vec(), conflicts_with_all = ["why_not", "what_if", "until_action", "data", "episode_seed", "step", "output", "format", "brief", "details"])]
    pub find: Option<String>,
    /// How many decisions to list
    #[arg(long, value_name = "N", default_value_t = 10, requires = "find")]
    pub count: usize,
    /// What is the smallest change of the state after which the agent would have done this: left, or `any` other action
    #[arg(long, value_name = "ACTION", allow_hyphen_values = true, conflicts_with_all = ["why_not", "what_if", "output", "format", "brief", "details"])]
    pub until_action: Option<String>,
    /// Why not this action instead: depot, or main=0.5,lateral=-1
    #[arg(long, value_name = "ACTION", allow_hyphen_values = true, conflicts_with = "what_if")]
    pub why_not: Option<String>,
    /// What if this had been different: money=400, or money=400,build=none
    #[arg(long, value_name = "CHANGE", allow_hyphen_values = true)]
    pub what_if: Option<String>,
    /// How many steps to look ahead: a number, or `auto` for the end of the episode, or until both
    /// courses are the same again, at most 100 (the chain then shows the first 5; without a policy it is 5 in all)
    #[arg(long, value_name = "H", default_value_t = Horizon::Auto)]
    pub horizon: Horizon,
    /// Influences above this count, from 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.1, allow_negative_numbers = true)]
    pub tau: f64,
    /// How influences are measured: in the state at hand (state), or under the action, by the likelihood lost
    /// (effect) or by the attention of the networks, as in the paper (attention) [default: state; attention in a run
    /// with the paper's preset]
    #[arg(long, value_name = "HOW")]
    pub influence: Option<InfluenceBy>,
    /// Whose chains: ours, or the paper's, by attention, without the agent's later choices and without another action to
    /// compare with (default: as the run was made)
    #[arg(long, value_name = "PRESET")]
    pub preset: Option<Preset>,
    /// Answer by the model alone. Otherwise, in an episode with --episode-seed, and in the run's own recording if `becausal
    /// collect` made it, the other course is not predicted: it is tried in a copy of the environment that meets the same
    /// noise
    #[arg(long)]
    pub model_only: bool,
    /// A reward to explain (may be given several times; default: all)
    #[arg(long, value_name = "NAME")]
    pub reward: Vec<String>,
    /// Discount factor per step
    #[arg(long, value_name = "G", default_value_t = 1.0, allow_negative_numbers = true)]
    pub discount: f64,
    /// What to show in a picture: the chain (of a contrast both), or what the difference is worth
    #[arg(long, default_value = "chain", value_parser = ["chain", "worth"])]
    pub show: String,
    /// Print only the answer itself, one or two sentences
    #[arg(long)]
    pub brief: bool,
    /// Print every step, influence and caveat too
    #[arg(long, conflicts_with = "brief")]
    pub details: bool,
    /// The format (default: by the ending of FILE; text without FILE)
    #[arg(long, value_parser = ["text", "json", "svg", "png", "dot"])]
    pub format: Option<String>,
    /// Where to (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `becausal audit`.
#[derive(Args)]
pub struct Audit {
    /// The run whose explanations are examined
    pub run: PathBuf,
    /// Who acts: `random`, or the folder of a trained run or of its policy (default: the policy of this run)
    #[arg(long, value_name = "random|RUN|FILE")]
    pub policy: Option<PathBuf>,
    /// In how many states all other actions are tried
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub states: usize,
    /// How many steps are compared
    #[arg(long, value_name = "H", default_value_t = 5)]
    pub horizon: usize,
    /// Discount factor per step
    #[arg(long, value_name = "G", default_value_t = 1.0, allow_negative_numbers = true)]
    pub discount: f64,
    /// Random seed
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

#[derive(Args)]
pub struct Fit {
    /// Recorded transitions: .csv, .parquet or .npz
    pub data: PathBuf,
    /// The folder to write the run into
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,
    #[command(flatten)]
    pub columns: Columns,
    /// A graph from `becausal discover` (default: discovered now)
    #[arg(long, value_name = "GRAPH")]
    pub graph: Option<PathBuf>,
    /// Whose way: ours, or the paper's, with its test, its networks and their training
    #[arg(long, default_value = "default", value_name = "PRESET")]
    pub preset: Preset,
    /// The independence test: ours, or FCIT as published (default: auto; fcit with --preset paper)
    #[arg(long, value_parser = ["auto", "fcit"], conflicts_with = "graph")]
    pub method: Option<String>,
    /// Pairs with p at most this are edges (default: auto 0.001, fcit 0.05, or that of the graph)
    #[arg(long, value_name = "E", value_parser = parse_share, allow_negative_numbers = true)]
    pub eta: Option<f64>,
    /// The networks: over the discovered graph, over the full graph, or one dense network
    #[arg(long, default_value = "causal", value_parser = ["causal", "full", "mlp"])]
    pub model: String,
    /// Fit the other kinds and the trivial baselines too, and compare
    #[arg(long)]
    pub compare: bool,
    /// Another recording to score on (default: about a tenth of the rows of DATA)
    #[arg(long, value_name = "DATA")]
    pub test: Option<PathBuf>,
    /// The agent to explain: the folder of a trained run, or of its policy. The run keeps the policy (default: none)
    #[arg(long, value_name = "RUN|FILE")]
    pub policy: Option<PathBuf>,
    /// Networks in the ensemble, each from its own sample of the episodes
    #[arg(long, value_name = "N", default_value = "5")]
    pub members: NonZeroUsize,
    /// Training steps of each network, at most (default: 2000; 5000 with --preset paper)
    #[arg(long, value_name = "N")]
    pub steps: Option<NonZeroUsize>,
    /// Random seed
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
}

/// What the columns of a log mean.
#[derive(Args)]
pub struct Columns {
    /// A schema file (TOML), or the id of an environment (default: the one the data carries)
    #[arg(long, value_name = "SCHEMA")]
    pub schema: Option<PathBuf>,
    /// Leave out a column that is not in the schema (may be given several times)
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// What to do with cells that are empty or NaN: leave out the transitions that need them (drop),
    /// end the episode there (episode), or use the last value before (hold)
    #[arg(long, value_name = "HOW", value_parser = ["drop", "episode", "hold"])]
    pub missing: Option<String>,
}

/// How to read a log, with the columns to leave out and what to do with empty cells.
pub fn reading(params: ReadParams, ignore: &[String], missing: Option<&str>) -> ReadParams {
    let params = ignore.iter().fold(params, ReadParams::ignore);
    // Clap has checked the word.
    params.missing(missing.and_then(|word| word.parse().ok()).unwrap_or_default())
}

impl Columns {
    pub fn params(
        &self,
        common: &Common,
        progress: &Listener,
    ) -> Result<ReadParams, becausal::Error> {
        let params = ReadParams::default().memory(common.memory()).progress(progress.clone());
        let params = match &self.schema {
            Some(file) => params.schema_file(file)?,
            None => params,
        };
        Ok(reading(params, &self.ignore, self.missing.as_deref()))
    }
}

/// Arguments of `becausal reproduce`.
#[derive(Args)]
pub struct Reproduce {
    /// aim, curves or examples, and their options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
}

fn parse_finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a finite number".into()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

fn parse_edge(text: &str) -> Result<(String, String), String> {
    match text.split_once("->") {
        Some((cause, effect)) if !cause.trim().is_empty() && !effect.trim().is_empty() => {
            Ok((cause.trim().to_owned(), effect.trim().to_owned()))
        }
        _ => Err("expected CAUSE->EFFECT, for instance \"x->y'\"".into()),
    }
}

#[derive(Args)]
pub struct EnvironmentArguments {
    /// Random seed
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// An option of the environment, as Gymnasium calls it (may be given several times)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_option)]
    pub env_option: Vec<(String, String)>,
}

impl EnvironmentArguments {
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        for (name, value) in &self.env_option {
            options.set(name, value);
        }
        options
    }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected NAME=VALUE, for instance max_episode_steps=200".into()),
    }
}

/// Arguments of `becausal report`.
#[derive(Args)]
pub struct Report {
    /// The run to report on
    pub run: PathBuf,
    /// Where to write the page
    #[arg(short, long, value_name = "HTML")]
    pub output: PathBuf,
    /// The episode of the recorded transitions, counted from 0 (default: the most telling one; of a
    /// trained run, of new episodes)
    #[arg(long, value_name = "E", conflicts_with = "episode_seed")]
    pub episode: Option<usize>,
    /// An episode that the run's policy plays anew from this seed
    #[arg(long, value_name = "S")]
    pub episode_seed: Option<u64>,
    /// How many steps are explained, 1 to 40
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u8).range(1..=40))]
    pub steps: u8,
    /// How many steps a chain has, at most
    #[arg(long, value_name = "H", default_value_t = 5)]
    pub horizon: usize,
    /// In how many states the explanations are audited
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub states: usize,
}

/// Arguments of `becausal view`.
#[derive(Args)]
pub struct View {
    /// The run to ask about
    pub run: PathBuf,
    /// The port (default: one that is free)
    #[arg(long, value_name = "P", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Open no browser
    #[arg(long)]
    pub no_open: bool,
}

/// Arguments of `becausal demo`.
#[derive(Args)]
pub struct Demo {
    /// The environment; `becausal envs` lists them
    #[arg(default_value = "BuildMarine-v0")]
    pub env: String,
    /// The folder to write everything into
    #[arg(short, long, value_name = "FOLDER", default_value = "becausal-demo")]
    pub output: PathBuf,
    /// Little data and a small model, in seconds: to see that everything works
    #[arg(long)]
    pub quick: bool,
    /// Whose way: ours, or the paper's
    #[arg(long, default_value = "default", value_name = "PRESET")]
    pub preset: Preset,
}
