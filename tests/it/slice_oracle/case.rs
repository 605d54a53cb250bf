//! A tensor, and what is asked of it.

use std::ops::Bound;

use weightview::{Dtype, SafeTensors, TensorView};

/// What is asked of one axis. Numbers are of any type that holds them: `spelling` picks among those.
#[derive(Clone, Debug)]
pub(crate) enum Take {
    At(i128),
    Range(Bound<i128>, Bound<i128>, usize),
    List(Vec<i128>),
    /// A step where there is no range.
    Odd(Box<Take>, usize),
}

/// A tensor, and what is asked of it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) takes: Vec<Take>,
    /// What the data's bytes are made of.
    pub(crate) seed: u8,
    /// Where the data stands, from a multiple of 16 on.
    pub(crate) skew: usize,
    pub(crate) spelling: u8,
    /// How to walk the iterators.
    pub(crate) script: Vec<u8>,
}

impl Case {
    pub(crate) fn new(dtype: Dtype, shape: &[usize], takes: &[Take]) -> Self {
        let script = (0..24u8).map(|i| i.wrapping_mul(37)).collect();
        Self { dtype, shape: shape.to_vec(), takes: takes.to_vec(), seed: 1, skew: 1, spelling: 0, script }
    }

    /// Any bytes, as a case: mostly one where something can be had.
    pub(crate) fn from_bytes(input: &[u8]) -> Self {
        let mut rest = input.iter().copied();
        let mut byte = || rest.next().unwrap_or(0);
        let dtype = Dtype::ALL[usize::from(byte()) % Dtype::ALL.len()];
        let (seed, skew, spelling) = (byte(), usize::from(byte() % 16), byte());
        let rank = usize::from(byte()) % 6;
        let mut shape = Vec::new();
        for _ in 0..rank {
            let dim = match byte() {
                large @ 251.. => usize::from(large),
                small => usize::from(small % 6),
            };
            let inner = shape.iter().product::<usize>();
            shape.push(if inner * dim > 1000 { 1 } else { dim });
        }
        let mut case = Self { dtype, shape, takes: Vec::new(), seed, skew, spelling, script: Vec::new() };
        case.fill_bytes();
        let given = if byte() % 16 == 15 { rank + 1 } else { usize::from(byte()) % (rank + 1) };
        for axis in 0..given {
            let dim = case.shape.get(axis).copied().unwrap_or(1);
            case.takes.push(take(dim, &mut byte));
        }
        case.script = rest.collect();
        case
    }

    /// A file has no half bytes: the innermost axis is made longer until there are none.
    fn fill_bytes(&mut self) {
        let block = self.dtype.block_len() as usize;
        match self.shape.last_mut() {
            None if block > 1 => self.shape.push(block),
            None => {}
            Some(last) => *last = if self.seed % 4 == 3 { last.next_multiple_of(block) } else { *last },
        }
        if !self.shape.iter().product::<usize>().is_multiple_of(block) {
            let last = self.shape.last_mut().expect("a scalar has gone already");
            *last *= block;
        }
    }

    /// The tensor's bytes.
    pub(crate) fn data(&self) -> Vec<u8> {
        let elements: usize = self.shape.iter().product();
        let len = elements / self.dtype.block_len() as usize * self.dtype.block_bytes() as usize;
        let mut state = u64::from(self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let is_bool = self.dtype == Dtype::Bool && self.seed % 8 != 7;
        (0..len).map(|_| if is_bool { noise() & 1 } else { noise() }).collect()
    }

    /// Hands over the tensor, of a file in which its bytes stand at the odd address asked for.
    pub(crate) fn with_tensor<R>(&self, check: impl FnOnce(TensorView<'_>) -> R) -> R {
        let data = self.data();
        let shape: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        let (dtype, shape, len) = (self.dtype, shape.join(","), data.len());
        let text = format!(r#"{{"t":{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[0,{len}]}}}}"#);
        let mut file = Vec::<u8>::with_capacity(8 + text.len() + 16 + len);
        let address = file.as_ptr() as usize + 8 + text.len();
        let padding = (self.skew + 16 - address % 16) % 16;
        file.extend(((text.len() + padding) as u64).to_le_bytes());
        file.extend(text.as_bytes());
        file.extend(std::iter::repeat_n(b' ', padding));
        file.extend(&data);
        let tensor = SafeTensors::parse(&file).expect("a sound file").tensor("t").expect("its tensor");
        assert_eq!(tensor.data(), data);
        assert!(data.is_empty() || tensor.data().as_ptr() as usize % 16 == self.skew);
        check(tensor)
    }
}

/// What one axis is asked for.
fn take(dim: usize, byte: &mut impl FnMut() -> u8) -> Take {
    let number = |past: usize, byte: &mut dyn FnMut() -> u8| -> i128 {
        let at = byte();
        match byte() {
            255 => i128::from(i64::MAX) + i128::from(at % 3),
            254 => i128::from(u64::MAX),
            253 => i128::from(i64::MIN) + i128::from(at % 2),
            252 => (dim + usize::from(at % 3)) as i128,
            251 => -((dim + usize::from(at % 3)) as i128),
            sign => {
                let at = (usize::from(at) % (dim + past).max(1)) as i128;
                if sign % 3 == 2 { at - dim as i128 } else { at }
            }
        }
    };
    match byte() % 8 {
        0 => Take::Range(Bound::Unbounded, Bound::Unbounded, 1),
        1 | 2 => Take::At(number(0, byte)),
        kind @ 3..=5 => {
            let bound = |past: usize, is_start: bool, byte: &mut dyn FnMut() -> u8| match byte() % 8 {
                0 | 1 => Bound::Unbounded,
                2 => Bound::Excluded(number(past, byte)),
                3 if is_start => Bound::Included(number(0, byte)),
                3 => Bound::Included(number(0, byte)),
                _ if is_start => Bound::Included(number(0, byte)),
                _ => Bound::Excluded(number(past, byte)),
            };
            let (start, end) = (bound(0, true, byte), bound(1, false, byte));
            let step = match (kind, byte()) {
                (3, 255) => 0,
                (3, 254) => usize::MAX,
                (3, step) => usize::from(step % 4).max(1),
                _ => 1,
            };
            Take::Range(start, end, step)
        }
        6 => Take::List((0..byte() % 7).map(|_| number(0, byte)).collect()),
        _ => match byte() {
            255 => Take::Odd(Box::new(Take::At(number(0, byte))), usize::from(byte() % 3)),
            254 => Take::Odd(Box::new(Take::List(vec![number(0, byte)])), usize::from(byte() % 3)),
            len => {
                let first = number(0, byte);
                Take::List((0..i128::from(len % 5)).map(|i| first + i).collect())
            }
        },
    }
}
