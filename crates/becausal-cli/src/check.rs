//! `becausal check`: is the schema right, and does the data fit it?

use std::sync::Arc;

use becausal::{ReadParams, read, read_schema};
use serde_json::json;

use crate::arguments::{Check, Common, reading};
use crate::describe;
use crate::failure::Failure;
use crate::progress::Shown;

pub fn run(common: &Common, arguments: &Check) -> Result<String, Failure> {
    let schema = Arc::new(read_schema(&arguments.schema)?);
    let Some(path) = &arguments.data else {
        return Ok(if common.json {
            describe::line(&json!({ "schema": describe::json(&schema) }))
        } else {
            format!("{} is right.\n\n{}", arguments.schema.display(), describe::text(&schema))
        });
    };
    let progress = Shown::new(common.quiet);
    let params = ReadParams::default().memory(common.memory()).progress(progress);
    let params = params.schema(Arc::clone(&schema));
    let log = read(path, &reading(params, &arguments.ignore, arguments.missing.as_deref()))?;
    let check = log.check()?;
    Ok(if common.json {
        describe::line(&json!({ "schema": describe::json(&schema), "data": check.json() }))
    } else {
        check.text(&path.display().to_string())
    })
}
