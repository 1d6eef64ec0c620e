//! Recorded transitions.

use std::path::PathBuf;
use std::sync::Arc;

use becausal::data::{Column, Origin, Values};
use becausal::env::Options;
use becausal::text::counted;
use becausal::{Log, Missing, ReadParams};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::bytes::{doubles, of_doubles, wholes};
use crate::error;
use crate::schema::{Given, PySchema};
use crate::work::{quick, work};

/// Recorded transitions: one row per step, in episodes.
///
/// >>> log = becausal.read("log.csv", schema="schema.toml", ignore="timestamp")
/// >>> log
/// <Log of Greenhouse: 2,820 transitions in 60 episodes>
/// >>> len(log), log.episodes
/// (2820, 60)
#[pyclass(name = "Log", module = "becausal", frozen)]
pub struct PyLog {
    pub log: Arc<Log>,
    /// The adapter of the environment that was recorded, where it is known.
    pub environment: Option<Py<PyAny>>,
    /// The adapter of the agent that acted, where it is known.
    pub policy: Option<Py<PyAny>>,
    /// For each row, whether the agent itself chose the action.
    own: Option<Py<PyAny>>,
    /// What Python adds to the notes.
    notes: Vec<String>,
}

impl PyLog {
    pub fn new(log: Log) -> Self {
        Self { log: Arc::new(log), environment: None, policy: None, own: None, notes: Vec::new() }
    }
}

#[pymethods]
impl PyLog {
    /// What the columns mean.
    #[getter]
    fn schema(&self) -> PySchema {
        PySchema::from(self.log.schema())
    }

    /// How many episodes there are.
    #[getter]
    fn episodes(&self) -> usize {
        self.log.transitions().episodes()
    }

    /// What the data did not say and had to be inferred, in sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.log.notes().iter().chain(&self.notes).cloned().collect()
    }

    /// For each row, whether the agent itself chose the action rather than chance: an array of booleans;
    /// `None` where nobody recorded it.
    #[getter]
    fn own(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.own.as_ref().map(|own| own.clone_ref(py))
    }

    /// Where it was recorded: environment, options, seed and policy; `None` where that is not known.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.log.origin().map(|origin| of_origin(py, origin)).transpose()
    }

    /// The smallest, mean and largest value of every column and reward term, and where the log contradicts
    /// its schema.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let log = Arc::clone(&self.log);
        quick(py, move |_| Ok(log.check()?.text("the log")))
    }

    /// In how many rows the recorded reward is not the sum of the schema's terms, and in how many the recorded
    /// end is not the schema's.
    fn _contradictions(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let log = Arc::clone(&self.log);
        quick(py, move |_| {
            let check = log.check()?;
            Ok((check.other_rewards(), check.other_ends()))
        })
    }

    /// Every column as a NumPy array; categories as their labels.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._data")?.call_method1("to_dict", (slf,))
    }

    /// A pandas frame with a row per transition.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._data")?.call_method1("to_pandas", (slf,))
    }

    /// Writes the log with its schema: `.csv`, `.parquet` or `.npz`, by the ending of the name.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let log = Arc::clone(&self.log);
        quick(py, move |_| log.save(&path))
    }

    /// The columns as bytes: name, kind, and numbers.
    fn _columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let data = self.log.transitions();
        let schema = data.schema();
        let columns = PyList::empty(py);
        let numbers =
            |column: &Column| of_doubles(py, (0..column.len()).map(|row| column.get(row)));
        let episodes = (0..data.len()).map(|row| data.episode_of(row) as f64);
        columns.append(("episode", "integer", of_doubles(py, episodes)))?;
        for (at, slot) in schema.slots().iter().enumerate() {
            let kind = schema.variable_of(at).kind.word();
            columns.append((&slot.name, kind, numbers(data.column(at))))?;
        }
        for (name, flags) in [("terminated", data.terminated()), ("truncated", data.truncated())] {
            let flags = flags.iter().map(|&flag| f64::from(u8::from(flag)));
            columns.append((name, "boolean", of_doubles(py, flags)))?;
        }
        if let Some(reward) = data.reward() {
            columns.append(("reward", "continuous", of_doubles(py, reward.iter().copied())))?;
        }
        Ok(columns)
    }

    /// The adapters of the environment and the agent.
    fn _adapters(&self, py: Python<'_>) -> (Option<Py<PyAny>>, Option<Py<PyAny>>) {
        let cloned = |object: &Option<Py<PyAny>>| object.as_ref().map(|it| it.clone_ref(py));
        (cloned(&self.environment), cloned(&self.policy))
    }

    /// The same log with adapters, with the rows in which the agent acted itself, and with more notes.
    #[pyo3(signature = (environment=None, policy=None, own=None, notes=Vec::new()))]
    fn _with(
        &self,
        environment: Option<Py<PyAny>>,
        policy: Option<Py<PyAny>>,
        own: Option<Py<PyAny>>,
        notes: Vec<String>,
    ) -> Self {
        let notes = self.notes.iter().cloned().chain(notes).collect();
        Self { log: Arc::clone(&self.log), environment, policy, own, notes }
    }

    fn __len__(&self) -> usize {
        self.log.transitions().len()
    }

    fn __repr__(&self) -> String {
        let data = self.log.transitions();
        format!(
            "<Log of {}: {} in {}>",
            self.log.schema().name(),
            counted(data.len(), "transition"),
            counted(data.episodes(), "episode")
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._html")?.call_method1("log", (slf,))
    }
}

/// An origin as a dict.
pub fn of_origin<'py>(py: Python<'py>, origin: &Origin) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("environment", &origin.environment)?;
    let options = PyDict::new(py);
    for (name, value) in origin.options.iter() {
        options.set_item(name, value)?;
    }
    dict.set_item("options", options)?;
    dict.set_item("seed", origin.seed)?;
    dict.set_item("policy", &origin.policy)?;
    Ok(dict)
}

/// `ignore` as the user gives it: one name or several.
fn ignored(ignore: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    match ignore {
        None => Ok(Vec::new()),
        Some(one) => one.extract::<String>().map(|name| vec![name]).or_else(|_| one.extract()),
    }
}

fn params(
    schema: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
    missing: &str,
) -> PyResult<ReadParams> {
    let mut params = ReadParams::default();
    if let Some(schema) = schema {
        params = Given::of(schema)?.params(params)?;
    }
    for name in ignored(ignore)? {
        params = params.ignore(name);
    }
    let missing: Missing = if missing == "refuse" {
        Missing::Refuse
    } else {
        missing.parse().map_err(|problem| error::invalid(format!("`missing`: {problem}")))?
    };
    Ok(params.missing(missing))
}

/// Reads a `.csv`, `.parquet` or `.npz` file.
#[pyfunction]
#[pyo3(signature = (path, schema=None, ignore=None, missing="refuse", progress=None))]
pub fn read(
    py: Python<'_>,
    path: PathBuf,
    schema: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
    missing: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyLog> {
    let params = params(schema, ignore, missing)?;
    let log = work(py, progress, None, move |listener| {
        becausal::read(&path, &params.progress(listener))
    })?;
    Ok(PyLog::new(log))
}

/// Makes a log of columns: name, type (`f`, `i`, `b` or `t`), and bytes, or a list of texts.
#[pyfunction]
#[pyo3(signature = (columns, schema, ignore=None, missing="refuse", origin=None))]
pub fn assemble(
    py: Python<'_>,
    columns: &Bound<'_, PyList>,
    schema: &Bound<'_, PyAny>,
    ignore: Option<&Bound<'_, PyAny>>,
    missing: &str,
    origin: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyLog> {
    let params = params(Some(schema), ignore, missing)?;
    let mut values: Vec<(String, Values)> = Vec::with_capacity(columns.len());
    for column in columns {
        let (name, kind, cells): (String, String, Bound<'_, PyAny>) = column.extract()?;
        let bytes = || -> PyResult<Vec<u8>> { Ok(cells.cast::<PyBytes>()?.as_bytes().to_vec()) };
        let cells = match kind.as_str() {
            "f" => Values::Numbers(doubles(&bytes()?)),
            "i" => Values::Whole(wholes(&bytes()?)),
            "b" => Values::Flags(bytes()?.into_iter().map(|byte| byte != 0).collect()),
            _ => Values::Texts(cells.extract()?),
        };
        values.push((name, cells));
    }
    let origin = origin.map(to_origin).transpose()?;
    let log = quick(py, move |listener| becausal::assemble(&values, &params.progress(listener)))?;
    Ok(PyLog::new(match origin {
        Some(origin) => log.recorded_in(origin),
        None => log,
    }))
}

fn to_origin(dict: &Bound<'_, PyDict>) -> PyResult<Origin> {
    let get = |name: &str| dict.get_item(name).map(|item| item.filter(|item| !item.is_none()));
    let mut options = Options::default();
    if let Some(given) = get("options")? {
        for (name, value) in given.cast::<PyDict>()? {
            options.set(name.extract::<String>()?, value.extract::<String>()?);
        }
    }
    let word = |name: &str| -> PyResult<String> {
        get(name)?.map_or_else(|| Ok(String::new()), |item| item.extract())
    };
    Ok(Origin {
        environment: word("environment")?,
        options,
        seed: get("seed")?.map(|seed| seed.extract()).transpose()?,
        policy: word("policy")?,
    })
}
