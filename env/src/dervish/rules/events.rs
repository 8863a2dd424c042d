//! Random events (4): what each does, and what it asks.

use super::super::board::{Hex, PlaceKind};
use super::super::campaign::{Campaign, Favour, Phase, War};
use super::super::catalogue::{BRITISH_COMBAT, COMBAT, GUNBOATS, Kind, KindSet, LAND, Leader, Side};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::tables::Event;
use super::super::units::{Cohort, Status};
use super::march::Taken;

/// `dissension` (4.3): most combat units of the stack.
const MOST_DISSENTERS: u32 = 3;
/// `ethiopia_peace` (4.4): the Mahdists win on this or more of a D6.
const PEACE_WON_ON: u16 = 4;
/// Rifle-armed units that become Mahdist rifles when a garrison surrenders.
const RIFLES: KindSet = KindSet::of(&[Kind::RifleR, Kind::RifleL]);

/// Where the hexes come from among which an event lets choose.
enum Source {
    /// Hexes with units.
    Stacks,
    /// Hexes of places.
    Places,
    /// The hexes around Goz Regeb.
    AroundGozRegeb,
}

impl Campaign {
    /// Goes on with the event phase until something is pending or the phase is over.
    pub(crate) fn next_event(&mut self) {
        match self.stage {
            0 => {
                self.stage = 1;
                self.pending = Pending::at(Decision::RollEvent, Hex::NONE).about(self.active as u8);
            }
            1 => {
                self.continue_event();
                if self.pending.decision == Decision::None && self.events.amount == 0 {
                    self.stage = 2;
                }
            }
            2 => {
                self.stage = 3;
                self.events.current = None;
                if self.active == Side::Egyptian && self.events.in_play && !self.events.leaving {
                    self.pending = Pending::of(Decision::EventLeave);
                }
            }
            _ => self.begin_phase(Phase::Reinforcement),
        }
    }

    /// The rolled event begins.
    pub(crate) fn resolve_event(&mut self, d66: u16) {
        self.pending = Pending::NONE;
        let Some(event) = self.scenario.tables.event(self.scenario.events, self.active, d66 as u8) else { return };
        self.events.current = Some(event);
        let month = self.month();
        let winter = matches!(month, 11 | 12 | 1 | 2);
        match event {
            Event::PoorMorale => self.events.poor_morale = true,
            Event::Withdraw => {
                self.events.withdraw |= self.controls(Side::Mahdist, self.scenario.named.khartoum);
            }
            Event::Navy => self.navy_lands(),
            Event::FieldForce => self.field_force_comes(),
            Event::FieldForceAgain => {
                if !self.events.in_play {
                    self.field_force_comes();
                }
            }
            Event::FieldForceLeaves => self.events.leaving |= self.events.in_play,
            Event::Supply => self.supply_arrives(),
            Event::SpoiltBiscuits => self.events.spoilt_biscuits = true,
            Event::DryWeather => self.events.dry_weather = !winter,
            Event::GoodHarvest => self.events.good_harvest = winter,
            Event::ReligiousDisagreement => self.events.religious_disagreement = true,
            Event::PoorCommunications => self.events.poor_communications = true,
            Event::ElObeidShortage => self.shortage(self.scenario.named.el_obeid),
            Event::KhartoumShortage => self.shortage(self.scenario.named.khartoum),
            Event::Desertion | Event::LocalsDeclare => {
                if self.event_has_object(event) {
                    let roll = if event == Event::Desertion { Decision::RollEventDie } else { Decision::RollEventDice };
                    self.pending = Pending::of(roll);
                }
            }
            Event::EthiopiaWar => {
                if self.events.war == War::Never && self.scenario.named.goz_regeb.is_some() {
                    self.events.war = War::Now;
                    if self.event_has_object(event) {
                        self.pending = Pending::of(Decision::RollEventDice);
                    }
                }
            }
            Event::EthiopiaPeace => {
                if self.events.war == War::Now {
                    self.events.war = War::Over;
                    self.pending = Pending::of(Decision::RollEventDie);
                }
            }
            Event::GunboatSinks
            | Event::Dissension
            | Event::Urgency
            | Event::Training
            | Event::Boats
            | Event::Rifles
            | Event::GunShortage
            | Event::ReligiousFervour
            | Event::GarrisonSurrenders
            | Event::RifleShortage => {
                if self.event_has_object(event) {
                    self.pending = Pending::of(Decision::EventHex);
                }
            }
        }
    }

    /// Whether the event of a D66 would do anything here (4.2): ask, place or remove something, or leave something behind.
    pub fn event_has_effect(&self, d66: u16) -> bool {
        let mut after = *self;
        after.resolve_event(d66);
        let asks = after.pending != Pending::NONE;
        // That it was rolled is no effect of it.
        after.events.current = self.events.current;
        after.pending = self.pending;
        asks || after != *self
    }

    /// The D6 of `desertion` and `ethiopia_peace`.
    pub(crate) fn resolve_event_die(&mut self, die: u16) {
        self.pending = Pending::NONE;
        match self.events.current {
            Some(Event::Desertion) => self.events.amount = die as u8,
            _ if die >= PEACE_WON_ON => self.pending = Pending::of(Decision::RollEventDice),
            _ => {}
        }
    }

    /// The 2D6 of `ethiopia_war`, `ethiopia_peace` and `locals_declare`.
    pub(crate) fn resolve_event_dice(&mut self, sum: u16) {
        self.pending = Pending::NONE;
        self.events.amount = sum as u8;
    }

    /// Events that place or remove several units go on while they have units left and objects for them.
    fn continue_event(&mut self) {
        let Some(event) = self.events.current else { return };
        if self.events.amount == 0 {
            return;
        }
        if event == Event::EthiopiaPeace
            && let Some(goz_regeb) = self.goz_regeb()
            && !self.enemy_in(goz_regeb, Side::Mahdist)
        {
            self.peace_party(goz_regeb);
            return;
        }
        if self.event_has_object(event) {
            self.pending = Pending::of(Decision::EventHex).amount(self.events.amount);
        } else {
            self.events.amount = 0;
        }
    }

    fn goz_regeb(&self) -> Option<Hex> {
        self.scenario.named.goz_regeb.map(|p| self.scenario.board.places[p.0 as usize].hex)
    }

    /// Whether the war with Ethiopia holds the units of `hex` (4.4).
    fn held_by_war(&self, hex: Hex) -> bool {
        self.events.war == War::Now && self.goz_regeb() == Some(hex)
    }

    // ----- events without a choice -----

    fn navy_lands(&mut self) {
        let Some(souakim) = self.scenario.named.souakim else { return };
        // Nothing comes to a place that the enemy controls (5.1).
        if self.controls(Side::Mahdist, Some(souakim)) {
            return;
        }
        let hex = self.scenario.board.places[souakim.0 as usize].hex;
        if self.available(Kind::NavalInfantry) > 0 && !self.enemy_in(hex, Side::Egyptian) {
            self.units.add(Cohort::new(hex, Kind::NavalInfantry, false, Status::Fresh, 1));
            self.take_control(hex, Side::Egyptian);
            self.enter(hex, Side::Egyptian);
        }
        if self.available(Kind::Fleet) > 0 {
            self.units.add(Cohort::new(hex, Kind::Fleet, false, Status::Fresh, 1));
        }
    }

    fn field_force_comes(&mut self) {
        let souakim = self.scenario.named.souakim;
        let more = usize::from(self.events.field_forces) < self.scenario.field_forces.len();
        if souakim.is_some() && more && !self.controls(Side::Mahdist, souakim) {
            self.events.field_forces += 1;
            self.events.landing = true;
        }
    }

    fn supply_arrives(&mut self) {
        let Some(khartoum) = self.scenario.named.khartoum else { return };
        let hex = self.scenario.board.places[khartoum.0 as usize].hex;
        let nothing_comes = self.available(Kind::Supply) + self.available(Kind::Camel) == 0;
        // Nothing comes to a place that the enemy controls (5.1), nor is such a place besieged.
        if nothing_comes || self.controls(Side::Mahdist, Some(khartoum)) || self.enemy_in(hex, Side::Egyptian) {
            return;
        }
        if !self.besieged(hex, Side::Egyptian) {
            self.place_supply(hex);
        } else if self.event_has_object(Event::Supply) {
            self.pending = Pending::of(Decision::EventHex);
        }
    }

    fn place_supply(&mut self, hex: Hex) {
        for kind in [Kind::Supply, Kind::Camel] {
            if self.available(kind) > 0 {
                self.units.add(Cohort::new(hex, kind, false, Status::Fresh, 1));
            }
        }
        self.enter(hex, Side::Egyptian);
    }

    fn shortage(&mut self, place: Option<super::super::board::PlaceId>) {
        let Some(place) = place else { return };
        let hex = self.scenario.board.places[place.0 as usize].hex;
        let lines = self.units.at(hex).iter().any(|c| LAND.has(c.kind()) && c.kind() != Kind::Civilian);
        if lines {
            self.pending = Pending::at(Decision::EventLine, hex);
        }
    }

    /// `ethiopia_peace` won: so many units, one of them rifles, the others S, as far as available.
    fn peace_party(&mut self, hex: Hex) {
        let n = self.events.amount;
        self.events.amount = 0;
        let rifles = self.available(Kind::MahdistRifles).min(1);
        let spearmen = self.available(Kind::MahdistSpearmen).min(n - 1);
        self.units.add(Cohort::new(hex, Kind::MahdistRifles, false, Status::Fresh, rifles));
        self.units.add(Cohort::new(hex, Kind::MahdistSpearmen, false, Status::Fresh, spearmen));
        self.take_control(hex, Side::Mahdist);
        if rifles + spearmen > 0 {
            self.enter(hex, Side::Mahdist);
        }
    }

    // ----- choices -----

    /// Who decides an event (the owner of the stack for a shortage).
    pub(crate) fn event_decider(&self) -> Side {
        match self.events.current {
            Some(Event::GunboatSinks) => Side::Mahdist,
            Some(Event::ElObeidShortage | Event::KhartoumShortage) => {
                let owner = self.units.at(self.pending.hex).iter().find(|c| LAND.has(c.kind()));
                owner.map_or(self.active, |c| c.side())
            }
            _ => self.active,
        }
    }

    fn event_source(event: Event) -> Source {
        match event {
            Event::Supply | Event::LocalsDeclare => Source::Places,
            Event::EthiopiaPeace => Source::AroundGozRegeb,
            _ => Source::Stacks,
        }
    }

    /// Whether the player may decline (*may* in 4.3, "up to" in 4.4).
    fn event_may_decline(event: Event) -> bool {
        matches!(event, Event::Dissension | Event::Training | Event::LocalsDeclare)
    }

    fn event_has_object(&self, event: Event) -> bool {
        let mut found = false;
        let _ = self.event_hexes(event, &mut |_| {
            found = true;
            Taken::Break(())
        });
        found
    }

    fn event_hexes(&self, event: Event, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        match Self::event_source(event) {
            Source::Places => {
                for place in &self.scenario.board.places {
                    if self.event_hex_fits(event, place.hex) {
                        take(Order::Hex(place.hex))?;
                    }
                }
            }
            Source::AroundGozRegeb => {
                if let Some(hex) = self.goz_regeb() {
                    for n in self.scenario.board.cell(hex).neighbours {
                        if n.is_some() && self.event_hex_fits(event, n) {
                            take(Order::Hex(n))?;
                        }
                    }
                }
            }
            Source::Stacks if event == Event::Boats => return self.boat_hexes(take),
            Source::Stacks => {
                let mut last = Hex::NONE;
                for c in self.units.as_slice() {
                    if c.hex() != last {
                        last = c.hex();
                        if self.event_hex_fits(event, last) {
                            take(Order::Hex(last))?;
                        }
                    }
                }
            }
        }
        Taken::Continue(())
    }

    /// Hexes for `boats`: those of Mahdist stacks, then of his places without one.
    fn boat_hexes(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for hex in self.stacks(Side::Mahdist, COMBAT) {
            if self.event_hex_fits(Event::Boats, hex) {
                take(Order::Hex(hex))?;
            }
        }
        for place in &self.scenario.board.places {
            if !self.units.any(place.hex, Side::Mahdist, COMBAT) && self.event_hex_fits(Event::Boats, place.hex) {
                take(Order::Hex(place.hex))?;
            }
        }
        Taken::Continue(())
    }

    /// Whether an event can be applied to a hex (4.3, 4.4).
    fn event_hex_fits(&self, event: Event, hex: Hex) -> bool {
        let board = &self.scenario.board;
        if !board.is_land(hex) {
            return false;
        }
        let has = |kind: Kind| self.units.any(hex, kind.side(), kind.set());
        match event {
            Event::Supply => {
                board.place_kind(hex) == Some(PlaceKind::Town)
                    && self.controls_at(Side::Egyptian, hex)
                    && !self.enemy_in(hex, Side::Egyptian)
                    && !self.besieged(hex, Side::Egyptian)
            }
            Event::GunboatSinks => self.units.any(hex, Side::Egyptian, GUNBOATS),
            Event::Dissension => {
                let n = self.units.force(hex, Side::Mahdist, |_| true).count_of(COMBAT);
                (1..=MOST_DISSENTERS).contains(&n) && !self.has_leader(hex, Side::Mahdist) && !self.held_by_war(hex)
            }
            Event::Urgency => self.units.any(hex, Side::Egyptian, LAND),
            Event::ReligiousFervour => self.units.any(hex, Side::Mahdist, LAND),
            Event::Training => {
                (has(Kind::Levy) && self.available(Kind::RifleR) > 0)
                    || (has(Kind::RifleR) && self.available(Kind::RifleL) > 0)
            }
            Event::Desertion => self.units.any(hex, Side::Mahdist, COMBAT) && !self.held_by_war(hex),
            Event::EthiopiaWar => {
                self.units.any(hex, Side::Mahdist, COMBAT) && !board.cell(hex).extension && !self.held_by_war(hex)
            }
            Event::Boats => {
                let navigable =
                    board.cell(hex).reaches & (super::super::board::Reach::ALL | super::super::board::Reach::HIGH) != 0;
                let his = self.units.any(hex, Side::Mahdist, COMBAT)
                    || (self.controls_at(Side::Mahdist, hex) && !self.enemy_in(hex, Side::Mahdist));
                navigable && his && self.available(Kind::MahdistBoat) > 0
            }
            Event::Rifles => has(Kind::MahdistSpearmen) && self.available(Kind::MahdistRifles) > 0,
            // Without a counter for the S the unit is removed, which the war forbids.
            Event::RifleShortage => {
                has(Kind::MahdistRifles) && (self.available(Kind::MahdistSpearmen) > 0 || !self.held_by_war(hex))
            }
            Event::GunShortage => has(Kind::MahdistGun) && !self.held_by_war(hex),
            Event::GarrisonSurrenders => {
                self.units.any(hex, Side::Egyptian, LAND)
                    && board.cell(hex).place != self.scenario.named.khartoum
                    && !self.units.any(hex, Side::Egyptian, BRITISH_COMBAT)
                    && self.besieged(hex, Side::Egyptian)
                    && !self.held_by_war(hex)
            }
            Event::LocalsDeclare => {
                matches!(board.place_kind(hex), Some(PlaceKind::Town | PlaceKind::Oasis))
                    && !self.units.any(hex, Side::Egyptian, LAND)
                    && self.available(Kind::MahdistSpearmen) > 0
            }
            Event::EthiopiaPeace => {
                self.goz_regeb().is_some_and(|g| board.cell(g).neighbours.contains(&hex))
                    && !self.enemy_in(hex, Side::Mahdist)
            }
            _ => false,
        }
    }

    pub(crate) fn event_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some(event) = self.events.current else { return Taken::Continue(()) };
        self.event_hexes(event, take)?;
        if Self::event_may_decline(event) {
            take(Order::Verb(Verb::Done))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn event_hex_legal(&self, order: Order) -> bool {
        let Some(event) = self.events.current else { return false };
        match order {
            Order::Hex(hex) => self.event_hex_fits(event, hex),
            Order::Verb(Verb::Done) => Self::event_may_decline(event),
            _ => false,
        }
    }

    pub(crate) fn obey_event_hex(&mut self, order: Order) {
        let asked = self.pending;
        self.pending = Pending::NONE;
        let (Some(event), Order::Hex(hex)) = (self.events.current, order) else {
            self.events.amount = 0;
            return;
        };
        match event {
            Event::Supply => self.place_supply(hex),
            Event::Dissension => self.dissent(hex),
            Event::Urgency | Event::ReligiousFervour => {
                self.events.favoured = hex;
                self.events.favour = Favour::Named;
            }
            Event::Boats => self.units.add(Cohort::new(hex, Kind::MahdistBoat, false, Status::Fresh, 1)),
            Event::GarrisonSurrenders => self.surrender(hex),
            Event::LocalsDeclare => {
                self.pending = Pending::at(Decision::EventCount, hex).amount(asked.amount);
            }
            Event::EthiopiaPeace => self.peace_party(hex),
            _ => self.pending = Pending::at(Decision::EventLine, hex).amount(asked.amount),
        }
    }

    fn dissent(&mut self, hex: Hex) {
        let n = self.units.force(hex, Side::Mahdist, |_| true).count_of(COMBAT) as u8;
        self.units.change_at(hex, |c| (c.side() != Side::Mahdist).then_some(c));
        let levies = self.available(Kind::Levy).min(n);
        self.units.add(Cohort::new(hex, Kind::Levy, false, Status::Fresh, levies));
        self.take_control(hex, Side::Egyptian);
    }

    /// `garrison_surrenders`: per combat unit one Mahdist unit of the same weapon, S where it lacks.
    fn surrender(&mut self, hex: Hex) {
        let force = self.units.force(hex, Side::Egyptian, |_| true);
        self.eliminate(hex, Side::Egyptian, |_| true);
        let mut lacking = 0;
        let exchange = [
            (force.count(Kind::Levy), Kind::MahdistSpearmen),
            (force.count_of(RIFLES), Kind::MahdistRifles),
            (force.count(Kind::EgyptianGun), Kind::MahdistGun),
            (force.count(Kind::EgyptianCavalry), Kind::MahdistCavalry),
        ];
        for (n, kind) in exchange {
            let placed = (n as u8).min(self.available(kind));
            self.units.add(Cohort::new(hex, kind, false, Status::Fresh, placed));
            lacking += n as u8 - placed;
        }
        let spearmen = lacking.min(self.available(Kind::MahdistSpearmen));
        self.units.add(Cohort::new(hex, Kind::MahdistSpearmen, false, Status::Fresh, spearmen));
        // Leaders as 6.2, gunboats and boats as 8.12, even if no counter is left to take the place over.
        for leader in Leader::ALL {
            if leader.side() == Side::Egyptian && self.leaders[leader.index()].hex == hex {
                self.escaping |= 1 << leader.index();
            }
        }
        self.lose_vessels(hex, Side::Egyptian);
        self.take_control(hex, Side::Mahdist);
    }

    // ----- units of the chosen hex -----

    fn event_line_fits(&self, c: Cohort) -> bool {
        let Some(event) = self.events.current else { return false };
        let kind = c.kind();
        match event {
            Event::GunboatSinks => GUNBOATS.has(kind),
            Event::Training => {
                (kind == Kind::Levy && self.available(Kind::RifleR) > 0)
                    || (kind == Kind::RifleR && self.available(Kind::RifleL) > 0)
            }
            Event::ElObeidShortage | Event::KhartoumShortage => LAND.has(kind) && kind != Kind::Civilian,
            Event::Desertion | Event::EthiopiaWar => c.side() == Side::Mahdist && COMBAT.has(kind),
            Event::Rifles => kind == Kind::MahdistSpearmen,
            Event::RifleShortage => kind == Kind::MahdistRifles,
            Event::GunShortage => kind == Kind::MahdistGun,
            _ => false,
        }
    }

    pub(crate) fn event_line_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for &c in self.units.at(self.pending.hex) {
            if self.event_line_fits(c) {
                take(Order::Line { kind: c.kind(), disrupted: c.disrupted() })?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn event_line_legal(&self, kind: Kind, disrupted: bool) -> bool {
        self.units
            .at(self.pending.hex)
            .iter()
            .any(|c| c.kind() == kind && c.disrupted() == disrupted && self.event_line_fits(*c))
    }

    pub(crate) fn obey_event_line(&mut self, kind: Kind, disrupted: bool) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        let Some(event) = self.events.current else { return };
        let unit = Cohort::new(hex, kind, disrupted, Status::Fresh, 1);
        self.units.remove(unit);
        match event {
            Event::GunboatSinks => {
                self.sinking[usize::from(kind == Kind::BritishGunboat)] += 1;
                self.sinking_at = hex;
            }
            Event::Training => {
                let better = if kind == Kind::Levy { Kind::RifleR } else { Kind::RifleL };
                self.units.add(unit.with_kind(better));
            }
            Event::Rifles => self.units.add(unit.with_kind(Kind::MahdistRifles)),
            // Without a counter for the S the unit is lost (4.4).
            Event::RifleShortage if self.available(Kind::MahdistSpearmen) > 0 => {
                self.units.add(unit.with_kind(Kind::MahdistSpearmen));
            }
            Event::Desertion | Event::EthiopiaWar => self.events.amount -= 1,
            _ => {}
        }
        self.drop_lone_flag(hex);
    }

    pub(crate) fn event_count_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for n in 1..=self.pending.amount.min(self.available(Kind::MahdistSpearmen)) {
            take(Order::Count(n))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn event_count_legal(&self, n: u8) -> bool {
        n > 0 && n <= self.pending.amount && n <= self.available(Kind::MahdistSpearmen)
    }

    pub(crate) fn obey_event_count(&mut self, n: u8) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        self.events.amount -= n;
        self.units.add(Cohort::new(hex, Kind::MahdistSpearmen, false, Status::Fresh, n));
        self.take_control(hex, Side::Mahdist);
        self.enter(hex, Side::Mahdist);
    }

    /// Rule 6.4, for towns, and for villages and oases where `garrison_surrenders` asks: whether a good-order enemy
    /// land unit other than camel or supply is adjacent to `hex`, across a river too. Souakim is never besieged by
    /// Mahdists.
    pub fn besieged(&self, hex: Hex, owner: Side) -> bool {
        const BESIEGERS: KindSet = COMBAT.or(Kind::Civilian.set());
        let place = self.scenario.board.cell(hex).place;
        if place.is_none() || (owner == Side::Egyptian && place == self.scenario.named.souakim) {
            return false;
        }
        self.adjacent_good(hex, owner.other(), BESIEGERS)
    }
}
