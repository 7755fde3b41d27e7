use super::*;

fn code(text: &str) -> String {
    RustSource::new(text).code().to_owned()
}

fn names(text: &str) -> Vec<String> {
    let source = RustSource::new(text);
    let functions = source.functions();
    functions.iter().map(|f| f.name.to_owned()).collect()
}

#[test]
fn comments_are_blank_and_strings_are_filled() {
    assert_eq!(code("a // b\nc"), "a     \nc");
    assert_eq!(code("a /* b /* c */ d */ e"), "a                   e");
    assert_eq!(code(r#"f("fn {\"", x)"#), r#"f("______", x)"#);
    assert_eq!(code("r#\"a\"b\"#;"), "r#\"___\"#;");
    assert_eq!(code("br\"\\\";"), "br\"_\";");
    assert_eq!(code("\"a\nb\""), "\"_\n_\"");
}

#[test]
fn a_lifetime_is_no_character() {
    assert_eq!(code("fn f<'a>(x: &'a u8) {}"), "fn f<'a>(x: &'a u8) {}");
    assert_eq!(
        code("['{', '\\'', '\\u{7b}', b'}']"),
        "['_', '__', '______', b'_']"
    );
}

#[test]
fn a_character_outside_ascii_keeps_the_offsets() {
    let text = "\u{e9} '\u{2192}' \"\u{1f512}\" x";
    let masked = code(text);
    assert_eq!(masked.len(), text.len());
    assert!(masked.ends_with("\" x"));
}

#[test]
fn an_unclosed_source_is_scanned_to_its_end() {
    for text in [
        "\"a", "/* a", "r#\"a", "'\\", "'", "b'", "#[a", "fn f() {", "\"\\",
    ] {
        assert_eq!(code(text).len(), text.len(), "{text}");
        let source = RustSource::new(text);
        assert!(source.attributes().is_empty() && source.functions().is_empty());
    }
}

#[test]
fn a_raw_identifier_is_no_string() {
    assert_eq!(code("r#type(\"x\")"), "r#type(\"_\")");
}

#[test]
fn functions_are_found_with_their_bodies() {
    let text = "trait T { fn a(&self) -> [u8; 4]; fn b() { c() } }\nconst F: fn(u8) -> u8 = d;\nfn e<const N: usize>() -> [u8; N] where u8: Copy { fn g() {} }";
    assert_eq!(names(text), ["b", "e", "g"]);
    let source = RustSource::new(text);
    assert_eq!(&text[source.functions()[0].body.clone()], " c() ");
    assert_eq!(source.line(source.functions()[1].start), 3);
}

#[test]
fn attributes_lose_their_white_space() {
    let source = RustSource::new("#![forbid(unsafe_code)]\n#[ cfg( test ) ]\nmod x;");
    let attributes = source.attributes();
    assert_eq!(attributes[0].content, "forbid(unsafe_code)");
    assert!(attributes[0].is_inner);
    assert_eq!(attributes[1].content, "cfg(test)");
    assert_eq!(source.test_module_names(), ["x"]);
}

#[test]
fn test_parts_end_with_their_item() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}";
    let source = RustSource::new(text);
    let parts = source.test_parts();
    assert_eq!(parts.len(), 1);
    assert_eq!(
        &text[parts[0].clone()],
        "#[cfg(test)]\nmod tests { fn b() {} }"
    );
}

#[test]
fn code_for_tests_and_something_else_is_no_test_part() {
    let source = RustSource::new("#[cfg(any(test, feature = \"fuzz\"))]\nfn a() {}");
    assert!(source.test_parts().is_empty());
}

#[test]
fn an_inner_attribute_makes_the_whole_file_a_test_part() {
    let source = RustSource::new("#![cfg(test)]\nfn a() {}");
    let parts = source.test_parts();
    assert_eq!((parts[0].start, parts[0].end), (0, source.code().len()));
}
