//! `becausal replay`: a given sequence of actions from a given seed.

use std::fmt::Write;
use std::time::Instant;

use becausal::Environment;
use becausal::data::{Format, Origin, Writer, write_atomically};
use becausal::env::{find, read_actions, replay};
use becausal::text::counted;

use crate::arguments::{Common, Replay};
use crate::collect::Tally;
use crate::failure::Failure;
use crate::place;

pub fn run(common: &Common, arguments: &Replay) -> Result<String, Failure> {
    let started = Instant::now();
    Format::of(&arguments.output)?;
    let entry = find(&arguments.env)?;
    let inputs = [arguments.actions.clone()];
    place::check(&arguments.output, &inputs)?;
    if let Some(path) = &arguments.scene {
        place::check(path, &inputs)?;
        place::check_apart(path, &arguments.output)?;
    }
    let environment = entry.make_endless(&arguments.environment.options())?;
    let actions = read_actions(&arguments.actions, environment.schema())?;
    let seed = arguments.environment.seed;
    let (record, last) = replay(environment, seed, &actions)?;
    if let Some(path) = &arguments.scene {
        let scene = last.scene().ok_or_else(|| {
            Failure::usage(format!("{} cannot be drawn: leave out --scene", entry.id))
        })?;
        write_atomically(path, scene.as_bytes())?;
    }
    let origin = Origin {
        environment: entry.id.to_owned(),
        options: arguments.environment.options(),
        seed: None,
        policy: "replay".to_owned(),
    };
    let mut writer = Writer::create_of(&arguments.output, record.schema(), true, Some(&origin))?;
    writer.append(&record)?;
    writer.finish()?;
    let mut tally = Tally::default();
    tally.add(&record);
    let seconds = started.elapsed().as_secs_f64();
    let mut text = tally.report(common, entry.id, seed, &arguments.output, seconds);
    if record.len() < actions.len() && !common.json {
        let _ = writeln!(
            text,
            "the episode ended after {} of {}",
            record.len(),
            counted(actions.len(), "action")
        );
    }
    Ok(text)
}
