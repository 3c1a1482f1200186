//! Numbers of flows, hops and links: a type for each.

/// A flow: a TCP flow, or a source of cross traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u32);

/// Sources of cross traffic are numbered from here on.
const CROSS: u32 = 1 << 31;

/// What a flow is, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A TCP flow.
    Flow(usize),
    /// A source of cross traffic.
    Cross(usize),
}

impl FlowId {
    /// The TCP flow of this number.
    #[inline(always)]
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// The source of cross traffic of this number.
    pub fn cross(number: u32) -> Self {
        Self(CROSS + number)
    }

    /// What it is.
    #[inline(always)]
    pub fn source(self) -> Source {
        match self.0.checked_sub(CROSS) {
            Some(number) => Source::Cross(number as usize),
            None => Source::Flow(self.0 as usize),
        }
    }

    /// Its index among the TCP flows, beyond all of them for cross traffic.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Its number, for queues, traces and hashes.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A hop of a route, by its number among those of all routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HopId(u32);

impl HopId {
    /// The hop of this number.
    #[inline(always)]
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its index among the hops of all routes.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The next hop.
    #[inline(always)]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The hop before.
    #[inline(always)]
    pub fn before(self) -> Self {
        Self(self.0 - 1)
    }

    /// Its number.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A link, by its number in the order of the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u32);

impl LinkId {
    /// The link of this number.
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its index among all links.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}
