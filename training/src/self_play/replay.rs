//! The games of the latest rounds, in memory and on disk.
//!
//! ```text
//! replay/round-00000012.jsonl   the games of a round, one a line
//! replay/open.jsonl             the games so far of the round that is being played
//! ```
//!
//! A game is on disk as soon as it is finished, whatever the learner is at by then, so that a program that is killed loses no
//! more than the games in progress.
//! A round is renamed when it is complete and never changed. Which rounds a game is learnt from again is worked out from
//! its number, so that nothing but games needs to be kept.

use crate::self_play::game::SelfPlayGame;
use dervish_env::chance::{SplitMix64, game_seed};
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The games of a run, round by round.
#[derive(Debug)]
pub struct Replay {
    folder: PathBuf,
    /// Complete rounds that are kept, the oldest first, without gaps.
    rounds: VecDeque<Vec<Arc<SelfPlayGame>>>,
    /// Number of the round that is being played.
    current: u64,
    open: Vec<Arc<SelfPlayGame>>,
    file: File,
    /// Bytes of its whole lines.
    length: u64,
    /// Whether half a line may stand behind them.
    is_torn: bool,
    games_per_round: usize,
    /// Rounds after its own from which a game may be learnt from again.
    window: usize,
    /// Times that a game is learnt from.
    uses: usize,
    taught: u64,
    taught_uses: usize,
    seed: u64,
}

/// How a [`Replay`] keeps its games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplaySettings {
    /// Games of a round, at least 1.
    pub games_per_round: usize,
    /// Rounds after its own from which a game may be learnt from again.
    pub window: usize,
    /// Times that a game is learnt from, at least 1.
    pub uses: usize,
    /// Games of teachers, the first of the run.
    pub taught: u64,
    /// Times that one of these is learnt from, at least 1.
    pub taught_uses: usize,
    /// Seed of the run.
    pub seed: u64,
}

/// Why games were not kept or not read.
#[derive(Debug, thiserror::Error)]
#[error("{path}{line}: {reason}", path = path.display(), line = line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ReplayError {
    /// The file at fault.
    pub path: PathBuf,
    /// The line at fault, from 1.
    pub line: Option<usize>,
    /// What is wrong with it.
    #[source]
    pub reason: ReplayFault,
}

/// What is wrong with a file of games.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not a game.
    #[error("not a game of self-play: {0}; take the file away to go on without its games")]
    Game(#[from] serde_json::Error),
    /// A round has other games than it should.
    #[error("{found} games, not {expected}; take the file away to go on without these games")]
    Count {
        /// Games of the file.
        found: usize,
        /// Games of a round.
        expected: usize,
    },
    /// A game stands in two rounds, or in one that is not its own.
    #[error("game {0} is of another round; take the file away to go on without its games")]
    Foreign(u64),
    /// All rounds are far from the one that the latest checkpoint goes on with.
    #[error("its latest games are of round {latest}, but the latest checkpoint goes on with round {next}")]
    Checkpoint {
        /// The latest round.
        latest: u64,
        /// The round to go on with.
        next: u64,
    },
    /// A round that no row of rounds leads to.
    #[error(
        "there are too few rounds between round {next} and this one; take the file away to go on without its games"
    )]
    Far {
        /// The round to go on with.
        next: u64,
    },
}

const OPEN: &str = "open.jsonl";
const PREFIX: &str = "round-";
const SUFFIX: &str = ".jsonl";

impl Replay {
    /// Opens the games in `folder`, which exists, to go on learning from round `next`: the round whose games have not been
    /// learnt from, or the first of these. Games of later rounds are there already if the run was killed after they were
    /// played. With `whole_rounds` the games of a round that was not finished are dropped.
    ///
    /// # Errors
    /// [`ReplayError`] with the file and the line that is no game, or with what does not belong to the run as it stands at
    /// round `next`: nothing is then deleted.
    pub fn open(folder: &Path, settings: ReplaySettings, next: u64, whole_rounds: bool) -> Result<Replay, ReplayError> {
        let ReplaySettings { games_per_round, window, uses, taught, taught_uses, seed } = settings;
        let path = folder.join(OPEN);
        let first = next.saturating_sub(window as u64);
        let mut rounds = VecDeque::new();
        let mut current = first;
        let numbers = round_numbers(folder)?;
        let end = end_of_row(folder, &numbers, next, first)?;
        let mut known = BTreeSet::new();
        while current < end {
            let path = round_file(folder, current);
            let games = read_round(&path, games_per_round)?;
            let planned = whole_rounds.then_some(current);
            check_numbers(&path, &games, planned, games_per_round, &mut known)?;
            rounds.push_back(shared(games));
            current += 1;
        }
        let kept = if whole_rounds { Vec::new() } else { read_open(&path)? };
        let mut kept: Vec<SelfPlayGame> = kept.into_iter().take(games_per_round).collect();
        check_numbers(&path, &kept, None, games_per_round, &mut known)?;
        // What a kill left that came between a checkpoint and the deletion of what is too old for it.
        for path in numbers.into_iter().filter(|&number| number < first).map(|number| round_file(folder, number)) {
            fs::remove_file(&path).map_err(|error| fault(&path, error))?;
        }
        if kept.len() == games_per_round {
            // A kill came between the last game of a round and its new name.
            let complete = round_file(folder, current);
            let lines = lines_of(&kept).map_err(|error| fault(&complete, error))?;
            dervish_env::persist::write_whole(&complete, &lines).map_err(|error| fault(&complete, error))?;
            rounds.push_back(shared(std::mem::take(&mut kept)));
            current += 1;
        }
        // What a kill cut off goes.
        let lines = lines_of(&kept).map_err(|error| fault(&path, error))?;
        dervish_env::persist::write_whole(&path, &lines).map_err(|error| fault(&path, error))?;
        let file = appended(&path).map_err(|error| fault(&path, error))?;
        let folder = folder.to_owned();
        Ok(Replay {
            folder,
            rounds,
            current,
            open: shared(kept),
            file,
            length: lines.len() as u64,
            is_torn: false,
            games_per_round,
            window,
            uses,
            taught,
            taught_uses,
            seed,
        })
    }

    /// Number of the round that is being played.
    pub fn current(&self) -> u64 {
        self.current
    }

    /// Games of that round so far.
    pub fn open_games(&self) -> usize {
        self.open.len()
    }

    /// The greatest number of a game that is kept.
    pub fn latest_number(&self) -> Option<u64> {
        self.rounds.iter().flatten().chain(&self.open).map(|game| game.number).max()
    }

    /// Adds a finished game to the round that is being played, on disk too. True if it completes the round, whose games
    /// are then to be had from [`Replay::lesson`].
    ///
    /// # Errors
    /// [`ReplayError`] if the disk takes no more, for example. A game whose line was not written is not kept, and what was
    /// written before is whole.
    pub fn push(&mut self, game: SelfPlayGame) -> Result<bool, ReplayError> {
        // A round that could not be completed when its last game came takes no other.
        if self.open.len() == self.games_per_round {
            self.complete()?;
        }
        self.append(&game).map_err(|error| fault(&self.folder.join(OPEN), error))?;
        self.open.push(Arc::new(game));
        if self.open.len() < self.games_per_round {
            return Ok(false);
        }
        self.complete()?;
        Ok(true)
    }

    /// Adds a line to the file of the round that is being played. Half a line that a full disk has left is cut off: what came
    /// behind it would be lost with it.
    fn append(&mut self, game: &SelfPlayGame) -> io::Result<()> {
        let mut line = serde_json::to_vec(game)?;
        line.push(b'\n');
        if self.is_torn {
            self.file.set_len(self.length)?;
            self.is_torn = false;
        }
        let written = self.file.write_all(&line);
        match written {
            Ok(()) => self.length += line.len() as u64,
            Err(_) => self.is_torn = self.file.set_len(self.length).is_err(),
        }
        written
    }

    /// Gives the file of the round that was being played its name, and begins another.
    fn complete(&mut self) -> Result<(), ReplayError> {
        let (path, complete) = (self.folder.join(OPEN), round_file(&self.folder, self.current));
        let finish = || -> io::Result<File> {
            self.file.sync_all()?;
            fs::rename(&path, &complete)?;
            appended(&path)
        };
        self.file = finish().map_err(|error| fault(&complete, error))?;
        self.length = 0;
        self.rounds.push_back(std::mem::take(&mut self.open));
        self.current += 1;
        Ok(())
    }

    /// The games to learn from in round `number`, which is complete: its own, then the older ones whose turn it is again.
    pub fn lesson(&self, number: u64) -> [Vec<Arc<SelfPlayGame>>; 2] {
        let own = self.round(number).unwrap_or_default();
        let older = (1..=self.window as u64).filter_map(|age| Some((age, self.round(number.checked_sub(age)?)?)));
        let again = older.flat_map(|(age, games)| games.iter().filter(move |game| self.again(game, age)));
        [own.to_vec(), again.cloned().collect()]
    }

    /// The file in which the game of this number is kept, if it is.
    pub fn file_of(&self, number: u64) -> Option<PathBuf> {
        let has = |games: &[Arc<SelfPlayGame>]| games.iter().any(|game| game.number == number);
        let round = self.rounds.iter().position(|games| has(games));
        let open = has(&self.open).then(|| self.folder.join(OPEN));
        round.map(|index| round_file(&self.folder, self.first() + index as u64)).or(open)
    }

    /// Deletes what is too old to be learnt from in round `next` and later. To be called once a checkpoint of `next` is there: a
    /// run that is killed goes on from its latest checkpoint and learns from the rounds after it again.
    ///
    /// # Errors
    /// [`ReplayError`] if a file cannot be deleted.
    pub fn forget_before(&mut self, next: u64) -> Result<(), ReplayError> {
        while self.rounds.len() > self.window && self.first() + (self.window as u64) < next {
            let path = round_file(&self.folder, self.first());
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fault(&path, error)),
                _ => self.rounds.pop_front(),
            };
        }
        Ok(())
    }

    fn first(&self) -> u64 {
        self.current - self.rounds.len() as u64
    }

    fn round(&self, number: u64) -> Option<&[Arc<SelfPlayGame>]> {
        let index = number.checked_sub(self.first())?;
        self.rounds.get(index as usize).map(Vec::as_slice)
    }

    /// Whether a game is learnt from again `age` rounds after its own: in one round less of the window than it is to be used,
    /// drawn without repetition.
    fn again(&self, game: &SelfPlayGame, age: u64) -> bool {
        let mut stream = SplitMix64::new(game_seed(self.seed ^ REPLAYED, game.number));
        // Selection sampling (Knuth 1969, algorithm 3.4.2 S).
        let uses = if game.number < self.taught { self.taught_uses } else { self.uses };
        let mut wanted = (uses - 1).min(self.window);
        for passed in 1..=age {
            let left = self.window as u64 - passed + 1;
            let chosen = stream.below(left as usize) < wanted;
            if passed == age {
                return chosen;
            }
            wanted -= usize::from(chosen);
        }
        false
    }
}

/// Keeps the draws of replayed games apart from the games' own streams.
const REPLAYED: u64 = 0x7265_706c_6179_6564;

fn shared(games: Vec<SelfPlayGame>) -> Vec<Arc<SelfPlayGame>> {
    games.into_iter().map(Arc::new).collect()
}

fn fault(path: &Path, error: io::Error) -> ReplayError {
    ReplayError { path: path.to_owned(), line: None, reason: error.into() }
}

fn round_file(folder: &Path, number: u64) -> PathBuf {
    folder.join(name_of_round(number))
}

fn name_of_round(number: u64) -> String {
    format!("{PREFIX}{number:08}{SUFFIX}")
}

fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn lines_of(games: &[SelfPlayGame]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for game in games {
        serde_json::to_writer(&mut lines, game)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Numbers of the complete rounds in `folder`, in no order. What has another name than a round gets is passed over.
fn round_numbers(folder: &Path) -> Result<Vec<u64>, ReplayError> {
    let read = || -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
            let number = number.and_then(|number| number.parse::<u64>().ok());
            numbers.extend(number.filter(|&number| name.to_str() == Some(name_of_round(number).as_str())));
        }
        Ok(numbers)
    };
    read().map_err(|error| fault(folder, error))
}

/// The number after the last round of a run that goes on with round `next` and still needs round `first`. A round that was taken
/// away is a round without games, but most are there; those of a run that has learnt from round `next` - 1 reach to it.
fn end_of_row(folder: &Path, numbers: &[u64], next: u64, first: u64) -> Result<u64, ReplayError> {
    let Some(&latest) = numbers.iter().max() else { return Ok(next) };
    let refused = |path, reason| Err(ReplayError { path, line: None, reason });
    if latest < next {
        // Where nothing is learnt from again, a kill may have come before the last round was deleted.
        return match first.saturating_sub(latest) > 1 {
            true => refused(folder.to_owned(), ReplayFault::Checkpoint { latest, next }),
            false => Ok(next),
        };
    }
    let waiting = numbers.iter().filter(|&&number| number >= next).count() as u64;
    match latest - next >= 2 * waiting {
        true => refused(round_file(folder, latest), ReplayFault::Far { next }),
        false => Ok(latest + 1),
    }
}

/// Refuses games of the file `path` of which one is `known` from another file or, where it is `planned` which round of so many
/// games they are, belongs to another round. All are then known.
fn check_numbers(
    path: &Path,
    games: &[SelfPlayGame],
    planned: Option<u64>,
    games_per_round: usize,
    known: &mut BTreeSet<u64>,
) -> Result<(), ReplayError> {
    let is_foreign = |number: u64| planned.is_some_and(|round| number / games_per_round as u64 != round);
    match games.iter().map(|game| game.number).find(|&number| is_foreign(number) || !known.insert(number)) {
        Some(number) => Err(ReplayError { path: path.to_owned(), line: None, reason: ReplayFault::Foreign(number) }),
        None => Ok(()),
    }
}

/// The latest games in `folder` that are `wanted`, the oldest first: those of the round that is being played, and of as many
/// whole rounds before it as it takes for `least` of them, or all. A program may be training meanwhile.
///
/// # Errors
/// [`ReplayError`] with the file and the line that is no game.
pub fn latest_games(
    folder: &Path,
    least: usize,
    wanted: impl Fn(&SelfPlayGame) -> bool,
) -> Result<Vec<SelfPlayGame>, ReplayError> {
    let mut next = round_numbers(folder)?.into_iter().max();
    let mut rounds = vec![read_open(&folder.join(OPEN))?];
    rounds[0].retain(&wanted);
    let mut count = rounds[0].len();
    // Rounds that are too old to be learnt from are gone.
    while let Some(number) = next.filter(|_| count < least)
        && let Some(mut games) = read_games(&round_file(folder, number))?
    {
        games.retain(&wanted);
        count += games.len();
        rounds.push(games);
        next = number.checked_sub(1);
    }
    Ok(rounds.into_iter().rev().flatten().collect())
}

/// The games of a complete round; none if its file is not there.
fn read_round(path: &Path, games_per_round: usize) -> Result<Vec<SelfPlayGame>, ReplayError> {
    let Some(games) = read_games(path)? else { return Ok(Vec::new()) };
    if games.len() == games_per_round {
        return Ok(games);
    }
    let reason = ReplayFault::Count { found: games.len(), expected: games_per_round };
    Err(ReplayError { path: path.to_owned(), line: None, reason })
}

/// The games of a file; `None` if it is not there.
fn read_games(path: &Path) -> Result<Option<Vec<SelfPlayGame>>, ReplayError> {
    let at = |line, reason| ReplayError { path: path.to_owned(), line, reason };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| at(None, error.into()))?,
    };
    let mut games = Vec::new();
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| at(Some(index + 1), error.into()))?;
        games.push(serde_json::from_str(&line).map_err(|error| at(Some(index + 1), error.into()))?);
    }
    Ok(Some(games))
}

/// The games of the round that was being played; a last line that was cut off is passed over.
fn read_open(path: &Path) -> Result<Vec<SelfPlayGame>, ReplayError> {
    let mut text = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.and_then(|mut file| file.read_to_end(&mut text)).map_err(|error| fault(path, error))?,
    };
    let complete = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let lines = text[..complete].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| ReplayError {
            path: path.to_owned(),
            line: Some(index + 1),
            reason: ReplayFault::Game(error),
        })
    };
    lines.enumerate().map(read).collect()
}
