//! Files: nothing is lost that is not the program's own, and a kill leaves nothing in the way.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{done, folder, refused};

/// A fit that takes no time.
const FIT: [&str; 6] = ["--members", "1", "--steps", "5", "-q", "-o"];

/// A training that takes no time.
const TRAIN: &str = "train CartPole-v1 --env-option=max_episode_steps=60 --seed=4 --steps=200 --quiet \
    --set=warm_up=150 --set=epoch_steps=50 --set=members=1 --set=model_width=8 \
    --set=fit_steps_first=5 --set=fit_steps=5 --set=rounds=2 --set=samples=128 \
    --set=evaluation_episodes=2 --set=final_episodes=2 --set=final_fit_steps=5 --set=final_rows=100";

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn is_part(name: &str) -> bool {
    name.starts_with(".becausal-")
}

fn collect(at: &Path, file: &str) {
    done(at, &["collect", "Vacuum-v0", "-n", "300", "-q", "-o", file]);
}

fn fit(log: &str, run: &str) -> Vec<String> {
    ["fit", log].iter().chain(&FIT).chain(&[run]).map(|&word| word.to_owned()).collect()
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// A process that does not outlive its test.
struct Running(Child);

impl Running {
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }

    /// Waits for the end, a minute at most.
    fn end(mut self) -> Output {
        wait_until(|| self.0.try_wait().expect("known").is_some());
        let [mut text, mut errors] = [Vec::new(), Vec::new()];
        self.0.stdout.take().expect("a pipe").read_to_end(&mut text).expect("read");
        self.0.stderr.take().expect("a pipe").read_to_end(&mut errors).expect("read");
        let status = self.0.wait().expect("ended");
        Output { status, stdout: text, stderr: errors }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(at: &Path, arguments: &[&str]) -> Running {
    let child = Command::new(env!("CARGO_BIN_EXE_becausal"))
        .current_dir(at)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Running(child.expect("it runs"))
}

/// What a command of endless work says that is refused before it.
fn refused_at_once(at: &Path, arguments: &[&str]) -> String {
    let output = started(at, arguments).end();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
    errors
}

/// Waits for something of a process that runs.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < patience, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_fit_never_replaces_the_folder_of_a_log() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("mine")).expect("a folder");
    collect(at, "mine/log.csv");
    fs::rename(at.join("mine/log.schema.toml"), at.join("mine/schema.toml")).expect("renamed");
    let schema = ["--schema", "mine/schema.toml"];
    let command = fit("mine/log.csv", "mine");
    let text = refused(at, &[&words(&command)[..], &schema].concat(), 1);
    assert!(text.contains("mine: is a folder with something else in it (log.csv)"), "{text}");
    assert_eq!(names(&at.join("mine")), ["log.csv", "schema.toml"]);
    let command = fit("mine/log.csv", "run");
    let command = [&words(&command)[..], &schema].concat();
    done(at, &command);
    done(at, &command);
    // A run with something else in it is not replaced either.
    fs::write(at.join("run/notes.txt"), "mine").expect("written");
    let text = refused(at, &command, 1);
    assert!(text.contains("notes.txt is not part of a run"), "{text}");
    assert_eq!(fs::read_to_string(at.join("run/notes.txt")).expect("kept"), "mine");
    // Nor with the log in it.
    fs::remove_file(at.join("run/notes.txt")).expect("removed");
    let text = refused(at, &words(&fit("run/data.parquet", "run")), 1);
    assert!(text.contains("holds the input run/data.parquet"), "{text}");
    assert_eq!(names(at), ["mine", "run"]);
}

#[test]
fn a_training_and_a_demo_write_over_nothing() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("mine")).expect("a folder");
    fs::write(at.join("mine/schema.toml"), "name = \"Mine\"\n").expect("written");
    let train: Vec<&str> = TRAIN.split_whitespace().chain(["-o", "mine"]).collect();
    let text = refused(at, &train, 1);
    assert!(text.contains("something else in it (schema.toml"), "{text}");
    assert_eq!(fs::read_to_string(at.join("mine/schema.toml")).expect("kept"), "name = \"Mine\"\n");
    fs::create_dir(at.join("logs")).expect("a folder");
    fs::write(at.join("logs/data.parquet"), "a log").expect("written");
    let text = refused(at, &["demo", "--quick", "-q", "-o", "logs"], 1);
    assert!(text.contains("something else in it (data.parquet)"), "{text}");
    assert_eq!(fs::read_to_string(at.join("logs/data.parquet")).expect("kept"), "a log");
    assert_eq!(names(at), ["logs", "mine"]);
}

#[test]
fn an_output_is_never_an_input() {
    let folder = folder();
    let at = folder.path();
    collect(at, "d.csv");
    collect(at, "d.parquet");
    fs::hard_link(at.join("d.csv"), at.join("same.csv")).expect("a link");
    fs::write(at.join("a.csv"), "push\nleft\n").expect("written");
    done(at, &words(&fit("d.parquet", "run")));
    let cases: &[(&[&str], &str)] = &[
        (&["discover", "d.csv", "-o", "d.csv"], "d.csv: cannot write: is also an input"),
        (&["discover", "d.csv", "-o", "./d.csv"], "is also an input"),
        (&["discover", "d.csv", "-o", "same.csv"], "is also an input"),
        (&["discover", "d.csv", "-o", "d.schema.toml"], "is also an input"),
        (&["discover", "d.csv", "-o", "run/graph.json"], "is part of the run"),
        (
            &["replay", "CartPole-v1", "--actions", "a.csv", "-o", "a.csv"],
            "a.csv: cannot write: is also an input",
        ),
        (
            &["replay", "CartPole-v1", "--actions", "a.csv", "-o", "b.csv", "--scene", "a.csv"],
            "is also an input",
        ),
        (
            &["explain", "run", "--step", "0", "--format", "json", "-o", "run/data.parquet"],
            "run/data.parquet: cannot write: is part of the run",
        ),
        (
            &[
                "explain", "run", "--step", "0", "--data", "d.csv", "--format", "text", "-o",
                "d.csv",
            ],
            "is also an input",
        ),
        (&["report", "run", "-o", "run/config.toml"], "is part of the run"),
        (&["collect", "Vacuum-v0", "-n", "9", "-o", "run/data.parquet"], "is part of the run"),
    ];
    let before: Vec<Vec<u8>> = ["d.csv", "d.schema.toml", "run/data.parquet", "run/config.toml"]
        .iter()
        .map(|name| fs::read(at.join(name)).expect(name))
        .collect();
    for (arguments, expected) in cases {
        let text = refused(at, arguments, 1);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    fs::copy(at.join("d.csv"), at.join("p.svg")).expect("a copy");
    let picture =
        ["discover", "d.csv", "-o", "p.svg", "--picture", "p.svg", "--schema", "Vacuum-v0"];
    let text = refused(at, &picture, 2);
    assert!(text.contains("two results cannot go into one file"), "{text}");
    let after: Vec<Vec<u8>> = ["d.csv", "d.schema.toml", "run/data.parquet", "run/config.toml"]
        .iter()
        .map(|name| fs::read(at.join(name)).expect(name))
        .collect();
    assert_eq!(before, after);
}

#[test]
fn what_cannot_be_written_is_found_before_the_work() {
    let folder = folder();
    let at = folder.path();
    collect(at, "d.parquet");
    fs::write(at.join("file"), "a file").expect("written");
    // A million steps: whoever works first never comes back in time.
    let long = ["--steps", "1000000", "--members", "9", "-q", "-o"];
    let fit = |run| [&["fit", "d.parquet"], &long[..], &[run]].concat();
    let long_training = ["train", "CartPole-v1", "--steps", "1000000", "-q", "-o"];
    let train = |run| [&long_training[..], &[run]].concat();
    for arguments in [fit("file"), train("file")] {
        let text = refused_at_once(at, &arguments);
        assert!(text.contains("file: is a file; give the name of a folder"), "{text}");
    }
    for arguments in [fit("file/run"), train("file/run"), fit("/proc/run"), train("/proc/run")] {
        let text = refused_at_once(at, &arguments);
        assert!(text.contains("cannot"), "{text}");
    }
    for output in ["no/graph.json", "file/graph.json", "/proc/graph.json", "new/"] {
        let text = refused_at_once(
            at,
            &["discover", "d.parquet", "--bootstrap", "1000000", "-q", "-o", output],
        );
        assert!(text.contains("cannot write"), "{text}");
    }
    let text = refused(at, &["explain", "run", "--step", "0", "-o", "no/why.svg"], 1);
    assert!(text.contains("no/why.svg: cannot write: the folder does not exist"), "{text}");
    assert_eq!(names(at), ["d.parquet", "file"]);
}

#[cfg(unix)]
#[test]
fn links_fifos_and_devices_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("far")).expect("a folder");
    symlink("far/log.csv", at.join("log.csv")).expect("a link");
    collect(at, "log.csv");
    collect(at, "plain.csv");
    assert!(at.join("log.csv").is_symlink());
    let [through, plain] = ["far/log.csv", "plain.csv"].map(|name| fs::read(at.join(name)).ok());
    assert!(through.is_some() && through == plain);
    assert!(Command::new("mkfifo").arg(at.join("pipe.csv")).status().expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = at.join("pipe.csv");
        move || fs::read(pipe)
    });
    collect(at, "pipe.csv");
    assert_eq!(reader.join().expect("a reader").ok(), plain);
    assert!(fs::metadata(at.join("pipe.csv")).expect("there").file_type().is_fifo());
    // An archive is not written from the beginning to the end, and still passes.
    assert!(Command::new("mkfifo").arg(at.join("pipe.npz")).status().expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = at.join("pipe.npz");
        move || fs::read(pipe)
    });
    collect(at, "pipe.npz");
    collect(at, "plain.npz");
    assert_eq!(reader.join().expect("a reader").ok(), fs::read(at.join("plain.npz")).ok());
    let discover = ["discover", "plain.csv", "-q", "-o"];
    done(at, &[&discover[..], &["graph.json"]].concat());
    let graph = fs::read_to_string(at.join("graph.json")).expect("a graph");
    let shown = done(at, &[&discover[..], &["/dev/stdout"]].concat());
    assert!(shown.starts_with(&graph), "the graph comes before the summary");
    assert!(shown.contains("/dev/stdout: "), "{shown}");
    // The same where standard output is a file.
    let program = env!("CARGO_BIN_EXE_becausal");
    let script = format!("'{program}' discover plain.csv -q -o /dev/stdout > both.txt");
    let status = Command::new("sh").current_dir(at).args(["-c", &script]).status();
    assert!(status.expect("a shell").success());
    assert_eq!(fs::read_to_string(at.join("both.txt")).expect("a file"), shown);
    done(at, &[&discover[..], &["/dev/null"]].concat());
    assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
    done(at, &words(&fit("plain.csv", "run")));
    symlink("run", at.join("link")).expect("a link");
    done(at, &words(&fit("plain.csv", "link")));
    assert!(at.join("link").is_symlink());
}

#[test]
fn a_run_has_one_writer_at_a_time() {
    let folder = folder();
    let at = folder.path();
    collect(at, "d.parquet");
    let arguments = ["fit", "d.parquet", "--steps", "1000000", "--members", "99", "-q", "-o", "r"];
    let child = started(at, &arguments);
    wait_until(|| fs::read_to_string(at.join(".r.lock")).is_ok_and(|text| text.ends_with('\n')));
    let held = format!("r: is in use by process {}: becausal fit d.parquet", child.id());
    let text = refused(at, &words(&fit("d.parquet", "r")), 1);
    assert!(text.contains(&held), "{text}");
    let train: Vec<&str> = TRAIN.split_whitespace().chain(["-o", "r"]).collect();
    let text = refused(at, &train, 1);
    assert!(text.contains(&held), "{text}");
    child.kill();
    // The lock went with its holder.
    done(at, &words(&fit("d.parquet", "r")));
    assert_eq!(names(at), ["d.parquet", "r"]);
    // Two trainings at once left a broken table of curves.
    let long = TRAIN.replace("--steps=200", "--steps=1000000");
    let train: Vec<&str> = long.split_whitespace().chain(["-o", "t"]).collect();
    let child = started(at, &train);
    wait_until(|| at.join("t/checkpoint.json").exists());
    let text = refused(at, &["train", "CartPole-v1", "-o", "t", "--resume"], 1);
    assert!(text.contains(&format!("t: is in use by process {}", child.id())), "{text}");
    child.kill();
}

#[test]
fn a_training_that_was_killed_at_once_can_be_begun_again() {
    let folder = folder();
    let at = folder.path();
    let train: Vec<&str> = TRAIN.split_whitespace().chain(["-o", "run"]).collect();
    // As a kill leaves it: before the mark, before the schema, with a part file, before the checkpoint.
    let states: [&[&str]; 4] = [
        &[],
        &[".becausal-begun"],
        &[".becausal-begun", ".becausal-99999-aBcDeF.part"],
        &[".becausal-begun", "schema.toml", "config.toml", "metrics.csv"],
    ];
    for state in states {
        fs::create_dir(at.join("run")).expect("a folder");
        for name in state {
            fs::write(at.join("run").join(name), "").expect("written");
        }
        if !state.is_empty() && state.len() < 4 {
            let text = refused(at, &["train", "CartPole-v1", "-o", "run", "--resume"], 1);
            assert!(text.contains("there is nothing to resume; begin it again"), "{text}");
        }
        done(at, &train);
        assert!(!at.join("run/.becausal-begun").exists());
        fs::remove_dir_all(at.join("run")).expect("removed");
    }
    // A real kill, as early as it gets and a little later.
    for wait in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48] {
        let child = started(at, &train);
        std::thread::sleep(Duration::from_millis(wait));
        child.kill();
        let resume = ["train", "CartPole-v1", "-o", "run", "--resume", "--quiet"];
        let is_saved = at.join("run/checkpoint.json").exists();
        done(at, if is_saved { &resume } else { &train });
        assert_eq!(names(at), ["run"], "after {wait} ms");
        fs::remove_dir_all(at.join("run")).expect("removed");
    }
}

#[test]
fn the_part_file_of_a_killed_collect_goes_with_the_next_command() {
    let folder = folder();
    let at = folder.path();
    let endless = ["collect", "CartPole-v1", "-n", "900000000", "-q", "-o", "big.csv"];
    for _ in 0..2 {
        let before = names(at);
        let child = started(at, &endless);
        wait_until(|| names(at).iter().any(|name| is_part(name) && !before.contains(name)));
        // The file that is tried first is gone by then.
        std::thread::sleep(Duration::from_millis(300));
        child.kill();
    }
    let parts = names(at);
    assert_eq!(parts.len(), 1, "the second removed what the first left: {parts:?}");
    // What a living process writes stays.
    let child = started(at, &endless);
    let own = |child: &Running| format!(".becausal-{}-", child.id());
    wait_until(|| names(at).iter().any(|name| name.starts_with(&own(&child))));
    collect(at, "small.parquet");
    let left = names(at);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left[0].starts_with(&own(&child)) && left[1] == "small.parquet", "{left:?}");
    child.kill();
}

#[cfg(unix)]
#[test]
fn ctrl_c_in_collect_leaves_nothing() {
    let folder = folder();
    let at = folder.path();
    for file in ["big.csv", "big.npz", "big.parquet"] {
        let child = started(at, &["collect", "CartPole-v1", "-n", "900000000", "-q", "-o", file]);
        wait_until(|| names(at).iter().any(|name| is_part(name)));
        std::thread::sleep(Duration::from_millis(50));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("`kill` is there").success());
        let output = child.end();
        assert_eq!(output.status.code(), Some(130), "{file}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, format!("{file}: stopped, nothing was written\n"));
        assert_eq!(names(at), [""; 0], "{file}");
    }
}

#[test]
fn two_results_of_one_name_are_refused_before_the_file_is_there() {
    let folder = folder();
    let at = folder.path();
    collect(at, "d.csv");
    let text = refused(at, &["discover", "d.csv", "-q", "-o", "./g.svg", "--picture", "g.svg"], 2);
    assert!(text.contains("two results cannot go into one file"), "{text}");
}

#[test]
fn a_schema_of_another_file_is_not_replaced() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("log.schema.toml"), "# of log.npz, by hand\n").expect("written");
    let text = refused(at, &["collect", "Vacuum-v0", "-n", "50", "-q", "-o", "log.csv"], 1);
    assert!(text.contains("which is another schema"), "{text}");
    assert_eq!(names(at), ["log.schema.toml"]);
    // Its own is replaced.
    collect(at, "own.csv");
    collect(at, "own.csv");
}

#[test]
fn empty_cells_are_counted_and_the_option_says_what_becomes_of_them() {
    let folder = folder();
    let at = folder.path();
    collect(at, "d.csv");
    let text = fs::read_to_string(at.join("d.csv")).expect("a log");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // A row that is not the first of its episode.
    let episode = |line: &String| line.split(',').next().map(str::to_owned);
    let same = |row: &usize| episode(&lines[*row]) == episode(&lines[row - 1]);
    let row = (2..lines.len()).find(same).expect("an episode of two rows");
    let cells: Vec<&str> = lines[row].split(',').collect();
    lines[row] = [&[cells[0], ""], &cells[2..]].concat().join(",");
    fs::write(at.join("d.csv"), lines.join("\n")).expect("written");
    let column = lines[0].split(',').nth(1).expect("columns").to_owned();
    let words = refused(at, &["check", "Vacuum-v0", "d.csv"], 1);
    assert!(words.contains(&format!("by column: {column} 1")), "{words}");
    assert!(words.contains("--missing drop, episode or hold"), "{words}");
    for (missing, left) in [("drop", "299"), ("hold", "300")] {
        let text = done(at, &["check", "Vacuum-v0", "d.csv", "--missing", missing]);
        assert!(text.contains(&format!(": {left} transitions in")), "{text}");
    }
}
