//! Models that have between them every rule that loading has to keep.

pub(crate) const ALL: [&str; 6] = [PLAIN, UNIQUE, LINKED, CHECKED, KINDS, EXPIRING];

const PLAIN: &str = "
entity Player { id name: text, score: int = 0, tags: text[*], loose ref best: Player? }
entity Game {
  id number: int
  state: enum(open, over) = open
  loose ref first: Player inverse hosted
  loose ref others: Player[*]
  part rounds: Round[*]
  part place: Place?
}
value Round { moves: text, marks: int[*] }
value Place { city: text, loose ref host: Player? }
query lobby: SELECT number, first.score FROM Game WHERE state = 'open' ORDER BY first.score DESC LIMIT 5
query by: SELECT number, round.moves FROM Game JOIN rounds AS round, first AS f WHERE f.score = :s
query hosted: SELECT name, g.number FROM Player LEFT JOIN hosted AS g WHERE score = :score
query tagged: SELECT name FROM Player WHERE score = :score AND tags = :tag
represent Game as rounds { /Game/*/rounds[*] /Game/* }
";

const UNIQUE: &str = "
entity Shop { id k: int, unique code: text?, part items: Item[*], part first: Item2?, part boxes: Box[*] }
entity Item { id sku: text, unique serial: int? }
entity Item2 { id sku: text, price: decimal? }
value Box { label: text?, loose ref holds: Item? }
entity Note { id k: int, unique code: text, unique loose ref of: Shop? }
query codes: SELECT k FROM Shop WHERE code = :code
";

const LINKED: &str = "
entity Person { id k: int, loose ref mentor: Person? inverse pupil: Person?, loose ref friends: Person[*] inverse friends }
entity Cart { id k: int, loose ref of: Person? inverse cart: Cart? }
entity Seat { id k: int, loose ref row: Row? inverse seats: Seat[0..2] }
entity Row { id k: int }
query carts: SELECT k, of.k AS whose FROM Cart WHERE of.k = :k
";

const CHECKED: &str = "
entity Brand { id k: int, name: text? }
entity Product { id k: int, checked ref brand: Brand on delete refuse, checked ref next: Product? on delete clear }
query ofBrand: SELECT k, brand.name FROM Product WHERE brand = :brand
";

const KINDS: &str = "
abstract entity Account { id k: int, unique email: text? }
entity Customer extends Account { part orders: Order[*], loose ref pal: Customer? }
entity Clerk extends Account { shift: int? , loose ref helps: Account[*] }
entity Order { id number: int, note: text? }
entity Stock { id loose ref order: Order, id slot: int, amount: int = 0 }
query all: SELECT k, email FROM Account WHERE email = :email
query slots: SELECT slot, amount FROM Stock WHERE amount = :a
";

const EXPIRING: &str = "
@ttl(1 day) entity Session { id k: int, unique token: text?, loose ref of: User?, part marks: Mark[*] }
@ttl(1 day) entity Mark { id k: int, x: int? }
entity User { id k: int, unique name: text? }
query sessions: SELECT k, of.name FROM Session WHERE of.name = :name
";
