//! What a pending decision or roll is about, beside its hex: the meaning of [`Pending::subject`] by kind of decision.
//!
//! [`Pending::subject`]: crate::dervish::decision::Pending::subject

use crate::dervish::campaign::Campaign;
use crate::dervish::catalogue::{Kind, Leader};
use crate::dervish::decision::Decision;

/// Units, a leader, or something else.
pub(super) enum Subject {
    /// Units of one kind and state; the flag too.
    Units { kind: Kind, disrupted: bool, marched: bool },
    /// A leader.
    Leader(Leader),
    /// Nothing, or a district, side or reinforcement.
    Other,
}

impl Subject {
    /// Of the pending decision or roll.
    pub(super) fn of(position: &Campaign) -> Subject {
        let subject = usize::from(position.pending.subject);
        let good = |kind| Subject::Units { kind, disrupted: false, marched: false };
        match position.pending.decision {
            Decision::SetupCount => good(Kind::at(subject)),
            // The line of a cohort: kind, disrupted, marched.
            Decision::GroupCount => {
                Subject::Units { kind: Kind::at(subject >> 2), disrupted: subject & 2 != 0, marched: subject & 1 != 0 }
            }
            Decision::GroupLeader
            | Decision::VesselLeader
            | Decision::AloneHex
            | Decision::SetupLeader
            | Decision::RollEscape => match Leader::ALL.get(subject) {
                Some(&leader) => Subject::Leader(leader),
                None => good(Kind::Flag),
            },
            Decision::VesselFlag | Decision::FlagHex | Decision::FlagRemove => good(Kind::Flag),
            Decision::RecruitHex | Decision::EventCount => good(Kind::MahdistSpearmen),
            Decision::SupplyChoice | Decision::SpoiltHex => good(Kind::Supply),
            Decision::RollGunboat => good([Kind::Gunboat, Kind::BritishGunboat][usize::from(subject == 1)]),
            _ => Subject::Other,
        }
    }
}
