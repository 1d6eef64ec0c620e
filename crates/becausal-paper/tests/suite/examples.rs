//! `becausal-paper examples`: the paper's figures and ours on one page.

use std::fs;

use crate::common::{done, folder, refused};
use serde_json::Value;

#[test]
fn the_quick_version_has_every_figure_beside_the_papers() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("measured")).expect("a folder");
    let header = "environment,preset,rows,fit_steps,members,training_steps,seed,eta,tau,edges,error,log_likelihood,chain,\
                  complete,minimal,precision,recall,influence_precision,influence_recall,policy_return";
    let key = "CartPole-v1,paper,300,10,1,0";
    let table = format!(
        "{header}\n{key},1,0.000001,0.1,9,0.5,1,4,5,3,0.9,0.8,0.7,0.6,\n\
         {key},2,0.000001,0.1,11,0.7,1,4,5,3,0.9,0.8,0.7,0.6,\n\
         {key},1,1,0.1,20,0.4,1,9,8,3,0.7,0.9,0.7,0.6,\n"
    );
    fs::write(at.join("measured/tradeoff.csv"), table).expect("written");
    let text =
        done(at, &["examples", "--quick", "-q", "-o", "here", "--measured", "measured", "--json"]);
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let page = fs::read_to_string(at.join("here/examples.html")).expect("a page");
    for title in
        ["Figure 3a", "Figure 4", "Figure 3b", "Figure 5", "Figure 8", "Table 1", "Figure 6"]
    {
        assert_eq!(page.matches(&format!(">{title}: ")).count(), 1, "{title}");
    }
    assert_eq!(page.matches("<h3>The paper</h3>").count(), 8);
    assert!(page.contains("<td>10.0</td><td>0.6000</td>"), "the means of two seeds");
    assert!(
        page.contains("0.6 with eta 0.000001, 0.4 with eta 1"),
        "the paper's statement, measured"
    );
    assert!(page.matches("<svg ").count() >= 6, "graphs, chains and curves are drawn");
    let local = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", "@import", "url(", "<script", "src="] {
        assert!(!local.contains(outside), "the page reaches outside by {outside}");
    }
    assert!(page.contains("On the held-out episodes"), "how good the models are");
    assert!(!page.contains("becausal reproduce"), "the program has a name of its own");
    let statements = summary["statements"].as_array().expect("statements");
    let counted = |word: &str| statements.iter().filter(|s| s["agreement"] == word).count();
    assert_eq!(summary["same"], counted("same"));
    assert_eq!(summary["different"], counted("differs"));
    assert_eq!(summary["open"], 6, "three environments were not trained in");
    for name in [
        "lander-graph.svg",
        "lander-graph.json",
        "lander-chain.svg",
        "marines-graph.svg",
        "marines-chain.svg",
        "marines-chain-full.svg",
        "marines-chain-full.json",
        "aim.json",
        "curves.json",
        "curves/CartPole-v1.csv",
        "curves/CartPole-v1.svg",
        "statements.json",
    ] {
        assert!(at.join("here").join(name).is_file(), "{name} is missing");
    }
    for (name, recorded) in [("lander-graph.json", 1000), ("marines-graph.json", 600)] {
        let graph = fs::read_to_string(at.join("here").join(name)).expect("a graph");
        let graph: Value = serde_json::from_str(&graph).expect("JSON");
        let rows = graph["rows"].as_u64().expect("a number");
        assert!(0 < rows && rows < recorded, "{name} is discovered without the held-out episodes");
    }
    fs::create_dir(at.join("mine")).expect("a folder");
    fs::write(at.join("mine/letter.txt"), "dear").expect("a file");
    let words = refused(at, &["examples", "--quick", "-o", "there", "--measured", "mine"], 1);
    assert!(words.contains("neither ladder.csv nor tradeoff.csv"), "{words}");
    let words = refused(at, &["examples", "--quick", "-o", "mine"], 1);
    assert!(words.contains("contains other files"), "{words}");
}
