//! Which values of a block are known.

/// For each row or entry whether it has a value; `None`: each has.
pub(crate) type Known = Option<Vec<bool>>;

/// Where both are known.
pub(crate) fn both(a: Known, b: Known) -> Known {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.iter_mut().zip(b).for_each(|(a, b)| *a &= b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// Whether item `i` is known.
pub(crate) fn is_known(known: &Known, i: usize) -> bool {
    known.as_ref().is_none_or(|k| k.get(i).copied().unwrap_or(false))
}
