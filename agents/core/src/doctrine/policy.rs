//! Doctrine as a policy: a prior for searches, and what plays their rollouts.

use crate::doctrine::Doctrine;
use crate::policy::Policy;
use dervish_env::chance;
use dervish_env::dervish::Campaign;
use dervish_env::game::Action;

/// The scripted agent's scores as probabilities.
#[derive(Clone, Debug)]
pub struct DoctrinePolicy {
    doctrine: Doctrine,
    scored: Vec<(Action, f32)>,
}

/// What all actions together keep of the probability whatever their scores, so that a search can find doctrine wrong.
const SHARED: f32 = 0.2;

/// The difference between two scores, in points, at which the better action is e times as probable.
const TEMPERATURE: f32 = 0.25;

impl DoctrinePolicy {
    /// The policy of this agent.
    pub fn new(doctrine: Doctrine) -> DoctrinePolicy {
        DoctrinePolicy { doctrine, scored: Vec::new() }
    }
}

impl Policy<Campaign> for DoctrinePolicy {
    /// A softmax of the scores, mixed with equal probabilities.
    fn priors_into(&mut self, position: &Campaign, legal: &[Action], priors: &mut Vec<f32>) {
        self.doctrine.score_into(position, &mut self.scored);
        debug_assert!(self.scored.iter().map(|(action, _)| action).eq(legal), "scores are those of the legal actions");
        let best = self.scored.iter().map(|(_, score)| *score).fold(f32::MIN, f32::max);
        priors.clear();
        priors.extend(self.scored.iter().map(|(_, score)| ((score - best) / TEMPERATURE).exp()));
        let sum: f32 = priors.iter().sum();
        let equal = SHARED / legal.len() as f32;
        priors.iter_mut().for_each(|prior| *prior = (1.0 - SHARED) * *prior / sum + equal);
    }

    /// What the agent would play; `word` chooses among equals.
    fn choose(&mut self, position: &Campaign, _legal: &[Action], word: u64) -> usize {
        self.doctrine.score_into(position, &mut self.scored);
        let best = self.scored.iter().map(|(_, score)| *score).fold(f32::MIN, f32::max);
        let is_best = |score: f32| score >= best - super::EQUAL;
        let equals = self.scored.iter().filter(|(_, score)| is_best(*score)).count();
        let chosen = chance::below(word, equals as u32) as usize;
        let mut equals = self.scored.iter().enumerate().filter(|(_, (_, score))| is_best(*score));
        equals.nth(chosen).map_or(0, |(index, _)| index)
    }

    fn duplicate(&self) -> Box<dyn Policy<Campaign>> {
        Box::new(self.clone())
    }
}
