//! Names of shards, which come from a file and must not lead out of their folder on any system.

use std::path::{Component, Path};

use proptest::prelude::*;
use weightview::shards::ShardNameFault::{
    Absolute, Backslash, Character, Colon, Device, Empty, EmptyPart, Extension, Parent, TooLong, Trailing,
};
use weightview::shards::{ShardIndex, check_name, check_name_with};

#[test]
fn names_that_occur() {
    for name in [
        "model.safetensors",
        "model-00001-of-00072.safetensors",
        "model_00002-of-00072.safetensors",
        "diffusion_pytorch_model.fp16.safetensors",
        "consolidated-00001-of-00002.safetensors",
        ".safetensors.safetensors",
        "..a.safetensors",
        "a..safetensors",
        "a b.safetensors",
        "重み.safetensors",
        "text_encoder/model.safetensors",
        "console.safetensors",
        "com.safetensors",
        "com10.safetensors",
        "nul_.safetensors",
        "nul l.safetensors",
        " nul.safetensors",
        "conin$x.safetensors",
        "aux-00001-of-00002.safetensors",
    ] {
        assert_eq!(check_name(name.into()), Ok(()), "{name}");
    }
}

#[test]
fn names_that_lead_elsewhere() {
    for (name, fault) in [
        ("", Empty),
        ("/etc/passwd", Absolute),
        ("//server/share/x.safetensors", Absolute),
        ("../x.safetensors", Parent),
        ("a/../../x.safetensors", Parent),
        ("a/..", Parent),
        ("..", Parent),
        ("..\\x.safetensors", Backslash),
        ("a\\b.safetensors", Backslash),
        ("\\\\server\\share\\x.safetensors", Backslash),
        ("C:/x.safetensors", Colon),
        ("C:\\x.safetensors", Colon),
        ("c:x.safetensors", Colon),
        ("x.safetensors:stream", Colon),
        ("file:///etc/x.safetensors", Colon),
        (".", EmptyPart),
        ("./x.safetensors", EmptyPart),
        ("a//x.safetensors", EmptyPart),
        ("a/", EmptyPart),
        ("a/./x.safetensors", EmptyPart),
        ("x\0.safetensors", Character),
        ("x\n.safetensors", Character),
        ("x\u{85}.safetensors", Character),
        ("x?.safetensors", Character),
        ("*.safetensors", Character),
        ("x.safetensors.", Trailing),
        ("x.safetensors ", Trailing),
        ("a./x.safetensors", Trailing),
        ("... /x.safetensors", Trailing),
        (".../x.safetensors", Trailing),
        ("nul.safetensors", Device),
        ("NUL", Device),
        ("a/CON.x.safetensors", Device),
        ("com1.safetensors", Device),
        ("LPT³.safetensors", Device),
        ("nul .safetensors", Device),
        ("Con    .x/y.safetensors", Device),
        ("conin$.safetensors", Device),
        ("CONOUT$", Device),
        ("x.bin", Extension),
        ("x.safetensors.bak", Extension),
        ("x.SAFETENSORS", Extension),
        ("safetensors", Extension),
        (".safetensors", Extension),
        ("a/.safetensors", Extension),
    ] {
        assert_eq!(check_name(name.into()), Err(fault), "{name:?}");
        assert!(fault.to_string().starts_with("it "));
    }
    assert_eq!(check_name_with("pytorch_model-00001-of-00002.bin".into(), ".bin"), Ok(()));
    assert_eq!(check_name_with("x.safetensors".into(), ".bin"), Err(Extension));
}

#[test]
fn lengths() {
    let name = |len: usize| format!("{}.safetensors", "x".repeat(len - ".safetensors".len()));
    assert_eq!(check_name(name(255).as_str().into()), Ok(()));
    assert_eq!(check_name(name(256).as_str().into()), Err(TooLong));
    let folders = |parts: usize| {
        format!("{}{}", "x".repeat(99).to_owned() + "/", name(24)).replacen("x/", &"x/x".repeat(parts), 1)
    };
    assert_eq!(check_name(folders(3).as_str().into()), Ok(()));
    assert_eq!(check_name(format!("{}{}", "abc/".repeat(250), name(24)).as_str().into()), Ok(()));
    assert_eq!(check_name(format!("{}{}", "abc/".repeat(251), name(24)).as_str().into()), Err(TooLong));
}

/// The decoded name counts, not how it is spelt.
#[test]
fn escapes_hide_nothing() {
    for (spelling, expected) in [
        (r"\u002e\u002e\u002fx.safetensors", Err(Parent)),
        (r"a\/..\/x.safetensors", Err(Parent)),
        (r"a\\x.safetensors", Err(Backslash)),
        (r"\u0000x.safetensors", Err(Character)),
        (r"N\u0055L", Err(Device)),
        (r"model.\u0073afetensors", Ok(())),
    ] {
        let text = format!(r#"{{"weight_map":{{"t":"{spelling}"}}}}"#);
        let index = ShardIndex::parse(text.as_bytes()).expect("an index");
        assert_eq!(check_name(index.shard_of("t").expect("there")), expected, "{spelling}");
    }
}

/// The rules once more, said of the whole name.
fn is_safe(name: &str) -> bool {
    let plain = |c: char| !c.is_control() && !r#"\:<>"|?*"#.contains(c);
    let is_device = |part: &str| {
        let stem = part.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
        let stem = stem.replace('¹', "1").replace('²', "2").replace('³', "3");
        let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str())
            || port.is_some_and(|n| n.len() == 1 && n.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let is_good = |part: &str| {
        !["", ".", ".."].contains(&part) && part.len() <= 255 && !part.ends_with(['.', ' ']) && !is_device(part)
    };
    let file = name.rsplit('/').next().unwrap_or_default();
    name.len() <= 1024
        && name.chars().all(plain)
        && name.split('/').all(is_good)
        && file.strip_suffix(".safetensors").is_some_and(|stem| !stem.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Pieces that matter, in any order: the two readings of the rules agree, and what they let through stays in its
    /// folder here.
    #[test]
    fn what_is_let_through_stays_in_its_folder(
        pieces in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec!["a", ".", "..", "/", " ", "nul", "COM", "lpt", "1", "²", "conin$", "é"]),
                1 => prop::sample::select(vec!["\\", ":", "\0", "\u{85}", "?", "\u{202e}", "x/y"]),
            ],
            0..7,
        ),
        ending in prop::sample::select(vec![".safetensors", ".safetensors", "safetensors", ""]),
    ) {
        let name = pieces.concat() + ending;
        let checked = check_name(name.as_str().into());
        prop_assert_eq!(checked.is_ok(), is_safe(&name), "{:?}: {:?}", name, checked);
        if checked.is_ok() {
            let path = Path::new(&name);
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert_eq!(path.components().count(), name.split('/').count());
            prop_assert!(Path::new("folder").join(path).starts_with("folder"));
        }
    }
}
