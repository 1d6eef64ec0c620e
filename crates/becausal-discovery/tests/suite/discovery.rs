//! Discovery finds true edges, says when the data cannot tell, and does not depend on threads.

use crate::{calibration, probes};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becausal_core::data::Row;
use becausal_core::env::{EnvironmentError, collect, random_action};
use becausal_core::progress::{Advance, Listener};
use becausal_core::{Schema, Stream, Transitions};
use becausal_discovery::{
    ByAction, CausalGraph, DiscoverParams, DiscoveryError, Method, Reason, RowGroup, Score,
    Verdict, discover,
};
use becausal_envs::{Truth, find};
use proptest::prelude::*;

use crate::probes::{Answer, PROBES};
use crate::worlds::World;

fn record(id: &str, rows: usize, seed: u64) -> (Transitions, Truth) {
    let entry = find(id).expect("an environment");
    let environment = entry.make(&becausal_core::env::Options::default()).expect("an environment");
    let schema = entry.schema();
    let mut data = Transitions::new(Arc::clone(&schema));
    let policy =
        |_: &[f64], stream: &mut Stream, action: &mut [f64]| random_action(&schema, stream, action);
    let sink = |part: &Transitions| {
        data.append(part);
        Ok::<(), EnvironmentError>(())
    };
    collect(&environment, rows, seed, policy, sink).expect("transitions");
    (data, entry.truth().expect("a known truth"))
}

fn auto(data: &Transitions) -> CausalGraph {
    discover(data, &DiscoverParams::default()).expect("a graph")
}

// ---- truth --------------------------------------------------------------------------------

#[test]
fn the_graph_of_the_aim_test_is_found() {
    for seed in [1, 8] {
        let (data, truth) = record("AimTest-v0", 5000, seed);
        assert_eq!(auto(&data).matrix(), truth.graph, "seed {seed}");
    }
}

/// A hand that turns under a torque and gravity, and a number that the hand does not touch. The angle is written from
/// -pi to pi.
fn dial(rows: usize, seed: u64) -> Transitions {
    let schema = Schema::parse(
        "name = \"Dial\"\n[state]\nangle = { kind = \"circular\" }\nspeed = { kind = \"continuous\" }\n\
         other = { kind = \"continuous\" }\n[action]\ntorque = { kind = \"continuous\", low = -2.0, high = 2.0 }\n",
    );
    let schema = Arc::new(schema.expect("a schema"));
    let circle = schema.variables()[0].kind.circle().expect("a circle");
    let mut data = Transitions::new(schema);
    let mut stream = Stream::new(seed);
    let mut state = [0.0; 3];
    for row in 0..rows {
        if row % 100 == 0 {
            data.begin_episode();
            state = [stream.uniform(-3.1, 3.1), stream.uniform(-1.0, 1.0), stream.normal()];
        }
        let torque = stream.uniform(-2.0, 2.0);
        let velocity = (state[1] + 0.75 * state[0].sin() + 0.15 * torque).clamp(-8.0, 8.0);
        let next = [
            circle.wrap(state[0] + 0.05 * velocity),
            velocity,
            0.9 * state[2] + 0.3 * stream.normal(),
        ];
        data.push(&Row {
            state: &state,
            action: &[torque],
            outcomes: &[],
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: row % 100 == 99,
        });
        state = next;
    }
    data
}

#[test]
fn the_causes_of_an_angle_are_found_where_the_circle_closes() {
    let data = dial(6000, 3);
    let turns = (0..data.len()).filter(|&row| {
        let values = data.row(row);
        (values[0] - values[4]).abs() > 3.0
    });
    assert!(turns.count() > 50, "the hand passes the end of the circle");
    // Causes: angle, speed, other, torque. The speed before is part of the one that moves the hand.
    let expected =
        [[true, true, false, true], [true, true, false, true], [false, false, true, false]];
    assert_eq!(auto(&data).matrix(), expected);
}

#[test]
fn cart_pole_has_no_false_edges() {
    let (data, truth) = record("CartPole-v1", 10_000, 4);
    let score = Score::of(&auto(&data).matrix(), &truth.graph);
    assert_eq!(score.false_edges, 0);
    assert!(score.right >= 10, "{score:?}");
}

#[test]
fn the_graphs_by_action_are_found_both_ways() {
    let (data, truth) = record("AimTest-v0", 5000, 3);
    for way in [ByAction::Within, ByAction::Direct] {
        let params = DiscoverParams { by_action: Some(way), ..DiscoverParams::default() };
        let graph = discover(&data, &params).expect("a graph");
        assert_eq!(graph.by_action.len(), 4);
        for (found, truth) in graph.by_action.iter().zip(&truth.by_action) {
            assert_eq!((&found.label, found.matrix()), (&truth.action, truth.graph.clone()));
        }
    }
}

#[test]
fn probes_get_the_right_answer_or_a_reason() {
    for (probe, (name, answer)) in PROBES.iter().enumerate() {
        let graph = auto(&probes::record(probe, 1500, 5));
        let pair = graph.find("x", "y").expect("the pair");
        let expected: &[Verdict] = match answer {
            Answer::Edge => &[Verdict::Edge],
            // 1,500 rows of slow series are few.
            Answer::None if pair.reason == Some(Reason::FewPieces) => &[Verdict::Untestable],
            Answer::None => &[Verdict::None],
            Answer::CannotTell => &[Verdict::Untestable],
            Answer::NoneOrFlagged if pair.proxy => &[Verdict::Edge],
            Answer::NoneOrFlagged => &[Verdict::None, Verdict::Untestable],
            Answer::EdgeOrCannotTell => &[Verdict::Edge, Verdict::Untestable],
        };
        assert!(expected.contains(&pair.verdict), "{name}: {pair:?}");
        assert!(pair.verdict != Verdict::Untestable || pair.reason.is_some(), "{name}");
    }
}

#[test]
fn a_proxy_is_flagged_and_real_causes_are_not() {
    let data = probes::record(4, 10_000, 3);
    let graph = auto(&data);
    assert!(graph.find("x", "y").expect("the pair").proxy);
    // Where the models know the real causes well enough, it is no edge.
    for seed in 0..4 {
        let graph = auto(&probes::record(4, 2000, seed));
        let pair = graph.find("x", "y").expect("the pair");
        assert!(pair.proxy || pair.verdict != Verdict::Edge, "{pair:?}");
    }
    // Independent causes of a noisy product, and the causes of CartPole, are no proxies.
    let graph = auto(&probes::record(11, 3000, 3));
    assert!(graph.edges().all(|pair| !pair.proxy), "{graph:?}");
    let graph = auto(&record("CartPole-v1", 10_000, 0).0);
    assert!(graph.edges().filter(|pair| pair.proxy).count() <= 1, "{graph:?}");
}

#[test]
fn an_influence_in_few_rows_is_untestable_not_none() {
    let mut hints = 0;
    for seed in 0..4 {
        let graph = auto(&probes::record(8, 1500, seed));
        let pair = graph.find("x", "y").expect("the pair");
        assert_eq!(pair.verdict, Verdict::Untestable, "{pair:?}");
        let largest = RowGroup::Largest { of: "z1".to_owned() };
        match &pair.reason {
            Some(Reason::Hint { group, .. }) => {
                assert_eq!(*group, largest);
                hints += 1;
            }
            // All rows together may show it as well.
            reason => assert_eq!(*reason, Some(Reason::Unclear)),
        }
    }
    assert!(hints >= 3, "{hints}");
    let none = |seed: u64| auto(&probes::record(1, 1500, seed));
    let none = (0..4)
        .filter(|&seed| none(seed).find("x", "y").expect("the pair").verdict == Verdict::None);
    assert_eq!(none.count(), 4);
}

#[test]
fn weak_evidence_is_not_called_none() {
    let graph = auto(&probes::record(9, 300, 7));
    let pair = graph.find("x", "y").expect("the pair");
    assert!(pair.p > 0.001 && pair.verdict == Verdict::Untestable, "{pair:?}");
    assert_eq!(pair.reason, Some(Reason::Unclear));
    assert_eq!(graph.with_eta(0.01).find("x", "y").map(|p| p.verdict), Some(Verdict::Edge));
}

#[test]
fn the_graphs_of_random_worlds_are_found() {
    for (family, seed) in [("gated", 0), ("engine", 0), ("products", 1)] {
        let world = World::new(family, seed);
        let score = Score::of(&auto(&world.record(6000, 1)).matrix(), &world.truth);
        assert!(score.f1() > 0.9 && score.false_edges <= 1, "{family}: {score:?}");
    }
}

#[test]
fn without_effects_p_values_are_uniform() {
    let p: Vec<f64> = calibration::CASES
        .into_iter()
        .flat_map(|case| (0..50).map(move |seed| calibration::p_value(case, false, seed)))
        .collect();
    let below = |alpha: f64| p.iter().filter(|p| **p <= alpha).count();
    // Of 300 uniform p-values 4 to 28 are below .05 with probability .999. Bonferroni's correction for
    // dependent folds makes ours a little larger: fewer than half are below .5.
    assert!((4..=28).contains(&below(0.05)), "{}", below(0.05));
    assert!((80..=175).contains(&below(0.5)), "{}", below(0.5));
    assert!(below(0.001) <= 3, "{}", below(0.001));
}

#[test]
fn weak_effects_are_found() {
    let p: Vec<f64> = (0..20)
        .map(|seed| calibration::p_value(calibration::Case::Independent, true, seed))
        .collect();
    let found = p.iter().filter(|p| **p <= 0.001).count();
    assert!(found >= 12, "{found} of 20: {p:?}");
}

#[test]
fn hidden_state_is_noticed_and_its_absence_too() {
    let hidden = |family: &'static str| {
        let world = World::new(family, 600);
        let graph = auto(&world.record(8000, 600));
        let read = CausalGraph::from_json(&graph.to_json()).expect("a graph");
        assert_eq!(read.hidden_state, graph.hidden_state);
        graph.hidden_state.iter().map(|&id| graph.effect(id).to_owned()).collect::<Vec<_>>()
    };
    let found = hidden("hidden");
    assert!(!found.is_empty() && found.iter().all(|effect| effect == "s0'" || effect == "s1'"));
    assert_eq!(hidden("gated"), Vec::<String>::new());
}

#[test]
fn a_tiny_gain_is_not_an_edge_however_many_rows_show_it() {
    let mut graph = CausalGraph::new("auto", 0.001, &["x"], &["y"]);
    graph.min_strength = 0.01;
    graph.pairs_mut()[0].p = 1e-12;
    graph.pairs_mut()[0].strength = 0.004;
    let graph = graph.with_eta(0.001);
    assert_eq!(graph.pairs()[0].verdict, Verdict::None);
    assert_eq!(CausalGraph::from_json(&graph.to_json()), Ok(graph));
}

#[test]
fn fcit_finds_strong_edges() {
    let (data, truth) = record("AimTest-v0", 3000, 2);
    let params = DiscoverParams { method: Method::Fcit, ..DiscoverParams::default() };
    let graph = discover(&data, &params).expect("a graph");
    assert_eq!((graph.method.as_str(), graph.eta), ("fcit", 0.05));
    let score = Score::of(&graph.matrix(), &truth.graph);
    assert!(score.f1() > 0.75, "{score:?}");
    assert!(graph.find("x1", "x1'").expect("a pair").p < 0.05);
}

#[test]
fn fcit_swaps_a_vector_effect_and_equal_errors_are_no_evidence() {
    let world = World::new("vectors", 0);
    let params = DiscoverParams { method: Method::Fcit, ..DiscoverParams::default() };
    let graph = discover(&world.record(1500, 0), &params).expect("a graph");
    let pair = graph.find("s0", "s0'").expect("a vector is one variable");
    assert!(pair.p < 0.05, "{pair:?}");
    let swapped = graph.find("s2", "s0'").expect("a swapped pair");
    assert_eq!(swapped.p < 0.05, world.truth[0][swapped.cause.0], "{swapped:?}");
    // A constant effect: the trees never use x.
    let graph = discover(&constant_effect(), &params).expect("a graph");
    assert_eq!(graph.find("x", "y").expect("the pair").p, 1.0);
}

// ---- honesty ------------------------------------------------------------------------------

fn small_schema() -> Arc<Schema> {
    let text = "name = \"Small\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
                a = { kind = \"categorical\", labels = [\"left\", \"right\"] }\n[outcome]\n\
                y = { kind = \"boolean\" }\n";
    Arc::new(Schema::parse(text).expect("a schema"))
}

fn small(rows: usize, mut row: impl FnMut(usize) -> ([f64; 1], [f64; 1], [f64; 1])) -> Transitions {
    let mut data = Transitions::new(small_schema());
    for index in 0..rows {
        if index % 20 == 0 {
            data.begin_episode();
        }
        let (state, action, outcome) = row(index);
        data.push(&Row {
            state: &state,
            action: &action,
            outcomes: &outcome,
            next: &state,
            reward: 0.0,
            terminated: false,
            truncated: false,
        });
    }
    data
}

fn constant_effect() -> Transitions {
    let mut stream = Stream::new(1);
    small(600, |_| ([stream.normal()], [stream.below(2) as f64], [0.0]))
}

fn reason(graph: &CausalGraph, cause: &str, effect: &str) -> Reason {
    let pair = graph.find(cause, effect).expect("the pair");
    assert_eq!(pair.verdict, Verdict::Untestable, "{pair:?}");
    pair.reason.clone().expect("a reason")
}

#[test]
fn untestable_pairs_have_a_reason() {
    assert_eq!(
        reason(&auto(&constant_effect()), "x", "y"),
        Reason::Constant { variable: "y".to_owned(), value: None }
    );
    let mut stream = Stream::new(2);
    let one_action = small(600, |_| {
        let x = stream.normal();
        ([x], [1.0], [f64::from(u8::from(x > 0.3))])
    });
    let graph = auto(&one_action);
    let value = Some("right".to_owned());
    assert_eq!(reason(&graph, "a", "y"), Reason::NeverVaried { variable: "a".to_owned(), value });
    assert_eq!(graph.find("x", "y").expect("the pair").verdict, Verdict::Edge);
    let rare = small(600, |index| {
        let action = f64::from(u8::from(index % 100 == 7));
        ([stream.normal()], [action], [stream.below(2) as f64])
    });
    assert_eq!(
        reason(&auto(&rare), "a", "y"),
        Reason::RarelyVaries { variable: "a".to_owned(), rows: 6 }
    );
    let by_state = small(3000, |_| {
        let x = stream.normal();
        let action = f64::from(u8::from(x > 0.0));
        ([x], [action], [f64::from(u8::from(x > 0.0))])
    });
    let graph = auto(&by_state);
    assert!(graph.find("a", "y").expect("the pair").verdict != Verdict::None);
}

#[test]
fn a_single_row_or_no_rows_do_not_panic() {
    let one = small(1, |_| ([0.5], [1.0], [0.0]));
    for method in [Method::Auto, Method::Fcit] {
        let graph = discover(&one, &DiscoverParams { method, ..DiscoverParams::default() })
            .expect("a graph");
        assert!(graph.pairs().iter().all(|pair| pair.verdict == Verdict::Untestable));
        assert_eq!(reason(&graph, "x", "y"), Reason::FewRows { rows: 1 });
    }
    let none = Transitions::new(small_schema());
    let error = discover(&none, &DiscoverParams::default()).expect_err("nothing");
    assert_eq!(error, DiscoveryError::Empty);
}

#[test]
fn required_and_forbidden_edges_override_the_data() {
    let (data, _) = record("Vacuum-v0", 600, 1);
    let edge = |cause: &str, effect: &str| vec![(cause.to_owned(), effect.to_owned())];
    let params = DiscoverParams {
        required: edge("clean_2", "clean_1'"),
        forbidden: edge("position", "position'"),
        ..DiscoverParams::default()
    };
    let graph = discover(&data, &params).expect("a graph");
    assert_eq!(graph.find("clean_2", "clean_1'").expect("it").verdict, Verdict::Edge);
    assert_eq!(graph.find("position", "position'").expect("it").verdict, Verdict::None);
    let refused = |required, forbidden| {
        let params = DiscoverParams { required, forbidden, ..DiscoverParams::default() };
        discover(&data, &params).expect_err("refused").to_string()
    };
    assert_eq!(
        refused(edge("positon", "clean_1'"), vec![]),
        "the edge `positon -> clean_1'`: there is no cause `positon` (did you mean `position`?)"
    );
    assert_eq!(
        refused(edge("a", "clean_1'"), edge("a", "clean_1'")),
        "the edge `a -> clean_1'` is required and forbidden at once"
    );
    let wrong = DiscoverParams { eta: Some(1.5), ..DiscoverParams::default() };
    assert_eq!(
        discover(&data, &wrong).expect_err("refused").to_string(),
        "eta is 1.5, expected a number from 0 to 1"
    );
}

#[test]
fn the_bootstrap_is_confident_of_clear_edges() {
    let (data, truth) = record("Vacuum-v0", 1500, 1);
    let params = DiscoverParams { bootstrap: 4, ..DiscoverParams::default() };
    let graph = discover(&data, &params).expect("a graph");
    for (pair, truth) in graph.pairs().iter().zip(truth.graph.iter().flatten()) {
        let confidence = pair.confidence.expect("a share");
        assert!((confidence > 0.7) == *truth, "{pair:?}");
    }
}

// ---- the same graph -----------------------------------------------------------------------

#[test]
fn the_same_seed_gives_the_same_graph_on_any_number_of_threads() {
    let (data, _) = record("Vacuum-v0", 900, 1);
    let (numbers, _) = record("CartPole-v1", 1200, 1);
    for (data, method) in [(&data, Method::Auto), (&numbers, Method::Auto), (&data, Method::Fcit)] {
        let params = DiscoverParams { method, seed: 4, bootstrap: 1, ..DiscoverParams::default() };
        let graphs: Vec<CausalGraph> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let run = || discover(data, &params).expect("a graph");
                pool.expect("threads").install(run)
            })
            .collect();
        assert!(graphs[0] == graphs[1] && graphs[1] == graphs[2], "{method:?}");
    }
}

#[test]
fn stopping_keeps_the_finished_pairs() {
    let (data, _) = record("Vacuum-v0", 900, 1);
    for method in [Method::Auto, Method::Fcit] {
        let heard = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&heard);
        let progress = Listener::new(move |at: &Advance<'_>| {
            assert!(at.done <= at.total);
            if at.unit != "pairs" || at.done == 0 {
                return ControlFlow::Continue(());
            }
            assert_eq!(at.total, 16);
            count.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        });
        let params = DiscoverParams { method, progress, ..DiscoverParams::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let graph = pool.install(|| discover(&data, &params)).expect("a graph");
        let interrupted = graph.pairs().iter().filter(|p| p.reason == Some(Reason::Interrupted));
        let stopped = interrupted.count();
        assert!(stopped > 0 && stopped < graph.pairs().len(), "{method:?}: {stopped}");
        assert!(heard.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn pairs_that_few_rows_decide_are_untestable_not_none() {
    // Nearly every order for a worker is carried out, so few rows show why the others are not.
    let (data, truth) = record("BuildMarine-v0", 1000, 0);
    let graph = auto(&data);
    let of_workers = Some("workers'".to_owned());
    let few_decide = |reason: &Reason| matches!(reason, Reason::FewDecide { unexplained, .. } if *unexplained == of_workers);
    // The few rows may even hint at the cause that it is.
    let money = reason(&graph, "money", "workers'");
    assert!(few_decide(&money) || matches!(money, Reason::Hint { .. }), "{money:?}");
    let mut reasons = graph.pairs().iter().filter_map(|pair| pair.reason.as_ref());
    assert!(reasons.any(few_decide), "{graph:?}");
    let denied = |graph: &CausalGraph, truth: &Truth| {
        let pairs = graph.pairs().iter().zip(truth.graph.iter().flatten());
        pairs.filter(|(pair, there)| **there && pair.verdict == Verdict::None).count()
    };
    assert!(denied(&graph, &truth) <= 1, "{graph:?}");
    // Gated influences on noisy numbers.
    let (data, truth) = record("AimTest-v0", 1000, 4);
    assert_eq!(denied(&auto(&data), &truth), 0);
    // With enough rows the verdict is none again.
    let (data, truth) = record("AimTest-v0", 10_000, 4);
    let graph = auto(&data);
    assert_eq!(graph.matrix(), truth.graph);
    let untestable = graph.pairs().iter().filter(|pair| pair.verdict == Verdict::Untestable);
    assert_eq!(untestable.count(), 0, "{graph:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_data_gives_a_complete_graph(
        rows in 1_usize..120,
        length in 1_usize..40,
        seed in 0_u64..1000,
        scale in prop_oneof![Just(0.0), Just(1e-300), Just(1.0), Just(1e300)],
        fcit: bool,
    ) {
        let mut stream = Stream::new(seed);
        let mut data = Transitions::new(small_schema());
        for row in 0..rows {
            if row % length == 0 {
                data.begin_episode();
            }
            let state = [scale * stream.normal()];
            data.push(&Row {
                state: &state,
                action: &[stream.below(2) as f64],
                outcomes: &[stream.below(2) as f64],
                next: &[state[0] * 2.0],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        let method = if fcit { Method::Fcit } else { Method::Auto };
        let params = DiscoverParams { method, by_action: Some(ByAction::Within), ..DiscoverParams::default() };
        let graph = discover(&data, &params).expect("a graph");
        prop_assert_eq!(graph.pairs().len(), 4);
        for pair in graph.pairs().iter().chain(graph.by_action.iter().flat_map(|g| &g.pairs)) {
            prop_assert!((0.0..=1.0).contains(&pair.p), "{:?}", pair);
            prop_assert!((0.0..=1.0).contains(&pair.strength), "{:?}", pair);
        }
        prop_assert_eq!(CausalGraph::from_json(&graph.to_json()), Ok(graph));
    }
}

#[test]
fn edges_of_an_earlier_graph_are_kept_with_their_evidence() {
    let graph = |p: [f64; 2]| {
        let mut graph = CausalGraph::new("auto", 0.05, &["x", "y"], &["x'"]);
        graph.pairs_mut().iter_mut().zip(p).for_each(|(pair, p)| pair.p = p);
        graph.with_eta(0.05)
    };
    let kept = graph([0.001, 1.0]).keeping_edges_of(&graph([0.02, 0.01]));
    let [x, y] = ["x", "y"].map(|cause| kept.find(cause, "x'").expect("a pair").clone());
    assert_eq!((x.p, x.verdict), (0.001, Verdict::Edge), "the newer evidence for an edge of both");
    assert_eq!((y.p, y.verdict), (0.01, Verdict::Edge));
    let other = graph([0.001, 1.0]).keeping_edges_of(&graph([1.0, 1.0]));
    assert_eq!(other, graph([0.001, 1.0]));
}
