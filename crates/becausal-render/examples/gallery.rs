//! Draws the pictures of the tests: `cargo run --example gallery -- FOLDER`.

#[path = "../../becausal-explain/tests/suite/exact.rs"]
#[allow(dead_code)] // the tests use the rest
mod exact;
#[path = "../tests/suite/explanations.rs"]
#[allow(dead_code)]
mod explanations;
#[path = "../tests/suite/pictures.rs"]
mod pictures;

use becausal_render::{Explained, waterfall};
use std::path::PathBuf;

use becausal_render::{Drawing, chain_layout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let (graph, chain) = (pictures::graph_options(), pictures::chain_options());
    let fewer = pictures::fewer_crossings();
    let layout = chain_layout();
    let depot = explanations::depot_or_nothing();
    let drawings: Vec<(&str, Drawing)> = vec![
        ("cart-pole", pictures::cart_pole().drawing(&graph)),
        ("lander", pictures::lander().drawing(&graph)),
        ("lander-fewer-crossings", pictures::lander().drawing(&fewer)),
        ("large", pictures::large(20).drawing(&graph)),
        ("large-fewer-crossings", pictures::large(20).drawing(&fewer)),
        ("chain", pictures::chain().drawing(&chain)),
        ("long-chain", pictures::long_chain(10, 20).drawing(&chain)),
        ("contrast", pictures::contrast().drawing(&chain)),
        ("awkward", pictures::awkward().drawing(&graph)),
        ("curves", pictures::curves().drawing()),
        ("waterfall", pictures::waterfall().drawing()),
        ("why-paper", explanations::paper().picture()?.drawing(&layout)),
        ("why-depot", explanations::depot_with_policy().picture()?.drawing(&layout)),
        ("why-suck", explanations::suck().picture()?.drawing(&layout)),
        ("why-aim", explanations::aim("0", 4).picture()?.drawing(&layout)),
        ("why-not-depot", depot.picture()?.drawing(&layout)),
        ("worth-depot", waterfall(&depot)?.drawing()),
        ("why-not-left", explanations::wall().picture()?.drawing(&layout)),
        ("why-not-push", explanations::push().picture()?.drawing(&layout)),
        ("what-if-money", explanations::less_money().picture()?.drawing(&layout)),
        ("why-many", explanations::many().factual.picture()?.drawing(&layout)),
        ("why-not-many", explanations::many().picture()?.drawing(&layout)),
        ("worth-many", waterfall(&explanations::many())?.drawing()),
    ];
    for (name, drawing) in &drawings {
        std::fs::write(folder.join(format!("{name}.svg")), drawing.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), drawing.png(1.0)?)?;
        std::fs::write(folder.join(format!("{name}@2.png")), drawing.png(2.0)?)?;
    }
    std::fs::write(folder.join("chain.dot"), pictures::chain().dot())?;
    for (name, text) in [
        ("why-paper", explanations::paper().text()),
        ("why-depot", explanations::depot_with_policy().text()),
        ("why-suck", explanations::suck().text()),
        ("why-aim", explanations::aim("0", 4).text()),
        ("why-not-depot", depot.text()),
        ("why-not-left", explanations::wall().text()),
        ("why-not-push", explanations::push().text()),
        ("what-if-money", explanations::less_money().text()),
        ("why-not-many", explanations::many().text()),
    ] {
        std::fs::write(folder.join(format!("{name}.txt")), text)?;
    }
    Ok(())
}
