//! Golden texts, pictures and JSON of explanations.

use crate::explanations;
use becausal_explain::{Contrast, Why};
use becausal_render::Explained;
use becausal_render::chain_layout;

use crate::explanations::check_labels;
use crate::golden::assert_golden;

fn whys() -> Vec<(&'static str, Why)> {
    vec![
        ("why-paper", explanations::paper()),
        ("why-depot", explanations::depot_with_policy()),
        ("why-suck", explanations::suck()),
        ("why-aim", explanations::aim("0", 4)),
        ("why-many", explanations::many().factual),
    ]
}

fn contrasts() -> Vec<(&'static str, Contrast)> {
    vec![
        ("why-not-depot", explanations::depot_or_nothing()),
        ("why-not-left", explanations::wall()),
        ("why-not-push", explanations::push()),
        ("what-if-money", explanations::less_money()),
        ("why-not-many", explanations::many()),
    ]
}

#[test]
fn texts_and_pictures_match_the_golden_files() {
    for (name, why) in whys() {
        let picture = why.picture().expect("a picture");
        check_labels(&picture);
        assert_golden(&format!("explain/{name}.txt"), &why.text());
        assert_golden(&format!("explain/{name}.svg"), &picture.drawing(&chain_layout()).svg());
    }
    for (name, contrast) in contrasts() {
        let picture = contrast.picture().expect("a picture");
        check_labels(&picture);
        assert_golden(&format!("explain/{name}.txt"), &contrast.text());
        assert_golden(&format!("explain/{name}.svg"), &picture.drawing(&chain_layout()).svg());
        let waterfall = becausal_render::waterfall(&contrast).expect("finite rewards");
        assert_golden(&format!("explain/worth-{name}.svg"), &waterfall.drawing().svg());
    }
}

#[test]
fn dot_and_json_match_the_golden_files() {
    let pretty = |value: &serde_json::Value| {
        format!("{}\n", serde_json::to_string_pretty(value).expect("JSON"))
    };
    assert_golden(
        "explain/why-paper.dot",
        &explanations::paper().picture().expect("a picture").dot(),
    );
    assert_golden("explain/why-suck.json", &pretty(&explanations::suck().json()));
    assert_golden("explain/why-not-left.json", &pretty(&explanations::wall().json()));
    // The JSON has the policy's choices, the findings of discovery, and the caveats.
    let value = explanations::depot_with_policy().json();
    assert_eq!(value["reaches_a_reward"], true);
    let links = value["chain"]["links"].as_array().expect("links");
    assert!(links.iter().any(|link| link["way"] == "policy"));
    assert!(links.iter().any(|link| link["discovery"]["verdict"] == "untestable"));
    assert!(value["against"].as_array().is_some_and(|list| list.len() >= 3));
}

#[test]
fn a_picture_of_many_variables_stays_readable() {
    let contrast = explanations::many();
    for picture in [contrast.picture(), contrast.factual.picture()] {
        let picture = picture.expect("a picture");
        let nodes: usize = picture.columns().iter().map(|column| column.nodes.len()).sum();
        assert!(nodes <= 45 && picture.links().len() <= 60, "{nodes}");
        assert!(
            picture.footnotes().iter().any(|note| note.contains("weaker influences are not shown"))
        );
    }
}
