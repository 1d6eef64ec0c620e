//! Not a reader: writes the first inputs of every target into `seeds`, and the run that some targets
//! need into `fixtures`. `scripts/fuzz.sh seeds` runs it; needed again when a format changes.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use becausal::data::{self, ReadOptions, Transitions};
use becausal::discovery::ByAction;
use becausal::env::{Options, entries, find, record_at_random};
use becausal::model::{ModelKind, ModelParams, Sizes, Structure, WorldModel};
use becausal::run::TrainingRun;
use becausal::{DiscoverParams, Schema, discover};
use becausal_fuzz::fixtures;
use libfuzzer_sys::fuzz_target;

static ONCE: Once = Once::new();

fuzz_target!(|_input: &[u8]| ONCE.call_once(make_all));

/// A log with every kind of variable.
const EVERY_KIND: &str = "\
episode,x,share,count,on,mode,legs[0],legs[1],push,power[0],power[1],heat,x',share',count',on',mode',legs'[0],legs'[1],reward,terminated,truncated
a,0.5,0.25,3,1,down,0,1,0,0.5,-1,7.5,-3,0,4,0,up,1,0,1.5,0,0
a,-3,0,4,0,up,1,0,-1,-0.25,0.125,-1e-3,101,1,5,true,idle,true,false,-2,1,0
b,1e300,1,0,1,idle,0,0,1,1,1,0,2,0.5,9007199254740992,0,down,0,0,0,0,1
";

/// The same in the other shape: in sequence, without next states, with quotes and empty cells.
const IN_SEQUENCE: &str =
    "\u{feff}x,share,count,on,\"mode\",legs[0],legs[1],push,power[0],power[1],heat,terminated\r
1,0.5,3,1,up,0,1,0,0.5,-1,7.5,0\r
2,0.25,4,0,1,1,0,1,0.5,1,0.5,0\r
3,0,5,false,\"down\",1,0,,,,,1\r
4,1,5,TRUE,2,1,0,-1,0,0,nan,0\r
";

fn put(path: &str, content: impl AsRef<[u8]>) {
    let path = fixtures::folder("seeds").join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a seed");
}

fn example(name: &str) -> String {
    fs::read_to_string(fixtures::folder("../examples/greenhouse").join(name)).expect("an example")
}

fn recorded(environment: &str, rows: usize) -> Transitions {
    let entry = find(environment).expect("an environment");
    let made = entry.make(&Options::default()).expect("an environment");
    record_at_random(&made, rows, 0).expect("transitions")
}

fn make_all() {
    schemas_and_expressions();
    logs();
    graphs();
    run();
}

fn schemas_and_expressions() {
    put("schema/greenhouse.toml", example("schema.toml"));
    put("schema/every-kind.toml", fixtures::EVERY_KIND);
    let escaped = "name = 'a'\n[state.x]\nkind = \"integer\"\nlow = -3\n[action]\ny.kind = \"boolean\"\n\
                   [reward]\n\"\\u00e4\" = \"\"\"\n x' + \\\n  1e-3\"\"\"\n[termination]\nwhen = 'y && x > 2 * z'\n";
    put("schema/escaped.toml", escaped);
    for entry in entries() {
        put(&format!("schema/{}.toml", entry.id), entry.schema().to_toml());
        for (at, reward) in entry.schema().rewards().iter().enumerate() {
            put(&format!("expression/{}-{at}.txt", entry.id), reward.expression.source());
        }
    }
    let schema = fixtures::every_kind();
    for (at, reward) in schema.rewards().iter().enumerate() {
        put(&format!("expression/every-kind-{at}.txt"), reward.expression.source());
    }
    let functions = [
        "min(x, x', 3) + max(1, legs[1]) - hypot(x, 2) / atan2(x', legs'[0]) * sign(x)",
        "abs(sqrt(exp(log(sin(cos(tan(asin(acos(atan(tanh(floor(ceil(round(x))))))))))))))",
        "x > 1 && !on || mode == \"up\" && legs[1] != legs'[0]",
        "if(push == \"-1\", -pi, if(true, 2^-x^2, 1e-3)) + +.5",
        "mode' == down || false == on'",
    ];
    for (at, source) in functions.iter().enumerate() {
        put(&format!("expression/functions-{at}.txt"), source);
    }
}

fn logs() {
    put("csv/every-kind.csv", EVERY_KIND);
    put("csv/in-sequence.csv", IN_SEQUENCE);
    let log: Vec<String> = example("log.csv").lines().take(30).map(str::to_owned).collect();
    put("csv/greenhouse.csv", log.join("\n"));
    let folder = fixtures::folder("seeds");
    let options = |schema| ReadOptions { schema: Some(schema), ..ReadOptions::default() };
    let read = |name: &str, schema: Arc<Schema>| {
        data::read(&folder.join(name), &options(schema)).expect("a log").transitions
    };
    let logs = [
        ("every-kind", read("csv/every-kind.csv", fixtures::every_kind())),
        ("in-sequence", read("csv/in-sequence.csv", fixtures::every_kind())),
    ];
    for (name, log) in &logs {
        for ending in ["parquet", "npz"] {
            let path = folder.join(format!("{ending}/{name}.{ending}"));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            data::write(&path, log).expect("a log");
            let _ = fs::remove_file(path.with_extension("schema.toml"));
        }
    }
    let path = folder.join("parquet/vacuum.parquet");
    data::write(&path, &recorded("Vacuum-v0", 20)).expect("a log");

    put(
        "actions/lines.txt",
        "# push, power\n-1,0.5,-1\npush=1,power[0]=0.25,power[1]=-0.5\n\n2,0,0\n",
    );
    put("actions/table.csv", EVERY_KIND);
    put("actions/every-kind.npz", fs::read(folder.join("npz/every-kind.npz")).expect("a log"));
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    let header = format!("{header:<117}\n");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    array.extend(header.as_bytes());
    array.extend(
        [-1.0, 0.5, -0.5, 1.0, 0.0, 1.0].iter().flat_map(|value: &f64| value.to_le_bytes()),
    );
    put("actions/array.npy", array);
}

fn graphs() {
    let path = fixtures::folder("../examples/greenhouse/log.csv");
    let ignore = vec!["timestamp".to_owned()];
    let schema = Some(fixtures::greenhouse());
    let options = ReadOptions { schema, ignore, ..ReadOptions::default() };
    let log = data::read(&path, &options).expect("a log").transitions;
    let params = DiscoverParams::default();
    let graph = discover(&log, &params).expect("a graph");
    put("graph/greenhouse.json", graph.to_json());
    let by_action = discover(&log, &DiscoverParams { by_action: Some(ByAction::Within), ..params })
        .expect("a graph");
    put("graph/by-action.json", by_action.to_json());
    let hand = "{\"method\": \"by hand\", \"eta\": 0.05, \"edges\": [{\"cause\": \"device\", \"effect\": \
                \"humidity'\", \"p\": 1e-9, \"strength\": 0.5, \"verdict\": \"untestable\", \"reason\": \"why\", \
                \"given\": \"required\"}]}";
    put("graph/by-hand.json", hand);
}

fn run() {
    let path = fixtures::folder("fixtures/run");
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let entry = find("CartPole-v1").expect("an environment");
    let settings = fixtures::settings();
    let begun = TrainingRun::begin(&path, entry, &Options::default(), &settings, 0);
    let mut run = begun.expect("a training");
    let data = recorded("CartPole-v1", 60);
    let params = ModelParams {
        members: 1,
        steps: 2,
        sizes: Sizes { encoder: 2, hidden: 2, action: 2, key: 2 },
        ..ModelParams::default()
    };
    let structure = Structure::full(data.schema());
    let model = WorldModel::fit(&data, ModelKind::Causal, &structure, &params).expect("a model").0;
    run.training.graph = Some(discover(&data, &DiscoverParams::default()).expect("a graph"));
    run.training.model = Some(model);
    run.training.data = data;
    run.run_epoch().expect("an epoch");
    drop(run);
    let _ = fs::remove_file(path.join("events.out.tfevents.becausal"));
    let checkpoint = fixtures::checkpoint(&path);
    let copy = |from: PathBuf, to: &str| put(to, fs::read(from).expect("a file of the run"));
    copy(path.join("config.toml"), "config/train.toml");
    copy(path.join("checkpoint.json"), "resume/checkpoint.json");
    copy(path.join("metrics.csv"), "metrics/metrics.csv");
    copy(checkpoint.join("state.json"), "checkpoint/state.json");
    unsealed(&checkpoint.join("world-model/manifest.json"), "manifest/manifest.json");
    unsealed(&checkpoint.join("agent/manifest.json"), "policy/manifest.json");
    copy(checkpoint.join("optimiser.safetensors"), "safetensors/optimiser.safetensors");
    copy(weights(&checkpoint.join("world-model")), "safetensors/world-model.safetensors");
    let free = "{\"epoch\":0,\"real_steps\":0,\"rows\":0,\"next_graph\":0,\"optimiser_steps\":0,\"returns\":[0,0,0],\
                \"best\":null,\"begun\":2,\"playing\":[[7,[1.0,0.0]],[8,[]]],\"has_model\":false,\"has_graph\":false}";
    put("checkpoint/free.json", free);
    put(
        "config/fit.toml",
        "command = \"fit\"\ndata = \"my log.csv\"\nschema = \"schema.toml\"\nignore = [\"timestamp\"]\nmodel = \"causal\"\n\
         members = 5\nsteps = 2000\neta = 0.01\nseed = \"18446744073709551615\"\nheld_out = 0.1\ngraph_given = true\n\n\
         [origin]\nenvironment = \"CartPole-v1\"\nseed = \"3\"\npolicy = \"random\"\n\n[origin.options]\nmax_episode_steps = \"200\"\n",
    );
    put(
        "config/settings.toml",
        "model = \"mlp\"\nsteps = 500\nrollout = [5, 20]\npolicy_widths = [64, 32]\ndiscount = 0.97\nkeep_edges = true\n",
    );
}

/// A manifest without the checksum of its own fields: any change would be refused because of it, and
/// nothing behind it would be read.
fn unsealed(from: &Path, to: &str) {
    let text = fs::read(from).expect("a manifest");
    let mut manifest: serde_json::Value = serde_json::from_slice(&text).expect("a manifest");
    manifest.as_object_mut().expect("an object").remove("fields_checksum");
    put(to, format!("{manifest:#}\n"));
}

/// The weights file in a folder.
fn weights(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .find(|path| path.extension().is_some_and(|ending| ending == "safetensors"))
        .expect("weights")
}
