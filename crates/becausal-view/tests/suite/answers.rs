//! What is answered: that of the front door, and nothing else.

use becausal::{Ask, FoundDecision, Source, Worth};
use serde_json::{Value, json};

use crate::common::{RUN, get, post, view};

/// What `becausal explain --json` prints: the JSON of an answer on one line.
fn line(value: &serde_json::Value) -> String {
    format!("{value}\n")
}

#[test]
fn the_interface_gives_the_answers_of_explain() {
    let view = view();
    let moment = RUN.recorded(1, 3).expect("recorded");
    let why = RUN.why(&moment, &Ask::default()).expect("an answer");
    let reply = post(&view, "api/why", r#"{"episode": 1, "step": 3}"#);
    assert_eq!((reply.status, reply.body), (200, line(&why.json())));
    let ask = Ask::default().horizon(3).tau(0.2);
    let other = if moment.action() == [4.0] { "none" } else { "depot" };
    let why_not = RUN.why_not(&moment, other, &ask).expect("an answer");
    let question = json!({ "episode": 1, "step": 3, "action": other, "horizon": 3, "tau": 0.2 });
    let reply = post(&view, "api/why-not", &question.to_string());
    assert_eq!((reply.status, reply.body), (200, line(&why_not.json())));
    for model_only in [false, true] {
        let ask = Ask::default().model_only(model_only);
        let what_if = RUN.what_if(&moment, "money=400", &ask).expect("an answer");
        let question =
            json!({ "episode": 1, "step": 3, "change": "money=400", "model_only": model_only });
        let reply = post(&view, "api/what-if", &question.to_string());
        assert_eq!((reply.status, reply.body), (200, line(&what_if.json())));
    }
}

#[test]
fn a_replay_is_what_the_environment_does() {
    let view = view();
    let question = json!({ "episode": 0, "step": 5, "action": "none", "horizon": 4 });
    let reply = post(&view, "api/replay", &question.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let value = reply.json();
    let real = RUN.replay((0, 5), &[0.0], 4).expect("it can be replayed");
    let steps = value["trajectory"].as_array().expect("steps");
    assert_eq!(steps.len(), 4);
    for ((number, told), step) in (5..).zip(steps).zip(real.steps()) {
        assert_eq!(told["step"], json!(number), "steps are counted as in an answer");
        assert_eq!(told["next"]["money"].as_f64(), Some(step.next[4]));
        assert_eq!(told["recorded"], json!(true), "it really happened");
    }
    assert_eq!(value["return_of_change"].as_f64(), Some(real.discounted(1.0)));
    let difference = value["difference"].as_f64().expect("a number");
    let taken = RUN.recorded(0, 5).expect("recorded").action().to_vec();
    let same = RUN.replay((0, 5), &taken, 4).expect("it can be replayed");
    assert_eq!(difference, same.discounted(1.0) - real.discounted(1.0));
}

#[test]
fn the_run_is_described() {
    let value = get(&view(), "api/run").json();
    assert_eq!(value["name"], "BuildMarine-v0");
    assert_eq!(value["rows"], json!(RUN.data().len()));
    assert_eq!(value["actions"].as_array().map(Vec::len), Some(5));
    assert_eq!((&value["has_environment"], &value["has_policy"]), (&json!(true), &json!(false)));
    let money = value["variables"].as_array().and_then(|v| v.iter().find(|v| v["name"] == "money"));
    let money = money.expect("a variable");
    assert_eq!(money["role"], "state");
    assert!(money["minimum"].as_f64() < money["maximum"].as_f64());
}

#[test]
fn both_courses_come_with_the_answer() {
    let view = view();
    let question = json!({ "episode": 0, "step": 5, "action": "none", "horizon": 4 });
    let value = post(&view, "page/answer", &question.to_string()).json();
    let courses = &value["courses"];
    let money = |course: &str| courses[course]["columns"]["money"].as_array().map(Vec::len);
    assert_eq!((money("factual"), money("other")), (Some(5), Some(5)), "before and after 4 steps");
    let band = &courses["other_band"]["money"];
    let ends = band["low"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(band["high"].as_array().into_iter().flatten());
    for (low, high) in ends {
        assert!(low.as_f64() <= high.as_f64());
    }
    assert!(value["html"].as_str().is_some_and(|html| html.contains("<svg")));
    assert!(
        value["command"]
            .as_str()
            .is_some_and(|c| c.ends_with("--step 5 --why-not none --horizon 4 --model-only"))
    );
    let why = post(&view, "page/answer", r#"{"episode": 0, "step": 5}"#).json();
    assert!(why["courses"].get("other").is_none(), "nothing is compared");
}

#[test]
fn an_episode_by_hand_can_be_asked_about_and_checked() {
    let view = view();
    let actions = ["worker", "depot", "none", "barracks"];
    let query = json!({ "seed": 9, "actions": actions });
    let value = post(&view, "page/play", &query.to_string()).json();
    assert_eq!(value["steps"], 4);
    assert!(value["scene"].as_str().is_some_and(|scene| scene.starts_with("<svg")));
    let question = json!({ "seed": 9, "actions": actions, "step": 1, "action": "none" });
    let answer = post(&view, "api/why-not", &question.to_string()).json();
    assert!(answer["question"].as_str().is_some_and(|text| text.contains("step 1")), "{answer}");
    let steps: Vec<Vec<f64>> = [1.0, 4.0, 0.0, 3.0].map(|action| vec![action]).to_vec();
    let played = RUN.play_by_hand(9, &steps).expect("played");
    let change = becausal::explain::Change::action(&[0.0]);
    let real = RUN.real_course(Source::Played(&played), 1, &change, 3).expect("replayed");
    let question =
        json!({ "seed": 9, "actions": actions, "step": 1, "action": "none", "horizon": 3 });
    let replay = post(&view, "api/replay", &question.to_string()).json();
    assert_eq!(replay["return_of_change"].as_f64(), Some(real.trajectory.discounted(1.0)));
}

#[test]
fn what_cannot_be_answered_is_refused_in_words() {
    let view = view();
    let cases = [
        ("api/why", r#"{"episode": 1}"#, 400, "missing field `step`"),
        ("api/why", r#"{"step": 1}"#, 400, "which episode?"),
        ("api/why", r#"{"episode": 1, "seed": 2, "step": 1}"#, 400, "which episode?"),
        (
            "api/why",
            r#"{"episode": 1, "step": 1, "file": "/etc/passwd"}"#,
            400,
            "unknown field `file`",
        ),
        ("api/why", r#"{"episode": 99999, "step": 1}"#, 422, "there is no episode 99999"),
        ("api/why", r#"{"episode": 0, "step": 99999}"#, 422, "there is no step 99999"),
        ("api/why", r#"{"seed": 1, "step": 1}"#, 422, "no policy"),
        ("api/why", r#"{"episode": 0, "step": 1, "horizon": 100000}"#, 422, "at most 200"),
        ("api/why", r#"{"episode": 0, "step": 1, "tau": 7}"#, 422, "7"),
        ("api/why-not", r#"{"episode": 0, "step": 1}"#, 400, "`action` is missing"),
        ("api/why-not", r#"{"episode": 0, "step": 1, "action": "castle"}"#, 422, "castle"),
        ("api/what-if", r#"{"episode": 0, "step": 1, "change": "gold=3"}"#, 422, "gold"),
        ("api/replay", r#"{"episode": 0, "step": 1, "change": "money=0.5"}"#, 422, "0.5"),
        ("page/pair", r#"{"cause": "a", "effect": "b"}"#, 200, "there is no pair a → b"),
        ("page/play", r#"{"seed": 1, "actions": ["castle"]}"#, 200, "castle"),
        ("api/why", "", 400, "EOF"),
        ("api/why", "[[[[", 400, ""),
    ];
    for (address, body, status, words) in cases {
        let reply = post(&view, address, body);
        assert_eq!(reply.status, status, "{address} {body}: {}", reply.body);
        let message = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(words), "{address} {body}: {message}");
    }
}

#[test]
fn every_pair_of_the_graph_has_its_evidence() {
    let view = view();
    let graph = get(&view, "page/graph").json();
    let pairs = graph["map"]["pairs"].as_array().expect("pairs").clone();
    assert!(!pairs.is_empty());
    for pair in pairs.iter().take(2) {
        let query = json!({ "cause": pair["cause"], "effect": pair["effect"] }).to_string();
        let evidence = post(&view, "page/pair", &query).json();
        assert_eq!(evidence["strength"], pair["strength"]);
        let points = evidence["scatter"]["points"].as_array().expect("points");
        assert!(points.len() >= 200, "{}", points.len());
        assert_eq!(post(&view, "page/acts", &query).status, 200);
    }
}

#[test]
fn decisions_worth_a_look_are_those_of_explain() {
    let view = view();
    for worth in Worth::ALL {
        let query = json!({ "find": worth.name() }).to_string();
        let list = post(&view, "page/decisions", &query).json();
        assert_eq!(list, post(&view, "page/decisions", &query).json(), "found once");
        let found = RUN.find(worth, 8, &Ask::default().model_only(true)).expect("found");
        let found: Vec<Value> = found.iter().map(FoundDecision::json).collect();
        assert_eq!(list["found"], json!(found));
        match worth {
            Worth::Close => assert!(found.is_empty(), "there is no policy that could be unsure"),
            Worth::Surprising => assert!(!found.is_empty(), "some step is the most surprising"),
            // A model that learned for a moment may not be able to tell.
            Worth::Costly | Worth::Mistakes => {}
        }
    }
    let wrong = post(&view, "page/decisions", &json!({ "find": "nice" }).to_string());
    assert!(wrong.body.contains("expected one of costly"), "{}", wrong.body);
}
