//! cargo run --release --example try_train -- ENV MODEL SEED [setting=value]...
use becausal::env::{Options, find};
use becausal::policy::{Imagination, Settings, Training};
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    let mut settings =
        Settings::preset(&arguments[0], "default", Imagination::of(&arguments[1])).unwrap();
    let mut until = f64::INFINITY;
    for change in &arguments[3..] {
        if let Some(limit) = change.strip_prefix("cap=") {
            options.set("max_episode_steps", limit);
        } else if let Some(limit) = change.strip_prefix("until=") {
            until = limit.parse().unwrap();
        } else {
            settings.change(change, "argument").unwrap();
        }
    }
    let environment = find(&arguments[0]).unwrap().make(&options).unwrap();
    let started = std::time::Instant::now();
    let mut training =
        Training::new(&environment, &settings, arguments[2].parse().unwrap()).unwrap();
    while !training.is_done() {
        let report = training.run_epoch().unwrap();
        let e = report.evaluation.as_ref().unwrap();
        println!(
            "{:6.1}s {:3} {:6} return {:8.1} eval {:8.1} native {:8.1} ll {:7.2} edges {:?} ent {:.2} kl {:.4} clip {:.2} ev {:.2} vl {:.3} {:?}",
            started.elapsed().as_secs_f64(),
            report.epoch,
            report.real_steps,
            report.mean_return().unwrap_or(f64::NAN),
            e.mean(),
            e.native_mean(),
            report.log_likelihood.unwrap_or(f64::NAN),
            report.edges,
            report.update.entropy,
            report.update.divergence,
            report.update.clipped,
            report.update.explained,
            report.update.value_loss,
            report.durations,
        );
        if std::env::var("EDGES").is_ok() {
            if let Some(g) = &training.graph {
                for effect in g.effects() {
                    println!(
                        "    {effect} <- {:?}  untestable {:?}",
                        g.parents(effect),
                        g.pairs
                            .iter()
                            .filter(|p| p.effect == effect
                                && p.verdict == becausal::discovery::Verdict::Untestable)
                            .map(|p| p.cause.as_str())
                            .collect::<Vec<_>>()
                    );
                }
            }
        }
        if e.native_mean() >= until {
            break;
        }
    }
    let f = training.final_evaluation().unwrap();
    println!(
        "final {:.1} native {:.1} seconds {:.1}",
        f.mean(),
        f.native_mean(),
        started.elapsed().as_secs_f64()
    );
}
