//! Draws the pictures of the tests: `cargo run --example gallery -- FOLDER`.

#[path = "../tests/common/pictures.rs"]
mod pictures;

use std::path::PathBuf;

use becausal::render::Drawing;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let (graph, chain) = (pictures::graph_options(), pictures::chain_options());
    let fewer = pictures::fewer_crossings();
    let drawings: [(&str, Drawing); 11] = [
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
    ];
    for (name, drawing) in &drawings {
        std::fs::write(folder.join(format!("{name}.svg")), drawing.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), drawing.png(1.0)?)?;
        std::fs::write(folder.join(format!("{name}@2.png")), drawing.png(2.0)?)?;
    }
    std::fs::write(folder.join("chain.dot"), pictures::chain().dot())?;
    Ok(())
}
