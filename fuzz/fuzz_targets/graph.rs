//! Causal graphs: `graph.json`.

#![no_main]

use std::sync::{Arc, LazyLock};

use becausal::{CausalGraph, Schema};
use becausal_fuzz::fixtures::greenhouse;
use becausal_fuzz::{bounded, text};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(greenhouse);

fuzz_target!(|input: &[u8]| {
    bounded(64 << 20, || match CausalGraph::from_json(text(input)) {
        Ok(graph) => {
            let written = graph.to_json();
            assert_eq!(CausalGraph::from_json(&written).as_ref(), Ok(&graph), "{written}");
            let _ = graph.for_schema(&SCHEMA);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    });
});
