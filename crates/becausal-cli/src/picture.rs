//! Pictures in the format that a file's name asks for.

use std::path::{Path, PathBuf};

use becausal::data::write_atomically;
use becausal::discovery::CausalGraph;
use becausal::render::{LayoutOptions, Picture, action_picture, graph_picture};
use becausal::schema::Schema;

use crate::failure::Failure;

/// Pixels of a PNG for each unit of the picture: sharp on a screen of today.
const SCALE: f64 = 2.0;

/// Refuses a name that ends in no known format, before any work is done.
pub fn check_format(path: &Path) -> Result<(), Failure> {
    match ending(path).as_deref() {
        Some("svg" | "png" | "dot") => Ok(()),
        _ => Err(Failure::usage(format!(
            "{}: unknown format of a picture: expected a name that ends in .svg, .png or .dot",
            path.display()
        ))),
    }
}

/// Draws a graph, and beside it the graph of each action: `graph.svg`, `graph.depot.svg`.
pub fn draw_graph(path: &Path, graph: &CausalGraph, schema: &Schema) -> Result<(), Failure> {
    write(path, &graph_picture(graph, schema).map_err(Failure::failed)?)?;
    for part in &graph.by_action {
        let picture = action_picture(graph, part, schema).map_err(Failure::failed)?;
        write(&beside(path, &part.label), &picture)?;
    }
    Ok(())
}

fn beside(path: &Path, label: &str) -> PathBuf {
    // A label may hold anything; a file's name may not.
    let word: String =
        label.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    path.with_extension(format!("{word}.{}", ending(path).unwrap_or_default()))
}

fn write(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let drawing = || picture.drawing(&LayoutOptions::default());
    let content = match ending(path).as_deref() {
        Some("png") => drawing().png(SCALE).map_err(Failure::failed)?,
        Some("dot") => picture.dot().into_bytes(),
        _ => drawing().svg().into_bytes(),
    };
    write_atomically(path, &content).map_err(Failure::from)
}

fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase)
}
