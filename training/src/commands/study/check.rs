//! What is held against a study file before anything is made or printed: that its matches can be played, and that a document
//! tells of no others.

use super::training::is_trained_here;
use super::{StudyArgs, in_file, in_its_game, options};
use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::match_play::Match;
use crate::arena::study::document::{StudyDocument, StudyMatch};
use crate::arena::study::file::{PlannedMatch, StudyFile};
use crate::commands::CommandError;
use crate::commands::match_keeping::identity_of;
use crate::games::GameVisitor;
use dervish_agents::registry::{Registry, split_spec};
use dervish_env::encode::PolicyEncoder;
use std::path::Path;

/// Refuses a study of which a match cannot be played, or stands in it twice. Networks that it trains may not be there yet, so
/// that their matches are looked at again when they are.
///
/// # Errors
/// [`CommandError`], with the line of the match.
pub(super) fn check_matches(args: &StudyArgs, study: &StudyFile) -> Result<(), CommandError> {
    let mut known: Vec<(usize, StudyMatch)> = Vec::new();
    for planned in &study.matches {
        if let Some(prepared) = in_its_game(study, planned, Preparation { args, study, planned })? {
            refuse_twin(study, planned, &prepared, known.iter().map(|(line, of)| (*line, of)))?;
            known.push((planned.line, prepared));
        }
    }
    Ok(())
}

/// Refuses a match that is one of those above it, which are given with their lines, also with A and B exchanged: these have the
/// same dice, and a file of results takes but one of them.
///
/// # Errors
/// [`CommandError`], with both lines.
pub(super) fn refuse_twin<'m>(
    study: &StudyFile,
    planned: &PlannedMatch,
    prepared: &StudyMatch,
    above: impl Iterator<Item = (usize, &'m StudyMatch)>,
) -> Result<(), CommandError> {
    let exchanged = prepared.exchanged();
    for (line, of) in above {
        let reason = if of.is_same_match(prepared) {
            format!("the same match as on line {line}")
        } else if of.is_same_match(&exchanged) {
            format!("the match on line {line} with A and B exchanged, on the same dice; give another seed")
        } else {
            continue;
        };
        return Err(study.fault(planned.line, reason).into());
    }
    Ok(())
}

/// Prepares a match without playing it; `None` if it is one of a network that the study trains.
struct Preparation<'a> {
    args: &'a StudyArgs,
    study: &'a StudyFile,
    planned: &'a PlannedMatch,
}

impl GameVisitor for Preparation<'_> {
    type Output = Result<Option<StudyMatch>, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let Preparation { args, study, planned } = self;
        let options = options(&start, planned, args.threads).map_err(|error| in_file(study, planned, &error))?;
        let agents = agents_of(&start, encoder);
        let mut prepared = Vec::new();
        for spec in planned.agents.iter().filter(|spec| !is_trained_here(args, study, spec)) {
            prepared.push(agents.factory(spec).map_err(|error| in_file(study, planned, &error.into()))?);
        }
        let [a, b] = &prepared[..] else { return Ok(None) };
        let to_play = Match { start: &start, agents: [a, b], options, sprt: planned.sprt, value: None };
        Ok(Some(StudyMatch::of(identity_of(&to_play), u64::from(planned.games), None)))
    }
}

/// Refuses a document that tells of matches which the study file does not ask for, or not so: with another seed, number of games,
/// bound, test or agent. By which rules they were played is told with them.
///
/// # Errors
/// [`CommandError`]: such a match, or a scenario that cannot be read.
pub(super) fn refuse_other_matches(
    study: &StudyFile,
    file: &Path,
    document: &StudyDocument,
) -> Result<(), CommandError> {
    for told in &document.matches {
        let alike =
            |planned: &&PlannedMatch| (planned.seed, u64::from(planned.games)) == (told.seed, told.games_requested);
        let mut asked_for = false;
        for planned in study.matches.iter().filter(alike) {
            asked_for = asked_for || in_its_game(study, planned, Comparison { study, planned, told })?;
        }
        if !asked_for {
            let ([a, b], games, seed) = (&told.agents, told.games_requested, told.seed);
            let reason = format!(
                "tells of a match of {a} against {b} ({games} games, seed {seed}) that {} does not ask for; play the study, or \
                 remove the document to begin anew",
                study.file
            );
            return Err(CommandError::File { file: file.display().to_string(), reason });
        }
    }
    Ok(())
}

/// Whether a match of the study file is the one that a document tells of.
struct Comparison<'a> {
    study: &'a StudyFile,
    planned: &'a PlannedMatch,
    told: &'a StudyMatch,
}

impl GameVisitor for Comparison<'_> {
    type Output = Result<bool, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, _: E) -> Self::Output {
        let Comparison { study, planned, told } = self;
        let options = options(&start, planned, None).map_err(|error| in_file(study, planned, &error))?;
        let identity = start.identity();
        // The test stands in the document with its first pair.
        let same_test = told.games() == 0 || told.sprt.map(|test| test.plan) == planned.sprt;
        // Nothing is started or loaded to print a table, so these are the agents that come with the game.
        let agents = P::agents();
        Ok((&identity.game, &identity.scenario) == (&told.identity.game, &told.identity.scenario)
            && (told.limits, told.max_decisions) == (options.limits, options.max_decisions)
            && same_test
            && planned.agents.iter().zip(&told.agents).all(|(asked, told)| is_same_agent(&agents, asked, told)))
    }
}

/// Whether the agent that is asked for has the spec that is told. Of an agent that is a program or a network, or that is not
/// there any more, all that is asked must be told.
fn is_same_agent<P: ArenaGame>(agents: &Registry<P>, asked: &str, told: &str) -> bool {
    match (agents.factory(asked), agents.factory(told)) {
        (Ok(asked), Ok(told)) => asked.spec() == told.spec(),
        _ => {
            let (asked, told) = (split_spec(asked), split_spec(told));
            asked.0 == told.0 && asked.1.iter().all(|item| told.1.iter().any(|told| says(told, item)))
        }
    }
}

/// Whether an option of a spec is that which is asked for; its number may be written otherwise, and its name be left out.
fn says(told: &str, asked: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    match (told.split_once('='), asked.split_once('=')) {
        (Some((known, told)), Some((option, asked))) => {
            known == option && (told == asked || number(told).is_some_and(|told| number(asked) == Some(told)))
        }
        (Some((_, told)), None) => told == asked,
        (None, _) => told == asked,
    }
}
