use crate::Volatility;
use crate::functions::Function;
use crate::testing::{assert_shown, fault, shown, type_of};

const PUBLISHED: &str = include_str!("../../../../../../testdata/tsql/encrypted_values.txt");

/// Made by another program from the description of the messages.
const OF_KEYS: &str = include_str!("../../../../../../testdata/tsql/key_messages.txt");

fn published() -> impl Iterator<Item = [&'static str; 4]> {
    rows(PUBLISHED)
}

fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 4]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        fields.try_into().expect("a line has four fields")
    })
}

fn hex(call: &str) -> String {
    shown(&format!("CONVERT(varchar(8000), {call}, 2)"))
}

#[test]
fn what_sql_server_encrypted_is_decrypted() {
    for [passphrase, authenticator, clear, sealed] in published() {
        let clear = clear.trim_matches('-').to_ascii_uppercase();
        let arguments = match authenticator {
            "-" => String::new(),
            _ => format!(", 1, '{authenticator}'"),
        };
        let call = |arguments: &str| hex(&format!("DECRYPTBYPASSPHRASE('{passphrase}', 0x{sealed}{arguments})"));
        assert_eq!(call(&arguments), clear, "{sealed}");
        // Not without the authenticator, nor with another one.
        for other in [", 1, 'another'", ", 1, CAST(NULL AS varchar(9))", ", 1"] {
            assert_eq!(call(other), "NULL", "{sealed}");
        }
        assert_eq!(call(", 0, 'ignored'") == clear, authenticator == "-");
        for size in (0..sealed.len()).step_by(2) {
            let cut = format!("DECRYPTBYPASSPHRASE('{passphrase}', 0x{}{arguments})", &sealed[..size]);
            assert_eq!(hex(&cut), "NULL", "{size}");
        }
        assert_eq!(
            hex(&format!("DECRYPTBYPASSPHRASE('other', 0x{sealed}{arguments})")),
            "NULL"
        );
    }
}

#[test]
fn a_value_is_encrypted_and_decrypted() {
    let round = |value: &str, more: &str| {
        hex(&format!(
            "DECRYPTBYPASSPHRASE('a b', ENCRYPTBYPASSPHRASE(N'a b', {value}{more}){more})"
        ))
    };
    for (value, bytes) in [("'abc'", "616263"), ("N'a'", "6100"), ("0x00FF", "00FF"), ("''", "")] {
        assert_eq!(round(value, ""), bytes);
        assert_eq!(round(value, ", 1, 'of row 7'"), bytes);
        assert_eq!(round(value, ", 1, 0x07"), bytes);
    }
    assert_shown(&[
        ("ENCRYPTBYPASSPHRASE(NULL + 'a', 'b')", "NULL"),
        ("ENCRYPTBYPASSPHRASE('a', CAST(NULL AS varchar(9)))", "NULL"),
        ("ENCRYPTBYPASSPHRASE('a', 'b', 1)", "NULL"),
        ("DECRYPTBYPASSPHRASE('a', CAST(NULL AS varbinary(9)))", "NULL"),
        ("DATALENGTH(ENCRYPTBYPASSPHRASE('a', REPLICATE('b', 7959)))", "7988"),
    ]);
    assert_eq!(type_of("ENCRYPTBYPASSPHRASE('a', 'b')"), "varbinary(8000)");
    assert_eq!(fault("ENCRYPTBYPASSPHRASE('a', REPLICATE('b', 7960))").0, 8152);
    assert_eq!(
        fault("ENCRYPTBYPASSPHRASE('a', REPLICATE(CAST('b' AS varchar(max)), 70000))").0,
        8152
    );
    assert_eq!(fault("ENCRYPTBYPASSPHRASE('a', 1)").0, 8116);
    assert_eq!(fault("ENCRYPTBYPASSPHRASE('a')").0, 189);
}

#[test]
fn each_row_has_another_vector() {
    for name in ["encryptbypassphrase", "crypt_gen_random"] {
        assert_eq!(Function::find(name).unwrap().volatility, Volatility::Row);
    }
    assert_eq!(
        hex("ENCRYPTBYPASSPHRASE('a', 'b')")[..40],
        *"0200000007070707070707070707070707070707"
    );
}

#[test]
fn random_bytes_are_as_many_as_asked_for() {
    assert_shown(&[
        ("DATALENGTH(CRYPT_GEN_RANDOM(1))", "1"),
        ("DATALENGTH(CRYPT_GEN_RANDOM(8000, 0x01))", "8000"),
        ("CRYPT_GEN_RANDOM(0)", "NULL"),
        ("CRYPT_GEN_RANDOM(8001)", "NULL"),
        ("CRYPT_GEN_RANDOM(-1)", "NULL"),
    ]);
}

#[test]
fn messages_of_keys_are_those_of_another_program() {
    let mut count = 0;
    for [guid, authenticator, clear, sealed] in rows(OF_KEYS) {
        let clear = clear.trim_matches('-').to_ascii_uppercase();
        let more = match authenticator {
            "-" => String::new(),
            _ => format!(", 1, '{authenticator}'"),
        };
        assert_eq!(hex(&format!("DECRYPTBYKEY(0x{sealed}{more})")), clear, "{sealed}");
        for other in [", 1, 'another'", ", 1"] {
            assert_eq!(hex(&format!("DECRYPTBYKEY(0x{sealed}{other})")), "NULL", "{sealed}");
        }
        for size in (0..sealed.len()).step_by(2) {
            assert_eq!(
                hex(&format!("DECRYPTBYKEY(0x{}{more})", &sealed[..size])),
                "NULL",
                "{size}"
            );
        }
        // The first version is the one that is written.
        if &sealed[32..40] == "01000000" {
            let made = hex(&format!(
                "ENCRYPTBYKEY(CONVERT(uniqueidentifier, 0x{guid}), 0x{clear}{more})"
            ));
            assert_eq!(made, sealed);
        }
        count += 1;
    }
    assert_eq!(count, 36);
    let other_version = "10000000000000000000000000000000".to_owned() + "03000000" + &"07".repeat(32);
    assert_eq!(hex(&format!("DECRYPTBYKEY(0x{other_version})")), "NULL");
    for name in ["encryptbykey", "encryptbycert", "signbyasymkey"] {
        assert_eq!(Function::find(name).unwrap().volatility, Volatility::Row);
    }
    for name in ["decryptbykey", "decryptbykeyautocert", "decryptbycert"] {
        assert_eq!(Function::find(name).unwrap().volatility, Volatility::Statement);
    }
    assert_eq!(fault("ENCRYPTBYKEY(1, 'a')").0, 8116);
    assert_eq!(type_of("KEY_GUID('a')"), "uniqueidentifier");
}
