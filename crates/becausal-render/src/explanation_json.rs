//! Explanations as JSON.

use serde_json::{Value, json};

use super::choice_text::choice_json;
use super::doubt;
use super::explained::{ContrastView, WhyView};
use super::reason::reason_words;
use super::words::title;
use becausal_core::schema::Schema;
use becausal_explain::chain::{Chain, Edge, Node, Part, Trajectory, Way};
use becausal_explain::{Basis, Doubt, Explanan, Fact, LinkEvidence, Rather};

fn part(part: Part) -> &'static str {
    match part {
        Part::State => "state",
        Part::Action => "action",
        Part::Outcome => "outcome",
        Part::Reward => "reward",
    }
}

fn way(way: Way) -> &'static str {
    match way {
        Way::Action => "action",
        Way::Influence => "influence",
        Way::Policy => "policy",
        Way::Reward => "reward",
    }
}

/// A node: its variable, its role, and its step counted from the action explained.
fn node(schema: &Schema, node: Node) -> Value {
    json!({ "variable": node.name(schema), "role": part(node.part), "step": node.step })
}

/// A value: a label, a boolean or a number; an array for a vector.
fn values(schema: &Schema, at: Node, values: &[f64]) -> Value {
    let one = |value: f64| match at.variable(schema).map(|variable| &variable.kind) {
        Some(becausal_core::schema::Kind::Boolean) => json!(value != 0.0),
        Some(kind @ becausal_core::schema::Kind::Categorical(_)) => json!(kind.show(value)),
        _ => json!(value),
    };
    let vector = at.variable(schema).is_some_and(|variable| variable.size.is_some());
    match values {
        [only] if !vector => one(*only),
        many => many.iter().map(|&value| one(value)).collect(),
    }
}

fn fact(schema: &Schema, fact: &Fact) -> Value {
    let mut value = node(schema, fact.node);
    if let Some(before) = &fact.before {
        value["before"] = values(schema, fact.node, before);
    }
    value["value"] = values(schema, fact.node, &fact.value);
    value["recorded"] = json!(fact.recorded);
    value
}

fn facts(schema: &Schema, list: &[Fact]) -> Value {
    list.iter().map(|entry| fact(schema, entry)).collect()
}

fn explanan(schema: &Schema, explanan: &Explanan) -> Value {
    json!({
        "heads": facts(schema, &explanan.heads),
        "intermediates": facts(schema, &explanan.intermediates),
        "rewards": facts(schema, &explanan.rewards),
    })
}

fn link(schema: &Schema, evidence: &LinkEvidence) -> Value {
    let Edge { from, to, weight, way: how, support } = &evidence.edge;
    let mut value = json!({
        "from": node(schema, *from),
        "to": node(schema, *to),
        "weight": weight,
        "way": way(*how),
    });
    if let Some(support) = support {
        value["agreeing"] = json!(support.agreeing);
        value["members"] = json!(support.members);
    }
    if let Some(pair) = &evidence.finding {
        value["discovery"] = json!({
            "verdict": pair.verdict,
            "p": pair.p,
            "strength": pair.strength,
            "reason": pair.reason.as_ref().map(reason_words),
        });
    }
    value
}

fn doubts(schema: &Schema, list: &[Doubt], first: usize) -> Value {
    list.iter().map(|entry| doubt::sentence(schema, entry, first)).collect()
}

/// The recorded and predicted steps.
pub(super) fn steps(trajectory: &Trajectory) -> Value {
    let schema = trajectory.schema();
    let object = |of: Part, count: usize, step: usize| -> Value {
        let entry = |index: usize| {
            let at = Node { step, part: of, index };
            let value = trajectory.value(at)?;
            Some((at.name(schema).to_owned(), values(schema, at, value)))
        };
        (0..count).filter_map(entry).collect::<serde_json::Map<_, _>>().into()
    };
    let shape = trajectory.shape();
    let steps = trajectory.steps().iter().enumerate().map(|(number, step)| {
        json!({
            "step": trajectory.first() + number,
            "recorded": step.recorded,
            "state": object(Part::State, shape.states.len(), number),
            "action": object(Part::Action, shape.actions.len(), number),
            "outcomes": object(Part::Outcome, shape.outcomes.len(), number),
            "next": object(Part::State, shape.states.len(), number + 1),
            "rewards": object(Part::Reward, shape.rewards, number),
            "terminated": step.terminated,
        })
    });
    steps.collect()
}

fn nodes(chain: &Chain) -> Value {
    let schema = chain.trajectory().schema();
    chain.nodes().iter().map(|&at| node(schema, at)).collect()
}

/// What an action was compared with where nobody said with what.
fn rather_json(rather: &Rather) -> Value {
    let contrast = ContrastView(&rather.contrast);
    let basis = match rather.rival.basis {
        Basis::FirstChoice => "first choice",
        Basis::SecondChoice => "second choice",
        Basis::Nothing => "nothing",
        Basis::BestOther => "best other",
    };
    json!({
        "action": contrast.subjects().1,
        "basis": basis,
        "credit": contrast.credit_json(),
        "certainty": contrast.certainty_json(),
        "against": doubts(rather.contrast.courses[0].schema(), &contrast.all_doubts(), rather.contrast.courses[0].first()),
        "trajectory": steps(&rather.contrast.courses[1]),
    })
}

impl WhyView<'_> {
    /// The explanation as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let trajectory = self.chain.trajectory();
        let schema = trajectory.schema();
        let targets = self.chain.targets().iter().map(|&t| schema.rewards()[t].name.as_str());
        json!({
            "schema": schema.name(),
            "step": trajectory.first(),
            "tau": self.chain.graph().tau(),
            "targets": targets.collect::<Vec<_>>(),
            "sentence": self.sentence(),
            "choice": self.choice.as_ref().map(|choice| choice_json(schema, choice)),
            "rather": self.rather.as_ref().map(|rather| rather_json(rather)),
            "reaches_a_reward": !self.chain.is_empty(),
            "minimal": explanan(schema, &self.minimal),
            "complete": explanan(schema, &self.complete),
            "chain": {
                "nodes": nodes(&self.chain),
                "links": self.evidence.links.iter().map(|l| link(schema, l)).collect::<Vec<_>>(),
            },
            "against": doubts(schema, &self.evidence.doubts, trajectory.first()),
            "trajectory": steps(trajectory),
        })
    }
}

impl ContrastView<'_> {
    /// The contrast as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let trajectory = self.factual.chain.trajectory();
        let schema = trajectory.schema();
        let (this, other) = self.subjects();
        let chances = self.chances();
        let chances = chances.iter().map(|(node, probability)| {
            json!({ "variable": title(schema, *node), "after": node.after(), "probability": probability })
        });
        let chances: Vec<Value> = chances.collect();
        json!({
            "question": self.question(),
            "sentence": self.sentence(),
            "this": this,
            "other": other,
            "minimal": {
                "factual": facts(schema, &self.minimal.factual),
                "counterfactual": facts(schema, &self.minimal.counterfactual),
                "rewards": facts(schema, &self.minimal.rewards),
            },
            "credit": self.credit_json(),
            "certainty": self.certainty_json(),
            "chances": chances,
            "against": doubts(schema, &self.all_doubts(), trajectory.first()),
            "factual": WhyView(&self.factual).json(),
            "counterfactual": WhyView(&self.counterfactual).json(),
        })
    }

    /// The reward difference, with the intervals that hold it in nine of ten cases.
    fn credit_json(&self) -> Value {
        let rewards = self.courses[0].schema().rewards();
        let parts = self.credit.parts.iter().map(|part| {
            json!({
                "reward": rewards[part.reward].name,
                "step": part.step,
                "factual": part.factual,
                "counterfactual": part.counterfactual,
                "later_actions_kept": part.held,
            })
        });
        let terms = self.credit.by_term().into_iter().map(|(term, difference)| {
            json!({
                "reward": rewards[term].name,
                "difference": difference,
                "interval": self.worth(Some(term)),
            })
        });
        json!({
            "discount": self.credit.discount,
            "steps": self.steps(),
            "difference": self.credit.difference(),
            "interval": self.worth(None),
            "later": self.later.map(|[this, other]| this - other),
            "through_state": self.credit.through_state(),
            "through_later_actions": self.credit.through_actions(),
            "terms": terms.collect::<Vec<_>>(),
            "parts": parts.collect::<Vec<_>>(),
        })
    }

    /// How sure it is which course earns more: over all steps, and over how many it can be told.
    fn certainty_json(&self) -> Value {
        let probability = self.probability();
        json!({
            "word": if self.is_tried() { "certain" } else { self.0.certainty().word() },
            "probability": probability,
            "told_steps": self.claim().map(|(steps, _)| steps),
            "audited": self
                .track
                .and_then(|track| track.share(self.0.certainty(), self.steps()))
                .map(|record| record.share),
            "calibrated": self.draws.calibration().knows_reward_over(self.steps()),
            "tried": self.is_tried(),
            "predicted": self.predicted.map(|predicted| json!({
                "difference": predicted.difference,
                "interval": predicted.interval,
                "steps": predicted.steps,
                "of_chain": predicted.of_chain,
            })),
        })
    }
}
