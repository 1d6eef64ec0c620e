//! Files of actions: text, CSV, NPY and NPZ; the first bytes tell which.

#![no_main]

use std::sync::{Arc, LazyLock};

use becausal::Schema;
use becausal::env::{action_text, parse_action, read_actions};
use becausal_fuzz::fixtures::every_kind;
use becausal_fuzz::{InputFile, bounded};
use libfuzzer_sys::fuzz_target;

static FILES: LazyLock<[InputFile; 3]> =
    LazyLock::new(|| ["a.npy", "a.npz", "a.csv"].map(InputFile::new));
static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(every_kind);

fuzz_target!(|input: &[u8]| {
    let file = match input {
        [0x93, b'N', ..] => &FILES[0],
        [b'P', b'K', ..] => &FILES[1],
        _ => &FILES[2],
    };
    let path = file.put(input);
    // A ZIP archive may hold a thousand times its own size, and a row of actions is a list.
    let limit = (16 << 20) + 1032 * 64 * input.len();
    match bounded(limit, || read_actions(path, &SCHEMA)) {
        Ok(actions) => {
            for action in actions.iter().take(10) {
                let text = action_text(&SCHEMA, action);
                assert_eq!(parse_action(&SCHEMA, &text).as_ref(), Ok(action), "{text}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
