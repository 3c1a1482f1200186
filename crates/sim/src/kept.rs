//! Values kept until their ticket comes back: what is too large to be handed on with every packet, and what only some packets have.

use cwndlab_prefetch::prefetch;

/// The number under which a value is kept; never 0, which can say that there is none.
pub type Ticket = u32;

/// The values, and which places are free.
#[derive(Clone, Debug)]
pub struct Kept<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Kept<T> {
    /// Keeps a value.
    #[inline]
    pub fn put(&mut self, value: T) -> Ticket {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = value;
                place + 1
            }
            None => {
                self.places.push(value);
                self.places.len() as u32
            }
        }
    }

    /// A value will be needed soon; ticket 0 stands for none.
    #[inline(always)]
    pub fn fetch(&self, ticket: Ticket) {
        self.places.get((ticket as usize).wrapping_sub(1)).inspect(|value| prefetch(*value));
    }

    /// Gives it back.
    #[inline]
    pub fn take(&mut self, ticket: Ticket) -> T {
        self.free.push(ticket - 1);
        self.places[ticket as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_makes_room_for_others() {
        let mut kept = Kept::default();
        let tickets = ['a', 'b', 'c'].map(|value| kept.put(value));
        assert!(!tickets.contains(&0));
        assert_eq!(kept.take(tickets[1]), 'b');
        assert_eq!(kept.put('d'), tickets[1]);
        assert_eq!([tickets[2], tickets[1], tickets[0]].map(|ticket| kept.take(ticket)), ['c', 'd', 'a']);
        assert_eq!(kept.places.len(), 3);
    }
}
