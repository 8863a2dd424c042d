//! What a position waits for: the kinds of decision and of roll, each with the rule that asks for it.

use super::board::Hex;

macro_rules! decisions {
    ($($(#[$doc:meta])* $variant:ident $id:literal),* $(,)?) => {
        /// A kind of pending decision or roll.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum Decision { $($(#[$doc])* #[serde(rename = $id)] $variant),* }
        impl Decision {
            /// All of them, in order.
            pub const ALL: &'static [Decision] = &[$(Decision::$variant),*];
            /// Stable name.
            pub const fn id(self) -> &'static str { match self { $(Decision::$variant => $id),* } }
        }
    };
}
decisions! {
    /// Nothing yet: the machine has still to find the next one. Never seen from outside.
    None "none",
    /// The game is over.
    Finished "finished",

    /// Mahdist: a hex of the set-up region (2.7).
    SetupHex "setup_hex",
    /// Mahdist: how many units of a kind in that hex (2.7).
    SetupCount "setup_count",
    /// Mahdist: which hex of the region the leader joins (2.7).
    SetupLeader "setup_leader",

    /// Egyptian: play `field_force_leaves` of his own will (4.3)?
    EventLeave "event_leave",
    /// A hex for the event at hand (4.3, 4.4).
    EventHex "event_hex",
    /// A unit of the chosen hex for the event at hand.
    EventLine "event_line",
    /// How many units in the chosen hex (`locals_declare`).
    EventCount "event_count",

    /// Egyptian: do the Egyptian units and train of this hex leave with the field force (4.3)?
    LeaveHex "leave_hex",
    /// The hex for a scheduled reinforcement (5.1).
    ArriveHex "arrive_hex",
    /// Egyptian: how many hexes of railway to build (8.9).
    RailCount "rail_count",
    /// Egyptian: take the flag off (12.3)?
    FlagRemove "flag_remove",
    /// Egyptian: where to show the flag (12.1).
    FlagHex "flag_hex",
    /// Mahdist: where the recruits of a district gather (5.2).
    RecruitHex "recruit_hex",

    /// A hex with something to move or to attack with, or the end of the phase (8.1).
    MarchHex "march_hex",
    /// A quick pick, or what else to do there (8.1).
    MarchPick "march_pick",
    /// How many units of a line join the group (8.1).
    GroupCount "group_count",
    /// Does this leader join the group (8.1)?
    GroupLeader "group_leader",
    /// What the group does: roll, attack, go by sea, halt (8.2, 8.5, 8.8).
    GroupOrder "group_order",
    /// Where the group marches (8.2).
    GroupHex "group_hex",
    /// Which kind of vessel sails (8.7).
    VesselKind "vessel_kind",
    /// Which unit it loads next (8.7).
    VesselLoad "vessel_load",
    /// Does this leader go aboard (8.7)?
    VesselLeader "vessel_leader",
    /// Does the flag go aboard (8.7)?
    VesselFlag "vessel_flag",
    /// Where the vessel stops (8.7).
    VesselHex "vessel_hex",
    /// Which leader moves alone (8.10).
    AloneLeader "alone_leader",
    /// Where he goes (8.10).
    AloneHex "alone_hex",

    /// The marching player's use of a leader (9.2).
    LeaderMarching "leader_marching",
    /// The other player's use of a leader (9.2).
    LeaderDefending "leader_defending",
    /// Where the loser retreats (9.9).
    RetreatHex "retreat_hex",
    /// Does the marching player advance (9.9)?
    Advance "advance",

    /// Egyptian: the supply unit that spoilt biscuits cost (4.3), by hex.
    SpoiltHex "spoilt_hex",
    /// Draw on supply, or roll (10.1).
    SupplyChoice "supply_choice",

    /// D66 for the event (4.1).
    RollEvent "roll_event",
    /// D6 of an event: how many desert, or who wins the war (4.4).
    RollEventDie "roll_event_die",
    /// 2D6 of an event: how many units (4.4).
    RollEventDice "roll_event_dice",
    /// 2D6 for a gunboat: doubles sink it, else it is out for so many turns (9.11).
    RollGunboat "roll_gunboat",
    /// D6 for a leader: escapes on 4-6 (6.2).
    RollEscape "roll_escape",
    /// D6 for the recruits of a district (5.2).
    RollRecruits "roll_recruits",
    /// D6 for the march of a group (8.31).
    RollMarch "roll_march",
    /// 2D6: the marching side tests under fire (9.3).
    RollFireMarching "roll_fire_marching",
    /// 2D6: the other side tests under fire (9.3).
    RollFireDefending "roll_fire_defending",
    /// 2D6: the marching side tests in melee (9.3).
    RollMeleeMarching "roll_melee_marching",
    /// 2D6: the other side tests in melee (9.3).
    RollMeleeDefending "roll_melee_defending",
    /// D6 for attrition (10.3).
    RollAttrition "roll_attrition",
    /// 2D6 for recovery (11.1).
    RollRecovery "roll_recovery",
}

/// The dice of a pending roll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiceKind {
    /// One D6: outcomes 1-6.
    D6,
    /// The sum of two D6: outcomes 2-12.
    TwoD6,
    /// D66 read in bands of three: outcomes 11, 14, 21, ... 64, each of weight 3.
    D66,
    /// Two D6 of which doubles matter: outcome 0 for doubles, else the sum 3-11.
    TwoD6Doubles,
}

impl Decision {
    /// Whether it is a roll.
    #[inline]
    pub const fn is_roll(self) -> bool {
        self as u8 >= Decision::RollEvent as u8
    }

    /// Whether the dice say which event comes, or what one amounts to (4).
    pub const fn is_event_roll(self) -> bool {
        matches!(self, Decision::RollEvent | Decision::RollEventDie | Decision::RollEventDice)
    }

    /// The dice of a roll.
    pub const fn dice(self) -> Option<DiceKind> {
        Some(match self {
            Decision::RollEvent => DiceKind::D66,
            Decision::RollGunboat => DiceKind::TwoD6Doubles,
            Decision::RollEventDie
            | Decision::RollEscape
            | Decision::RollRecruits
            | Decision::RollMarch
            | Decision::RollAttrition => DiceKind::D6,
            Decision::RollEventDice
            | Decision::RollFireMarching
            | Decision::RollFireDefending
            | Decision::RollMeleeMarching
            | Decision::RollMeleeDefending
            | Decision::RollRecovery => DiceKind::TwoD6,
            _ => return None,
        })
    }

    /// The rule number, without dots, that keys the dice of a roll, so that paired games share them.
    pub const fn rule(self) -> u16 {
        match self {
            Decision::RollEvent => 410,
            Decision::RollEventDie => 440,
            Decision::RollEventDice => 441,
            Decision::RollGunboat => 911,
            Decision::RollEscape => 620,
            Decision::RollRecruits => 520,
            Decision::RollMarch => 831,
            Decision::RollFireMarching => 930,
            Decision::RollFireDefending => 931,
            Decision::RollMeleeMarching => 932,
            Decision::RollMeleeDefending => 933,
            Decision::RollAttrition => 1030,
            Decision::RollRecovery => 1110,
            _ => 0,
        }
    }
}

/// The pending node: its kind and what it is about. Fields that a kind does not use hold their neutral value, so that
/// equal positions have equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// Kind.
    pub decision: Decision,
    /// The hex it is about, or [`Hex::NONE`].
    pub hex: Hex,
    /// The line (kind and order), leader, district, side or reinforcement it is about; 0 if unused.
    pub subject: u8,
    /// Units still to be placed, removed or loaded; 0 if unused.
    pub amount: u8,
}

impl Pending {
    /// Nothing.
    pub const NONE: Pending = Pending::of(Decision::None);
    /// A decision about nothing in particular.
    pub const fn of(decision: Decision) -> Pending {
        Pending { decision, hex: Hex::NONE, subject: 0, amount: 0 }
    }
    /// A decision about a hex.
    pub const fn at(decision: Decision, hex: Hex) -> Pending {
        Pending { decision, hex, subject: 0, amount: 0 }
    }
    /// The same about a line, leader, district or reinforcement.
    pub const fn about(mut self, subject: u8) -> Pending {
        self.subject = subject;
        self
    }
    /// The same with a number of units.
    pub const fn amount(mut self, amount: u8) -> Pending {
        self.amount = amount;
        self
    }
}
