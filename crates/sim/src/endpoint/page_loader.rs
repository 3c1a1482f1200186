//! A browser that loads web pages: which object it requests when, on which connection.
//!
//! All that a page draws is drawn when it begins, so that the draws do not depend on the order in
//! which objects arrive. An object is complete when its last ACK reaches the sender, which is when
//! a request for what it names would. The page has loaded when the last packet of its objects
//! arrives at the receiver.

use crate::random::stream::RandomStream;
use crate::random::variable::RandomVariable;
use cwndlab_scenario::PageObject;
use cwndlab_tcp::NEVER;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Objects of a drawn page at most.
const MAX_OBJECTS: f64 = 10_000.0;

/// Which objects pages have.
#[derive(Clone, Debug)]
pub enum PageLaw {
    /// The same on every page.
    Listed(Vec<Object>),
    /// Drawn for each page.
    Drawn(Box<DrawnPage>),
}

/// The laws of a drawn page.
#[derive(Clone, Debug)]
pub struct DrawnPage {
    /// Packets of the main object.
    pub main: RandomVariable,
    /// Number of embedded objects.
    pub embedded: RandomVariable,
    /// Packets of an embedded object.
    pub size: RandomVariable,
    /// Probability that the object before it names an embedded object, and its random stream.
    pub chained: (f64, RandomStream),
    /// Parse time of an embedded object, seconds.
    pub parse: Option<RandomVariable>,
}

/// An object of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Data packets.
    pub packets: u64,
    /// Time from the last of the objects that it comes after to its request, seconds.
    pub parse_s: f64,
    /// Numbers of the objects that it comes after.
    pub after: Vec<usize>,
}

/// A request that reaches the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectRequest {
    /// The connection.
    pub connection: u32,
    /// Packets of the object.
    pub packets: u64,
    /// Whether the connection opens with it.
    pub opens: bool,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Connection {
    Closed,
    Idle,
    /// It carries this object.
    Busy(usize),
}

/// A browser.
#[derive(Clone, Debug)]
pub struct PageLoader {
    law: PageLaw,
    think: RandomVariable,
    connections: Vec<Connection>,
    /// When the browser is closed, seconds.
    stop_s: f64,
    /// When the next page begins, seconds; [`NEVER`] while one loads.
    next_page_s: f64,
    /// When the page that loads began, seconds.
    page_start_s: f64,
    /// When the last packet of its objects so far arrived, seconds.
    received_s: f64,
    objects: Vec<Object>,
    /// Objects that each object still waits for.
    waits_for: Vec<usize>,
    /// Objects of the page that are not complete.
    incomplete: usize,
    /// Objects to be requested: time (as bits of a non-negative double) and number.
    due: BTreeSet<(u64, usize)>,
    /// Objects whose request waits for a connection.
    waiting: VecDeque<usize>,
    /// Earliest timer, seconds.
    timer_s: f64,
    /// Start and load time of each loaded page, seconds.
    loads: Vec<(f64, f64)>,
}

impl PageLaw {
    /// A written list of objects; each comes behind those that it is `after`.
    pub fn listed(objects: &[PageObject]) -> Self {
        let numbers: BTreeMap<&str, usize> =
            objects.iter().enumerate().map(|(i, object)| (object.name.as_str(), i)).collect();
        let object = |object: &PageObject| {
            let after: BTreeSet<usize> = object
                .after
                .iter()
                .filter_map(|name| numbers.get(name.as_str()).copied())
                .collect();
            Object {
                packets: object.size,
                parse_s: object.parse.seconds(),
                after: after.into_iter().collect(),
            }
        };
        Self::Listed(objects.iter().map(object).collect())
    }

    /// The objects of the next page.
    fn next_page(&mut self) -> Vec<Object> {
        let drawn = match self {
            Self::Listed(objects) => return objects.clone(),
            Self::Drawn(drawn) => drawn,
        };
        let main = Object { packets: drawn.main.next_packets(), parse_s: 0.0, after: Vec::new() };
        let mut objects = vec![main];
        for number in 1..=drawn.embedded.next().round().clamp(0.0, MAX_OBJECTS) as usize {
            let is_chained = drawn.chained.1.uniform() < drawn.chained.0;
            objects.push(Object {
                packets: drawn.size.next_packets(),
                parse_s: drawn.parse.as_mut().map_or(0.0, RandomVariable::next),
                after: vec![if is_chained { number - 1 } else { 0 }],
            });
        }
        objects
    }
}

impl PageLoader {
    /// A browser with so many connections whose first page begins at `start_s`; `stop_s`: when it
    /// is closed.
    pub fn new(
        law: PageLaw,
        think: RandomVariable,
        connections: usize,
        start_s: f64,
        stop_s: f64,
    ) -> Self {
        Self {
            law,
            think,
            connections: vec![Connection::Closed; connections],
            stop_s,
            next_page_s: start_s,
            page_start_s: NEVER,
            received_s: 0.0,
            objects: Vec::new(),
            waits_for: Vec::new(),
            incomplete: 0,
            due: BTreeSet::new(),
            waiting: VecDeque::new(),
            timer_s: NEVER,
            loads: Vec::new(),
        }
    }

    /// When [`PageLoader::next_request`] must be asked, if there is no timer for it yet, seconds.
    pub fn next_timer_s(&mut self, now_s: f64) -> Option<f64> {
        let first_due_s = self.due.first().map_or(NEVER, |&(bits, _)| f64::from_bits(bits));
        let is_free = self.connections.iter().any(|state| !matches!(state, Connection::Busy(_)));
        let waiting_s = if is_free && !self.waiting.is_empty() { now_s } else { NEVER };
        let next_s = first_due_s.min(waiting_s).min(self.next_page_s);
        if next_s >= self.timer_s.min(self.stop_s) {
            return None;
        }
        self.timer_s = next_s;
        Some(next_s)
    }

    /// The timer expires.
    pub fn on_timer(&mut self, now_s: f64) {
        if self.timer_s <= now_s {
            self.timer_s = NEVER;
        }
    }

    /// A request that is due and has a connection: an idle one, else one that opens.
    pub fn next_request(&mut self, now_s: f64) -> Option<ObjectRequest> {
        if now_s >= self.stop_s {
            return None;
        }
        if self.next_page_s <= now_s {
            self.begin_page(now_s);
        }
        while let Some(&(bits, number)) = self.due.first()
            && f64::from_bits(bits) <= now_s
        {
            self.due.pop_first();
            self.waiting.push_back(number);
        }
        let find = |wanted| self.connections.iter().position(|&state| state == wanted);
        let connection = find(Connection::Idle).or_else(|| find(Connection::Closed))?;
        let number = self.waiting.pop_front()?;
        let opens = self.connections[connection] == Connection::Closed;
        self.connections[connection] = Connection::Busy(number);
        let packets = self.objects[number].packets;
        Some(ObjectRequest { connection: connection as u32, packets, opens })
    }

    /// The object that a connection carries is complete; its last packet arrived at `received_s`.
    pub fn on_complete(&mut self, connection: u32, now_s: f64, received_s: f64) {
        let state = &mut self.connections[connection as usize];
        let Connection::Busy(complete) = *state else { return };
        *state = Connection::Idle;
        self.incomplete -= 1;
        self.received_s = self.received_s.max(received_s);
        for number in complete + 1..self.objects.len() {
            if self.objects[number].after.contains(&complete) {
                self.waits_for[number] -= 1;
                self.schedule_if_known(number, now_s);
            }
        }
        if self.incomplete == 0 {
            self.loads.push((self.page_start_s, self.received_s - self.page_start_s));
            self.page_start_s = NEVER;
            self.next_page_s = now_s + self.think.next();
        }
    }

    /// Start and load time of the loaded pages, seconds.
    pub fn loads(&self) -> &[(f64, f64)] {
        &self.loads
    }

    /// When the page that has not loaded yet began, seconds; [`NEVER`] without one.
    pub fn page_start_s(&self) -> f64 {
        self.page_start_s
    }

    fn begin_page(&mut self, now_s: f64) {
        self.objects = self.law.next_page();
        self.waits_for = self.objects.iter().map(|object| object.after.len()).collect();
        self.incomplete = self.objects.len();
        (self.page_start_s, self.next_page_s) = (now_s, NEVER);
        for number in 0..self.objects.len() {
            self.schedule_if_known(number, now_s);
        }
    }

    /// Schedules the request of an object that waits for no other.
    fn schedule_if_known(&mut self, number: usize, now_s: f64) {
        if self.waits_for[number] == 0 {
            let request_s = now_s + self.objects[number].parse_s;
            self.due.insert((request_s.to_bits(), number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_scenario::{Distribution, Packets};
    use cwndlab_units::Time;

    fn constant(value: f64) -> RandomVariable {
        RandomVariable::new(&Distribution::Constant(Packets(value)), RandomStream::new(1, "test"))
    }

    fn object(name: &str, size: u64, after: &[&str], parse_ms: u64) -> PageObject {
        let after = after.iter().map(|name| name.to_string()).collect();
        PageObject { name: name.into(), size, after, parse: Time::ns(parse_ms * 1_000_000) }
    }

    fn request(connection: u32, packets: u64, opens: bool) -> Option<ObjectRequest> {
        Some(ObjectRequest { connection, packets, opens })
    }

    /// An object whose last packet arrived a quarter of a second before its ACK.
    fn complete(browser: &mut PageLoader, connection: u32, now_s: f64) {
        browser.on_complete(connection, now_s, now_s - 0.25);
    }

    #[test]
    fn a_listed_page_by_hand() {
        let law = PageLaw::listed(&[
            object("html", 5, &[], 0),
            object("style", 2, &["html"], 0),
            object("script", 3, &["html"], 100),
            object("image", 9, &["style", "script"], 0),
        ]);
        let mut browser = PageLoader::new(law, constant(10.0), 2, 1.0, NEVER);
        assert_eq!(browser.next_timer_s(0.0), Some(1.0));
        assert_eq!(browser.next_timer_s(0.0), None);
        browser.on_timer(1.0);
        assert_eq!(browser.next_request(1.0), request(0, 5, true));
        assert_eq!(browser.next_request(1.0), None);
        assert_eq!(browser.next_timer_s(1.0), None);
        // The style sheet is known at once, on the connection that is open; the script 0.1 s later,
        // which opens the other one.
        complete(&mut browser, 0, 2.0);
        assert_eq!(browser.next_timer_s(2.0), Some(2.0));
        browser.on_timer(2.0);
        assert_eq!(browser.next_request(2.0), request(0, 2, false));
        assert_eq!((browser.next_request(2.0), browser.next_timer_s(2.0)), (None, Some(2.1)));
        browser.on_timer(2.1);
        assert_eq!(browser.next_request(2.1), request(1, 3, true));
        // The image waits for both.
        complete(&mut browser, 1, 2.5);
        assert_eq!((browser.next_request(2.5), browser.next_timer_s(2.5)), (None, None));
        complete(&mut browser, 0, 3.0);
        assert_eq!(browser.next_request(3.0), request(0, 9, false));
        complete(&mut browser, 0, 4.5);
        assert_eq!(browser.loads(), [(1.0, 3.25)]);
        // Both connections stay open for the next page.
        assert_eq!(browser.next_timer_s(4.5), Some(14.5));
        browser.on_timer(14.5);
        assert_eq!(browser.next_request(14.5), request(0, 5, false));
        assert_eq!(browser.page_start_s(), 14.5);
    }

    #[test]
    fn objects_wait_for_a_connection_in_the_order_in_which_they_are_known() {
        let drawn = DrawnPage {
            main: constant(4.0),
            embedded: constant(3.0),
            size: constant(2.0),
            chained: (0.0, RandomStream::new(1, "chained")),
            parse: None,
        };
        let law = PageLaw::Drawn(Box::new(drawn));
        let mut browser = PageLoader::new(law, constant(0.0), 2, 0.0, 9.0);
        assert_eq!(browser.next_request(0.0), request(0, 4, true));
        complete(&mut browser, 0, 1.0);
        assert_eq!(browser.next_request(1.0), request(0, 2, false));
        assert_eq!(browser.next_request(1.0), request(1, 2, true));
        // The third waits until a connection is free.
        assert_eq!((browser.next_request(1.0), browser.next_timer_s(1.0)), (None, None));
        complete(&mut browser, 1, 2.0);
        assert_eq!(browser.next_timer_s(2.0), Some(2.0));
        assert_eq!(browser.next_request(2.0), request(1, 2, false));
        // Nothing is requested once the browser is closed.
        browser.on_timer(2.0);
        complete(&mut browser, 0, 3.0);
        complete(&mut browser, 1, 9.0);
        assert_eq!(browser.loads(), [(0.0, 8.75)]);
        assert_eq!((browser.next_timer_s(9.0), browser.next_request(9.0)), (None, None));
    }

    #[test]
    fn chained_objects_name_the_next_one() {
        let drawn = |chained| {
            let drawn = DrawnPage {
                main: constant(1.0),
                embedded: constant(1000.0),
                size: constant(2.4),
                chained: (chained, RandomStream::new(5, "chained")),
                parse: Some(constant(0.5)),
            };
            PageLaw::Drawn(Box::new(drawn)).next_page()
        };
        let star = drawn(0.0);
        assert!(star.len() == 1001 && star[1..].iter().all(|object| object.after == [0]));
        assert_eq!((star[9].packets, star[9].parse_s, star[0].parse_s), (2, 0.5, 0.0));
        let chain = drawn(1.0);
        assert!((1..1001).all(|number| chain[number].after == [number - 1]));
        // 250 of 1000, with a standard deviation of sqrt(1000 x 0.25 x 0.75) = 13.7. That of the
        // first one is the main object in either case.
        let named = drawn(0.25);
        let chained = (2..1001).filter(|&number| named[number].after == [number - 1]).count();
        assert!(chained.abs_diff(250) < 55, "{chained}");
    }
}
