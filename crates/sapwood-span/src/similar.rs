//! Suggestions for a misspelt name.

/// The candidates similar to a name, the most similar first, at most three. Case is ignored; of members, the part after
/// the last dot may be similar alone; so may a name that contains the other one.
pub fn near_misses<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let letters = |text: &str| text.to_lowercase().chars().take(64).collect::<Vec<char>>();
    let member = |name: &[char]| name.rsplit(|c| *c == '.').next().unwrap_or_default().to_vec();
    let wanted = letters(name);
    let allowed = most_edits(&wanted);
    let wanted_member = member(&wanted);
    let mut found: Vec<(usize, &str)> = candidates
        .filter_map(|candidate| {
            let other = letters(candidate);
            let edits = edit_distance(&wanted, &other);
            if edits <= allowed {
                return Some((edits, candidate));
            }
            let member_edits =
                if wanted_member.len() >= 3 { edit_distance(&wanted_member, &member(&other)) } else { usize::MAX };
            let is_part = contains(&other, &wanted) || contains(&wanted, &other);
            let is_similar = is_part || member_edits <= most_edits(&wanted_member);
            is_similar.then(|| (allowed + 1 + member_edits.min(64), candidate))
        })
        .collect();
    found.sort();
    found.dedup_by_key(|(_, candidate)| *candidate);
    found.into_iter().map(|(_, candidate)| candidate).take(3).collect()
}

/// Letters that may differ in a name of this length.
fn most_edits(name: &[char]) -> usize {
    (name.len() / 4).clamp(1, 3)
}

/// Whether the second name, unless it is very short, is a part of the first one.
fn contains(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.windows(short.len()).any(|part| part == short)
}

/// Damerau and Levenshtein's distance: insertions, deletions, replacements, and two neighbours that changed places.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            let mut edits = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                edits = edits.min(above[j - 1] + 1);
            }
            next[j + 1] = edits;
        }
        above = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_ranked() {
        let names = ["Muon_pt", "Muon_eta", "Jet_pt", "nMuon"];
        assert_eq!(near_misses("muon_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near_misses("Muon_pd", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near_misses("Muon_p", names.into_iter())[0], "Muon_pt");
        assert_eq!(near_misses("Muon_pt_corrected", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near_misses("zzz", names.into_iter()), Vec::<&str>::new());
        assert_eq!(near_misses("", names.into_iter()), Vec::<&str>::new());
        assert_eq!(near_misses("nMuno", names.into_iter()), ["nMuon"]);
        let members = ["event.fTracks.fPx", "event.fTracks.fPy", "fTracks.fPx", "fTracks.fPx", "event.fType"];
        assert_eq!(near_misses("fPz", members.into_iter())[0], "event.fTracks.fPx");
        assert_eq!(near_misses("fTracks.fPxx", members.into_iter())[0], "fTracks.fPx");
    }

    #[test]
    fn distances_are_damerau_and_levenshteins() {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        assert_eq!(edit_distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(edit_distance(&letters(""), &letters("abc")), 3);
        assert_eq!(edit_distance(&letters("abc"), &letters("")), 3);
        assert_eq!(edit_distance(&letters("nMuno"), &letters("nMuon")), 1);
        assert_eq!(edit_distance(&letters("sqtr"), &letters("sqrt")), 1);
        assert_eq!(edit_distance(&letters("ca"), &letters("abc")), 3);
    }
}
