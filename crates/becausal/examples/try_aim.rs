//! scratch
use becausal::env::*;
use becausal::model::*;
use becausal::{Environment, Transitions};
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rows: usize = args[1].parse().unwrap();
    let seed: u64 = args[2].parse().unwrap();
    let mut o = FitOptions { seed, ..FitOptions::default() };
    for a in &args[3..] {
        let (k, v) = a.split_once('=').unwrap();
        match k {
            "steps" => o.steps = v.parse().unwrap(),
            "rate" => o.rate = v.parse().unwrap(),
            "batch" => o.batch = v.parse().unwrap(),
            "members" => o.members = v.parse().unwrap(),
            "decay" => o.decay = v.parse().unwrap(),
            "clip" => o.clip = v.parse().unwrap(),
            "prune" => o.prune = v.parse().unwrap(),
            "balance" => o.balance = v.parse().unwrap(),
            _ => panic!(),
        }
    }
    let entry = find("AimTest-v0").unwrap();
    let env = entry.make(&Options::default()).unwrap();
    let schema = Arc::clone(env.schema());
    let mut data = Transitions::new(Arc::clone(&schema));
    collect::<_, EnvironmentError>(
        &env,
        rows,
        seed,
        |_s, st, a| random_action(&schema, st, a),
        |e| {
            data.append(e);
            Ok(())
        },
    )
    .unwrap();
    let truth = entry.truth().unwrap();
    let parents = truth.graph.iter().map(|r| (0..r.len()).filter(|&i| r[i]).collect()).collect();
    let structure = Structure::new(5, 1, parents);
    let t = std::time::Instant::now();
    let (model, report) =
        WorldModel::fit(&data, ModelKind::Causal, &structure, &o, &|_| {}).unwrap();
    println!("fit {:.1}s", t.elapsed().as_secs_f64());
    for m in &report.members {
        println!(
            "steps {} best {} {:.4}  {:?}",
            m.steps,
            m.best_step,
            m.held_out,
            m.curve.iter().step_by(5).map(|c| (c.1 * 100.0).round() / 100.0).collect::<Vec<_>>()
        );
    }
        println!("{name} {ll:.4}");
    }
    let held = data.select_episodes(&report.held_out);
    let (mut ra, mut re) = (0, 0);
    for (a, at) in truth.by_action.iter().enumerate() {
        let alpha = model.influence_by_weight(&[a as f64]).unwrap();
        let slot = schema.action_slots().start;
        let rows: Vec<usize> = (0..held.len()).filter(|&r| held.code(slot, r) == a).collect();
        let part1 = rows.len();
        let _ = part1;
        let mut part = Transitions::new(Arc::clone(&schema));
        for r in rows {
            part.append(&held.slice(r..r + 1));
        }
        let effect = model.influence_by_effect(&part, seed);
        for e in 0..5 {
            for s in 0..5 {
                let t = at.graph[e][s];
                let (wa, we) = (alpha.weight(e, s), effect.weight(e, s));
                ra += usize::from((wa > 0.1) == t);
                re += usize::from((we > 0.1) == t);
                if structure.parents(e).contains(&s)
                    && ((wa > 0.1) != t
                        || (we > 0.1) != t
                        || (wa - 0.1).abs() < 0.08
                        || (we > 0.02 && we < 0.5))
                {
                    println!("a={a} s{s}->e{e} truth {t} alpha {wa:.3} effect {we:.4}");
                }
            }
        }
    }
    println!("alpha {ra} effect {re}");
}
