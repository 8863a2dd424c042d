//! The map of the Sudan, read by hand from `map.toml`: neighbours by the formula of its header, hexsides from its lists.

use dervish_env::dervish::board::{Board, CELLS, Ground, Hex, PlaceKind, Reach, Relief};
use dervish_env::dervish::data_file::DataError;
use dervish_env::dervish::map_file::MapFile;

const TEXT: &str = include_str!("../../../env/data/dervish/map.toml");

fn hex(name: &str) -> Hex {
    Hex::parse(name).unwrap()
}

fn of_place(board: &Board, name: &str) -> Hex {
    board.places[usize::from(board.place_named(name).unwrap().0)].hex
}

#[test]
fn neighbours_follow_the_formula_of_the_header() {
    let board = MapFile::builtin().whole();
    // An odd row is shifted east, an even one is not: E, SE, SW, W, NW, NE.
    let expected = [
        ("0349", ["0449", "0450", "0350", "0249", "0348", "0448"]),
        ("1732", ["1832", "1733", "1633", "1632", "1631", "1731"]),
    ];
    for (at, around) in expected {
        assert_eq!(board.cell(hex(at)).neighbours, around.map(hex), "{at}");
    }
    // 0046 is the westernmost hex of its even row: nothing to the west, and row 45 has (c-1) = -1.
    assert_eq!(board.cell(hex("0046")).neighbours.map(Hex::is_some), [true, true, false, false, false, true]);
}

#[test]
fn distances_between_places() {
    let board = MapFile::builtin().whole();
    // q = column - row / 2, r = row: El Obeid (-21, 49), Khartoum (1, 32): max(22, 17, 5).
    // Berber (19, 14) and Souakim (43, 6): 24, which is also the length of the railway.
    // El Obeid and Bara (-19, 46): max(2, 3, 1). Souakim and Trinkitat (44, 10): max(1, 4, 5).
    for (a, b, distance) in
        [("El Obeid", "Khartoum", 22), ("Berber", "Souakim", 24), ("El Obeid", "Bara", 3), ("Souakim", "Trinkitat", 5)]
    {
        assert_eq!(Board::distance(of_place(board, a), of_place(board, b)), distance, "{a}-{b}");
    }
    assert_eq!(board.railway.len(), 25);
    assert_eq!((board.cell(hex("4606")).rail, board.cell(hex("2614")).rail), (0, 24));
    assert_eq!(board.cell(hex("4706")).rail, 255);
}

#[test]
fn ground_districts_places_and_coast() {
    let map = MapFile::builtin();
    let board = map.whole();
    let kinds = ["kordofan", "white_nile", "gezira", "nile", "dongola", "taka", "beja"];
    assert_eq!(board.districts, kinds);
    // Letters at the hex in the three layers: terrain, district, region.
    let expected = [
        ("1732", Ground::Cultivated, Relief::Flat, "gezira", false),
        ("0349", Ground::Clear, Relief::Flat, "kordofan", false),
        ("4308", Ground::Desert, Relief::Hills, "beja", true),
        ("4208", Ground::Desert, Relief::Mountain, "beja", true),
        ("4606", Ground::Desert, Relief::Flat, "beja", true),
        ("2614", Ground::Cultivated, Relief::Flat, "nile", false),
        ("1726", Ground::Desert, Relief::Flat, "nile", false),
    ];
    for (name, ground, relief, district, extension) in expected {
        let cell = board.cell(hex(name));
        assert_eq!((cell.ground, cell.relief, cell.extension), (ground, relief, extension), "{name}");
        assert_eq!(kinds[usize::from(cell.district)], district, "{name}");
    }
    assert_eq!(board.cell(hex("4706")).ground, Ground::Sea);
    assert_eq!(board.cell(hex("4706")).district, 255);
    assert_eq!(board.cell(hex("0000")).ground, Ground::Off);
    let towns: Vec<&str> = board.places.iter().filter(|p| p.kind == PlaceKind::Town).map(|p| p.name.as_str()).collect();
    let expected =
        ["Khartoum", "El Obeid", "Bara", "Berber", "Souakim", "Dongola", "Kassala", "Sennar", "Metemmeh", "Duem"];
    assert_eq!(towns, expected);
    assert_eq!(board.places.len(), 49);
    let ports: Vec<&str> = board.places.iter().filter(|p| p.port).map(|p| p.name.as_str()).collect();
    assert_eq!(ports, ["Souakim", "Trinkitat"]);
    // 1.7: an alias is a name too.
    assert_eq!(board.place_named("Suakin"), board.place_named("Souakim"));
    let coast = (0..CELLS).map(|i| Hex(i as u16)).filter(|&h| board.is_land(h) && board.cell(h).coast).count();
    assert_eq!(coast, 13);
    let entries: Vec<(&str, usize)> = board.entries.iter().map(|e| (e.id.as_str(), e.hexes.len())).collect();
    assert_eq!(entries, [("wadi_halfa", 2), ("korosko", 4), ("darfur", 6)]);
}

const E: u8 = 1;
const SE: u8 = 2;
const SW: u8 = 4;
const W: u8 = 8;
const NW: u8 = 16;
const NE: u8 = 32;

#[test]
fn rivers_of_a_hex() {
    let board = MapFile::builtin().whole();
    // White Nile 1633/NE, 1632/E, 1631/SE and Blue Nile 1732/E, 1732/NE: all of Khartoum but SE.
    assert_eq!(board.cell(hex("1732")).rivers, E | SW | W | NW | NE);
    assert_eq!(board.cell(hex("1732")).reaches, Reach::ALL);
    // Goz Regeb: Atbara 3529/E, 3529/NE and 3529/SE, one bank only.
    let goz_regeb = board.cell(hex("3529"));
    assert_eq!((goz_regeb.rivers, goz_regeb.atbara, goz_regeb.reaches), (E | SE | NE, E | SE | NE, Reach::NONE));
    // Ed Damer: Nile 2517/E in the west, Atbara 2617/E, 2617/NE, 2617/NW.
    let damer = board.cell(hex("2617"));
    assert_eq!((damer.rivers, damer.atbara, damer.reaches), (E | NE | NW | W, E | NE | NW, Reach::ALL | Reach::NONE));
    // Sennar: 2347/E is the end of the high reach, 2347/NE the beginning of the open one.
    assert_eq!(board.cell(hex("2347")).reaches, Reach::ALL | Reach::HIGH);
    assert_eq!(board.cell(hex("0349")).rivers, 0);
}

/// 8.7: a vessel goes where the two hexes touch hexsides that are the same or meet.
#[test]
fn ways_of_vessels() {
    let board = MapFile::builtin().whole();
    let way = |from: &str, to: &str| {
        let cell = board.cell(hex(from));
        cell.water[cell.neighbours.iter().position(|&n| n == hex(to)).unwrap()]
    };
    // At the meeting of the Niles every neighbour of Khartoum is reached: 1733 because its 1733/NE meets 1732/E, the
    // others across a river hexside of Khartoum.
    assert_eq!(board.cell(hex("1732")).water, [Reach::ALL; 6]);
    // The gorge of Shabluka (1727/SE to 1826/E) at high Nile only, from the open reaches at both its ends too.
    assert_eq!(way("1728", "1727"), Reach::HIGH);
    assert_eq!(way("1727", "1826"), Reach::HIGH);
    assert_eq!(way("1826", "1825"), Reach::HIGH);
    assert_eq!(way("1825", "1826"), Reach::HIGH);
    // Past the third cataract (0402/E) never; below it 0402 and 0403 share the open 0402/SE.
    assert_eq!(way("0402", "0502"), Reach::NONE);
    assert_eq!(way("0402", "0403"), Reach::ALL | Reach::NONE);
    // Along the Atbara never.
    assert_eq!(way("3529", "3629"), Reach::NONE);
    // 0349 is far from any river.
    assert_eq!(board.cell(hex("0349")).water, [0; 6]);
    // 1631 and 1531 are neighbours, but 1531 touches no river.
    assert_eq!(way("1631", "1531"), 0);
}

#[test]
fn a_way_of_vessels_goes_both_ways() {
    let board = MapFile::builtin().whole();
    for (i, cell) in board.cells.iter().enumerate() {
        for (direction, &next) in cell.neighbours.iter().enumerate().filter(|(_, next)| next.is_some()) {
            let back = board.cell(next);
            let opposite = (direction + 3) % 6;
            assert_eq!(back.neighbours[opposite], Hex(i as u16));
            assert_eq!(back.water[opposite], cell.water[direction]);
            assert_eq!(back.rivers >> opposite & 1, cell.rivers >> direction & 1);
        }
    }
}

#[test]
fn a_restricted_map_knows_nothing_outside() {
    let map = MapFile::builtin();
    let mut inside = vec![false; CELLS];
    // Souakim, Handub and the sea hex off Souakim.
    for name in ["4606", "4506", "4706", "4306"] {
        inside[hex(name).index()] = true;
    }
    let board = map.restrict(&inside);
    let names: Vec<&str> = board.places.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["Souakim", "Handub", "Tambuk"]);
    assert_eq!(board.place_at(hex("4506")).map(|p| p.name.as_str()), Some("Handub"));
    // The railway ends where it first leaves, though Tambuk beyond is inside.
    assert_eq!(board.railway, [hex("4606"), hex("4506")]);
    assert_eq!(board.cell(hex("4306")).rail, 255);
    assert!(board.entries.is_empty());
    assert_eq!(board.districts.len(), 7);
    let souakim = board.cell(hex("4606"));
    assert_eq!(souakim.neighbours.map(Hex::is_some), [true, false, false, true, false, false]);
    assert!(souakim.coast && !board.cell(hex("4506")).coast);
    assert_eq!(board.cell(hex("4605")).ground, Ground::Off);
}

/// A fault put into the map is found on its line with its reason, and nothing else is.
#[test]
fn a_bad_map_is_refused_with_line_and_reason() {
    assert_eq!(MapFile::parse("map.toml", TEXT).err(), None);
    // What to replace (its first occurrence), by what, a word of the line of the fault ("" for no line), the reason.
    #[rustfmt::skip]
    let cases = [
        ("columns = 51", "columns = 52", "columns = 52", "a map has 1 to 51 columns, not 52"),
        ("shifted_rows = \"odd\"", "shifted_rows = \"even\"", "shifted_rows", "only grids whose odd rows are shifted are known"),
        ("\n--------------...+++++....................hh###", "\n--------------..?+++++....................hh###", "..?", "terrain: unknown letter `?` at 1634"),
        ("\n--------------...+++++....................hh###", "\n--------------...+++++....................hh##", "\n--------------...+++++....................hh##", "terrain row 34 has 50 letters, not 51"),
        ("h = \"hills on clear\"", "h = \"marsh\"", "marsh", "unknown kind of terrain `marsh`"),
        ("joins = \"nile\"", "joins = \"congo\"", "congo", "unknown river `congo`"),
        ("\"1853/E\", \"1853/NE\",", "\"1853/E\", \"1853/N\",", "1853/N\"", "white_nile: 1853/N is not a hexside CCRR/D"),
        ("first = \"1727/SE\"", "first = \"1727/E\"", "first = \"1727/E\"", "reach `Shabluka gorge (sixth cataract)` does not follow the one before it"),
        ("hexsides = [\"1727/SE\", ", "hexsides = [\"1732/SE\", ", "[\"1732/SE\"", "Sixth cataract (Shabluka): 1732/SE is not on its river"),
        ("name = \"Bara\"", "name = \"El Obeid\"  # second", "# second", "the name or alias of El Obeid is taken"),
        ("bank = [\"right\", \"left\"]", "bank = [\"left\", \"left\"]", "river = [\"white_nile\", \"blue_nile\"]", "Khartoum is not on the left bank alone of white_nile"),
        ("hex = \"0446\"", "hex = \"0349\"  # too", "hex = \"0349\"  # too", "Bara shares 0349 with El Obeid"),
        ("hex = \"0446\"", "hex = \"0940\"", "hex = \"0940\"", "Bara lies 75 miles from its hex"),
        ("\"4207\", \"4107\", \"4108\"", "\"4207\", \"4108\"", "\"4207\", \"4108\"", "the railway breaks between 4207 and 4108"),
        ("stations = [\"Souakim\", \"Handub\"", "stations = [\"Handub\"", "stations = [\"Handub\"", "the railway does not begin, pass or end at Handub as listed"),
        ("\"4502\", \"4503\"", "\"4502\", \"4403\", \"4503\"", "4403", "coast: 4403 is not a land hex on the sea, or there twice"),
        ("\"4502\", \"4503\"", "\"4502\"", "", "coast: 4503 is missing"),
        ("hexes = [\"4706\"]", "hexes = [\"4606\"]", "hexes = [\"4606\"]", "souakim_port: 4606 is not a sea hex"),
        ("id = \"darfur\"", "id = \"korosko\"  # again", "# again", "entry `korosko` is there twice"),
    ];
    for (old, new, line, reason) in cases {
        assert!(TEXT.contains(old), "{old}");
        let text = TEXT.replacen(old, new, 1);
        let at = text.find(line).filter(|_| !line.is_empty());
        let line = at.map(|at| text[..at + line.len() - line.trim_start().len()].matches('\n').count() + 1);
        let faults = MapFile::parse("map.toml", &text).err().unwrap_or_default();
        let expected = DataError { file: "map.toml".to_owned(), line, reason: reason.to_owned() };
        assert_eq!(faults, [expected], "{new}");
    }
}
