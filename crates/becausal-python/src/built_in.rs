//! Our environments for Python, one step at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use becausal::env::{self, AnyEnvironment, EnvironmentError};
use becausal::schema::Kind;
use becausal::{Environment, Error, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyFloat, PyMapping, PyString};

use crate::error;
use crate::options::options;
use crate::schema::PySchema;
use crate::seed::Seed;

/// Observation, reward, terminated, truncated and the outcomes by name: what a step of Gymnasium gives.
type Stepped<'py> = (Bound<'py, PyAny>, f64, bool, bool, Bound<'py, PyDict>);

/// A built-in environment; `becausal._environments` makes one of Gymnasium's of it.
///
/// A step makes everything that Gymnasium expects here: in Python that costs a quarter of the lander's physics.
#[pyclass(name = "BuiltIn", module = "becausal._becausal", frozen)]
pub struct PyBuiltIn {
    id: &'static str,
    game: Mutex<Game>,
    outcomes: Vec<Py<PyString>>,
    /// Lowest and highest value of each number of an action; `None` where it is one label.
    bounds: Option<Vec<(f64, f64)>>,
    /// `numpy.frombuffer` and `numpy.dtype("float32")`.
    numpy: [Py<PyAny>; 2],
}

#[derive(Clone)]
struct Game {
    environment: AnyEnvironment,
    /// Whether it was reset at all.
    begun: bool,
}

/// A step of an environment that may go on meanwhile.
struct Taken {
    state: Vec<f64>,
    outcomes: Vec<f64>,
    reward: f64,
    terminated: bool,
    truncated: bool,
}

#[pymethods]
impl PyBuiltIn {
    #[new]
    #[pyo3(signature = (id, options=None))]
    fn new(py: Python<'_>, id: &str, options: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        let wrong = |error: EnvironmentError| error::of(Error::from(error));
        let entry = env::find(id).map_err(wrong)?;
        let environment = entry.make(&self::options(options)?).map_err(wrong)?;
        let schema = Environment::schema(&environment);
        let name = |slot: usize| PyString::intern(py, &schema.slots()[slot].name).unbind();
        let numpy = py.import("numpy")?;
        let frombuffer = numpy.getattr("frombuffer")?.unbind();
        let float32 = numpy.getattr("dtype")?.call1(("float32",))?.unbind();
        Ok(Self {
            id: entry.id,
            outcomes: schema.outcome_slots().map(name).collect(),
            bounds: bounds(schema),
            game: Mutex::new(Game { environment, begun: false }),
            numpy: [frombuffer, float32],
        })
    }

    #[getter]
    fn schema(&self) -> PySchema {
        PySchema::from(Environment::schema(&self.locked().environment))
    }

    /// Begins an episode and returns the observation.
    fn reset<'py>(&self, py: Python<'py>, seed: Seed) -> PyResult<Bound<'py, PyAny>> {
        let state = {
            let mut game = self.locked();
            game.environment.reset(seed.0);
            game.begun = true;
            Environment::state(&game.environment).to_vec()
        };
        self.seen(py, &state)
    }

    /// Observation, reward, terminated, truncated and the outcomes by name.
    fn step<'py>(&self, action: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        let py = action.py();
        let taken = match &self.bounds {
            None => vec![action.extract()?],
            Some(bounds) => {
                let mut taken: Vec<f64> = action.extract()?;
                // Gymnasium's environments act as if an action were within its bounds.
                for (value, (low, high)) in taken.iter_mut().zip(bounds) {
                    *value = value.clamp(*low, *high);
                }
                taken
            }
        };
        let Some(taken) = self.taken(&taken) else {
            let needed = py.import("gymnasium.error")?.getattr("ResetNeeded")?;
            let words = "Cannot call env.step() before calling env.reset()";
            return Err(PyErr::from_value(needed.call1((words,))?));
        };
        let step = taken.map_err(|error| error::of(Error::from(error)))?;
        let info = PyDict::new(py);
        for (name, &value) in self.outcomes.iter().zip(&step.outcomes) {
            info.set_item(name, PyFloat::new(py, value))?;
        }
        Ok((self.seen(py, &step.state)?, step.reward, step.terminated, step.truncated, info))
    }

    /// A copy that continues exactly as this one would.
    fn clone(&self, py: Python<'_>) -> Self {
        let game = self.locked().clone();
        Self {
            id: self.id,
            game: Mutex::new(game),
            outcomes: self.outcomes.iter().map(|name| name.clone_ref(py)).collect(),
            bounds: self.bounds.clone(),
            numpy: self.numpy.each_ref().map(|part| part.clone_ref(py)),
        }
    }

    /// A drawing of the current state as SVG, where there is one.
    fn scene(&self) -> Option<String> {
        self.locked().environment.scene()
    }
}

impl PyBuiltIn {
    /// Takes a step; `None` before the first reset.
    ///
    /// What it says is copied: while the game is locked no Python may run, which could let another thread in that
    /// waits for the same game.
    fn taken(&self, action: &[f64]) -> Option<Result<Taken, EnvironmentError>> {
        let mut game = self.locked();
        game.begun.then(|| {
            let step = game.environment.step(action)?;
            Ok(Taken {
                state: step.state.to_vec(),
                outcomes: step.outcomes.to_vec(),
                reward: step.reward,
                terminated: step.terminated,
                truncated: step.truncated,
            })
        })
    }

    fn locked(&self) -> MutexGuard<'_, Game> {
        self.game.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A state as a NumPy array of single precision.
    fn seen<'py>(&self, py: Python<'py>, state: &[f64]) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyByteArray::new_with(py, 4 * state.len(), |bytes| {
            for (into, &value) in bytes.chunks_exact_mut(4).zip(state) {
                #[expect(clippy::cast_possible_truncation, reason = "observations are single")]
                into.copy_from_slice(&(value as f32).to_ne_bytes());
            }
            Ok(())
        })?;
        let [frombuffer, float32] = &self.numpy;
        frombuffer.bind(py).call1((bytes, float32))
    }
}

/// The bounds of the numbers of an action; `None` where it is one label.
fn bounds(schema: &Schema) -> Option<Vec<(f64, f64)>> {
    let kinds: Vec<&Kind> =
        schema.action_slots().map(|slot| &schema.variable_of(slot).kind).collect();
    if let [Kind::Categorical(_)] = kinds[..] {
        return None;
    }
    let of = |kind: &&Kind| match kind {
        Kind::Continuous(bounds) | Kind::Integer(bounds) => {
            (bounds.low.unwrap_or(f64::NEG_INFINITY), bounds.high.unwrap_or(f64::INFINITY))
        }
        Kind::Circular(_) => (f64::NEG_INFINITY, f64::INFINITY),
        Kind::Boolean => (0.0, 1.0),
        Kind::Categorical(labels) => (0.0, labels.len() as f64 - 1.0),
    };
    Some(kinds.iter().map(of).collect())
}
