//! `dervish study`: the matches of a study file, played in pieces, and the table that they give. Networks that they need
//! are trained first (`study/training.rs`).

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::folder::{MATCH_FILE, MatchFolder};
use crate::arena::match_play::{Match, MatchError, MatchOptions};
use crate::arena::store::Store;
use crate::arena::study::document::{PlayedOn, StudyDocument, StudyMatch, this_machine};
use crate::arena::study::file::{PlannedMatch, StudyFile};
use crate::arena::study::table::{markdown, put_into};
use crate::commands::match_args::{BoundArgs, ThoughtArgs, pairs_of, time_of};
use crate::commands::match_keeping::{MatchCommandError, Pace, identity_of, play_and_keep};
use crate::commands::{CommandError, minutes, print_line, tell, threads};
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use check::{check_matches, refuse_other_matches, refuse_twin};
use dervish_agents::limits::Limits;
use dervish_env::encode::PolicyEncoder;
use dervish_env::persist::{read_text, write_whole};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

mod check;
mod training;

/// Plays the matches of a study file for a while, and goes on with them when it is called again.
///
/// Networks that the file asks for are trained first, in a folder beside it (`.runs`); that takes libtorch.
/// Games are kept in an SQLite file beside the study file (`.db`), what they tell in a JSON document (`.json`). A study
/// may be stopped or killed at any time and no game is lost or counted twice. Of matches that the document tells of to the
/// end nothing is played again, even where the games themselves are not at hand; to play all anew, move the document away.
#[derive(Clone, Debug, clap::Args)]
pub struct StudyArgs {
    /// The study file, such as training/studies/strength.toml.
    pub file: PathBuf,
    /// Stop after so many minutes, at most 60.
    #[arg(long, value_name = "N", default_value = "60", value_parser = minutes)]
    pub minutes: Duration,
    /// Threads to play on [default: all cores].
    #[arg(long, value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Keep a record of every game in this folder, in one folder for each match, such as 01-souakim.
    #[arg(long, value_name = "DIR")]
    pub records: Option<PathBuf>,
    /// Play nothing; print the table of what was played.
    #[arg(long, conflicts_with_all = ["minutes", "threads", "records"])]
    pub table: bool,
    /// Play nothing; put the table into this page, between `<!-- study: NAME -->` and `<!-- end of study: NAME -->`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["minutes", "threads", "records", "table"])]
    pub readme: Option<PathBuf>,
}

impl StudyArgs {
    /// Plays what is missing for the time given, or tells what was played.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let until = Instant::now() + self.minutes;
        let study = StudyFile::read(&self.file)?;
        let document_file = self.file.with_extension("json");
        let kept = StudyDocument::read(&document_file)?;
        if let Some(page) = &self.readme {
            let document = kept.filter(|document| document.games() > 0).ok_or_else(|| CommandError::File {
                file: document_file.display().to_string(),
                reason: "tells of no games; play the study first".to_owned(),
            })?;
            refuse_other_matches(&study, &document_file, &document)?;
            return self.put_into(page, &markdown(&document));
        }
        if self.table {
            let document = kept.unwrap_or_else(|| self.new_document(&study));
            refuse_other_matches(&study, &document_file, &document)?;
            return print_line(markdown(&document).trim_end());
        }
        interrupt::install().map_err(MatchCommandError::Interrupt)?;
        // What is wrong shows before a file is made, or hours have gone into training.
        check_matches(self, &study)?;
        let db = self.file.with_extension("db");
        let there = Store::open_if_there(&db)?;
        self.refuse_places_of_others(&study, there.is_some())?;
        let Some(kept) = training::train_runs(self, &study, kept, until)? else { return Ok(()) };
        let mut store = match there {
            Some(store) => store,
            None => self.new_store(&study, kept.as_ref(), &db)?,
        };
        let mut document = self.review(&study, kept.as_ref(), Some(&mut store))?;
        // Games of a call that was killed are in the store, and booked with this one's.
        let booked = document.played_on.iter().map(|entry| entry.games).sum::<u64>();
        let before = document.games();
        if kept.as_ref() != Some(&document) {
            document.write(&document_file)?;
        }
        let mut sitting = Sitting::begin(self.threads);
        for (number, planned) in study.matches.iter().enumerate() {
            let records = self.records.as_ref().map(|folder| records_folder(folder, number, planned));
            // A complete match has a folder that tells of it, where records are kept.
            let told = records.as_ref().is_none_or(|folder| folder.join(MATCH_FILE).exists());
            if (document.matches[number].complete && told) || interrupt::requested() || Instant::now() >= until {
                continue;
            }
            let prefix = format!("match {} of {}, {}: ", number + 1, study.matches.len(), planned.scenario);
            let pace = Pace { prefix: &prefix, until: Some(until) };
            let threads = self.threads;
            let played = StudyMatchVisitor { study: &study, planned, threads, store: Some(&mut store), records, pace };
            document.matches[number] = played.of_its_game()?;
            let games = document.games().saturating_sub(booked);
            sitting.book(&mut document.played_on, games);
            document.write(&document_file)?;
        }
        print_line(markdown(&document).trim_end())?;
        if document.complete() {
            tell(&format!("complete; {} is up to date", document_file.display()));
        } else if document.games() == before {
            tell("no pair of games was finished in this time; the same command begins again");
        } else {
            tell(&format!("{} is up to date; the same command goes on from here", document_file.display()));
        }
        Ok(())
    }

    fn new_document(&self, study: &StudyFile) -> StudyDocument {
        let threads = self.threads.map(|threads| format!(" --threads {threads}")).unwrap_or_default();
        let command = format!("dervish study {}{threads}", self.file.display());
        StudyDocument::new(study.title.clone(), study.question.clone(), command)
    }

    /// Refuses places for records in which something else is.
    fn refuse_places_of_others(&self, study: &StudyFile, begun: bool) -> Result<(), CommandError> {
        for (number, planned) in study.matches.iter().enumerate() {
            let records = self.records.as_ref().map(|folder| records_folder(folder, number, planned));
            let refused = records.map_or(Ok(()), |records| MatchFolder::refuse_foreign(&records, begun));
            refused.map_err(MatchCommandError::Folder)?;
        }
        Ok(())
    }

    /// Makes the file of results, after everything that may be refused because it has no games.
    fn new_store(&self, study: &StudyFile, kept: Option<&StudyDocument>, db: &Path) -> Result<Store, CommandError> {
        self.review(study, kept, None)?;
        if let Some(folder) = &self.records {
            fs::create_dir_all(folder).map_err(|error| CommandError::File {
                file: folder.display().to_string(),
                reason: error.to_string(),
            })?;
        }
        Ok(Store::open_or_create(db)?)
    }

    /// The document by the games that are in the store, without playing any; without a store there are none.
    fn review(
        &self,
        study: &StudyFile,
        kept: Option<&StudyDocument>,
        mut store: Option<&mut Store>,
    ) -> Result<StudyDocument, CommandError> {
        let mut document = self.new_document(study);
        if let Some(kept) = kept {
            (document.played_on, document.runs) = (kept.played_on.clone(), kept.runs.clone());
        }
        for planned in &study.matches {
            let pace = Pace { prefix: "", until: Some(Instant::now()) };
            let threads = self.threads;
            let store = store.as_deref_mut();
            let visitor = StudyMatchVisitor { study, planned, threads, store, records: None, pace };
            let mut reviewed = visitor.of_its_game()?;
            let told = kept.and_then(|kept| kept.matches.iter().find(|of| of.is_same_match(&reviewed)));
            // A clone has the documents, not the games; there, what is complete is as it is told.
            if let Some(told) = told
                && self.records.is_none()
                && reviewed.games() == 0
                && told.complete
                && (told.games_requested, told.sprt.map(|test| test.plan)) == (reviewed.games_requested, planned.sprt)
            {
                reviewed = told.clone();
            }
            let lines = study.matches.iter().map(|planned| planned.line);
            refuse_twin(study, planned, &reviewed, lines.zip(&document.matches))?;
            document.matches.push(reviewed);
        }
        // Only who removes a document himself loses what it tells.
        for told in kept.iter().flat_map(|kept| &kept.matches) {
            let found = document.matches.iter().find(|of| of.is_same_match(told)).map_or(0, StudyMatch::games);
            if found < told.games() {
                let [a, b] = &told.agents;
                let reason = format!(
                    "tells of {} games of {a} against {b} where {} has {found} for this study; remove it to begin anew",
                    told.games(),
                    self.file.with_extension("db").display()
                );
                let file = self.file.with_extension("json").display().to_string();
                return Err(CommandError::File { file, reason });
            }
        }
        Ok(document)
    }

    /// Puts the table into a page.
    fn put_into(&self, page: &Path, table: &str) -> Result<(), CommandError> {
        let failed = |reason: String| CommandError::File { file: page.display().to_string(), reason };
        let text = read_text(page).map_err(|error| failed(error.to_string()))?;
        let name = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let new = put_into(&text, &name, table).map_err(|error| failed(error.to_string()))?;
        write_whole(page, new.as_bytes()).map_err(|error| failed(error.to_string()))
    }
}

/// Where the records of a match go: a folder named by its number, from 1, and by its scenario, which may be a file.
fn records_folder(folder: &Path, number: usize, planned: &PlannedMatch) -> PathBuf {
    let scenario = Path::new(&planned.scenario).file_stem().unwrap_or_default().to_string_lossy();
    folder.join(format!("{:02}-{scenario}", number + 1))
}

/// One call of the command on this machine.
struct Sitting {
    begun: Instant,
    /// What this call adds so far, and what it is added to, once it has been booked.
    here: PlayedOn,
    earlier: Option<PlayedOn>,
}

impl Sitting {
    fn begin(threads: Option<NonZeroUsize>) -> Sitting {
        let (cpu, cores) = this_machine();
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let threads = threads.map_or(cores, NonZeroUsize::get);
        let here = PlayedOn { cpu, cores, threads, first: now.clone(), last: now, seconds: 0.0, games: 0 };
        Sitting { begun: Instant::now(), here, earlier: None }
    }

    /// Enters the time so far and the games of this call where this machine is, or below the others.
    fn book(&mut self, played_on: &mut Vec<PlayedOn>, games: u64) {
        let Sitting { begun, here, earlier } = self;
        let is_here = |of: &&mut PlayedOn| (&of.cpu, of.cores, of.threads) == (&here.cpu, here.cores, here.threads);
        let (seconds, last) = (begun.elapsed().as_secs_f64(), here.last.clone());
        match played_on.iter_mut().find(is_here) {
            Some(entry) => {
                let before = earlier.get_or_insert_with(|| entry.clone());
                *entry =
                    PlayedOn { last, seconds: before.seconds + seconds, games: before.games + games, ..entry.clone() };
            }
            None => {
                earlier.get_or_insert_with(|| here.clone());
                played_on.push(PlayedOn { seconds, games, ..here.clone() });
            }
        }
    }
}

/// Plays a match of a study, or what is missing of it.
struct StudyMatchVisitor<'a> {
    study: &'a StudyFile,
    planned: &'a PlannedMatch,
    threads: Option<NonZeroUsize>,
    /// Where its games are; without it nothing is played.
    store: Option<&'a mut Store>,
    /// The folder for records, if they are kept.
    records: Option<PathBuf>,
    pace: Pace<'a>,
}

impl StudyMatchVisitor<'_> {
    fn of_its_game(self) -> Result<StudyMatch, CommandError> {
        let StudyMatchVisitor { study, planned, .. } = self;
        in_its_game(study, planned, self)
    }
}

/// Does something with the game of a match; what is wrong with its scenario is a fault of its table.
fn in_its_game<T, V: GameVisitor<Output = Result<T, CommandError>>>(
    study: &StudyFile,
    planned: &PlannedMatch,
    visitor: V,
) -> Result<T, CommandError> {
    with_game(&planned.scenario, visitor).unwrap_or_else(|faults| {
        Err(study.fault(planned.line, format!("scenario: {}", CommandError::Data(faults))).into())
    })
}

/// How a match from `start` is played, as far as its table in the study file says.
fn options<P: ArenaGame>(
    start: &P,
    planned: &PlannedMatch,
    threads: Option<NonZeroUsize>,
) -> Result<MatchOptions, MatchCommandError> {
    let PlannedMatch { games, seed, bounds, .. } = planned;
    let pairs = pairs_of(*games).ok_or(MatchCommandError::UnevenGames(*games))?;
    let time = |name: &str, seconds: Option<f64>| {
        let named = |reason: String| MatchCommandError::Time(format!("{name}: {reason}"));
        seconds.map(time_of).transpose().map_err(named)
    };
    let thought = ThoughtArgs {
        sims: bounds.sims,
        time: time("time", bounds.time)?,
        turn_sims: bounds.turn_sims,
        turn_time: time("turn_time", bounds.turn_time)?,
    };
    let args = BoundArgs { thought, max_decisions: bounds.max_decisions };
    let limits: Limits = args.limits(start)?;
    Ok(MatchOptions { pairs, seed: *seed, limits, max_decisions: bounds.max_decisions, threads })
}

/// A fault of a match as one of its table. Bounds have the names of options there and of fields here.
fn in_file(study: &StudyFile, planned: &PlannedMatch, error: &MatchCommandError) -> CommandError {
    let reason = error.to_string().replace("--turn-", "turn_").replace("--max-", "max_").replace("--", "");
    CommandError::Data(study.fault(planned.line, reason))
}

impl GameVisitor for StudyMatchVisitor<'_> {
    type Output = Result<StudyMatch, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let StudyMatchVisitor { study, planned, .. } = self;
        let in_file = |error: MatchCommandError| in_file(study, planned, &error);
        let options = options(&start, planned, self.threads).map_err(in_file)?;
        let agents = agents_of(&start, encoder);
        let factory = |spec: &str| agents.factory(spec).map_err(|error| in_file(error.into()));
        let (a, b) = (factory(&planned.agents[0])?, factory(&planned.agents[1])?);
        let to_play = Match { start: &start, agents: [&a, &b], options, sprt: planned.sprt, value: None };
        let identity = identity_of(&to_play);
        let play = |store| play_and_keep(&to_play, Some(store), self.records.as_deref(), self.pace);
        let report = match self.store.map(play) {
            None | Some(Err(MatchCommandError::Match(MatchError::Stopped))) => None,
            Some(played) => Some(played?),
        };
        Ok(StudyMatch::of(identity, u64::from(planned.games), report.as_ref()))
    }
}
