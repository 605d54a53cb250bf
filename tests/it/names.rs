//! Names by the hundred: as checkpoints have them, in no order, and of one hash.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use weightview::Text;

/// A fixed stream of numbers (xorshift64*), the same on every host.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (((self.next() >> 32) * count as u64) >> 32) as usize
    }

    /// True once in `count` times.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = Random::new(seed);
    for place in (1..items.len()).rev() {
        items.swap(place, random.below(place + 1));
    }
}

/// So many names of a transformer's tensors, sorted.
pub(crate) fn checkpoint(count: usize) -> Vec<String> {
    const PARTS: [&str; 5] =
        ["input_layernorm", "mlp.down_proj", "mlp.up_proj", "self_attn.k_proj", "self_attn.q_proj"];
    let name = |n: usize| format!("model.layers.{}.{}.weight", n / PARTS.len(), PARTS[n % PARTS.len()]);
    let mut names: Vec<_> = (0..count).map(name).collect();
    names.sort_unstable();
    names
}

/// The crate's hash of a name: what `Text` gives a `Hasher`.
pub(crate) fn hash(name: Text<'_>) -> u64 {
    struct Catch(u64);
    impl Hasher for Catch {
        fn write(&mut self, _: &[u8]) {
            panic!("a Text hashes as one u64");
        }
        fn write_u64(&mut self, hash: u64) {
            self.0 = hash;
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut catch = Catch(0);
    name.hash(&mut catch);
    catch.finish()
}

/// So many different names that all have one hash. It takes a name as words of 8 bytes, and each word in turn
/// can undo what the one before did: for any first word there is a second that leads to the same state.
pub(crate) fn colliding(count: usize) -> Vec<String> {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(find_colliding).get(..count).expect("no more than COLLIDING").to_vec()
}

/// How many of them there are.
pub(crate) const COLLIDING: usize = if cfg!(debug_assertions) { 502 } else { 20_000 };

fn find_colliding() -> Vec<String> {
    /// The state that the first word, with nothing before it, meets the second with.
    fn first_step(word: u64) -> u64 {
        word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
    }
    let target = first_step(u64::from_le_bytes(*b"layers.0")) ^ u64::from_le_bytes(*b".mlp.bia");
    let mut random = Random::new(1);
    let mut names = HashSet::new();
    while names.len() < COLLIDING {
        let first: [u8; 8] = std::array::from_fn(|_| b'a' + random.below(26) as u8);
        let second = (target ^ first_step(u64::from_le_bytes(first))).to_le_bytes();
        if second.iter().all(|byte| (b'#'..=b'~').contains(byte) && *byte != b'\\') {
            names.insert([first, second].concat().into_iter().map(char::from).collect::<String>());
        }
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable(); // a HashSet's order differs from run to run
    shuffle(&mut names, 5);
    names
}
