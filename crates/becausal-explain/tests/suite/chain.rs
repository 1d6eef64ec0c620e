//! Causal chains over random graphs and in small worlds.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use becausal_core::trajectory::TrajectoryError;
use becausal_core::{Schema, Stream};
use becausal_explain::Explanan;
use becausal_explain::chain::{
    Chain, ChainError, Edge, ExtendedGraph, Node, Origin, Part, Step, Trajectory, Way, targets,
};
use becausal_model::Influence;
use proptest::prelude::*;

/// A random world: a schema, a trajectory, parents, influences and choices.
#[derive(Debug, Clone)]
struct World {
    trajectory: Trajectory,
    parents: Vec<Vec<usize>>,
    influences: Vec<Influence>,
    choices: Vec<Vec<f64>>,
    tau: f64,
    origin: Origin,
    targets: Vec<usize>,
}

/// The sizes of a random world and the seed of everything else.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    states: usize,
    actions: usize,
    outcomes: usize,
    rewards: usize,
    steps: usize,
    seed: u64,
}

fn world(sizes: Sizes, prefix: &str) -> World {
    let Sizes { states, actions, outcomes, rewards, steps, seed } = sizes;
    let mut stream = Stream::new(seed);
    let mut text = "name = \"Random\"\n".to_owned();
    for (table, letter, count) in
        [("state", "s", states), ("action", "a", actions), ("outcome", "o", outcomes)]
    {
        let _ = writeln!(text, "[{table}]");
        for index in 0..count {
            let _ = writeln!(text, "{prefix}{letter}{index} = {{ kind = \"continuous\" }}");
        }
    }
    text.push_str("[reward]\n");
    for index in 0..rewards {
        let mut sum = "0".to_owned();
        for (letter, count, prime) in
            [("s", states, ""), ("s", states, "'"), ("a", actions, ""), ("o", outcomes, "")]
        {
            for variable in (0..count).filter(|_| stream.below(4) == 0) {
                let _ = write!(sum, " + {prefix}{letter}{variable}{prime}");
            }
        }
        let _ = writeln!(text, "r{index} = \"{sum}\"");
    }
    let schema = Arc::new(Schema::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let effects = states + outcomes;
    let parents = (0..effects)
        .map(|_| (0..states + actions).filter(|_| stream.below(3) == 0).collect())
        .collect();
    let influences = (0..steps)
        .map(|_| {
            let mut member = || -> Vec<f64> {
                let weight = |stream: &mut Stream| match stream.below(3) {
                    0 => stream.unit(),
                    _ => 0.0,
                };
                (0..effects * states).map(|_| weight(&mut stream)).collect()
            };
            Influence::new(effects, states, &[member(), member()])
        })
        .collect();
    let choices = (0..steps)
        .map(|_| (0..states * actions).map(|_| (stream.unit() - 0.5).max(0.0)).collect())
        .collect();
    let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
    let mut state = draw(states);
    let mut taken = Vec::new();
    for _ in 0..steps {
        let (action, outcome, next) = (draw(actions), draw(outcomes), draw(states));
        taken.push(Step::new(&schema, [&state, &action, &outcome, &next], Some(false)));
        state = next;
    }
    let trajectory = Trajectory::new(schema, 7, taken).expect("a trajectory");
    let origin = match stream.below(3) {
        0 => Origin { action: false, states: vec![stream.below(states)] },
        1 => Origin { action: true, states: vec![stream.below(states)] },
        _ => Origin::default(),
    };
    let targets = (0..rewards).filter(|_| stream.below(3) > 0).collect();
    World { trajectory, parents, influences, choices, tau: 0.2, origin, targets }
}

impl World {
    fn graph(&self) -> ExtendedGraph {
        ExtendedGraph::new(
            self.trajectory.clone(),
            |effect| self.parents[effect].as_slice(),
            &self.influences,
            Some(&self.choices),
            self.tau,
            self.origin.clone(),
        )
        .expect("a graph")
    }

    fn chain(&self) -> Chain {
        self.graph().chain(&self.targets)
    }
}

/// All nodes reachable along edges, found by repeated passes until nothing is new.
fn reach(edges: &[Edge], from: BTreeSet<Node>, forward: bool) -> BTreeSet<Node> {
    let mut reached = from;
    loop {
        let before = reached.len();
        for edge in edges {
            let (a, b) = if forward { (edge.from, edge.to) } else { (edge.to, edge.from) };
            if reached.contains(&a) {
                reached.insert(b);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

prop_compose! {
    fn any_sizes()(
        states in 1_usize..6,
        actions in 1_usize..3,
        outcomes in 0_usize..3,
        rewards in 1_usize..4,
        steps in 1_usize..6,
        seed in any::<u64>(),
    ) -> Sizes {
        Sizes { states, actions, outcomes, rewards, steps, seed }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_chain_has_exactly_the_nodes_on_paths_to_a_target(sizes in any_sizes()) {
        let world = world(sizes, "");
        let chain = world.chain();
        let edges = chain.graph().edges();
        let mut origin: BTreeSet<Node> =
            world.origin.states.iter().map(|&state| Node::state(0, state)).collect();
        if world.origin.action {
            origin.extend((0..sizes.actions).map(|action| Node::action(0, action)));
        }
        let reached = reach(edges, origin, true);
        let among: Vec<Edge> = edges
            .iter()
            .filter(|edge| reached.contains(&edge.from) && reached.contains(&edge.to))
            .cloned()
            .collect();
        let ends = reached
            .iter()
            .filter(|node| node.part == Part::Reward && world.targets.contains(&node.index));
        let leading = reach(&among, ends.copied().collect(), false);
        let expected: Vec<Node> = reached.intersection(&leading).copied().collect();
        prop_assert_eq!(chain.nodes(), &expected[..]);
        // Heads act with the action on nodes of the chain; the origin does not reach them.
        for head in chain.heads() {
            prop_assert!(head.step == 0 && head.part == Part::State && !reached.contains(head));
            prop_assert!(chain.edges().any(|e| e.from == *head && chain.contains(e.to)));
        }
        for edge in chain.edges() {
            let known = |node| chain.contains(node) || chain.heads().contains(&node);
            prop_assert!(known(edge.from) && chain.contains(edge.to));
        }
    }

    #[test]
    fn edges_are_the_influences_above_tau(sizes in any_sizes()) {
        let world = world(sizes, "");
        let graph = world.graph();
        let found: BTreeSet<(Node, Node)> = graph
            .edges()
            .iter()
            .filter(|edge| edge.way == Way::Influence)
            .map(|edge| (edge.from, edge.to))
            .collect();
        let mut expected = BTreeSet::new();
        for (step, influence) in world.influences.iter().enumerate() {
            for effect in 0..sizes.states + sizes.outcomes {
                let salient = influence.parents(effect, world.tau);
                let acted = world.origin.action
                    && world.parents[effect].iter().any(|&cause| cause >= sizes.states);
                let changed = world.origin.states.iter().any(|state| salient.contains(state));
                if step == 0 && !acted && !changed {
                    continue;
                }
                let to = match effect.checked_sub(sizes.states) {
                    Some(outcome) => Node::outcome(step, outcome),
                    None => Node::state(step + 1, effect),
                };
                expected.extend(salient.into_iter().map(|state| (Node::state(step, state), to)));
            }
        }
        prop_assert_eq!(found, expected);
        // The edges into a node come before the edges out of it.
        let mut sources: BTreeSet<Node> = BTreeSet::new();
        for edge in graph.edges() {
            sources.insert(edge.from);
            prop_assert!(!sources.contains(&edge.to), "{edge:?}");
        }
    }

    #[test]
    fn the_minimal_explanan_is_part_of_the_complete_one(sizes in any_sizes()) {
        let chain = world(sizes, "").chain();
        let (complete, minimal) = (Explanan::complete(&chain), Explanan::minimal(&chain));
        prop_assert_eq!(&complete.rewards, &minimal.rewards);
        prop_assert_eq!(&complete.heads, &minimal.heads);
        for fact in &minimal.intermediates {
            prop_assert!(complete.intermediates.contains(fact));
            let read = |edge: &Edge| edge.from == fact.node && edge.way == Way::Reward;
            prop_assert!(chain.edges().any(read), "{fact:?} is not a parent of a reward");
        }
        let all = complete.intermediates.iter().all(|fact| chain.contains(fact.node));
        prop_assert!(all);
        prop_assert_eq!(complete.is_empty(), chain.is_empty());
    }

    #[test]
    fn renaming_variables_does_not_change_the_chain(sizes in any_sizes()) {
        let (one, other) = (world(sizes, "").chain(), world(sizes, "other_").chain());
        prop_assert_eq!(one.nodes(), other.nodes());
        prop_assert_eq!(one.heads(), other.heads());
        prop_assert!(one.edges().eq(other.edges()));
        prop_assert_eq!(Explanan::complete(&one), Explanan::complete(&other));
        prop_assert_eq!(Explanan::minimal(&one), Explanan::minimal(&other));
    }
}

// ---- small worlds by hand -------------------------------------------------------------------

/// x, y and z; the action acts on x alone.
fn small(rewards: &str) -> Trajectory {
    let text = format!(
        "name = \"Small\"\n[state]\nx = {{ kind = \"continuous\" }}\ny = {{ kind = \"continuous\" }}\n\
         z = {{ kind = \"continuous\" }}\n[action]\na = {{ kind = \"continuous\" }}\n[reward]\n{rewards}"
    );
    let schema = Arc::new(Schema::parse(&text).unwrap_or_else(|error| panic!("{error}")));
    let step = |from: f64| {
        let (state, next) = ([from; 3], [from + 1.0; 3]);
        Step::new(&schema, [&state, &[1.0], &[], &next], Some(false))
    };
    let steps = (0..3).map(|step_| step(f64::from(step_))).collect();
    Trajectory::new(Arc::clone(&schema), 0, steps).expect("a trajectory")
}

/// x influences y, y influences z, and each itself; the action acts on x.
fn chain_of(trajectory: Trajectory) -> Chain {
    let weights = vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let influences = vec![Influence::new(3, 3, &[weights]); 3];
    let parents: [&[usize]; 3] = [&[0, 3], &[0, 1], &[1, 2]];
    let count = trajectory.schema().rewards().len();
    let origin = Origin::default();
    ExtendedGraph::new(trajectory, |effect| parents[effect], &influences, None, 0.1, origin)
        .expect("a graph")
        .chain(&(0..count).collect::<Vec<_>>())
}

#[test]
fn an_action_reaches_a_variable_two_links_away_after_three_steps() {
    let chain = chain_of(small("r = \"z'\""));
    let rewards: Vec<Node> = chain.rewards().collect();
    assert_eq!(rewards, [Node::reward(2, 0)]);
    let expected = [
        Node::action(0, 0),
        Node::state(1, 0),
        Node::state(2, 1),
        Node::reward(2, 0),
        Node::state(3, 2),
    ];
    let nodes: Vec<Node> = chain.nodes().to_vec();
    assert_eq!(nodes, expected);
    // x acts with the action; it has no effect on y and z in the first step.
    assert_eq!(chain.heads(), [Node::state(0, 0)]);
}

#[test]
fn a_reward_that_only_reads_the_current_state_is_not_reached_in_that_step() {
    let chain = chain_of(small("r = \"x + y + z\""));
    assert!(chain.rewards().all(|reward| reward.step > 0), "{:?}", chain.nodes());
    assert!(chain.rewards().count() == 2);
}

#[test]
fn a_reward_that_reads_only_the_action_is_reached_only_in_the_first_step() {
    let chain = chain_of(small("fuel = \"-a\""));
    assert_eq!(chain.nodes(), [Node::action(0, 0), Node::reward(0, 0)]);
    assert!(chain.heads().is_empty());
}

#[test]
fn a_choice_of_the_policy_can_lead_to_a_reward() {
    let trajectory = small("fuel = \"-a\"");
    let influences = vec![Influence::new(3, 3, &[vec![0.0; 9]]); 3];
    let parents: [&[usize]; 3] = [&[0, 3], &[], &[]];
    let choices = vec![vec![0.0; 3], vec![0.8, 0.0, 0.0], vec![0.8, 0.0, 0.0]];
    let origin = Origin::default();
    let graph = ExtendedGraph::new(
        trajectory,
        |effect| parents[effect],
        &influences,
        Some(&choices),
        0.1,
        origin,
    );
    let chain = graph.expect("a graph").chain(&[0]);
    // a acts on x, x decides the next a, which acts on the next x: three rewards.
    assert_eq!(chain.rewards().count(), 3);
    let through: Vec<&Edge> = chain.edges().filter(|edge| edge.way == Way::Policy).collect();
    assert_eq!(through.len(), 2);
    assert_eq!((through[0].from, through[0].to), (Node::state(1, 0), Node::action(1, 0)));
}

#[test]
fn invalid_requests_give_clear_errors() {
    let trajectory = small("near = \"x'\"\nfuel = \"-a\"");
    let schema = Arc::clone(trajectory.schema());
    let names = |name: &str| targets(&schema, &[name.to_owned()]);
    assert_eq!(names("fuel"), Ok(vec![1]));
    assert_eq!(targets(&schema, &[]), Ok(vec![0, 1]));
    let error = names("fule").expect_err("refused").to_string();
    assert!(
        error.starts_with("there is no reward `fule` (") && error.contains("`fuel`"),
        "{error}"
    );
    assert!(error.ends_with("the rewards are: near, fuel"), "{error}");
    let build = |tau: f64, influences: &[Influence]| {
        let parents: &[usize] = &[];
        let origin = Origin::default();
        ExtendedGraph::new(trajectory.clone(), |_| parents, influences, None, tau, origin)
    };
    let right = vec![Influence::new(3, 3, &[vec![0.0; 9]]); 3];
    for tau in [-0.1, 1.1, f64::NAN] {
        let error = build(tau, &right).expect_err("refused").to_string();
        assert!(error.contains("expected a number from 0 to 1"), "{error}");
    }
    assert!(build(0.0, &right).is_ok() && build(1.0, &right).is_ok());
    assert!(matches!(
        build(0.1, &right[1..]),
        Err(ChainError::Trajectory(TrajectoryError::Size { given: 2, .. }))
    ));
    let wrong = vec![Influence::new(2, 3, &[vec![0.0; 6]]); 3];
    assert!(matches!(
        build(0.1, &wrong),
        Err(ChainError::Trajectory(TrajectoryError::Size { given: 2, expected: 3, .. }))
    ));
    for horizon in [0, 10_000] {
        let error = becausal_explain::chain::Horizon::Steps(horizon)
            .check()
            .expect_err("refused")
            .to_string();
        assert_eq!(error, format!("a horizon of {horizon} steps, expected 1 to 1000"));
    }
}
