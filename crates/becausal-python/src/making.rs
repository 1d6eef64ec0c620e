//! Where runs come from: a fit, a training, a folder. And graphs: a discovery.

use std::path::PathBuf;
use std::sync::Arc;

use becausal::model::ModelKind;
use becausal::{DiscoverParams, FitParams, Method, OpenParams, Preset, Run, TrainParams};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::count::Count;
use crate::error;
use crate::graph::PyGraph;
use crate::log::PyLog;
use crate::options::options;
use crate::run::PyRun;
use crate::seed::Seed;
use crate::work::work;

/// The adapters of the environment and of the agent that a run is made for, where they are Python's; the policy of a
/// run of ours goes into the parameters.
fn with_agent(
    params: FitParams,
    log: &Bound<'_, PyLog>,
    env: Option<&Bound<'_, PyAny>>,
    policy: Option<&Bound<'_, PyAny>>,
    normalize: Option<&Bound<'_, PyAny>>,
) -> PyResult<(FitParams, Adapters)> {
    let (params, is_ours) = match policy {
        None => (params, false),
        Some(given) => with_own_policy(params, given),
    };
    let policy = policy.filter(|_| !is_ours);
    let front = log.py().import("becausal._front")?;
    let given = front.call_method1("adapters_of_log", (log, env, policy, normalize))?;
    let (environment, agent): (Option<Py<PyAny>>, Option<Py<PyAny>>) = given.extract()?;
    Ok((params, (environment, agent.filter(|_| !is_ours))))
}

/// Takes the policy of a run, or of the folder of one; whether it is one.
fn with_own_policy(params: FitParams, given: &Bound<'_, PyAny>) -> (FitParams, bool) {
    if let Ok(run) = given.cast::<PyRun>() {
        return match run.get().own_policy() {
            Some(policy) => (params.policy(policy.clone()), true),
            None => (params, false),
        };
    }
    match given.extract::<PathBuf>() {
        Ok(path) if path.is_dir() => (params.policy_file(path), true),
        _ => (params, false),
    }
}

/// The adapters of an environment and of an agent.
type Adapters = (Option<Py<PyAny>>, Option<Py<PyAny>>);

/// A graph as the user gives it: an object, or the path of a `graph.json`.
fn with_graph(params: FitParams, given: &Bound<'_, PyAny>) -> PyResult<FitParams> {
    if let Ok(graph) = given.cast::<PyGraph>() {
        return Ok(params.graph(graph.get().needed()?.clone()));
    }
    let path: PathBuf = given.extract()?;
    params.graph_file(&path).map_err(|error| error::of_path(error, &path))
}

/// The independence test with this name.
fn method_of(name: &str) -> PyResult<Method> {
    Method::of(name).ok_or_else(|| {
        error::invalid(format!("`method` is {name:?}, expected \"auto\" or \"fcit\""))
    })
}

/// Learns from a log: holds episodes out, discovers the causal graph, fits the world model, checks it.
///
/// `seed` is that of everything random. `eta` is the p-value up to which a pair is an edge. `graph` is one that is
/// used instead of a discovery. `model` is `causal`, `full` (reads everything) or `mlp`. `members` networks are
/// fitted, each for at most `steps` steps (default: 5 and 2000). `preset="paper"` is the paper's method as it stands;
/// `method` is the independence test alone, `auto` or `fcit`. A share `held_out` of the rows (default: 0.1) is
/// held out before the discovery, to score the model; with `test` another log is. `compare` fits the other models,
/// too. `policy` is the agent to explain, as in `record`: an object, the path of a .zip or .onnx file, or a run of ours or its
/// folder, whose policy the run then keeps when it is saved. `env` is the environment of the log where that does not say,
/// and `normalize` the VecNormalize of an agent. `progress` is `False`, or a function of task, done, total, unit and note; what it raises stops the fit.
///
/// >>> run = becausal.fit(log, members=2, steps=200)
/// >>> run.graph.parents("outside'")
/// ['outside']
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
#[pyo3(
    signature = (log, *, seed=Seed(0), preset="default", method=None, eta=None, graph=None, model="causal", members=None, steps=None, held_out=None, test=None, compare=false, policy=None, env=None, normalize=None, progress=None),
    text_signature = "(log, *, seed=0, preset='default', method=None, eta=None, graph=None, model='causal', members=None, steps=None, held_out=None, test=None, compare=False, policy=None, env=None, normalize=None, progress=None)"
)]
pub fn fit(
    py: Python<'_>,
    log: &Bound<'_, PyLog>,
    seed: Seed,
    preset: &str,
    method: Option<&str>,
    eta: Option<f64>,
    graph: Option<&Bound<'_, PyAny>>,
    model: &str,
    members: Option<Count>,
    steps: Option<Count>,
    held_out: Option<f64>,
    test: Option<&Bound<'_, PyLog>>,
    compare: bool,
    policy: Option<&Bound<'_, PyAny>>,
    env: Option<&Bound<'_, PyAny>>,
    normalize: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRun> {
    let kind = ModelKind::of(model).ok_or_else(|| {
        error::invalid(format!("`model` is {model:?}, expected \"causal\", \"full\" or \"mlp\""))
    })?;
    let preset: Preset = preset.parse().map_err(error::invalid)?;
    let mut params = FitParams::default().seed(seed.0).preset(preset).model(kind).compare(compare);
    if let Some(method) = method {
        params = params.method(method_of(method)?);
    }
    if let Some(eta) = eta {
        params = params.eta(eta);
    }
    if let Some(members) = members {
        params = params.members(members.0);
    }
    if let Some(steps) = steps {
        params = params.steps(steps.0);
    }
    if let Some(share) = held_out {
        params = params.held_out(share);
    }
    if let Some(test) = test {
        params = params.test(becausal::Log::clone(&test.get().log));
    }
    if let Some(graph) = graph {
        params = with_graph(params, graph)?;
    }
    let (params, (environment, agent)) = with_agent(params, log, env, policy, normalize)?;
    let given = Arc::clone(&log.get().log);
    let run = work(py, progress, None, move |listener| {
        becausal::fit(&given, &params.progress(listener))
    })?;
    let run = PyRun::new(run);
    if environment.is_none() && agent.is_none() {
        return Ok(run);
    }
    run.with_adapters(environment, agent)
}

/// Discovers the causal graph of a log, by our test (`auto`) or by the paper's (`fcit`).
///
/// >>> becausal.discover(log).parents("temperature'")
/// ['temperature', 'outside', 'device']
#[pyfunction]
#[pyo3(
    signature = (log, *, seed=Seed(0), method="auto", eta=None, progress=None),
    text_signature = "(log, *, seed=0, method='auto', eta=None, progress=None)"
)]
pub fn discover(
    py: Python<'_>,
    log: &Bound<'_, PyLog>,
    seed: Seed,
    method: &str,
    eta: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyGraph> {
    let method = method_of(method)?;
    let log = Arc::clone(&log.get().log);
    let schema = Arc::clone(log.schema());
    let graph = work(py, progress, None, move |progress| {
        let seed = seed.0;
        let params = DiscoverParams { method, eta, seed, progress, ..DiscoverParams::default() };
        Ok(becausal::discover(log.transitions(), &params)?)
    })?;
    Ok(PyGraph { schema, graph: Some(graph) })
}

/// Opens the folder of a run.
#[pyfunction]
#[pyo3(signature = (path, *, progress=None))]
pub fn open(py: Python<'_>, path: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<PyRun> {
    let is_there = path.exists();
    if !is_there {
        return Err(error::raised(
            "NotFoundError",
            format!("{}: there is no such folder", path.display()),
        ));
    }
    let run = work(py, progress, None, move |listener| {
        Run::open_with(&path, &OpenParams::default().progress(listener))
    })?;
    Ok(PyRun::new(run))
}

/// Learns to act in a built-in environment, in the folder `path`, and opens the run.
///
/// `preset="paper"` is the paper's method with the settings of its table; `method` is the independence test alone, `auto`
/// or `fcit`. `settings` is TOML that changes those of the `preset`; `options` are those of the environment. `steps` are real
/// steps; `until` is a mean return that ends the training early.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
#[pyo3(
    signature = (environment, path, *, preset="default", method=None, steps=None, until=None, seed=Seed(0), settings=None, options=None, progress=None),
    text_signature = "(environment, path, *, preset='default', method=None, steps=None, until=None, seed=0, settings=None, options=None, progress=None)"
)]
pub fn train(
    py: Python<'_>,
    environment: String,
    path: PathBuf,
    preset: &str,
    method: Option<&str>,
    steps: Option<Count>,
    until: Option<f64>,
    seed: Seed,
    settings: Option<String>,
    options: Option<&Bound<'_, PyMapping>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRun> {
    let mut params =
        TrainParams::default().preset(preset).seed(seed.0).options(self::options(options)?);
    if let Some(method) = method {
        params = params.method(method_of(method)?);
    }
    if let Some(steps) = steps {
        params = params.steps(steps.0);
    }
    if let Some(until) = until {
        params = params.until(until);
    }
    if let Some(settings) = settings {
        params = params.change(settings, "settings");
    }
    let run = work(py, progress, None, move |listener| {
        becausal::train(&environment, &path, &params.progress(listener))
    })?;
    Ok(PyRun::new(run))
}
