//! What a question is asked with.

use becausal::{Ask, Horizon, Run};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::PyMoment;
use crate::count::Count;
use crate::error;
use crate::options::text;

/// A moment, or a pair of episode and step of the data.
pub fn moment(run: &Run, given: &Bound<'_, PyAny>) -> PyResult<becausal::Moment> {
    if let Ok(moment) = given.cast::<PyMoment>() {
        return Ok(moment.get().moment.clone());
    }
    let (episode, step): (Bound<'_, PyAny>, Bound<'_, PyAny>) = given.extract().map_err(|_| {
        error::invalid(
            "expected a moment: run.recorded(episode, step), run.play(seed).at(step), or a pair \
             (episode, step)",
        )
    })?;
    let (episode, step): (Count, Count) = (episode.extract()?, step.extract()?);
    run.recorded(episode.0, step.0).map_err(error::of)
}

/// JSON as Python's own values.
pub fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// The parameters of a question.
pub fn asking(
    horizon: Option<Count>,
    tau: Option<f64>,
    rewards: Option<&Bound<'_, PyAny>>,
    discount: Option<f64>,
    influence: Option<&str>,
    preset: Option<&str>,
) -> PyResult<Ask> {
    let mut ask = Ask::default();
    ask.influence = influence.map(|name| name.parse().map_err(error::invalid)).transpose()?;
    ask.preset = preset.map(|name| name.parse().map_err(error::invalid)).transpose()?;
    ask.horizon = horizon.map_or(ask.horizon, |steps| Horizon::Steps(steps.0));
    ask.tau = tau.unwrap_or(ask.tau);
    ask.discount = discount.unwrap_or(ask.discount);
    if let Some(rewards) = rewards {
        let one = rewards.extract::<String>().map(|name| vec![name]);
        ask.rewards = one.or_else(|_| rewards.extract())?;
    }
    Ok(ask)
}

/// A change as the user gives it: text, a number, or a dict.
pub fn change(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(dict) = given.cast::<PyDict>() {
        let part = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<String> {
            Ok(format!("{}={}", name.str()?, text(&value)?))
        };
        return Ok(dict.iter().map(part).collect::<PyResult<Vec<String>>>()?.join(","));
    }
    text(given)
}
