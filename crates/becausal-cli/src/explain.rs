//! `becausal explain`: why this action, why not another, what if?

use becausal::render::Answer as _;
use std::path::Path;
use std::sync::Arc;

use becausal::Environment;
use becausal::Policy;
use becausal::data::{ReadOptions, read, write_atomically};
use becausal::env::{AnyEnvironment, parse_action};
use becausal::explain::chain::{MOST_STEPS, Step, check_horizon};
use becausal::explain::{Change, Contrast, Explainer, Options, Scale, Situation, Why};
use becausal::render::{Drawing, Picture, chain_layout};
use serde_json::Value;

use crate::arguments::{Common, Explain};
use crate::describe;
use crate::failure::Failure;
use crate::opened::Opened;

/// Pixels of a PNG for each unit of the picture.
const SCALE: f64 = 2.0;

/// Differences below this share of a variable's spread in the data are not told, as in the audit.
const NEGLIGIBLE: f64 = 0.01;

/// The ways an explanation can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Text,
    Json,
    Svg,
    Png,
    Dot,
}

/// Why an action, or why not another.
enum Answer {
    Why(Box<Why>),
    Contrast(Box<Contrast>),
}

/// Explains a step of an opened run.
pub fn run(common: &Common, arguments: &Explain, opened: &Opened) -> Result<String, Failure> {
    let format = format(common, arguments)?;
    if arguments.show == "worth" && arguments.why_not.is_none() && arguments.what_if.is_none() {
        return Err(Failure::usage(
            "--show worth draws a reward difference: add --why-not ACTION or --what-if CHANGE",
        ));
    }
    let policy = opened.policy.as_deref();
    let options = Options {
        horizon: arguments.horizon,
        tau: arguments.tau,
        rewards: arguments.reward.clone(),
        discount: arguments.discount,
    };
    let explainer =
        Explainer::new(opened.dynamics.as_ref(), policy, opened.graph.as_ref(), options)?
            .with_scale(Scale::of(&opened.data), NEGLIGIBLE);
    let situation = situation(arguments, opened)?;
    let answer = answer(arguments, opened, &explainer, &situation)?;
    let content = match format {
        Format::Text if arguments.brief => format!("{}\n", answer.sentence()).into_bytes(),
        Format::Text => answer.text().into_bytes(),
        Format::Json => describe::line(&answer.json()).into_bytes(),
        Format::Dot => answer.picture()?.dot().into_bytes(),
        Format::Svg => answer.drawing(arguments)?.svg().into_bytes(),
        Format::Png => answer.drawing(arguments)?.png(SCALE).map_err(Failure::failed)?,
    };
    let Some(path) = &arguments.output else {
        return String::from_utf8(content).map_err(Failure::failed);
    };
    write_atomically(path, &content)?;
    Ok(format!("{}: {}\n", path.display(), answer.sentence()))
}

/// The format that was asked for, by name or by the ending of the file.
fn format(common: &Common, arguments: &Explain) -> Result<Format, Failure> {
    let ending = arguments.output.as_deref().and_then(Path::extension);
    let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match (arguments.format.as_deref(), ending.as_deref()) {
        (Some(name), _) => name,
        (None, _) if common.json => "json",
        (None, Some("txt") | None) => "text",
        (None, Some(ending)) => ending,
    };
    match format {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "svg" => Ok(Format::Svg),
        "dot" => Ok(Format::Dot),
        "png" if arguments.output.is_none() => {
            Err(Failure::usage("a PNG is not for a terminal: say where to with -o FILE.png"))
        }
        "png" => Ok(Format::Png),
        _ => Err(Failure::usage(format!(
            "unknown format `{format}`: expected a name that ends in .txt, .json, .svg, .png or \
             .dot, or --format"
        ))),
    }
}

/// The step that is asked about: of a new episode, of a file, or of the run's own data.
fn situation(arguments: &Explain, opened: &Opened) -> Result<Situation, Failure> {
    let Explain { episode, step, horizon, .. } = *arguments;
    check_horizon(horizon).map_err(Failure::usage)?;
    if let Some(seed) = arguments.episode_seed {
        let (Some(policy), Some(environment)) = (&opened.policy, &opened.environment) else {
            let missing = if opened.policy.is_none() { "policy" } else { "environment" };
            return Err(Failure::usage(format!(
                "this run has no {missing}, which a new episode (--episode-seed) needs: explain a \
                 recorded step, of the run itself or of --data DATA"
            )));
        };
        return play(environment.clone(), policy.as_ref(), seed, step, horizon);
    }
    if let Some(path) = &arguments.data {
        let options = ReadOptions { schema: Some(Arc::clone(&opened.schema)), ignore: Vec::new() };
        let recording = read(path, &options)?;
        return Ok(Situation::recorded(&recording.transitions, episode, step, horizon)?);
    }
    Ok(Situation::recorded(&opened.data, episode, step, horizon)?)
}

/// Plays an episode by the policy's most likely actions and keeps what follows a step.
fn play(
    mut environment: AnyEnvironment,
    policy: &dyn Policy,
    seed: u64,
    step: usize,
    horizon: usize,
) -> Result<Situation, Failure> {
    /// Longer episodes are not waited for.
    const LONGEST: usize = 1_000_000;
    environment.reset(seed);
    let schema = Arc::clone(environment.schema());
    let mut kept = Vec::new();
    for number in 0..step.saturating_add(horizon.min(MOST_STEPS)).min(LONGEST) {
        let state = environment.state().to_vec();
        let action = policy.mode(&state);
        let made = environment.step(&action)?;
        let over = made.terminated || made.truncated;
        if number >= step {
            let parts = [&state[..], &action, made.outcomes, made.state];
            kept.push(Step::new(&schema, parts, Some(made.terminated)));
        }
        if over && number < step {
            return Err(Failure::usage(format!(
                "there is no step {step}: the episode of seed {seed} ends after {} steps, counted \
                 from 0",
                number + 1
            )));
        }
        if over {
            break;
        }
    }
    if kept.is_empty() {
        return Err(Failure::usage(format!("step {step} is too far: expected below {LONGEST}")));
    }
    Ok(Situation::of_steps(schema, step, kept)?)
}

fn answer(
    arguments: &Explain,
    opened: &Opened,
    explainer: &Explainer<'_>,
    situation: &Situation,
) -> Result<Answer, Failure> {
    if let Some(text) = &arguments.why_not {
        let action = parse_action(&opened.schema, text).map_err(Failure::usage)?;
        return Ok(Answer::Contrast(Box::new(explainer.why_not(situation, &action)?)));
    }
    if let Some(text) = &arguments.what_if {
        let change = Change::parse(&opened.schema, text, situation.action())?;
        return Ok(Answer::Contrast(Box::new(explainer.what_if(situation, &change)?)));
    }
    Ok(Answer::Why(Box::new(explainer.why(situation)?)))
}

impl Answer {
    fn sentence(&self) -> String {
        match self {
            Self::Why(why) => why.sentence(),
            Self::Contrast(contrast) => contrast.sentence(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Why(why) => why.text(),
            Self::Contrast(contrast) => contrast.text(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Why(why) => why.json(),
            Self::Contrast(contrast) => contrast.json(),
        }
    }

    fn picture(&self) -> Result<Picture, Failure> {
        match self {
            Self::Why(why) => why.picture(),
            Self::Contrast(contrast) => contrast.picture(),
        }
        .map_err(Failure::failed)
    }

    fn drawing(&self, arguments: &Explain) -> Result<Drawing, Failure> {
        match self {
            Self::Contrast(contrast) if arguments.show == "worth" => {
                Ok(becausal::render::waterfall(contrast).map_err(Failure::failed)?.drawing())
            }
            _ => Ok(self.picture()?.drawing(&chain_layout())),
        }
    }
}

#[cfg(test)]
#[path = "../../becausal-explain/tests/suite/exact.rs"]
#[allow(dead_code)] // the tests of the library need more of it
mod exact;

#[cfg(test)]
pub mod tests {
    use becausal::Transitions;
    use becausal::env::{EnvironmentError, collect, find, random_action};
    use becausal::model::Dynamics;

    use super::exact::{Exact, Rules};
    use super::*;

    pub fn common(json: bool) -> Common {
        Common { json, quiet: true, threads: None }
    }

    pub fn refused(result: Result<String, Failure>) -> String {
        result.expect_err("refused").to_string()
    }

    fn opened(id: &str, dynamics: Exact, policy: Option<Rules>) -> Opened {
        let entry = find(id).expect("known");
        let environment = entry.make(&becausal::env::Options::default()).expect("made");
        let schema = Arc::clone(dynamics.schema());
        let mut data = Transitions::new(Arc::clone(&schema));
        collect::<_, EnvironmentError>(
            &environment,
            300,
            0,
            |_, stream, action| random_action(&schema, stream, action),
            |part| {
                data.append(part);
                Ok(())
            },
        )
        .expect("collected");
        Opened {
            schema,
            data,
            graph: None,
            dynamics: Box::new(dynamics),
            policy: policy.map(|policy| Box::new(policy) as Box<dyn Policy>),
            environment: Some(environment),
        }
    }

    /// A run as `fit` makes it: without a policy.
    pub fn aim_test() -> Opened {
        opened("AimTest-v0", Exact::aim_test(), None)
    }

    fn vacuum() -> Opened {
        opened("Vacuum-v0", Exact::vacuum(), Some(Rules::vacuum()))
    }

    fn arguments(step: usize) -> Explain {
        Explain {
            run: "run".into(),
            episode_seed: None,
            data: None,
            episode: 0,
            step,
            why_not: None,
            what_if: None,
            horizon: 3,
            tau: 0.1,
            reward: Vec::new(),
            discount: 1.0,
            show: "chain".to_owned(),
            brief: false,
            format: None,
            output: None,
        }
    }

    fn told(arguments: &Explain, opened: &Opened) -> String {
        run(&common(false), arguments, opened).expect("an explanation")
    }

    #[test]
    fn a_recorded_step_is_explained_without_a_policy() {
        let text = told(&arguments(2), &aim_test());
        assert!(text.starts_with("Why a = ") && text.contains("at step 2?"), "{text}");
        assert!(text.contains("no policy is known"), "{text}");
        let brief = told(&Explain { brief: true, ..arguments(2) }, &aim_test());
        assert_eq!(brief.lines().count(), 1);
        assert!(text.contains(brief.trim()));
    }

    #[test]
    fn a_new_episode_is_played_by_the_policy() {
        let seeded = Explain { episode_seed: Some(4), ..arguments(0) };
        let text = told(&seeded, &vacuum());
        assert!(text.contains("(recorded)"), "{text}");
        let why_not = Explain { why_not: Some("left".to_owned()), ..seeded };
        let text = told(&why_not, &vacuum());
        assert!(text.contains("and not a = left at step 0?"), "{text}");
        let changed =
            Explain { what_if: Some("clean_1=true".to_owned()), why_not: None, ..why_not };
        let text = told(&changed, &vacuum());
        assert!(text.starts_with("What if clean_1 = true"), "{text}");
    }

    #[test]
    fn every_format_is_written() {
        let opened = vacuum();
        let why_not = || Explain { why_not: Some("left".to_owned()), ..arguments(0) };
        let of = |format: &str| Explain { format: Some(format.to_owned()), ..why_not() };
        assert!(told(&of("svg"), &opened).starts_with("<svg "));
        assert!(told(&of("dot"), &opened).starts_with("digraph"));
        let value: Value = serde_json::from_str(&told(&of("json"), &opened)).expect("JSON");
        assert!(value["credit"]["difference"].is_number());
        let json = run(&common(true), &why_not(), &opened).expect("an explanation");
        assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON"), value);
        let folder = tempfile::tempdir().expect("a folder");
        for (name, start) in
            [("a.png", &b"\x89PNG"[..]), ("a.svg", b"<svg "), ("a.txt", b"Why "), ("a.json", b"{")]
        {
            let path = folder.path().join(name);
            let text = told(&Explain { output: Some(path.clone()), ..why_not() }, &opened);
            assert!(text.contains(name) && text.lines().count() == 1, "{text}");
            assert!(std::fs::read(&path).expect("written").starts_with(start), "{name}");
        }
        let worth = Explain { show: "worth".to_owned(), ..of("svg") };
        assert_ne!(told(&worth, &opened), told(&of("svg"), &opened));
    }

    #[test]
    fn what_cannot_be_done_is_said_in_clear_words() {
        let (fitted, trained) = (aim_test(), vacuum());
        let says =
            |arguments: Explain, opened: &Opened| refused(run(&common(false), &arguments, opened));
        let cases = [
            (Explain { tau: 1.5, ..arguments(0) }, &fitted, "tau is 1.5, expected a number from 0"),
            (Explain { horizon: 0, ..arguments(0) }, &fitted, "a horizon of 0 steps, expected 1"),
            (Explain { horizon: 10_000, ..arguments(0) }, &fitted, "expected 1 to 1000"),
            (arguments(5000), &fitted, "there is no step 5000 in episode 0: it has"),
            (Explain { episode: 900, ..arguments(0) }, &fitted, "there is no episode 900"),
            (
                Explain { reward: vec!["rise of x5".to_owned()], ..arguments(0) },
                &fitted,
                "the rewards are: rise of x3, rise of x4",
            ),
            (
                Explain { episode_seed: Some(1), ..arguments(0) },
                &fitted,
                "this run has no policy, which a new episode (--episode-seed) needs",
            ),
            (
                Explain { episode_seed: Some(1), ..arguments(500) },
                &trained,
                "there is no step 500: the episode of seed 1 ends after",
            ),
            (
                Explain { why_not: Some("fly".to_owned()), ..arguments(0) },
                &trained,
                "\"fly\" is not an action",
            ),
            (
                Explain { what_if: Some("money=4".to_owned()), ..arguments(0) },
                &trained,
                "there is no state or action `money`",
            ),
            (
                Explain { format: Some("png".to_owned()), ..arguments(0) },
                &trained,
                "a PNG is not for a terminal: say where to with -o FILE.png",
            ),
            (
                Explain { output: Some("a.pdf".into()), ..arguments(0) },
                &trained,
                "unknown format `pdf`",
            ),
            (
                Explain { show: "worth".to_owned(), ..arguments(0) },
                &trained,
                "add --why-not ACTION or --what-if CHANGE",
            ),
        ];
        for (arguments, opened, words) in cases {
            let text = says(arguments, opened);
            assert!(text.contains(words), "{words} is missing in\n{text}");
        }
    }
}
