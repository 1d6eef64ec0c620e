//! The state of a training in a checkpoint: `state.json`. What is beside it is that of the run in
//! `fixtures`.

#![no_main]

use std::path::PathBuf;

use becausal::data::{self, ReadOptions, Transitions};
use becausal::env::{AnyEnvironment, Options, find};
use becausal::learn::{Imagination, Settings, Training};
use becausal::model::ModelKind;
use becausal_fuzz::{InputFile, bounded, fixtures};
use libfuzzer_sys::fuzz_target;

struct Fixture {
    folder: PathBuf,
    environment: AnyEnvironment,
    /// Without a model, whose episodes are played on, and with one.
    settings: [Settings; 2],
    data: Transitions,
    file: InputFile,
}

// An environment belongs to a thread.
thread_local! {
    static FIXTURE: Fixture = fixture();
}

fn fixture() -> Fixture {
    let run = fixtures::run();
    let folder = fixtures::checkpoint(&run);
    let entry = find("CartPole-v1").expect("an environment");
    let data = data::read(&run.join("data.parquet"), &ReadOptions::default()).expect("data");
    let environment = entry.make(&Options::default()).expect("an environment");
    let free = fixtures::settings();
    let model = Settings { model: Imagination::Model(ModelKind::Causal), ..free.clone() };
    let data = data.transitions;
    for settings in [&free, &model] {
        let resumed = Training::resume(&folder, &environment, settings, 0, Some(&data));
        assert!(resumed.is_ok(), "run `scripts/fuzz.sh seeds` again");
    }
    let file = InputFile::at(&folder.join("state.json"));
    Fixture { folder, environment, settings: [free, model], data, file }
}

fuzz_target!(|input: &[u8]| FIXTURE.with(|fixture| read(fixture, input)));

fn read(fixture: &Fixture, input: &[u8]) {
    let Fixture { folder, environment, settings, data, file } = fixture;
    file.put(input);
    for settings in settings {
        let resumed = bounded((64 << 20) + 1000 * input.len(), || {
            Training::resume(folder, environment, settings, 0, Some(data))
        });
        match resumed {
            // An epoch takes milliseconds: one in 64 is enough, and without a model.
            Ok(mut training)
                if settings.model == Imagination::None
                    && !training.is_done()
                    && input.len().is_multiple_of(64) =>
            {
                if let Ok(report) = training.run_epoch() {
                    assert!(report.real_steps > 0);
                }
            }
            Ok(_) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
