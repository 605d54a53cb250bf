//! Look-up through an index: every name is found, and no other.

use std::collections::HashSet;

use weightview::Slot;
use weightview::error::Blame;
use weightview::error::ErrorKind::{NotFound, TooFewSlots};
use weightview::safetensors::Header;

use crate::build::{Build, File, NONE};
use crate::names;

/// A file of tensors of one byte, their data counting up in header order.
fn file_of(names: &[String]) -> File {
    let mut build = Build::new();
    for (name, place) in names.iter().zip(0..) {
        build.push_tensor(name, "U8", &[1], place..place + 1);
    }
    build.file(names.len())
}

/// All are found in both indexes and none else is. `decoded` is what the names say.
fn assert_found(file: &File, decoded: &[String]) {
    let model = file.parse().expect("well");
    let header = file.header().expect("well");
    let mut slots = vec![Slot::default(); decoded.len() + 3];
    let index = model.index_in(&mut slots).expect("enough slots");
    let mut slots = vec![Slot::default(); decoded.len()];
    let header_index = header.index_in(&mut slots).expect("just enough slots");
    assert_eq!((index.len(), header_index.len()), (decoded.len(), decoded.len()));
    assert_eq!(index.is_empty(), decoded.is_empty());

    for (name, place) in decoded.iter().zip(0u64..) {
        let tensor = index.tensor(name).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        assert!(tensor.name() == name.as_str());
        assert_eq!(tensor.data(), [place as u8]);
        let info = header_index.tensor(name).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        assert_eq!(info.data_offsets(), place..place + 1);
    }
    let known: HashSet<&str> = decoded.iter().map(String::as_str).collect();
    let near = decoded.iter().flat_map(|name| [format!("{name} "), name.to_uppercase(), format!("{name}\0")]);
    let cut = decoded.iter().filter_map(|name| name.char_indices().last().map(|(at, _)| name[..at].to_string()));
    for absent in near.chain(cut).chain(["".into(), "__metadata__".into()]) {
        if !known.contains(absent.as_str()) {
            let error = index.tensor(&absent).expect_err("it is not there");
            assert_eq!((error.kind(), error.offset(), error.blame()), (NotFound, None, Blame::Caller));
            assert_eq!(header_index.tensor(&absent).err(), Some(error));
        }
    }

    #[cfg(feature = "alloc")]
    {
        let (own, header_own) = (model.index(), header.index());
        assert_eq!((own.len(), header_own.len()), (decoded.len(), decoded.len()));
        for (name, place) in decoded.iter().zip(0u64..) {
            assert_eq!(own.tensor(name).map(|tensor| tensor.data()), Ok(&[place as u8][..]));
            assert_eq!(header_own.tensor(name).map(|info| info.data_offsets().start), Ok(place));
        }
        assert_eq!(own.tensor("no such tensor").err().map(|error| error.kind()), Some(NotFound));
    }
}

#[test]
fn none() {
    let file = File::new("{}", 0);
    assert_found(&file, &[]);
    let header = file.header().expect("well");
    assert!(header.index_in(&mut []).is_ok_and(|index| index.is_empty()));
}

#[test]
fn of_several_sizes_and_orders() {
    for count in [1, 2, 3, 17, 200, 1000] {
        let sorted = names::checkpoint(count);
        let mut shuffled = sorted.clone();
        names::shuffle(&mut shuffled, 6);
        for names in [sorted, shuffled] {
            assert_found(&file_of(&names), &names);
        }
    }
}

#[test]
fn of_metadata_too() {
    let names = names::checkpoint(20);
    let mut build = Build::new().metadata(&[("model.layers.0.mlp.up_proj.weight", "x"), ("k", "v")]);
    for (name, place) in names.iter().zip(0..) {
        build.push_tensor(name, "U8", &[1], place..place + 1);
    }
    assert_found(&build.file(20), &names);
}

/// However a name is spelt in the file, it is looked up by what it says.
#[test]
fn of_names_with_escapes() {
    let spelt = [r"\u0061", "b", r"caf\u00e9", r"\ud83e\udd80", r"\\u0061", r"\u0000", "", r"1234567\u0038", r"\n"];
    let decoded = ["a", "b", "café", "🦀", r"\u0061", "\0", "", "12345678", "\n"].map(String::from);
    let names: Vec<String> = spelt.map(String::from).to_vec();
    assert_found(&file_of(&names), &decoded);
}

/// Names that differ only where an escape stands, or look alike.
#[test]
fn of_names_that_look_alike() {
    let spelt = [r"a\u0062", r"a\\u0062", r"a\u0042", "a b", r"a\tb", "é", r"e\u0301", "a.b", "a..b"];
    let decoded = ["ab", r"a\u0062", "aB", "a b", "a\tb", "é", "e\u{301}", "a.b", "a..b"].map(String::from);
    assert_found(&file_of(&spelt.map(String::from)), &decoded);
}

/// Names of one 64-bit hash are told apart by what they are.
#[test]
fn of_names_of_one_hash() {
    for count in [2, 3, 100] {
        let mut names = names::colliding(count + 1);
        let absent = names.pop().expect("one more");
        let file = file_of(&names);
        assert_found(&file, &names);
        // One more of the same hash, which is not there.
        let mut slots = vec![Slot::default(); count];
        let index = file.parse().expect("well").index_in(&mut slots).expect("enough");
        assert_eq!(index.tensor(&absent).err().map(|error| error.kind()), Some(NotFound));
    }
    // In the midst of others, some of them spelt with escapes.
    let colliding = names::colliding(40);
    let mut names = names::checkpoint(300);
    names.extend(colliding.iter().cloned());
    names::shuffle(&mut names, 2);
    let spelt: Vec<String> = names
        .iter()
        .map(|name| {
            if colliding.contains(name) { format!("\\u{:04x}{}", name.as_bytes()[0], &name[1..]) } else { name.clone() }
        })
        .collect();
    assert_found(&file_of(&spelt), &names);
}

#[test]
fn with_too_few_slots() {
    let file = file_of(&names::checkpoint(5));
    let (model, header) = (file.parse().expect("well"), file.header().expect("well"));
    for given in 0..5 {
        let mut slots = [Slot::default(); 5];
        let error = model.index_in(&mut slots[..given]).expect_err("too few");
        assert_eq!(error.kind(), TooFewSlots { needed: 5, given: given as u64 });
        assert_eq!((error.offset(), error.blame()), (None, Blame::Caller));
        assert_eq!(header.index_in(&mut slots[..given]).err(), Some(error));
    }
}

/// Slots may have been used before; what they held is of no account.
#[test]
fn in_used_slots() {
    let (many, few) = (names::checkpoint(50), names::checkpoint(7));
    let (many_file, few_file) = (file_of(&many), file_of(&few));
    let mut slots = vec![Slot::default(); 50];
    assert!(many_file.parse().expect("well").index_in(&mut slots).is_ok());
    let index = few_file.parse().expect("well").index_in(&mut slots).expect("enough");
    for name in &many {
        assert_eq!(index.tensor(name).is_ok(), few.contains(name), "{name}");
    }
    assert_eq!(size_of::<Slot>(), 16);
}

/// A tensor that was looked up outlives the index and its slots.
#[test]
fn tensors_outlive_it() {
    let file = File::new(&format!(r#"{{"a":{NONE}}}"#), 0);
    let tensor = {
        let mut slots = [Slot::default(); 1];
        let header = Header::parse(&file.bytes).expect("well");
        let index = header.index_in(&mut slots).expect("enough");
        assert_eq!(format!("{index:?}"), "Index { len: 1, .. }");
        let copy = index;
        copy.tensor("a").expect("it is there")
    };
    assert_eq!(tensor.byte_len(), 0);
}
