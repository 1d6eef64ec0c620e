//! The paper's figures 3b and 5, and figure 8 of its appendix: Build-Marine.

use becausal::discovery::{Method, Score};
use becausal::env::{Truth, find};
use becausal::explain::Why;
use becausal::explain::chain::{Chain, Edge, Part, Way};
use becausal::model::WorldModel;
use becausal::progress::Listener;
use becausal::render::{
    Drawing, Explained, LayoutOptions, chain_layout, graph_picture, picture_marking,
};

use crate::Failure;
use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::number::{brief, count, counted};

use super::by_weight::ByWeight;
use super::edges::{Published, claim, effects_of};
use super::folder::Folder;
use super::lander::has_influence;
use super::rules::{DEPOT, RULES, Rule, WORKER};
use super::study::{HORIZON, Study, Subject, evaluation_words, trained_policy};
use super::{Size, list, texts};

const ID: &str = "BuildMarine-v0";

/// The paper's threshold of p-values in this experiment.
const ETA: f64 = 0.15;

/// Build-Marine's figures.
pub struct Marines {
    study: Study,
    /// Real steps that the policy was trained on.
    training_steps: usize,
    pub truth: Truth,
    /// How many decisions were compared.
    compared: usize,
    /// The model over the full graph, not pruned.
    pub full: WorldModel,
    /// The same step explained three times: with the discovered graph,
    pub why: Why,
    /// the same by attention weights,
    pub why_by_weight: Why,
    /// and with the full graph by attention weights.
    pub why_full: Why,
}

impl Marines {
    pub fn measure(listener: &Listener, size: &Size) -> Result<Self, Failure> {
        let (policy, training_steps) = trained_policy(listener, ID, size.marine_training_steps)?;
        let policy = Box::new(policy);
        let subject = Subject { id: ID, policy, rows: size.marine_rows, eta: ETA };
        let study = Study::of(listener, size, subject)?;
        let truth = find(ID)?.truth().ok_or_else(|| format!("{ID} has no known true graph"))?;
        let full = study.full_model(listener, size)?;
        let build = study.slot("build")?;
        let (place, compared) =
            study.clearest_decision(size.decisions, |data, row| data.row(row)[build] == DEPOT)?;
        let why = study.why(&study.model, place, &[])?;
        let why_by_weight = study.why(&ByWeight(&study.model), place, &[])?;
        let why_full = study.why(&ByWeight(&full), place, &[])?;
        Ok(Self { study, training_steps, truth, compared, full, why, why_by_weight, why_full })
    }

    /// Writes pictures and data.
    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        let graph = graph_picture(&self.study.graph, self.study.data.schema())?;
        folder.drawing("marines-graph", &graph.drawing(&LayoutOptions::default()))?;
        folder.text("marines-graph.json", &self.study.graph.to_json())?;
        for (name, why) in [("marines-chain", &self.why), ("marines-chain-full", &self.why_full)] {
            folder.json(&format!("{name}.json"), &why.json())?;
            folder.drawing(name, &self.drawing(why)?)?;
        }
        Ok(())
    }

    pub fn sections(&self) -> Result<[ComparisonSection; 3], Failure> {
        Ok([self.graph_section()?, self.chain_section()?, self.full_section()?])
    }

    /// A chain whose spurious influences are marked.
    pub fn drawing(&self, why: &Why) -> Result<Drawing, Failure> {
        let spurious = |from, to| {
            why.chain.edges().any(|edge| {
                edge.from == from && edge.to == to && self.is_spurious(&why.chain, edge)
            })
        };
        let picture = picture_marking(why, &spurious, "spurious: not in the simulator's rules")?;
        Ok(picture.drawing(&chain_layout()))
    }

    /// Whether the simulator's rules have no such influence under the action taken.
    fn is_spurious(&self, chain: &Chain, edge: &Edge) -> bool {
        let step = chain.trajectory().steps().get(edge.from.step);
        let Some(action) = step.and_then(|step| step.action.first()) else { return false };
        let label = (0..self.truth.by_action.len()).find(|&label| label as f64 == *action);
        edge.way == Way::Influence
            && edge.to.part == Part::State
            && label.is_some_and(|label| {
                !self.truth.by_action[label].graph[edge.to.index][edge.from.index]
            })
    }

    /// How many influences a chain has, and how many of them are spurious.
    pub fn influences(&self, why: &Why) -> (usize, usize) {
        let chain = &why.chain;
        let influences = || chain.edges().filter(|edge| edge.way == Way::Influence);
        (influences().count(), influences().filter(|edge| self.is_spurious(chain, edge)).count())
    }

    fn graph_section(&self) -> Result<ComparisonSection, Failure> {
        let study = &self.study;
        let picture = graph_picture(&study.graph, study.data.schema())?;
        let score = Score::of(&study.graph.matrix(), &self.truth.graph);
        Ok(ComparisonSection {
            title: "Figure 3b: what causes what in Build-Marine".to_owned(),
            published: texts(&[
                "The graph discovered from the transitions of a model-based training in StarCraft \
                 II, with the threshold 0.15. States: workers, marines, barracks, supply depots, \
                 money, time. One action chooses what to build.",
                "The true graph of the game is not known. The table below lists the statements \
                 of the text.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "BuildMarine-v0 simulates the economy of the game, so its true graph is \
                     known. {} of a policy trained without a model on {} ({} marines, {}). {}",
                    counted(study.data.len(), "transition"),
                    counted(self.training_steps, "real step"),
                    brief(study.mean_return),
                    evaluation_words(),
                    study.method_words(),
                )),
                Piece::Text(format!(
                    "{} of {} pairs are edges. Compared with the simulator's rules, {} are right, \
                     {} and {}. {}",
                    study.graph.edges().count(),
                    study.graph.pairs().len(),
                    score.right,
                    with_list(
                        score.false_edges,
                        "false",
                        &self.pairs_that(|found, truth| found && !truth)
                    ),
                    with_list(
                        score.missed,
                        "missing",
                        &self.pairs_that(|found, truth| !found && truth)
                    ),
                    study.score_words(),
                )),
                Piece::Picture(picture.drawing(&LayoutOptions::default())),
            ],
            claims: self.graph_claims()?,
        })
    }

    fn graph_claims(&self) -> Result<Vec<Claim>, Failure> {
        let graph = &self.study.graph;
        let pair = [("workers", "money'")];
        let words = "No influence of workers on money is found.";
        let mut claims = vec![
            claim(graph, words, Published::NoEdge, &pair, &self.workers_reason()?),
            self.time_claim(),
        ];
        claims.extend(RULES.iter().map(|rule| self.rule_claim(rule)));
        Ok(claims)
    }

    /// Why an influence of workers is found here.
    fn workers_reason(&self) -> Result<String, Failure> {
        let learned = &self.study.learned;
        let (workers, build) = (self.study.slot("workers")?, self.study.slot("build")?);
        let numbers = learned.column(workers).to_numbers();
        Ok(format!(
            "In the rows that the graph is discovered from, workers are ordered {} times in {} \
             rows, and their number ranges from {} to {}. The paper says that its own agent \
             explored this too little.",
            count(self.study.rows_with(|row| row[build] == WORKER)),
            count(learned.len()),
            brief(numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            brief(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ))
    }

    fn time_claim(&self) -> Claim {
        let effects = effects_of(&self.study.graph, "time");
        let same = effects == ["time'"];
        let default_eta = Method::Auto.default_eta();
        let strict = self.study.graph.clone().with_eta(default_eta);
        Claim {
            published: "time influences only itself.".to_owned(),
            measured: format!("Effects of time: {}.", list(&effects)),
            agreement: Agreement::of(same),
            reason: if same {
                String::new()
            } else {
                format!(
                    "By the simulator's rules, time affects {}. With becausal's default threshold \
                     {default_eta} instead of the paper's, the effects of time are: {}.",
                    list(&self.true_effects_of("time")),
                    list(&effects_of(&strict, "time")),
                )
            },
        }
    }

    fn rule_claim(&self, rule: &Rule) -> Claim {
        let orders = self.study.rows_with(rule.applies);
        let blocked = self.study.rows_with(|row| (rule.applies)(row) && (rule.blocks)(row));
        let reason = format!(
            "In the rows that the graph is discovered from, this rule blocks {} of {}.",
            count(blocked),
            counted(orders, "such order")
        );
        claim(&self.study.graph, rule.words, Published::Edge, rule.pairs, &reason)
    }

    /// Pairs by whether they were found and whether they are in the true graph.
    fn pairs_that(&self, wanted: impl Fn(bool, bool) -> bool) -> Vec<String> {
        let found = self.study.graph.matrix();
        let mut pairs = Vec::new();
        for (effect, row) in self.truth.graph.iter().enumerate() {
            for (cause, &is_true) in row.iter().enumerate() {
                if wanted(found[effect][cause], is_true) {
                    let (cause, effect) = (&self.truth.causes[cause], &self.truth.effects[effect]);
                    pairs.push(format!("{cause} → {effect}"));
                }
            }
        }
        pairs
    }

    fn true_effects_of(&self, cause: &str) -> Vec<&str> {
        let effects = self.truth.effects.iter().map(String::as_str);
        effects.filter(|effect| self.truth.parents(effect).contains(&cause)).collect()
    }

    fn chain_section(&self) -> Result<ComparisonSection, Failure> {
        let chain = &self.why.chain;
        Ok(ComparisonSection {
            title: "Figure 5: a chain of 4 steps in Build-Marine".to_owned(),
            published: texts(&[
                "A chain over 4 steps that begins with building supply depots (from 7 to 11). \
                 Depots enable barracks and provide the supply for marines, which are rewarded.",
            ]),
            measured: vec![
                Piece::Text(format!(
                    "Step {} of a recorded episode. By the model, its action matters most within \
                     {HORIZON} steps among the {} to build a supply depot that were compared. \
                     Influences above {}. {}",
                    chain.trajectory().first(),
                    counted(self.compared, "decision"),
                    chain.graph().tau(),
                    self.why.sentence(),
                )),
                Piece::Picture(self.drawing(&self.why)?),
            ],
            claims: vec![
                chain_claim(chain, "Supply depots enable barracks.", "depots", "barracks"),
                chain_claim(
                    chain,
                    "Supply depots provide the supply for marines.",
                    "depots",
                    "marines",
                ),
                chain_claim(chain, "Marines come from barracks.", "barracks", "marines"),
            ],
        })
    }
}

/// `2 are missing (a, b)`.
fn with_list(count: usize, what: &str, pairs: &[String]) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    match pairs {
        [] => format!("{count} {verb} {what}"),
        pairs => format!("{count} {verb} {what} ({})", pairs.join(", ")),
    }
}

/// The claim that a chain has an influence.
fn chain_claim(chain: &Chain, words: &str, from: &str, to: &str) -> Claim {
    let found = has_influence(chain, from, to);
    Claim {
        published: words.to_owned(),
        measured: format!("{from} → {to} is {} the chain.", if found { "in" } else { "not in" }),
        agreement: Agreement::of(found),
        reason: if found {
            String::new()
        } else {
            format!(
                "It has no influence above the threshold on a path to the reward in the {} steps \
                 of this chain. Our influences are those in the states at hand, and the rule \
                 matters only in some states.",
                chain.trajectory().len()
            )
        },
    }
}
