//! The paper's figures 3a and 4: LunarLander-Continuous.

use becausal::explain::Why;
use becausal::explain::chain::{Chain, Node, Part, Way};
use becausal::progress::Listener;
use becausal::render::{Explained, LayoutOptions, chain_layout, graph_picture};

use crate::Failure;
use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::number::{brief, count, counted};

use super::edges::{Published, claim, is_edge, pair_words};
use super::folder::{FIRST_FILE, Folder};
use super::study::{HORIZON, Study, Subject, evaluation_words, trained_policy};
use super::{Size, list, texts};

const ID: &str = "LunarLanderContinuous-v3";

/// The paper's threshold of p-values in this experiment.
const ETA: f64 = 0.05;

/// The rewards of the paper's chain: getting closer to the pad, and turning upright.
const REWARDS: [&str; 2] = ["getting close", "balancing"];

/// The velocities that the paper's chain begins with, and the positions that they change.
const VELOCITIES: [(&str, &str); 3] = [("vx", "x"), ("vy", "y"), ("v_angle", "angle")];

/// The lander's figures.
pub struct Lander {
    study: Study,
    /// Real steps that the policy was trained on.
    training_steps: usize,
    /// The chain to the two rewards.
    why: Why,
    /// The chain of the same step to all rewards.
    why_all_rewards: Why,
    /// How many decisions were compared.
    compared: usize,
}

impl Lander {
    pub fn measure(listener: &Listener, size: &Size) -> Result<Self, Failure> {
        let (policy, training_steps) = trained_policy(listener, ID, size.lander_training_steps)?;
        let policy = Box::new(policy);
        let subject = Subject { id: ID, policy, rows: size.lander_rows, eta: ETA };
        let study = Study::of(listener, size, subject)?;
        let legs = [study.slot("legs[0]")?, study.slot("legs[1]")?];
        // A step in flight, like the paper's: contact with the ground is another matter.
        let (place, compared) = study.clearest_decision(size.decisions, |data, row| {
            (row..row + HORIZON).all(|row| legs.iter().all(|&leg| data.row(row)[leg] == 0.0))
        })?;
        let why = study.why(&study.model, place, &REWARDS)?;
        let why_all_rewards = study.why(&study.model, place, &[])?;
        Ok(Self { study, training_steps, why, why_all_rewards, compared })
    }

    /// Writes pictures and data.
    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        folder.text(FIRST_FILE, &self.study.graph.to_json())?;
        let graph = graph_picture(&self.study.graph, self.study.data.schema())?;
        folder.drawing("lander-graph", &graph.drawing(&LayoutOptions::default()))?;
        folder.drawing("lander-chain", &self.why.picture()?.drawing(&chain_layout()))?;
        folder.json("lander-chain.json", &self.why.json())
    }

    pub fn sections(&self) -> Result<[ComparisonSection; 2], Failure> {
        Ok([self.graph_section()?, self.chain_section()?])
    }

    fn graph_section(&self) -> Result<ComparisonSection, Failure> {
        let study = &self.study;
        let picture = graph_picture(&study.graph, study.data.schema())?;
        Ok(ComparisonSection {
            title: "Figure 3a: what causes what in LunarLander-Continuous".to_owned(),
            published: texts(&[
                "The graph discovered from 150,000 transitions of a trained policy, recorded with \
                 noise, by FCIT with the threshold 0.05. States: position, velocity, angle, \
                 angular velocity, legs. Actions: two throttles. Outcomes: fuel, crash, rest.",
                "The figure is a picture; the table below lists the statements of the text.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "{} of a policy trained without a model on {} (return {}, {}). {} {} of {} pairs are \
                     edges. {}",
                    counted(study.data.len(), "transition"),
                    counted(self.training_steps, "real step"),
                    brief(study.mean_return),
                    evaluation_words(),
                    study.method_words(),
                    study.graph.edges().count(),
                    study.graph.pairs().len(),
                    study.score_words(),
                )),
                Piece::Picture(picture.drawing(&LayoutOptions::default())),
            ],
            claims: self.graph_claims()?,
        })
    }

    fn graph_claims(&self) -> Result<Vec<Claim>, Failure> {
        let graph = &self.study.graph;
        let rest = self.study.slot("rest")?;
        let landings = format!(
            "The craft comes to rest in {} of the {} rows that the graph is discovered from.",
            count(self.study.rows_with(|row| row[rest] == 1.0)),
            count(self.study.learned.len())
        );
        let causes = graph.parents("rest");
        let mut claims = vec![Claim {
            published: "Nothing is found to cause the outcome rest.".to_owned(),
            measured: format!("Causes of rest: {}.", list(&causes)),
            agreement: Agreement::of(causes.is_empty()),
            reason: if causes.is_empty() {
                landings
            } else {
                format!("{landings} The paper says that its own policy landed too rarely.")
            },
        }];
        for (velocity, position) in VELOCITIES {
            let effect = format!("{position}'");
            let words = format!("{velocity} influences {position} (the chain of figure 4).");
            let pair = [(velocity, effect.as_str())];
            claims.push(claim(graph, &words, Published::Edge, &pair, ""));
        }
        for (velocity, _) in VELOCITIES {
            let effect = format!("{velocity}'");
            let throttles = ["main", "lateral"];
            let found: Vec<&str> = throttles
                .into_iter()
                .filter(|throttle| is_edge(graph, throttle, &effect))
                .collect();
            claims.push(Claim {
                published: format!("The action influences {velocity} (the chain of figure 4)."),
                measured: format!("Throttles that cause {effect}: {}.", list(&found)),
                agreement: Agreement::of(!found.is_empty()),
                reason: if found.is_empty() {
                    throttles.map(|throttle| pair_words(graph, (throttle, &effect))).join("; ")
                } else {
                    String::new()
                },
            });
        }
        Ok(claims)
    }

    fn chain_section(&self) -> Result<ComparisonSection, Failure> {
        let chain = &self.why.chain;
        Ok(ComparisonSection {
            title: "Figure 4: a chain of 4 steps in LunarLander-Continuous".to_owned(),
            published: texts(&[
                "A chain over 4 steps to two rewards: getting closer to the pad and turning \
                 upright. The action first changes the three velocities, and through them the \
                 angle and the distance.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "Step {} of a recorded episode. By the model, its action matters most among \
                     the {} in flight that were compared. Influences above {}. {}",
                    chain.trajectory().first(),
                    counted(self.compared, "decision"),
                    chain.graph().tau(),
                    self.why.sentence(),
                )),
                Piece::Picture(self.why.picture()?.drawing(&chain_layout())),
            ],
            claims: self.chain_claims(),
        })
    }

    fn chain_claims(&self) -> Vec<Claim> {
        let chain = &self.why.chain;
        let schema = chain.trajectory().schema();
        let through: Vec<String> = VELOCITIES
            .iter()
            .filter(|(velocity, position)| has_influence(chain, velocity, position))
            .map(|(velocity, position)| format!("{velocity} → {position}"))
            .collect();
        let reached: Vec<&str> = REWARDS
            .into_iter()
            .filter(|name| chain.rewards().any(|node| node.name(schema) == *name))
            .collect();
        let is_rest = |node: &Node| node.part == Part::Outcome && node.name(schema) == "rest";
        let rest = self.why_all_rewards.chain.nodes().iter().any(is_rest);
        vec![
            first_changes(chain),
            Claim {
                published: "Through the velocities it changes angle and distance.".to_owned(),
                measured: format!("In the chain: {}.", list(&through)),
                agreement: Agreement::of(through.len() == VELOCITIES.len()),
                reason: if through.len() == VELOCITIES.len() {
                    String::new()
                } else {
                    "The others have no influence above the threshold on a path to the two rewards."
                        .to_owned()
                },
            },
            Claim {
                published: "The chain leads to both rewards.".to_owned(),
                measured: format!("It leads to: {}.", list(&reached)),
                agreement: Agreement::of(reached.len() == REWARDS.len()),
                reason: String::new(),
            },
            Claim {
                published: "rest is in no chain, because no cause of it was found.".to_owned(),
                measured: format!(
                    "In the chain of this step to all rewards, rest {}.",
                    if rest { "appears" } else { "does not appear" }
                ),
                agreement: Agreement::of(!rest),
                reason: if rest {
                    "Causes of it were found here (see figure 3a).".to_owned()
                } else {
                    String::new()
                },
            },
        ]
    }
}

/// The claim that the action first changes the velocities.
fn first_changes(chain: &Chain) -> Claim {
    let changed = changed_at_once(chain);
    let is_velocity = |name: &str| VELOCITIES.iter().any(|(velocity, _)| *velocity == name);
    let others: Vec<&str> =
        changed.iter().map(String::as_str).filter(|name| !is_velocity(name)).collect();
    let all = changed.len() - others.len() == VELOCITIES.len();
    Claim {
        published: "The action first changes the three velocities.".to_owned(),
        measured: format!("It changes at once: {}.", list(&changed)),
        agreement: Agreement::of(all && others.is_empty()),
        reason: if !all {
            "In this state not every velocity is on a path from the action to the two rewards."
                .to_owned()
        } else if others.is_empty() {
            String::new()
        } else {
            format!(
                "All three, and also {}: within a step, the simulator first changes the \
                 velocities and then moves the craft with the new ones.",
                list(&others)
            )
        },
    }
}

/// The variables that the explained action changes in the first step of a chain.
fn changed_at_once(chain: &Chain) -> Vec<String> {
    let schema = chain.trajectory().schema();
    let mut names: Vec<String> = Vec::new();
    for edge in chain.edges().filter(|edge| edge.way == Way::Action && edge.from.step == 0) {
        let name = edge.to.name(schema).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a chain has an influence of one variable on another, at any step.
pub fn has_influence(chain: &Chain, from: &str, to: &str) -> bool {
    let schema = chain.trajectory().schema();
    let is_it = |node: Node, name: &str| node.name(schema) == name;
    chain
        .edges()
        .any(|edge| edge.way == Way::Influence && is_it(edge.from, from) && is_it(edge.to, to))
}
