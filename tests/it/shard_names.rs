//! Names of shards, which come from a file and must not lead out of their folder on any system.

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
        ("x.bin", Extension),
        ("x.safetensors.bak", Extension),
        ("x.SAFETENSORS", Extension),
        ("safetensors", Extension),
        (".safetensors", Extension),
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
