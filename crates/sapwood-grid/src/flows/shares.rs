//! How classes of flows share full channels.

use super::Flows;
use std::collections::HashMap;

/// Which classes pass which channels.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// By channel.
    classes: Vec<Vec<u32>>,
    /// The number of the last visit, by channel and by class.
    channels_visited: Vec<u32>,
    classes_visited: Vec<u32>,
    visit: u32,
}

impl Links {
    pub(super) fn new(channels: usize) -> Self {
        Self { classes: vec![Vec::new(); channels], channels_visited: vec![0; channels], ..Self::default() }
    }

    /// The next class passes these channels.
    pub(super) fn add_class(&mut self, class: u32, channels: &[u32]) {
        self.classes_visited.push(0);
        for &channel in channels {
            self.classes[channel as usize].push(class);
        }
    }

    pub(super) fn classes_of(&self, channel: u32) -> &[u32] {
        self.classes.get(channel as usize).map_or(&[], Vec::as_slice)
    }

    /// Classes get other numbers, or are gone.
    pub(super) fn move_classes(&mut self, places: &[u32]) {
        for classes in &mut self.classes {
            classes.retain_mut(|class| {
                *class = places[*class as usize];
                *class != u32::MAX
            });
        }
        let kept = places.iter().filter(|&&place| place != u32::MAX).count();
        self.classes_visited = vec![0; kept];
    }
}

impl Flows {
    /// The classes that full channels connect with what changed, and those channels.
    pub(super) fn concerned(&mut self) -> (Vec<u32>, Vec<u32>) {
        let links = &mut self.links;
        links.visit = links.visit.wrapping_add(1);
        let visit = links.visit;
        let (mut classes, mut full) = (Vec::new(), Vec::new());
        let mut open = std::mem::take(&mut self.dirty);
        while let Some(i) = open.pop() {
            let channel = &mut self.channels[i as usize];
            if std::mem::replace(&mut links.channels_visited[i as usize], visit) == visit {
                continue;
            }
            let was = channel.full;
            channel.full = channel.load > channel.capacity;
            if channel.full {
                full.push(i);
            } else if !was {
                continue;
            }
            for &class in &links.classes[i as usize] {
                let c = &self.classes[class as usize];
                if c.flows == 0 || std::mem::replace(&mut links.classes_visited[class as usize], visit) == visit {
                    continue;
                }
                classes.push(class);
                open.extend(self.paths.of(c.path));
            }
        }
        classes.sort_unstable_by(|&a, &b| {
            let [a_cap, b_cap] = [a, b].map(|i| self.classes[i as usize].cap);
            a_cap.total_cmp(&b_cap).then(a.cmp(&b))
        });
        full.sort_unstable();
        (classes, full)
    }

    /// Max-min fair rates, by filling: the channel that gives its flows least decides theirs, after those that want even less.
    pub(super) fn shares(&mut self, classes: &[u32], full: &[u32]) -> Vec<f64> {
        let mut left: HashMap<u32, (f64, u64)> = HashMap::with_capacity(full.len());
        let mut on: HashMap<u32, Vec<usize>> = HashMap::with_capacity(full.len());
        for &i in full {
            left.insert(i, (self.channels[i as usize].capacity, 0));
        }
        for (at, &class) in classes.iter().enumerate() {
            let c = &self.classes[class as usize];
            for i in self.paths.of(c.path) {
                if let Some((_, n)) = left.get_mut(i) {
                    *n += u64::from(c.flows);
                    on.entry(*i).or_default().push(at);
                }
            }
        }
        let mut rates: Vec<Option<f64>> = vec![None; classes.len()];
        let mut next = 0;
        loop {
            let tightest = full
                .iter()
                .filter_map(|i| left.get(i).filter(|(_, n)| *n > 0).map(|(c, n)| (c.max(0.0) / *n as f64, *i)))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let level = tightest.map_or(f64::INFINITY, |t| t.0);
            let before = next;
            let mut fixed = Vec::new();
            while let Some(&class) = classes.get(next) {
                if self.classes[class as usize].cap > level {
                    break;
                }
                if rates[next].is_none() {
                    fixed.push((next, self.classes[class as usize].cap));
                }
                next += 1;
            }
            if fixed.is_empty() && before == next {
                let Some((level, channel)) = tightest else { break };
                let mine = on.get(&channel).into_iter().flatten().filter(|&&at| rates[at].is_none());
                fixed = mine.map(|&at| (at, level)).collect();
            }
            for (at, rate) in fixed {
                rates[at] = Some(rate);
                let c = &self.classes[classes[at] as usize];
                for i in self.paths.of(c.path) {
                    if let Some((capacity, n)) = left.get_mut(i) {
                        *capacity -= rate * f64::from(c.flows);
                        *n -= u64::from(c.flows);
                    }
                }
            }
        }
        rates.into_iter().map(|r| r.unwrap_or(0.0)).collect()
    }
}
