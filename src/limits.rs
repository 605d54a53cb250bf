//! Limits that hold for every format, and why they are what they are.

/// The highest rank that a view can have: dims are held inline, and no weight format in use goes past it.
pub const MAX_RANK: usize = 16;

/// The longest JSON header that is read unless the caller says otherwise, in bytes: the figure of the
/// safetensors reference implementation.
pub const MAX_HEADER_LEN: u64 = 100_000_000;

/// The most tensors that one header may declare unless the caller says otherwise. The largest published
/// checkpoints hold about 150,000 tensors over all their shards.
pub const MAX_TENSORS: u64 = 1_000_000;

/// The deepest nesting of JSON arrays and objects, the header's own object counted: what the reference
/// implementation's parser stops at. It is also the most that the iterative parser can follow.
pub const MAX_NESTING: u32 = 127;

/// The most bytes that the headers of all files of a checkpoint may take together, in multiples of the longest that
/// one may be: by default 1 GB. They are kept in memory; 150,000 tensors take about 20 MB. A
/// directory of links to one file with a long header would take any amount.
pub const MAX_HEADERS: u64 = 10;
