//! scratch
use becausal::env::*;
use becausal::model::*;
use becausal::{Environment, Transitions};
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let entry = find(&args[1]).unwrap();
    let rows: usize = args[2].parse().unwrap();
    let env = entry.make(&Options::default()).unwrap();
    let schema = Arc::clone(env.schema());
    let get = |n, seed| {
        let mut data = Transitions::new(Arc::clone(&schema));
        collect::<_, EnvironmentError>(
            &env,
            n,
            seed,
            |_s, st, a| random_action(&schema, st, a),
            |e| {
                data.append(e);
                Ok(())
            },
        )
        .unwrap();
        data
    };
    let (data, test) = (get(rows, 1), get(5000, 99));
    let structure = match entry.truth() {
        Some(truth) => Structure::new(
            truth.graph.len().min(truth.graph[0].len() - 1),
            truth.graph[0].len() - schema.of_role(becausal::schema::Role::State).count(),
            truth.graph.iter().map(|r| (0..r.len()).filter(|&i| r[i]).collect()).collect(),
        ),
        None => Structure::full(&schema),
    };
    for kind in ModelKind::ALL {
        let mut o = FitOptions { seed: 1, members: 2, ..FitOptions::default() };
        if let Some(s) = args.get(3) {
            o.steps = s.parse().unwrap();
        }
        let t = std::time::Instant::now();
        let (model, _) = WorldModel::fit(&data, kind, &structure, &o, &|_| {}).unwrap();
        let s = model.score(&test);
        println!(
            "{} {:.1}s mean error {:.5} ll {:.3}",
            kind.name(),
            t.elapsed().as_secs_f64(),
            s.mean_error(),
            s.log_likelihood()
        );
        for v in s.variables {
            println!(
                "  {:16} error {:.5} change {:?} ll {:.3} cover {:?}",
                v.name,
                v.error,
                v.change_error.map(|e| (e * 1e4).round() / 1e4),
                v.log_likelihood,
                v.coverage
            );
        }
    }
}
