//! The calls that wait for their answers.

use std::collections::HashMap;

use super::unit::Call;
use crate::{Error, Result};

/// The open calls of a history. Ids come from outside, hence the hasher that withstands chosen keys.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCalls {
    /// Open ids, each with its number in the order of making.
    numbers: HashMap<Box<str>, u64>,
    made: u64,
}

impl OpenCalls {
    /// Whether every call is answered. O(1).
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether the call of this id is open. O(1).
    pub(super) fn contains(&self, id: &str) -> bool {
        self.numbers.contains_key(id)
    }

    /// The open ids in the order in which they were made. O(n log n) for n open calls.
    pub(super) fn ids(&self) -> Vec<&str> {
        let mut numbered: Vec<(u64, &str)> = self.numbers.iter().map(|(id, number)| (*number, &**id)).collect();
        numbered.sort_unstable();
        numbered.into_iter().map(|(_, id)| id).collect()
    }

    /// Take all steps in order, or none of them. O(1) a step.
    ///
    /// # Errors
    ///
    /// [`Error::DuplicateCall`] for a call that is open already, [`Error::UnknownCall`] for an answer to one that is
    /// not.
    pub(super) fn apply<'a>(&mut self, calls: impl IntoIterator<Item = Call<'a>>) -> Result<()> {
        let mut taken = Vec::new();
        for call in calls {
            match self.step(call) {
                Ok(number) => taken.push((call, number)),
                Err(error) => {
                    self.undo(&taken);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Take one step; gives the number of the call.
    fn step(&mut self, call: Call<'_>) -> Result<u64> {
        match call {
            Call::Made(id) if self.contains(id) => Err(Error::DuplicateCall { id: id.into() }),
            Call::Made(id) => {
                self.numbers.insert(id.into(), self.made);
                self.made += 1;
                Ok(self.made - 1)
            }
            Call::Answered(id) => self
                .numbers
                .remove(id)
                .ok_or_else(|| Error::UnknownCall { id: id.into() }),
        }
    }

    /// Take steps back, the last one first.
    fn undo(&mut self, taken: &[(Call<'_>, u64)]) {
        for &(call, number) in taken.iter().rev() {
            match call {
                Call::Made(id) => self.numbers.remove(id),
                Call::Answered(id) => self.numbers.insert(id.into(), number),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Call::{Answered, Made};

    #[test]
    fn ids_keep_the_order_of_making() {
        let mut calls = OpenCalls::default();
        calls
            .apply([Made("z"), Made("a"), Made("m"), Answered("a"), Made("a")])
            .unwrap();
        assert_eq!(calls.ids(), ["z", "m", "a"]);
    }

    #[test]
    fn a_refused_step_takes_back_those_before_it() {
        let mut calls = OpenCalls::default();
        calls.apply([Made("a"), Made("b")]).unwrap();
        let refused = calls.apply([Answered("a"), Made("c"), Made("a"), Answered("nobody")]);
        assert_eq!(refused, Err(Error::UnknownCall { id: "nobody".into() }));
        assert_eq!(calls.ids(), ["a", "b"]);
        assert_eq!(
            calls.apply([Made("c"), Made("b")]),
            Err(Error::DuplicateCall { id: "b".into() })
        );
        assert_eq!(calls.ids(), ["a", "b"]);
    }

    #[test]
    fn one_unit_may_make_a_call_and_answer_it() {
        let mut calls = OpenCalls::default();
        calls.apply([Made("a"), Answered("a")]).unwrap();
        assert!(calls.is_empty());
    }
}
