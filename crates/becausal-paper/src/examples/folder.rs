//! The folder of the page, with its pictures and data.

use std::path::{Path, PathBuf};

use becausal::data::write_atomically;
use becausal::render::Drawing;
use serde_json::Value;

use crate::Failure;

/// The name of the page.
pub const PAGE: &str = "examples.html";

/// The file that is written first: a folder that has it was written by an earlier run.
pub const FIRST_FILE: &str = "lander-graph.json";

/// The folder that the examples are written into.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder. One with anything but an earlier run in it is refused.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let refuse = |problem: String| Err(format!("{}: {problem}", path.display()).into());
        if path.is_file() {
            return refuse("this is a file; choose a folder with -o".into());
        }
        let occupied = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !path.join(FIRST_FILE).is_file() {
            return refuse("the folder contains other files; choose another one with -o".into());
        }
        match std::fs::create_dir_all(path) {
            Ok(()) => Ok(Self(path.to_owned())),
            Err(error) => refuse(format!("cannot create the folder: {error}")),
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn text(&self, name: &str, content: &str) -> Result<(), Failure> {
        Ok(write_atomically(&self.0.join(name), content.as_bytes())?)
    }

    pub fn json(&self, name: &str, value: &Value) -> Result<(), Failure> {
        self.text(name, &format!("{value:#}\n"))
    }

    /// A drawing as SVG.
    pub fn drawing(&self, name: &str, drawing: &Drawing) -> Result<(), Failure> {
        self.text(&format!("{name}.svg"), &drawing.svg())
    }
}
