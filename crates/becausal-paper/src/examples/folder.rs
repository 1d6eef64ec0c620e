//! The folder of pictures and data beside the page.

use std::path::{Path, PathBuf};

use becausal::data::write_atomically;
use becausal::render::Drawing;
use serde_json::Value;

use crate::failure::Failure;

/// The name of the page.
pub const PAGE: &str = "examples.html";

/// A folder that examples are written into.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder; refuses one that holds something else.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let refuse =
            |problem: String| Err(Failure::failed(format!("{}: {problem}", path.display())));
        if path.is_file() {
            return refuse("is a file; give the name of a folder with -o".into());
        }
        let occupied = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !path.join("lander-graph.json").is_file() {
            return refuse(
                "is a folder with something else in it; give another name with -o".into(),
            );
        }
        match std::fs::create_dir_all(path) {
            Ok(()) => Ok(Self(path.to_owned())),
            Err(error) => refuse(format!("cannot make the folder: {error}")),
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
