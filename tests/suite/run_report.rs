//! `dervish report RUN_DIR`: the page of a run directory that is written by hand.

use crate::dervish_binary::{dervish, refusal};
use crate::run_directory::{keep_games, line_of_assessment, line_of_round, random_game, run_in, write_lines};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{GameResult, Seat};
use dervish_env::record::Replay;
use dervish_env::reference::pig::Pig;
use dervish_training::arena::plots::Curve;
use dervish_training::run_files::RunFiles;
use dervish_training::run_report::behaviour::{Behaviour, record_of};
use dervish_training::self_play::game::{Opponent, SelfPlayGame};
use std::fs;
use std::path::Path;

fn page_of(run: &Path) -> String {
    let output = dervish(&["report", run.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(run.join("report.html")).expect("a page");
    for outside in ["http:", "https:", "<script", "src=", "href=", "url("] {
        assert!(!page.contains(outside), "the page refers to {outside}");
    }
    page
}

#[test]
fn the_page_of_a_campaign_has_curves_calibration_and_conduct() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "souakim");
    let start = Campaign::new(Scenario::builtin("souakim").expect("comes with the game"));
    let games: Vec<SelfPlayGame> = (0..5).map(|number| random_game(&start, number)).collect();
    keep_games(&run, &games);
    let rounds: Vec<_> = (1..=9).map(|round| line_of_round(round, &games)).collect();
    write_lines(&run, "metrics.jsonl", &rounds);
    write_lines(&run, "assessments.jsonl", &[line_of_assessment(1.0, 0.5), line_of_assessment(2.0, 0.75)]);
    let page = page_of(&run);
    for part in [
        "<h1>run</h1>",
        "9 rounds, 288 games learnt from, 90 optimisation steps in 9.0 minutes",
        "Score against each opponent",
        "doctrine (held out)",
        "0.750 [0.650, 0.850]",
        "<h3>Rating</h3>",
        "Elo against all of them",
        "<h3>Losses</h3>",
        "<h3>Entropy of the policy targets</h3>",
        "score of egyptian",
        "<h3>Length of games</h3>",
        "<h3>Speed</h3>",
        "Calibration in the latest 9 rounds",
        "Conduct in souakim",
        "The latest 5 finished games of the network against itself, learnt from yet or not; egyptian scores ",
        "march groups that divide a stack",
        "opening of mahdist",
        "14.3 ",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    // The same anatomy as from records of these games.
    let behaviour = Behaviour::of(&RunFiles::open(&run).expect("a run")).expect("games by the rules");
    assert_eq!((behaviour.anatomies.len(), behaviour.anatomies[0].games), (1, 5));
    let won = games.iter().filter(|game| game.result.winner == Some(Seat::First)).count() as u64;
    assert_eq!(behaviour.anatomies[0].first_seat.wins, won);
}

/// A rating is drawn over the time of training where there is one: none where everything was won or lost, and for no run that
/// was not assessed. So is what luck is worth.
#[test]
fn ratings_and_luck_have_curves_where_they_are_known() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let mut line = line_of_round(1, &[]);
    write_lines(&run, "metrics.jsonl", std::slice::from_ref(&line));
    let (rating, luck) = ("<h3>Rating</h3>", "<h3>What is known of luck narrows the interval of the mean result</h3>");
    let page = page_of(&run);
    assert!(!page.contains(rating) && !page.contains(luck));
    let rated = |rating: Option<f64>| {
        let mut line = line_of_assessment(1.0, 1.0);
        line["rating"] = rating.into();
        line
    };
    write_lines(&run, "assessments.jsonl", &[rated(None)]);
    let page = page_of(&run);
    assert!(page.contains("Score against each opponent") && !page.contains(rating));
    write_lines(&run, "assessments.jsonl", &[rated(None), rated(Some(-120.0))]);
    line["luck"] = serde_json::json!({"best_share": 0.75, "narrowing": 1.5});
    write_lines(&run, "metrics.jsonl", &[line]);
    let page = page_of(&run);
    assert!(page.contains(rating) && page.contains("-120") && page.contains(luck), "{page}");
}

/// What a teacher or an opponent does is not what the network does.
#[test]
fn games_of_teachers_and_against_opponents_tell_nothing_of_the_network() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let config = run.join("config.toml");
    let imitation = "[imitation]\nteacher = \"doctrine\"\ngames = 3\n";
    fs::write(&config, fs::read_to_string(&config).expect("a configuration") + imitation).expect("a file");
    let mut games: Vec<SelfPlayGame> = (0..8).map(|number| random_game(&Pig::new(), number)).collect();
    games[5].opponent = Some(Opponent { name: "random".to_string(), seat: Seat::Second });
    keep_games(&run, &games);
    // Games 0, 1 and 2 are the teacher's, game 5 is one against an opponent; 3, 4, 6 and 7 are left.
    let behaviour = Behaviour::of(&RunFiles::open(&run).expect("a run")).expect("games by the rules");
    let left = [3, 4, 6, 7].map(|number: usize| games[number].result.winner);
    let won = left.iter().filter(|&&winner| winner == Some(Seat::First)).count() as u64;
    assert_eq!((behaviour.anatomies[0].games, behaviour.anatomies[0].first_seat.wins), (4, won));
    keep_games(&run, &games[..3]);
    assert!(page_of(&run).contains("No game of the network against itself is kept (see `learner.window`)."));
}

#[test]
fn a_page_of_thousands_of_rounds_stays_small() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let games = [random_game(&Pig::new(), 1)];
    let rounds: Vec<_> = (1..=4000).map(|round| line_of_round(round, &games)).collect();
    write_lines(&run, "metrics.jsonl", &rounds);
    let page = page_of(&run);
    assert!(page.len() < 200_000, "{} bytes", page.len());
    // Means of neighbours: of ten points in four, three at a time.
    let points: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), f64::from(2 * x))).collect();
    let curve = Curve::thinned("", &points, 4);
    let thinned: Vec<(f64, f64)> = curve.points.iter().map(|(x, of)| (*x, of.value)).collect();
    assert_eq!(thinned, [(1.0, 2.0), (4.0, 8.0), (7.0, 14.0), (9.0, 18.0)]);
}

#[test]
fn a_page_is_written_of_what_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    assert!(page_of(&run).contains("No round is learnt from yet."));
    // Games by other rules: told on the page, which has all else.
    let mut game = random_game(&Pig::new(), 1);
    game.decisions.pop();
    keep_games(&run, &[game]);
    write_lines(&run, "metrics.jsonl", &[line_of_round(1, &[])]);
    let page = page_of(&run);
    assert!(page.contains("The games cannot be played again: game 1, decision ") && page.contains("<h3>Losses</h3>"));
    let path = run.to_str().expect("UTF-8");
    let elsewhere = folder.path().join("no/folder/page.html");
    assert!(refusal(&["report", path, "--out", elsewhere.to_str().expect("UTF-8")]).contains("page.html: "));
    assert!(refusal(&["report", path, "--scenario", "pig"]).contains("--scenario"));
    assert!(refusal(&["report"]).contains("--db"));
    assert!(refusal(&["report", "--db", "results.db"]).contains("--out"));
}

#[test]
fn a_game_of_self_play_is_a_record() {
    let start = Pig::new();
    let game = random_game(&start, 3);
    let record = record_of(&game, &start).expect("by the rules");
    let mut replay = Replay::new(record, start.clone()).expect("a record of pig");
    assert_eq!(replay.verify().expect("by the rules"), Some(game.result));
    let lost = GameResult { winner: game.result.winner.map(Seat::other), ..game.result };
    let other = SelfPlayGame { result: lost, ..game };
    assert!(record_of(&other, &start).expect_err("a refusal").to_string().contains("otherwise than it says"));
}
