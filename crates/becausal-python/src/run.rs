//! A run: everything that was learned, and the questions it answers.

use std::path::PathBuf;
use std::sync::Arc;

use becausal::env::AnyEnvironment;
use becausal::progress::{Advance, Listener};
use becausal::text::counted;
use becausal::{Answer, Ask, AuditParams, Error, Record, ReportParams, Run, TryParams, Worth};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{PyAnswer, PyEpisode, PyMoment};
use crate::audit::PyAudit;
use crate::count::Count;
use crate::environment::PythonEnvironment;
use crate::error;
use crate::graph::PyGraph;
use crate::log::{PyLog, of_origin};
use crate::policy::{Callbacks, PythonPolicy};
use crate::question;
use crate::schema::PySchema;
use crate::seed::Seed;
use crate::view::PyView;
use crate::work::work;

/// Everything that was learned from a log: schema, data, graph and world model, and the questions they answer.
///
/// >>> run
/// <Run of Greenhouse: 6 edges, 2,820 transitions>
/// >>> print(run.why(run.recorded(26, 20)).sentence)  # doctest: +ELLIPSIS
/// Because after 1 step temperature is ...
#[pyclass(name = "Run", module = "becausal", frozen)]
pub struct PyRun {
    run: Arc<Run>,
    callbacks: Arc<Callbacks>,
}

impl PyRun {
    pub fn new(run: Run) -> Self {
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

    pub fn with_adapters(
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

    /// The policy of a training or of a fit, where no Python agent takes its place.
    pub fn own_policy(&self) -> Option<&becausal::learn::ActorCritic> {
        self.run.own_policy()
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

    /// Whose way it was made: `default`, or `paper`.
    #[getter]
    fn preset(&self) -> &'static str {
        self.run.preset().name()
    }

    /// The independence test of its graph, `auto` or `fcit`; `None` without a graph.
    #[getter]
    fn method(&self) -> Option<String> {
        self.run.graph().get().map(|graph| graph.method.clone())
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

    /// Whose policy it is, in words: `its policy` of a training, or `the policy of agent` of a fit; `None` without one.
    #[getter]
    fn policy_owner(&self) -> Option<String> {
        self.run.policy_owner().map(|owner| owner.words())
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
    /// the standard deviation; `coverage` is the share of the values inside the predicted 90 % interval, where
    /// noise is predicted; `chance` is how often a label or flag is expected not to be the likeliest one.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scored = self.ask(py, None, |run, _| Ok(run.scores()))?;
        let dict = PyDict::new(py);
        for variable in &scored.scores.variables {
            let one = PyDict::new(py);
            one.set_item("error", variable.error)?;
            one.set_item("change_error", variable.change_error)?;
            one.set_item("explained", variable.explained)?;
            one.set_item("log_likelihood", variable.log_likelihood)?;
            one.set_item("coverage", variable.coverage)?;
            one.set_item("chance", variable.chance)?;
            dict.set_item(&variable.name, one)?;
        }
        Ok(dict)
    }

    /// A recorded step, both numbers counted from 0.
    fn recorded(&self, episode: Count, step: Count) -> PyResult<PyMoment> {
        let moment = self.run.recorded(episode.0, step.0).map_err(error::of)?;
        Ok(PyMoment { moment })
    }

    /// An episode that the agent plays from a seed, always with its most likely action.
    fn play(&self, py: Python<'_>, seed: Seed) -> PyResult<PyEpisode> {
        let episode = self.ask(py, None, move |run, _| run.play(seed.0))?;
        Ok(PyEpisode { episode })
    }

    /// Why was this action taken, rather than the agent's second choice?
    ///
    /// `horizon` is a number of steps; by default to the end of the episode or until both courses are the same again.
    /// `influence` is how influences are measured: in the `state` at hand, or under the action by `effect` or by
    /// `attention`, as in the paper. `preset="paper"` shows the paper's chains; by default they are those of the preset
    /// that the run was made with. Where the moment can be found again in the environment, the other course is tried in a
    /// copy of it, which meets the same noise; with `model_only=True` the model predicts it.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (moment, *, horizon=None, tau=None, rewards=None, discount=None, influence=None, preset=None, model_only=false))]
    fn why(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        horizon: Option<Count>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
        influence: Option<&str>,
        preset: Option<&str>,
        model_only: bool,
    ) -> PyResult<PyAnswer> {
        let ask = question::asking(horizon, tau, rewards, discount, influence, preset)?;
        let ask = ask.model_only(model_only);
        let moment = question::moment(&self.run, moment)?;
        self.answer(py, |run| run.why(&moment, &ask))
    }

    /// Why this action and not another: a label, or `main=0.5,lateral=-1`?
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (moment, action, *, horizon=None, tau=None, rewards=None, discount=None, influence=None, preset=None, model_only=false))]
    fn why_not(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        horizon: Option<Count>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
        influence: Option<&str>,
        preset: Option<&str>,
        model_only: bool,
    ) -> PyResult<PyAnswer> {
        let ask = question::asking(horizon, tau, rewards, discount, influence, preset)?;
        let ask = ask.model_only(model_only);
        let moment = question::moment(&self.run, moment)?;
        let action = question::change(action)?;
        self.answer(py, |run| run.why_not(&moment, &action, &ask))
    }

    /// The decisions that are worth a look: `surprising`, `costly`, `close` or `mistakes`, each with its sentence.
    #[pyo3(signature = (what, *, count=Count(10)), text_signature = "($self, what, *, count=10)")]
    fn find<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        count: Count,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let known = Worth::ALL.map(Worth::name);
        let worth = Worth::ALL.into_iter().find(|worth| worth.name() == what).ok_or_else(|| {
            error::invalid(format!("what: expected {}, got {what:?}", known.join(", ")))
        })?;
        let found = self.ask(py, None, move |run, _| run.find(worth, count.0, &Ask::default()))?;
        found.iter().map(|found| question::from_json(py, &found.json())).collect()
    }

    /// The smallest change of the state after which the agent would have taken this action, or any other one; `None`
    /// where none was found.
    #[pyo3(signature = (moment, action=None))]
    fn until_action<'py>(
        &self,
        py: Python<'py>,
        moment: &Bound<'py, PyAny>,
        action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let moment = question::moment(&self.run, moment)?;
        let action = action.map(question::change).transpose()?;
        let found =
            self.ask(py, None, move |run, _| run.until_action(&moment, action.as_deref()))?;
        found.map(|found| question::from_json(py, &found.json())).transpose()
    }

    /// What if the state, the action or both had been different: `temperature=25`, or a dict?
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (moment, change, *, horizon=None, tau=None, rewards=None, discount=None, influence=None, preset=None, model_only=false))]
    fn what_if(
        &self,
        py: Python<'_>,
        moment: &Bound<'_, PyAny>,
        change: &Bound<'_, PyAny>,
        horizon: Option<Count>,
        tau: Option<f64>,
        rewards: Option<&Bound<'_, PyAny>>,
        discount: Option<f64>,
        influence: Option<&str>,
        preset: Option<&str>,
        model_only: bool,
    ) -> PyResult<PyAnswer> {
        let ask = question::asking(horizon, tau, rewards, discount, influence, preset)?;
        let ask = ask.model_only(model_only);
        let moment = question::moment(&self.run, moment)?;
        let change = question::change(change)?;
        self.answer(py, |run| run.what_if(&moment, &change, &ask))
    }

    /// The same run, whose model has seen other actions tried in copies of the environment, which meet the same noise. No
    /// log shows what noise under one action says about noise under another; with this, answers know. It needs the agent and the
    /// environment. Copies of a Gymnasium environment are made by replaying its episodes, so this may take minutes.
    #[pyo3(
        signature = (*, states=Count(2000), seed=Seed(0), progress=None),
        text_signature = "($self, *, states=2000, seed=0, progress=None)"
    )]
    fn try_others(
        &self,
        py: Python<'_>,
        states: Count,
        seed: Seed,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let run = self.ask(py, progress, move |run, progress| {
            let params = TryParams::default().states(states.0).seed(seed.0).progress(progress);
            run.clone().try_others(&params)
        })?;
        Ok(Self { run: Arc::new(run), callbacks: Arc::clone(&self.callbacks) })
    }

    /// How often the answers hold in the environment: under the agent's policy if it is known, otherwise
    /// under random actions. `policy="random"` asks for random actions; the path of a trained run asks for its policy.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(
        signature = (*, states=Count(200), horizon=Count(5), discount=1.0, seed=Seed(0), policy=None, progress=None),
        text_signature = "($self, *, states=200, horizon=5, discount=1.0, seed=0, policy=None, progress=None)"
    )]
    fn audit(
        &self,
        py: Python<'_>,
        states: Count,
        horizon: Count,
        discount: f64,
        seed: Seed,
        policy: Option<PathBuf>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyAudit> {
        let is_random = |policy: &PathBuf| policy.as_os_str() == "random";
        let at_random = policy.as_ref().map_or(self.run.policy().is_none(), is_random);
        if let Some(other) = policy.as_ref().filter(|other| !at_random && !other.exists()) {
            return Err(error::invalid(format!(
                "`policy` is \"{}\", expected \"random\", the folder of a trained run, or None",
                other.display()
            )));
        }
        let audit = self.ask(py, progress, move |run, progress| {
            let (states, horizon, seed) = (states.0, horizon.0, seed.0);
            let params =
                AuditParams { states, horizon, discount, seed, progress, ..AuditParams::default() };
            match policy {
                _ if at_random => run.audit_at_random(&params),
                Some(folder) => run.audit_of(folder, &params),
                None => run.audit(&params),
            }
        })?;
        Ok(PyAudit { audit })
    }

    /// Writes one self-contained page about the run.
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (path, *, episode=None, episode_seed=None, steps=Count(24), horizon=Count(5), states=Count(60), progress=None), text_signature = "($self, path, *, episode=None, episode_seed=None, steps=24, horizon=5, states=60, progress=None)")]
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        episode: Option<Count>,
        episode_seed: Option<Seed>,
        steps: Count,
        horizon: Count,
        states: Count,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let file = path.clone();
        let page = self.ask(py, progress, move |run, progress| {
            let made_by = Vec::new();
            run.report(&ReportParams {
                episode: episode.map(|episode| episode.0),
                episode_seed: episode_seed.map(|seed| seed.0),
                steps: steps.0,
                horizon: horizon.0,
                states: states.0,
                file,
                made_by,
                progress,
            })
        })?;
        becausal::data::write_atomically(&path, page.html.as_bytes())
            .map_err(|problem| error::raised("FileError", format!("{}: {problem}", path.display())))
    }

    /// Opens the run in the browser: ask about any step, with any other action or state. The page works as long as the
    /// view that is returned is kept, or until its `stop()`.
    #[pyo3(signature = (*, port=0, open=true))]
    fn view(&self, py: Python<'_>, port: u16, open: bool) -> PyResult<PyView> {
        let view = PyView::start(Arc::clone(&self.run), Arc::clone(&self.callbacks), port)?;
        if open {
            py.import("webbrowser")?.call_method1("open", (view.address(),))?;
        }
        Ok(view)
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
