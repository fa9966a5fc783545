//! What to request along with a key list because it will be needed next.

use sapwood_span::Span;

/// The extra cost of a response with two pieces: headers, and segments that are not full.
const TWO_PIECES: u64 = 2 * 1448;

/// What may be requested along with the first missing key list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// The file's last bytes, where they were not read while it was opened: they arrive in the same round trip as the
    /// key list, which is often there, too.
    pub tail: Span,
    /// Bytes in front of the tail, for a file of which a tree will be read: its header is usually there. 0 where only
    /// the keys are wanted: a listing must not wait for this much.
    pub tree: u64,
}

impl Ahead {
    /// What to request along with this key list. `info`: the class descriptions; `held`: where the last piece read
    /// begins.
    pub(super) fn along(self, keys: Span, info: Span, held: u64, size: u64) -> Vec<Span> {
        let mut tail = if self.tail.end() <= size { self.tail } else { Span::default() };
        let in_tail = !tail.is_empty() && keys.start >= tail.start;
        if !in_tail {
            // both together arrive in one round trip
            tail.len = tail.len.saturating_sub(keys.len.saturating_add(TWO_PIECES));
            tail.start = self.tail.end() - tail.len;
        }
        let mut out = vec![tail];
        let before = if tail.is_empty() { held } else { tail.start };
        // where the key list is in the tail, the tree's header may be far longer than the guess: its key gives the
        // length
        if self.tree > 0 && before > self.tree && !in_tail {
            out.push(Span::new(before - self.tree, self.tree));
            // a tree's values cannot be read without the class descriptions
            if info.end() <= size {
                out.push(info);
            }
        }
        out.retain(|span| !span.is_empty());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_in_the_same_round_trip_unless_a_tree_is_wanted() {
        let (keys, info, size) = (Span::new(3000, 100), Span::new(4000, 50), 1_000_000);
        let tail = Span::new(970_000, 30_000);
        assert_eq!(Ahead::default().along(keys, info, 990_000, size), []);
        let less = Span::new(970_000 + 100 + TWO_PIECES, 30_000 - 100 - TWO_PIECES);
        assert_eq!(Ahead { tail, tree: 0 }.along(keys, info, 0, size), [less]);
        assert_eq!(
            Ahead { tail, tree: 500 }.along(keys, info, 0, size),
            [less, Span::new(less.start - 500, 500), info]
        );
        assert_eq!(Ahead { tail, tree: 0 }.along(Span::new(3000, 29_000), info, 0, size), []);
        assert_eq!(Ahead { tail, tree: 500 }.along(Span::new(980_000, 9), info, 0, size), [tail]);
        let read = Ahead { tail: Span::default(), tree: 500 };
        assert_eq!(read.along(keys, info, 990_000, size), [Span::new(989_500, 500), info]);
        assert_eq!(read.along(keys, Span::new(size, 1), 400, size), []);
    }
}
