//! The [`Environment`] trait, and tools for any environment: time limits, batches, recording.

mod action;
mod any;
mod batch;
mod collect;
mod environment;
mod forks;
mod options;
mod time_limit;
mod world;

pub use action::{
    action_text, every_action, labelled_action, parse_action, random_action, read_actions,
    typical_actions,
};
pub use any::AnyEnvironment;
pub use batch::Batch;
pub use collect::{collect, episode_seed, record_at_random, record_with_detours, replay};
pub use environment::{Environment, EnvironmentError, Onlooker, StepResult, check_step};
pub use forks::{Fork, ForkParams, Forks, forks};
pub use options::{OptionDescription, Options};
pub use time_limit::TimeLimit;
pub use world::{Actor, MAX_EPISODE_STEPS, World, play_episode, rollout};
