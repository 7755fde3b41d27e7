use crate::Volatility;
use crate::functions::Function;
use crate::testing::{assert_shown, fault, shown, type_of};

#[test]
fn isnumeric_accepts_text_that_any_numeric_type_accepts() {
    assert_shown(&[
        ("ISNUMERIC('12')", "1"),
        ("ISNUMERIC('1e5')", "1"),
        ("ISNUMERIC('$1,000.50')", "1"),
        ("ISNUMERIC('abc')", "0"),
        ("ISNUMERIC('')", "0"),
        ("ISNUMERIC(NULL)", "0"),
        ("ISNUMERIC(1.5)", "1"),
        ("ISNUMERIC(GETDATE())", "0"),
    ]);
}

#[test]
fn hashes_are_the_published_ones() {
    let hex = |call: &str| shown(&format!("CONVERT(varchar(130), {call}, 2)"));
    assert_eq!(hex("HASHBYTES('MD5', 'abc')"), "900150983CD24FB0D6963F7D28E17F72");
    assert_eq!(
        hex("HASHBYTES('sha1', 'abc')"),
        "A9993E364706816ABA3E25717850C26C9CD0D89D"
    );
    assert_eq!(
        hex("HASHBYTES('SHA2_256', 'abc')"),
        "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"
    );
    assert_eq!(hex("HASHBYTES('SHA2_512', '')").len(), 128);
    assert_eq!(hex("HASHBYTES('MD5', N'abc')"), hex("HASHBYTES('MD5', 0x610062006300)"));
    assert_eq!(hex("HASHBYTES('MD5', '\u{e9}')"), hex("HASHBYTES('MD5', 0xE9)"));
    assert_shown(&[
        ("HASHBYTES('crc', 'abc')", "NULL"),
        ("HASHBYTES('MD5', CAST(NULL AS varchar(3)))", "NULL"),
    ]);
    assert_eq!(type_of("HASHBYTES('MD5', 'abc')"), "varbinary(8000)");
    assert_eq!(fault("HASHBYTES('MD2', 'abc')").0, 40510);
    let text = "Argument data type int is invalid for argument 2 of hashbytes function.";
    assert_eq!(fault("HASHBYTES('MD5', 1)"), (8116, text.to_owned()));
}

#[test]
fn checksums_follow_the_collation_unless_they_are_binary() {
    assert_shown(&[
        ("CHECKSUM(42)", "42"),
        ("CHECKSUM(NULL)", "2147483647"),
        ("BINARY_CHECKSUM(-7)", "-7"),
    ]);
    assert_eq!(shown("CHECKSUM('abc')"), shown("CHECKSUM('ABC')"));
    assert_ne!(shown("BINARY_CHECKSUM('abc')"), shown("BINARY_CHECKSUM('ABC')"));
    assert_ne!(shown("CHECKSUM(1, 2)"), shown("CHECKSUM(2, 1)"));
    assert_eq!(shown("CHECKSUM(1.50)"), shown("CHECKSUM(1.5)"));
}

#[test]
fn newid_differs_in_each_row() {
    assert_eq!(shown("NEWID()"), "07070707-0707-0707-0707-070707070707");
    assert_eq!(type_of("NEWID()"), "uniqueidentifier");
    assert_eq!(Function::find("NewId").unwrap().volatility, Volatility::Row);
    assert_eq!(
        fault("PWDENCRYPT('a')"),
        (40510, "Function 'PWDENCRYPT' is not supported.".to_owned())
    );
}
