//! A run: everything that was learned, and the questions it answers.

use std::path::PathBuf;
use std::sync::Arc;

use becausal::env::AnyEnvironment;
use becausal::model::ModelKind;
use becausal::progress::{Advance, Listener};
use becausal::text::counted;
use becausal::{
    Answer, Ask, AuditParams, DiscoverParams, Error, FitParams, OpenParams, Record, ReportParams,
    Run, TrainParams,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{PyAnswer, PyEpisode, PyMoment};
use crate::audit::PyAudit;
use crate::environment::PythonEnvironment;
use crate::error;
use crate::graph::PyGraph;
use crate::log::{PyLog, of_origin};
use crate::policy::{Callbacks, PythonPolicy};
use crate::schema::PySchema;
use crate::work::work;

/// Everything that was learned from a log: schema, data, graph and world model, and the questions they answer.
///
/// >>> run
/// <Run of Greenhouse: 6 edges, 2,820 transitions>
/// >>> print(run.why(run.recorded(26, 20)).sentence)  # doctest: +ELLIPSIS
/// With device = heat at step 20, ...
#[pyclass(name = "Run", module = "becausal", frozen)]
pub struct PyRun {
    run: Arc<Run>,
    callbacks: Arc<Callbacks>,
}

impl PyRun {
    fn new(run: Run) -> Self {
        Self { run: Arc::new(run), callbacks: Arc::default() }
    }

    /// Works with the run; what Python code raised meanwhile is raised here.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        job: impl FnOnce(&Run, Listener) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let callbacks = Arc::clone(&self.callbacks);
        let run = Arc::clone(&self.run);
        let halts = callbacks.halts();
        let result = work(py, progress, Some(&self.callbacks), move |listener| {
            let heard = Listener::new(move |at: &Advance<'_>| {
                let answer = listener.advance(at);
                if callbacks.is_over() { std::ops::ControlFlow::Break(()) } else { answer }
            });
            job(&run, heard)
        });
        self.after(py, halts, result)
    }

    /// A result, unless Python code failed or was stopped meanwhile.
    fn after<T>(&self, py: Python<'_>, halts: usize, result: PyResult<T>) -> PyResult<T> {
        let halted = self.callbacks.halts() != halts;
        let raised = self.callbacks.take();
        match (result, raised) {
            // What this caller's own listener raised, or Ctrl-C.
            (Err(own), _) if !error::is_ours(py, &own) => Err(own),
            (_, Some(exception)) => Err(exception),
            (Ok(_), None) if halted => Err(error::raised(
                "Error",
                "another call on this run failed or was stopped meanwhile, and its agent and environment \
                 with it: ask again"
                    .to_owned(),
            )),
            (result, None) => result,
        }
    }

    /// Refuses an environment of other states or actions.
    fn check_variables(&self, adapter: &Py<PyAny>) -> PyResult<()> {
        let schema = Python::attach(|py| -> PyResult<_> {
            let schema = adapter.bind(py).getattr("schema")?;
            Ok(Arc::clone(&schema.cast::<PySchema>()?.get().schema))
        })?;
        let names = |schema: &becausal::Schema| -> Vec<String> {
            schema.variables().iter().map(|variable| variable.name.clone()).collect()
        };
        let (theirs, ours) = (names(&schema), names(self.run.schema()));
        if theirs == ours {
            return Ok(());
        }
        Err(error::invalid(format!(
            "the environment has the variables {}, while the run has {}",
            theirs.join(", "),
            ours.join(", ")
        )))
    }

    fn with_adapters(
        &self,
        environment: Option<Py<PyAny>>,
        policy: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        if let Some(adapter) = &environment {
            self.check_variables(adapter)?;
        }
        let mut run = Run::clone(&self.run);
        let callbacks: Arc<Callbacks> = Arc::default();
        let schema = || Arc::clone(self.run.schema());
        if let Some(adapter) = environment {
            let environment = PythonEnvironment::new(schema(), adapter, Arc::clone(&callbacks));
            run = run.with_environment(AnyEnvironment::new(environment)).map_err(error::of)?;
        }
        if let Some(adapter) = policy {
            let is_quick = Python::attach(|py| adapter.bind(py).getattr("quick")?.extract())?;
            let policy = PythonPolicy::new(schema(), adapter, is_quick, Arc::clone(&callbacks));
            run = run.with_policy(Arc::new(policy)).map_err(error::of)?;
        }
        Ok(Self { run: Arc::new(run), callbacks })
    }

    fn answer(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&Run) -> Result<Answer, Error> + Send,
    ) -> PyResult<PyAnswer> {
        let quiet = pyo3::types::PyBool::new(py, false).to_owned().into_any();
        let answer = self.ask(py, Some(&quiet), |run, _| job(run))?;
        Ok(PyAnswer { answer })
    }
}

/// A run with what a Python function adds to it.
pub fn completed(run: Run, function: &Py<PyAny>) -> Result<Run, Error> {
    let complete = |py: Python<'_>| -> PyResult<Run> {
        let given = Py::new(py, PyRun::new(run))?;
        let completed = function.call1(py, (given,))?;
        let completed = completed.bind(py).cast::<PyRun>()?;
        Ok(Run::clone(&completed.get().run))
    };
    Python::attach(|py| {
        complete(py).map_err(|exception| Error::File(exception.value(py).to_string()))
    })
}

/// A moment, or a pair of episode and step of the data.
fn moment(run: &Run, given: &Bound<'_, PyAny>) -> PyResult<becausal::Moment> {
    if let Ok(moment) = given.cast::<PyMoment>() {
        return Ok(moment.get().moment.clone());
    }
    let (episode, step): (usize, usize) = given.extract().map_err(|_| {
        error::invalid(
            "expected a moment: run.recorded(episode, step), run.play(seed).at(step), or a pair \
             (episode, step)",
        )
    })?;
    run.recorded(episode, step).map_err(error::of)
}

/// The parameters of a question.
fn asking(
    horizon: Option<usize>,
    tau: Option<f64>,
    rewards: Option<&Bound<'_, PyAny>>,
    discount: Option<f64>,
) -> PyResult<Ask> {
    let mut ask = Ask::default();
    ask.horizon = horizon.unwrap_or(ask.horizon);
    ask.tau = tau.unwrap_or(ask.tau);
    ask.discount = discount.unwrap_or(ask.discount);
    if let Some(rewards) = rewards {
        let one = rewards.extract::<String>().map(|name| vec![name]);
        ask.rewards = one.or_else(|_| rewards.extract())?;
    }
    Ok(ask)
}

#[pymethods]
impl PyRun {
    /// What the variables are.
    #[getter]
    fn schema(&self) -> PySchema {
        PySchema::from(self.run.schema())
    }

    /// What causes what.
    #[getter]
    fn graph(&self) -> PyGraph {
        let graph = self.run.graph().get().cloned();
        PyGraph { schema: Arc::clone(self.run.schema()), graph }
    }

    /// All transitions, the held-out ones too.
    #[getter]
    fn data(&self) -> PyLog {
        PyLog::new(becausal::Log::from(self.run.data().clone()))
    }

    /// The folder that it was opened from, or `None`.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.run.path().map(std::path::Path::to_owned)
    }

    /// Whether it knows the agent's policy.
    #[getter]
    fn has_policy(&self) -> bool {
        self.run.policy().is_some()
    }

    /// Whether it can play in the environment.
    #[getter]
    fn has_environment(&self) -> bool {
        self.run.environment().is_some()
    }

    /// Where its data were recorded: environment, options, seed and policy, or `None`.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        match self.run.record() {
            Record::Fit(fit) => fit.origin.as_ref().map(|origin| of_origin(py, origin)).transpose(),
            Record::Train(_) => Ok(None),
        }
    }

    /// How well the model predicts one step ahead, by effect: `error` is the root mean square error over
    /// the standard deviation; `chance` says how random a label is.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scored = self.ask(py, None, |run, _| Ok(run.scores()))?;
        let dict = PyDict::new(py);
        for variable in &scored.scores.variables {
            let one = PyDict::new(py);
            one.set_item("error", variable.error)?;
            one.set_item("change_error", variable.change_error)?;
            one.set_item("explained", variable.explained)?;
            one.set_item("log_likelihood", variable.log_likelihood)?;
            dict.set_item(&variable.name, one)?;
        }
        Ok(dict)
    }

    /// A recorded step, both numbers counted from 0.
    fn recorded(&self, episode: usize, step: usize) -> PyResult<PyMoment> {
        let moment = self.run.recorded(episode, step).map_err(error::of)?;
        Ok(PyMoment { moment })
    }

    /// An episode that the agent plays from a seed, always with its most likely action.
    fn play(&self, py: Python<'_>, seed: u64) -> PyResult<PyEpisode> {
        let episode = self.ask(py, None, move |run, _| run.play(seed))?;
        Ok(PyEpisode { episode })
    }

    /// Why was this action taken: what does it lead to?
    #[pyo3(signature = (moment, *, horizon=None, tau=None, rewards=None, discount=None))]
    fn why(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        horizon: Option<usize>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
    ) -> PyResult<PyAnswer> {
        let ask = asking(horizon, tau, rewards, discount)?;
        let moment = self::moment(&self.run, moment)?;
        self.answer(py, |run| run.why(&moment, &ask))
    }

    /// Why this action and not another: a label, or `main=0.5,lateral=-1`?
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (moment, action, *, horizon=None, tau=None, rewards=None, discount=None))]
    fn why_not(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        horizon: Option<usize>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
    ) -> PyResult<PyAnswer> {
        let ask = asking(horizon, tau, rewards, discount)?;
        let moment = self::moment(&self.run, moment)?;
        let action = change(action)?;
        self.answer(py, |run| run.why_not(&moment, &action, &ask))
    }

    /// What if the state, the action or both had been different: `temperature=25`, or a dict?
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (moment, change, *, horizon=None, tau=None, rewards=None, discount=None))]
    fn what_if(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        change: &Bound<'_, PyAny>,
        horizon: Option<usize>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
    ) -> PyResult<PyAnswer> {
        let ask = asking(horizon, tau, rewards, discount)?;
        let moment = self::moment(&self.run, moment)?;
        let change = self::change(change)?;
        self.answer(py, |run| run.what_if(&moment, &change, &ask))
    }

    /// How often the answers hold in the environment: under the agent's policy if it is known, otherwise
    /// under random actions. `policy="random"` asks for random actions.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (*, states=200, horizon=5, discount=1.0, seed=0, policy=None, progress=None))]
    fn audit(
        &self,
        py: Python<'_>,
        states: usize,
        horizon: usize,
        discount: f64,
        seed: u64,
        policy: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyAudit> {
        if let Some(other) = policy.filter(|policy| *policy != "random") {
            return Err(error::invalid(format!(
                "`policy` is {other:?}, expected \"random\" or None"
            )));
        }
        let at_random = policy.is_some() || self.run.policy().is_none();
        let audit = self.ask(py, progress, move |run, progress| {
            let params =
                AuditParams { states, horizon, discount, seed, progress, ..AuditParams::default() };
            if at_random { run.audit_at_random(&params) } else { run.audit(&params) }
        })?;
        Ok(PyAudit { audit })
    }

    /// Writes one self-contained page about the run.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (path, *, episode=None, episode_seed=None, steps=24, horizon=5, states=60, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        episode: Option<usize>,
        episode_seed: Option<u64>,
        steps: usize,
        horizon: usize,
        states: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let file = path.clone();
        let page = self.ask(py, progress, move |run, progress| {
            let made_by = Vec::new();
            run.report(&ReportParams {
                episode,
                episode_seed,
                steps,
                horizon,
                states,
                file,
                made_by,
                progress,
            })
        })?;
        becausal::data::write_atomically(&path, page.html.as_bytes())
            .map_err(|problem| error::raised("FileError", format!("{}: {problem}", path.display())))
    }

    /// Opens a page about the run in the browser, and returns its path.
    fn view<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._progress")?.call_method1("view", (slf,))
    }

    /// Writes the run into a folder; `becausal.open` reads it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.ask(py, None, move |run, _| run.save(&path))
    }

    /// The same run with adapters of an environment and an agent.
    #[pyo3(signature = (environment=None, policy=None))]
    fn _with(&self, environment: Option<Py<PyAny>>, policy: Option<Py<PyAny>>) -> PyResult<Self> {
        self.with_adapters(environment, policy)
    }

    /// The agent's most likely actions in these states, as bytes.
    fn _modes<'py>(
        &self,
        py: Python<'py>,
        states: &[u8],
        rows: usize,
    ) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
        let states = crate::bytes::doubles(states);
        let width = self.run.schema().state_slots().len().max(1);
        let states: Vec<Vec<f64>> = states.chunks_exact(width).map(<[f64]>::to_vec).collect();
        let policy = self.run.policy().ok_or_else(|| {
            error::of(Error::Missing { part: "policy", why: "it cannot act".to_owned() })
        })?;
        // Without a pool: a thread of the pool may be asking, and the others may wait for it.
        let halts = self.callbacks.halts();
        let actions = py.detach(|| crate::work::caught(|| policy.modes(&states)));
        let actions = self.after(py, halts, actions)?;
        if actions.len() != rows {
            return Err(error::invalid(format!(
                "{rows} states of other variables than those of the run"
            )));
        }
        Ok(crate::bytes::of_doubles(py, actions.into_iter().flatten()))
    }

    fn __repr__(&self) -> String {
        let edges = self.run.graph().get().map_or(0, |graph| graph.edges().count());
        format!(
            "<Run of {}: {}, {}>",
            self.run.schema().name(),
            counted(edges, "edge"),
            counted(self.run.data().len(), "transition")
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._html")?.call_method1("run", (slf,))
    }
}

/// A change as the user gives it: text, a number, or a dict.
fn change(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(dict) = given.cast::<PyDict>() {
        let part = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<String> {
            Ok(format!("{}={}", name.str()?, plain(&value)?))
        };
        return Ok(dict.iter().map(part).collect::<PyResult<Vec<String>>>()?.join(","));
    }
    plain(given)
}

fn plain(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.str()?.to_string();
    let is_flag = value.is_instance_of::<pyo3::types::PyBool>();
    Ok(if is_flag { text.to_lowercase() } else { text })
}

/// A graph as the user gives it: an object, or the path of a `graph.json`.
fn with_graph(params: FitParams, given: &Bound<'_, PyAny>) -> PyResult<FitParams> {
    if let Ok(graph) = given.cast::<PyGraph>() {
        return Ok(params.graph(graph.get().needed()?.clone()));
    }
    let path: PathBuf = given.extract()?;
    params.graph_file(&path).map_err(|error| error::of_path(error, &path))
}

/// Learns from a log.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
#[pyo3(signature = (log, *, seed=0, eta=None, graph=None, model="causal", members=None, steps=None, held_out=None, test=None, compare=false, progress=None))]
pub fn fit(
    py: Python<'_>,
    log: &Bound<'_, PyLog>,
    seed: u64,
    eta: Option<f64>,
    graph: Option<&Bound<'_, PyAny>>,
    model: &str,
    members: Option<usize>,
    steps: Option<usize>,
    held_out: Option<f64>,
    test: Option<&Bound<'_, PyLog>>,
    compare: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRun> {
    let kind = ModelKind::of(model).ok_or_else(|| {
        error::invalid(format!("`model` is {model:?}, expected \"causal\", \"full\" or \"mlp\""))
    })?;
    let mut params = FitParams::default().seed(seed).model(kind).compare(compare);
    if let Some(eta) = eta {
        params = params.eta(eta);
    }
    if let Some(members) = members {
        params = params.members(members);
    }
    if let Some(steps) = steps {
        params = params.steps(steps);
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
    let given = Arc::clone(&log.get().log);
    let run = work(py, progress, None, move |listener| {
        becausal::fit(&given, &params.progress(listener))
    })?;
    let run = PyRun::new(run);
    let (environment, policy) = (&log.get().environment, &log.get().policy);
    if environment.is_none() && policy.is_none() {
        return Ok(run);
    }
    let cloned = |object: &Option<Py<PyAny>>| object.as_ref().map(|it| it.clone_ref(py));
    run.with_adapters(cloned(environment), cloned(policy))
}

/// Discovers the causal graph of a log.
#[pyfunction]
#[pyo3(signature = (log, *, seed=0, eta=None, progress=None))]
pub fn discover(
    py: Python<'_>,
    log: &Bound<'_, PyLog>,
    seed: u64,
    eta: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyGraph> {
    let log = Arc::clone(&log.get().log);
    let schema = Arc::clone(log.schema());
    let graph = work(py, progress, None, move |progress| {
        let params = DiscoverParams { eta, seed, progress, ..DiscoverParams::default() };
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

/// Learns to act in a built-in environment, in a folder.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
#[pyo3(signature = (environment, path, *, preset="default", steps=None, until=None, seed=0, settings=None, options=None, progress=None))]
pub fn train(
    py: Python<'_>,
    environment: String,
    path: PathBuf,
    preset: &str,
    steps: Option<usize>,
    until: Option<f64>,
    seed: u64,
    settings: Option<String>,
    options: Option<std::collections::BTreeMap<String, String>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRun> {
    let mut params = TrainParams::default().preset(preset).seed(seed);
    let mut chosen = becausal::env::Options::default();
    for (name, value) in options.unwrap_or_default() {
        chosen.set(name, value);
    }
    params = params.options(chosen);
    if let Some(steps) = steps {
        params = params.steps(steps);
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
