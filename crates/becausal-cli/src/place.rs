//! Where results go: checked before the work, not after it.

use std::path::{Path, PathBuf};

use becausal::data::schema_path;
use becausal::output::{Output, is_same_file};
use becausal::run::RunDirectory;

use crate::arguments::Columns;
use crate::failure::Failure;

/// Refuses a file that cannot be written, that is an input too, or that belongs to a run.
pub fn check(output: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    Output::refuse_inputs(output, inputs.iter().map(PathBuf::as_path))?;
    if let Some(run) = RunDirectory::containing(output) {
        return Err(Failure::failed(format!(
            "{}: cannot write: is part of the run {}, which would be damaged; give another name",
            output.display(),
            run.display()
        )));
    }
    Ok(Output::check(output)?)
}

/// Refuses two results of the same name.
pub fn check_apart(one: &Path, other: &Path) -> Result<(), Failure> {
    // Of a file that is not there yet, the folder tells.
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let same_place = place(one).is_some() && place(one) == place(other);
    if one == other || same_place || is_same_file(one, other) {
        return Err(Failure::usage(format!(
            "{}: two results cannot go into one file; give two names",
            one.display()
        )));
    }
    Ok(())
}

/// The files that are read for a log: its own, and those that say what its columns mean.
pub fn inputs_of_log(data: &Path, columns: &Columns) -> Vec<PathBuf> {
    let mut inputs = vec![data.to_owned(), schema_path(data)];
    inputs.extend(columns.schema.clone());
    inputs
}
