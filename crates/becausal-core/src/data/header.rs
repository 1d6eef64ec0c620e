//! Maps the names of a file's columns to their places in a transition.

use std::collections::BTreeMap;

use crate::schema::{RECORD_COLUMNS, Schema, nearest};
use crate::text::{shown, thousands};

/// Maximum number of problems listed. Nobody reads more, and a file may have millions of columns.
const MAX_PROBLEMS_LISTED: usize = 20;

/// What a column of a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Slot(usize),
    Episode,
    Terminated,
    Truncated,
    Reward,
    Ignored,
}

/// The places of all columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) places: Vec<Place>,
    /// A sequential log without next states: the next row contains the next state.
    pub(super) sequence: bool,
}

impl Header {
    /// Finds the place of each column; the error lists all problems.
    pub(super) fn resolve(
        schema: &Schema,
        names: Vec<String>,
        ignore: &[String],
    ) -> Result<Self, Vec<String>> {
        let mut problems = Problems::default();
        let mut places: Vec<Place> = Vec::with_capacity(names.len());
        let slots: BTreeMap<&str, usize> =
            schema.slots().iter().enumerate().map(|(at, slot)| (slot.name.as_str(), at)).collect();
        let mut first_of: BTreeMap<Place, usize> = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            let place = if ignore.contains(name) {
                Place::Ignored
            } else if let Some(place) = place(&slots, name) {
                if let Some(first) = first_of.insert(place, index) {
                    problems.add(|| {
                        format!(
                            "column `{}` appears twice (columns {} and {})",
                            shown(name),
                            first + 1,
                            index + 1
                        )
                    });
                }
                place
            } else if is_pandas_index(name) {
                Place::Ignored
            } else {
                problems.add(|| unknown(schema, name));
                Place::Ignored
            };
            places.push(place);
        }
        for name in ignore.iter().filter(|name| !names.contains(name)) {
            problems.add(|| format!("there is no column `{}` to ignore", shown(name)));
        }
        let has = |slot: usize| first_of.contains_key(&Place::Slot(slot));
        let sequence = !schema.next_slots().any(has);
        let needed = if sequence { 0..schema.next_slots().start } else { 0..schema.slots().len() };
        for slot in needed.filter(|&slot| !has(slot)) {
            let variable = schema.variable_of(slot);
            let after = if schema.slots()[slot].next { ", after the step" } else { "" };
            problems.add(|| {
                format!(
                    "column `{}` is missing ({} {}{after})",
                    shown(&schema.slots()[slot].name),
                    variable.kind.word(),
                    variable.role.table(),
                )
            });
        }
        let ends = [Place::Episode, Place::Terminated, Place::Truncated];
        if problems.is_empty() && sequence && !ends.iter().any(|place| places.contains(place)) {
            problems.add(|| {
                "there are neither next states (x') nor a column `episode`: cannot tell which rows \
                 follow each other. Add a column `episode` that has the same number in all rows of an \
                 episode (one number throughout if it is all one recording), or a column x' with the \
                 next value for each state x"
                    .into()
            });
        }
        if problems.is_empty() {
            return Ok(Self { names, places, sequence });
        }
        Err(problems.into_list())
    }

    /// Whether a column has this place.
    pub(super) fn has(&self, place: Place) -> bool {
        self.places.contains(&place)
    }
}

/// Whether it is the index of a pandas frame, which `to_parquet` writes as a column: `__index_level_0__`.
fn is_pandas_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What is wrong with the columns; only the first few are put into words.
#[derive(Default)]
struct Problems {
    listed: Vec<String>,
    more: usize,
}

impl Problems {
    fn add(&mut self, words: impl FnOnce() -> String) {
        if self.listed.len() < MAX_PROBLEMS_LISTED {
            self.listed.push(words());
        } else {
            self.more += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    fn into_list(mut self) -> Vec<String> {
        if self.more > 0 {
            self.listed.push(format!("and {} more", thousands(self.more)));
        }
        self.listed
    }
}

fn place(slots: &BTreeMap<&str, usize>, name: &str) -> Option<Place> {
    match name {
        "episode" => return Some(Place::Episode),
        "terminated" => return Some(Place::Terminated),
        "truncated" => return Some(Place::Truncated),
        "reward" => return Some(Place::Reward),
        _ => {}
    }
    // `legs[0]'` is accepted for `legs'[0]`.
    let turned = name.strip_suffix("]'").and_then(|start| {
        start.rsplit_once('[').map(|(vector, element)| format!("{vector}'[{element}]"))
    });
    let name = turned.as_deref().unwrap_or(name);
    slots.get(name).copied().map(Place::Slot)
}

fn unknown(schema: &Schema, name: &str) -> String {
    let known = schema.slots().iter().map(|slot| slot.name.as_str()).chain(RECORD_COLUMNS);
    let hint = match nearest(name, known) {
        Some(meant) => format!("did you mean `{}`?", shown(meant)),
        None => "remove it or ignore it".into(),
    };
    format!("column `{}` is not in the schema ({hint})", shown(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_a_pandas_frame_is_ignored() {
        let schema = Schema::parse(
            "name = \"log\"\n[state]\nx = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n",
        )
        .unwrap();
        let resolved = |index: &str| {
            let names = ["x", "a", "x'", index].map(str::to_owned).to_vec();
            Header::resolve(&schema, names, &[])
        };
        let header = resolved("__index_level_0__").unwrap();
        assert_eq!(header.places[3], Place::Ignored);
        assert!(resolved("__index_level__").unwrap_err()[0].contains("__index_level__"));
    }
}
