//! What the variables are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal::schema::{Kind, Role};
use becausal::{Schema, read_schema};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::bytes::{doubles, of_doubles};
use crate::error::{self, raised};

/// What the variables of an environment are, what is rewarded, and when an episode ends.
///
/// >>> import becausal
/// >>> schema = becausal.Schema('''
/// ... name = "Hover"
/// ... [state]
/// ... height = { kind = "continuous", unit = "m" }
/// ... [action]
/// ... engine = { kind = "categorical", labels = ["off", "on"] }
/// ... [reward]
/// ... "near the target" = "-abs(height' - 10)"
/// ... ''')
/// >>> schema
/// <Schema Hover: 1 state, 1 action, 0 outcomes, 1 reward term>
/// >>> schema.states, schema.actions
/// (['height'], ['engine'])
#[pyclass(name = "Schema", module = "becausal", frozen, eq)]
#[derive(PartialEq)]
pub struct PySchema {
    pub schema: Arc<Schema>,
}

impl From<&Arc<Schema>> for PySchema {
    fn from(schema: &Arc<Schema>) -> Self {
        Self { schema: Arc::clone(schema) }
    }
}

impl PySchema {
    fn names(&self, role: Role) -> Vec<String> {
        self.schema.of_role(role).map(|variable| variable.name.clone()).collect()
    }
}

#[pymethods]
impl PySchema {
    /// A schema from its TOML text.
    #[new]
    fn new(toml: &str) -> PyResult<Self> {
        let schema =
            Schema::parse(toml).map_err(|error| raised("SchemaError", error.to_string()))?;
        Ok(Self { schema: Arc::new(schema) })
    }

    /// Reads a TOML file, or takes that of a built-in environment by its id.
    ///
    /// >>> becausal.Schema.read("CartPole-v1").states
    /// ['position', 'velocity', 'angle', 'angle_velocity']
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        let schema = read_schema(&path).map_err(|error| error::of_path(error, &path))?;
        Ok(Self { schema: Arc::new(schema) })
    }

    /// The schema of a Gymnasium environment (an id, an environment, or a function that makes one), from
    /// its spaces.
    ///
    /// `names` are those of the observation's numbers, `actions` the labels of a discrete action or the names
    /// of a continuous one. `reward` is an expression or a dict of named expressions, `end` an expression.
    /// What is not given is learned, as the outcomes `paid` and `over`. `angles` are the names of numbers that are
    /// angles in radians, which jump where the circle closes: they are `circular` states.
    #[staticmethod]
    #[pyo3(signature = (env, *, names=None, actions=None, reward=None, end=None, angles=None))]
    fn of<'py>(
        env: &Bound<'py, PyAny>,
        names: Option<&Bound<'py, PyAny>>,
        actions: Option<&Bound<'py, PyAny>>,
        reward: Option<&Bound<'py, PyAny>>,
        end: Option<&Bound<'py, PyAny>>,
        angles: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let helper = env.py().import("becausal._gymnasium")?;
        helper.call_method1("schema_of", (env, names, actions, reward, end, angles))
    }

    /// The name of the environment.
    #[getter]
    fn name(&self) -> &str {
        self.schema.name()
    }

    /// The names of the state variables.
    #[getter]
    fn states(&self) -> Vec<String> {
        self.names(Role::State)
    }

    /// The names of the action variables.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.names(Role::Action)
    }

    /// The names of the outcomes.
    #[getter]
    fn outcomes(&self) -> Vec<String> {
        self.names(Role::Outcome)
    }

    /// The reward terms: names and expressions.
    #[getter]
    fn rewards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rewards = PyDict::new(py);
        for reward in self.schema.rewards() {
            rewards.set_item(&reward.name, reward.expression.source())?;
        }
        Ok(rewards)
    }

    /// When an episode ends: an expression, or `None`.
    #[getter]
    fn end(&self) -> Option<String> {
        self.schema.termination().map(|when| when.source().to_owned())
    }

    /// The columns of a log: name, kind, labels (empty unless categorical), low, high and role of each.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = PyList::empty(py);
        for (at, slot) in self.schema.slots().iter().enumerate() {
            let variable = self.schema.variable_of(at);
            let (low, high) = match &variable.kind {
                Kind::Continuous(bounds) | Kind::Integer(bounds) => (bounds.low, bounds.high),
                Kind::Circular(circle) => (Some(circle.low), Some(circle.low + circle.period)),
                _ => (None, None),
            };
            let column = PyDict::new(py);
            column.set_item("name", &slot.name)?;
            column.set_item("kind", variable.kind.word())?;
            column.set_item("labels", variable.kind.labels())?;
            column.set_item("low", low)?;
            column.set_item("high", high)?;
            column.set_item("role", if slot.next { "next" } else { variable.role.table() })?;
            columns.append(column)?;
        }
        Ok(columns)
    }

    /// The sum of the reward terms in each of some rows, which have a number for each column. All of them are
    /// doubles, as bytes.
    fn _totals<'py>(&self, py: Python<'py>, rows: &[u8]) -> Bound<'py, PyBytes> {
        let kinds: Vec<&Kind> = (0..self.schema.slots().len())
            .map(|slot| &self.schema.variable_of(slot).kind)
            .collect();
        let total = |row: &[f64]| {
            let row: Vec<f64> =
                row.iter().zip(&kinds).map(|(&value, kind)| kind.written(value)).collect();
            self.schema.rewards().iter().map(|term| term.expression.value(&row)).sum()
        };
        let rows = doubles(rows);
        of_doubles(py, rows.chunks_exact(kinds.len().max(1)).map(total))
    }

    /// The schema as TOML.
    fn to_toml(&self) -> String {
        self.schema.to_toml()
    }

    /// Writes the schema as TOML.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        becausal::data::write_atomically(&path, self.schema.to_toml().as_bytes())
            .map_err(|error| raised("FileError", format!("{}: {error}", path.display())))
    }

    fn __repr__(&self) -> String {
        let count = |number: usize, noun: &str| becausal::text::counted(number, noun);
        format!(
            "<Schema {}: {}, {}, {}, {}>",
            self.schema.name(),
            count(self.schema.of_role(Role::State).count(), "state"),
            count(self.schema.of_role(Role::Action).count(), "action"),
            count(self.schema.of_role(Role::Outcome).count(), "outcome"),
            count(self.schema.rewards().len(), "reward term"),
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.schema.to_toml(),))
    }
}

/// A schema as the user gives it: an object, the path of a file, or the id of an environment.
pub enum Given {
    Schema(Arc<Schema>),
    File(PathBuf),
}

impl Given {
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(schema) = given.cast::<PySchema>() {
            return Ok(Self::Schema(Arc::clone(&schema.get().schema)));
        }
        let path: PathBuf = given.extract().map_err(|_| {
            error::invalid(format!(
                "`schema` is {}, expected a becausal.Schema, the path of a TOML file, or the id of an \
                 environment",
                given.get_type().name().map_or("something else".to_owned(), |name| name.to_string())
            ))
        })?;
        Ok(Self::File(path))
    }

    /// The schema itself.
    pub fn params(self, params: becausal::ReadParams) -> PyResult<becausal::ReadParams> {
        match self {
            Self::Schema(schema) => Ok(params.schema(schema)),
            Self::File(path) => {
                let path: &Path = &path;
                params.schema_file(path).map_err(|error| error::of_path(error, path))
            }
        }
    }
}
