//! The paper's figures 3a and 4: LunarLander-Continuous.

use becausal::env::find;
use becausal::explain::Why;
use becausal::explain::chain::{Chain, Part, Way};
use becausal::render::Answer;
use becausal::render::{Agreement, Claim, ComparisonSection, LayoutOptions, Piece, chain_layout};

use crate::arguments::Common;
use crate::failure::Failure;
use crate::number::{brief, count, counted};

use super::edges::{Published, claim, is_edge, list, said};
use super::folder::Folder;
use super::pilot::Pilot;
use super::study::{HORIZON, Study, Subject};
use super::{Size, percent};

const ID: &str = "LunarLanderContinuous-v3";

/// The paper's threshold of p-values in this experiment.
const ETA: f64 = 0.05;

/// The rewards of the paper's chain: coming closer, and turning upright.
const REWARDS: [&str; 2] = ["getting close", "balancing"];

/// What the paper's chain begins with, and what that moves.
const VELOCITIES: [(&str, &str); 3] = [("vx", "x"), ("vy", "y"), ("v_angle", "angle")];

/// The lander's figures.
pub struct Lander {
    study: Study,
    /// The chain to the two rewards.
    why: Why,
    /// The chain of the same step to all rewards.
    to_all: Why,
    compared: usize,
}

impl Lander {
    pub fn measure(common: &Common, size: &Size) -> Result<Self, Failure> {
        let policy = Box::new(Pilot(find(ID)?.schema()));
        let subject = Subject { id: ID, policy, rows: size.lander_rows, eta: ETA };
        let study = Study::of(common, size, subject)?;
        let legs = [study.slot("legs[0]"), study.slot("legs[1]")];
        // A step in flight, as the paper's is: what the ground does to the craft is another story.
        let (place, compared) = study.telling_step(size.decisions, |data, row| {
            (row..row + HORIZON).all(|row| legs.iter().all(|&leg| data.row(row)[leg] == 0.0))
        })?;
        let why = study.why(&study.model, place, &REWARDS)?;
        let to_all = study.why(&study.model, place, &[])?;
        Ok(Self { study, why, to_all, compared })
    }

    /// Pictures and data.
    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        let graph = becausal::render::graph_picture(&self.study.graph, self.study.data.schema())
            .map_err(Failure::failed)?;
        folder.drawing("lander-graph", &graph.drawing(&LayoutOptions::default()))?;
        folder.text("lander-graph.json", &self.study.graph.to_json())?;
        let chain = self.why.picture().map_err(Failure::failed)?;
        folder.drawing("lander-chain", &chain.drawing(&chain_layout()))?;
        folder.json("lander-chain.json", &self.why.json())
    }

    pub fn sections(&self) -> Result<[ComparisonSection; 2], Failure> {
        Ok([self.graph_section()?, self.chain_section()?])
    }

    fn graph_section(&self) -> Result<ComparisonSection, Failure> {
        let Study { graph, data, paid, scores, .. } = &self.study;
        let picture =
            becausal::render::graph_picture(graph, data.schema()).map_err(Failure::failed)?;
        let rest = self.study.slot("rest");
        let rested = self.study.rows_with(|row| row[rest] == 1.0);
        let causes = graph.parents("rest");
        let mut claims = vec![Claim {
            published: "Nothing is found to cause the outcome rest.".to_owned(),
            measured: format!("Causes found of rest: {}.", list(&causes)),
            agreement: Agreement::of(causes.is_empty()),
            reason: if causes.is_empty() {
                format!(
                    "The craft comes to rest in {} of {} rows.",
                    count(rested),
                    count(data.len())
                )
            } else {
                format!(
                    "The recorded pilot lands: the craft comes to rest in {} of {} rows, which is enough to see it. \
                     The paper's policy gave too few occasions, as it says itself.",
                    count(rested),
                    count(data.len())
                )
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
                measured: format!("Throttles found to cause {effect}: {}.", list(&found)),
                agreement: Agreement::of(!found.is_empty()),
                reason: if found.is_empty() {
                    throttles.map(|throttle| said(graph, (throttle, &effect))).join("; ")
                } else {
                    String::new()
                },
            });
        }
        Ok(ComparisonSection {
            title: "Figure 3a: what causes what in LunarLander-Continuous".to_owned(),
            published: texts(&[
                "The graph found from 150,000 transitions of a policy that had been trained before, recorded with noise; \
                 FCIT with a threshold of 0.05. States: position, velocity, angle, angular velocity, legs; actions: two throttles; \
                 outcomes: fuel, crash, rest.",
                "The figure itself is a picture; the text says of it what the table below has.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "{} of a pilot by rules (the one that comes with Gymnasium's environment: {} a landing without noise, mean of 20), \
                     in each episode up to half of the actions random; becausal's own test with the threshold {}. {} of {} pairs are edges. \
                     One step ahead the causal model is off by {} of the variables' spread, on episodes that it did not learn from.",
                    counted(data.len(), "transition"),
                    brief(*paid),
                    graph.eta,
                    graph.edges().count(),
                    graph.pairs.len(),
                    percent(scores.mean_error()),
                )),
                Piece::Picture(picture.drawing(&LayoutOptions::default())),
            ],
            claims,
        })
    }

    fn chain_section(&self) -> Result<ComparisonSection, Failure> {
        let picture = self.why.picture().map_err(Failure::failed)?;
        let trajectory = self.why.chain.trajectory();
        Ok(ComparisonSection {
            title: "Figure 4: a chain of 4 steps on LunarLander-Continuous".to_owned(),
            published: texts(&[
                "A chain over 4 steps to two of the rewards, coming closer to the pad and turning upright. The action first moves the \
                 three velocities, and through them the angle and the distance.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "Step {} of a recorded episode: of {} in flight that were compared, the one in which the action mattered most, by the \
                     model. Influences above {}. {}",
                    trajectory.first(),
                    counted(self.compared, "decision"),
                    self.why.chain.graph().tau(),
                    self.why.sentence(),
                )),
                Piece::Picture(picture.drawing(&chain_layout())),
            ],
            claims: self.chain_claims(),
        })
    }

    fn chain_claims(&self) -> Vec<Claim> {
        let chain = &self.why.chain;
        let schema = chain.trajectory().schema();
        let direct = moved_at_once(chain);
        let first: Vec<&str> = VELOCITIES.iter().map(|(velocity, _)| *velocity).collect();
        let others: Vec<&str> =
            direct.iter().map(String::as_str).filter(|name| !first.contains(name)).collect();
        let all = first.iter().all(|velocity| direct.iter().any(|name| name == velocity));
        let same = all && others.is_empty();
        let led = |from: &str, to: &str| {
            chain.edges().any(|edge| {
                edge.way == Way::Influence
                    && edge.from.name(schema) == from
                    && edge.to.name(schema) == to
            })
        };
        let through: Vec<String> = VELOCITIES
            .iter()
            .filter(|(velocity, position)| led(velocity, position))
            .map(|(velocity, position)| format!("{velocity} → {position}"))
            .collect();
        let reached: Vec<&str> = REWARDS
            .into_iter()
            .filter(|name| chain.rewards().any(|node| node.name(schema) == *name))
            .collect();
        let rests = |node: &becausal::explain::chain::Node| {
            node.part == Part::Outcome && node.name(schema) == "rest"
        };
        let rest = self.to_all.chain.nodes().iter().any(rests);
        vec![
            Claim {
                published: "The action first moves the three velocities.".to_owned(),
                measured: format!(
                    "It moves at once: {}.",
                    list(&direct.iter().map(String::as_str).collect::<Vec<_>>())
                ),
                agreement: Agreement::of(same),
                reason: if same {
                    String::new()
                } else if all {
                    format!(
                        "All three are moved; {} too: the simulator moves positions and angle with the velocities after the push, \
                         within the same step.",
                        list(&others)
                    )
                } else {
                    "In this state not every velocity has a notable part in what the action does."
                        .to_owned()
                },
            },
            Claim {
                published: "Through the velocities it moves angle and distance.".to_owned(),
                measured: format!(
                    "In the chain: {}.",
                    list(&through.iter().map(String::as_str).collect::<Vec<_>>())
                ),
                agreement: Agreement::of(through.len() == VELOCITIES.len()),
                reason: if through.len() == VELOCITIES.len() {
                    String::new()
                } else {
                    "The others have no influence above the threshold in this state.".to_owned()
                },
            },
            Claim {
                published: "The chain leads to both rewards.".to_owned(),
                measured: format!("It leads to: {}.", list(&reached)),
                agreement: Agreement::of(reached.len() == REWARDS.len()),
                reason: String::new(),
            },
            Claim {
                published: "rest is in no chain, as nothing was found to cause it.".to_owned(),
                measured: format!(
                    "In the chain of this step to all rewards rest is {}.",
                    if rest { "there" } else { "not there" }
                ),
                agreement: Agreement::of(!rest),
                reason: if rest {
                    "Its causes were found here (see figure 3a).".to_owned()
                } else {
                    String::new()
                },
            },
        ]
    }
}

/// The variables that the explained action acts on in the first step of a chain.
pub fn moved_at_once(chain: &Chain) -> Vec<String> {
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

/// Paragraphs.
pub fn texts(paragraphs: &[&str]) -> Vec<Piece> {
    paragraphs.iter().map(|&text| Piece::Text(text.to_owned())).collect()
}
