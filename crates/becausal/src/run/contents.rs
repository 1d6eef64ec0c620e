//! What belongs to the folder of a run, by its names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use becausal_core::output::is_part_name;

use crate::record::Record;

/// A mark in a folder in which a training was begun, until its first checkpoint is saved. It is the
/// first thing in the folder: whatever is beside it was made by that training.
pub(super) const BEGUN: &str = ".becausal-begun";

/// The lock inside a folder, where nothing can be written beside it.
pub(super) const INNER_LOCK: &str = ".becausal-lock";

const FILES: [&str; 10] = [
    "schema.toml",
    "config.toml",
    "data.parquet",
    "graph.json",
    "audit.json",
    "metrics.csv",
    "events.out.tfevents.becausal",
    "checkpoint.json",
    BEGUN,
    INNER_LOCK,
];

/// How many folders lie in one another, at most: `checkpoints/epoch-000001/agent/manifest.json`.
const MAX_DEPTH: usize = 4;

/// The first thing in a folder that is not part of a run, as a path within it. A symbolic link never
/// is: becausal makes none.
pub(super) fn foreign(folder: &Path) -> io::Result<Option<PathBuf>> {
    foreign_below(folder, &mut Vec::new())
}

fn foreign_below(folder: &Path, above: &mut Vec<String>) -> io::Result<Option<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let within = || above.iter().collect::<PathBuf>().join(entry.file_name());
        let Ok(name) = entry.file_name().into_string() else {
            return Ok(Some(within()));
        };
        let kind = entry.file_type()?;
        let names: Vec<&str> = above.iter().map(String::as_str).chain([name.as_str()]).collect();
        if kind.is_dir() && is_folder_of_run(&names) {
            above.push(name);
            let found = foreign_below(&entry.path(), above)?;
            above.pop();
            if found.is_some() {
                return Ok(found);
            }
        } else if !kind.is_file() || !is_file_of_run(&names) {
            return Ok(Some(within()));
        }
    }
    Ok(None)
}

fn is_folder_of_run(names: &[&str]) -> bool {
    match names {
        [name] => matches!(*name, "world-model" | "policy" | "checkpoints"),
        ["checkpoints", epoch] => is_epoch(epoch),
        ["checkpoints", epoch, name] => {
            is_epoch(epoch) && matches!(*name, "agent" | "best" | "world-model")
        }
        _ => false,
    }
}

fn is_file_of_run(names: &[&str]) -> bool {
    let Some((name, folders)) = names.split_last() else {
        return false;
    };
    if !folders.is_empty() && !is_folder_of_run(folders) {
        return false;
    }
    let is_weights = |name: &str| {
        name == "manifest.json"
            || (name.starts_with("weights") && Path::new(name).extension().is_some_and(is_tensors))
    };
    let is_known = match folders {
        [] => FILES.contains(name),
        ["checkpoints"] => false,
        ["checkpoints", _] => {
            matches!(*name, "graph.json" | "optimiser.safetensors" | "state.json")
        }
        _ => is_weights(name),
    };
    is_known || is_part_name(name)
}

fn is_tensors(ending: &std::ffi::OsStr) -> bool {
    ending == "safetensors"
}

fn is_epoch(name: &str) -> bool {
    let number = name.strip_prefix("epoch-").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a folder says of itself that it is a run: it has a schema and the record of a run.
pub(super) fn is_run(folder: &Path) -> bool {
    let record = fs::read_to_string(folder.join("config.toml"));
    folder.join("schema.toml").is_file() && record.is_ok_and(|text| Record::parse(&text).is_ok())
}

/// The run that a file is part of, whether the file is there or not.
pub(super) fn run_of(file: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(file).ok().or_else(|| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?.join(file.file_name()?))
    })?;
    real.ancestors().skip(1).take(MAX_DEPTH).find_map(|folder| {
        let within = real.strip_prefix(folder).ok()?;
        let names = within.iter().map(|name| name.to_str()).collect::<Option<Vec<&str>>>()?;
        (is_file_of_run(&names) && is_run(folder)).then(|| folder.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_a_run_is_found_wherever_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let put = |name: &str| {
            let path = at.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "content").expect("written");
        };
        let own = [
            "schema.toml",
            "config.toml",
            "data.parquet",
            "world-model/manifest.json",
            "world-model/weights-0123.safetensors",
            "checkpoints/epoch-000003/state.json",
            "checkpoints/epoch-000003/agent/manifest.json",
            "policy/.becausal-12-aBc.part",
        ];
        for name in own {
            put(name);
        }
        assert_eq!(foreign(at).expect("readable"), None);
        let others = [
            "log.csv",
            "data.parquet.bak",
            "world-model/notes.txt",
            "world-model/agent/manifest.json",
            "checkpoints/epoch-000003/agent/deep/manifest.json",
            "checkpoints/epoch-x/state.json",
            "checkpoints/manifest.json",
            "notes/schema.toml",
        ];
        for name in others {
            put(name);
            let found = foreign(at).expect("readable").expect(name);
            assert!(Path::new(name).starts_with(&found), "{name}: {}", found.display());
            let top = name.split('/').next().expect("a name");
            fs::remove_file(at.join(name)).expect("removed");
            let mut parent = Path::new(name).parent();
            while let Some(inner) = parent.filter(|inner| !inner.as_os_str().is_empty()) {
                let _ = fs::remove_dir(at.join(inner));
                parent = inner.parent();
            }
            assert_eq!(foreign(at).expect("readable"), None, "{name} of {top}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("data.parquet", at.join("graph.json")).expect("a link");
            let found = foreign(at).expect("readable");
            assert_eq!(found.as_deref(), Some(Path::new("graph.json")));
        }
    }
}
