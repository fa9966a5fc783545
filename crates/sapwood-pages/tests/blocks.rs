//! The allocator in a whole program.

use sapwood_pages::LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

/// A vector with known content.
fn filled(seed: u64, len: usize) -> Vec<u64> {
    (0..len as u64).map(|i| i ^ (seed << 20)).collect()
}

fn check(seed: u64, v: &[u64]) {
    assert!(v.iter().enumerate().all(|(i, &x)| x == i as u64 ^ (seed << 20)), "a block of {} was overwritten", v.len());
}

#[test]
fn blocks_of_all_sizes_keep_their_bytes() {
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            scope.spawn(move || {
                let mut held: Vec<(u64, Vec<u64>)> = Vec::new();
                let mut r = thread + 1;
                for step in 0..300 {
                    r = r.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    // around both borders: 16 KiB and 16 MiB, and between
                    let len =
                        [1 << 10, (2 << 10) - 1, 2 << 10, 150 << 10, 2 << 20, (2 << 20) + 1][(r >> 40) as usize % 6];
                    if held.len() > 6 || (r >> 50).is_multiple_of(3) {
                        if let Some((seed, mut v)) = held.pop() {
                            check(seed, &v);
                            // grows and shrinks across the borders
                            let more = v.len() as u64..v.len() as u64 * 2;
                            v.extend(more.map(|i| i ^ (seed << 20)));
                            check(seed, &v);
                            v.truncate(v.len() / 5);
                            v.shrink_to_fit();
                            check(seed, &v);
                        }
                    } else {
                        held.push((step, filled(step, len)));
                    }
                }
                for (seed, v) in held {
                    check(seed, &v);
                }
            });
        }
    });
}

#[test]
fn zeroed_blocks_are_zero_when_used_again() {
    for _ in 0..20 {
        let mut v = vec![0u8; 1 << 20];
        assert!(v.iter().all(|&b| b == 0));
        v.fill(0xff);
    }
}
